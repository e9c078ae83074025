// What lanes cannot settle - events that they cannot order, a step at its floor, a NaN - is carried on here: from the last
// accepted point, one instance at a time, by slower and surer means.
#pragma once

#include <atomic>
#include <mutex>
#include <vector>

#include "abi.hpp"
#include "compiler.hpp"
#include "plan.hpp"
#include "result.hpp"

namespace saltus::host {

class rescuer {
 public:
  explicit rescuer(const plan& p);

  /// Carries on with every instance of the chunk that gave up with a rescuable status, and notes that status as its
  /// exception. Those with a snapshot go on from there; those without one, for which a device had no room, begin afresh.
  /// Setting `stop` ends it early: instances under way have status `interrupted`. Any thread; compiles its unit when it is
  /// first needed. Throws `error`.
  void rescue(chunk_data& chunk, const std::atomic<bool>& stop);

  /// Seconds spent compiling, once all is rescued.
  double compile_seconds() const { return built_.seconds; }

 private:
  /// Compiles the unit if that has not been done; false if Ctrl-C came first.
  bool is_ready(const std::atomic<bool>& stop);
  /// The unit's `snapshots` of the instances in `slots`, which it refers to.
  std::vector<abi::snapshot> snapshots_of(chunk_data& chunk, const std::vector<long long>& slots);

  plan             plan_;
  abi::settings    settings_;
  std::mutex       compiling_;
  built            built_{};
  const abi::unit* unit_ = nullptr;
};

}  // namespace saltus::host
