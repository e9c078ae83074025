// What one module leaves, another carries on from the last accepted point. There are two occasions: with method =
// "auto" the instances that have become too stiff for the explicit method are handed over to the implicit one; and what
// lanes cannot settle - events that they cannot order, a step at its floor, a NaN - is rescued, one instance at a time,
// by slower and conservative means.
#pragma once

#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include "abi/module.hpp"
#include "abi/status.hpp"
#include "base/cancellation.hpp"
#include "compile/compiler.hpp"
#include "compile/lane_shape.hpp"
#include "ensemble/chunk.hpp"
#include "spec/plan.hpp"

namespace saltus::host {

/// Does rescue take over the instances of a model that have ended so? Of equations of any order a start, or what follows an event,
/// that was not found as well: it begins them afresh, and looks further.
bool is_rescued_from(status why, const model& m);

class fallback_integrator {
 public:
  enum class duty { hand_over, rescue };

  /// `stop` ends the compilation of the module; `tick` is called now and then while it lasts.
  fallback_integrator(const plan& p, duty what, cancellation stop, std::function<void()> tick = {});
  ~fallback_integrator();
  fallback_integrator(const fallback_integrator&) = delete;
  fallback_integrator& operator=(const fallback_integrator&) = delete;

  /// Carries on with every instance of the chunk that has left with a status of this duty: `stiff`, or one that it
  /// is_rescued_from. Notes when it went over, or that status as its exception. Those with a snapshot go on from there; one
  /// without would begin afresh. What cannot go on here either has its row among the chunk's exceptions. Cancelling
  /// `stop` ends it early: instances under way have status `interrupted`. Any thread; its module is compiled when it is
  /// first needed, and meanwhile a thread of TBB does what else there is. Throws `error`.
  void carry_on(chunk_data& chunk, const cancellation& stop);

  /// Seconds spent compiling, once all chunks are done.
  double compile_seconds() const { return built_.seconds; }

 private:
  /// The instances that it takes over; each counts as interrupted until it has another terminal status.
  std::vector<long long> take_over(chunk_data& chunk) const;
  /// Waits for the module, which is compiled when this is first called; false if it is not to be.
  bool is_ready(const cancellation& stop);
  void compile();
  void wait_until_compiled();
  /// The module's `snapshots` of the instances in `slots`; refers to these and to `from`.
  std::vector<abi::snapshot> snapshots_of(chunk_data& chunk, const std::vector<long long>& slots,
                                          const exception_list& from) const;
  /// Notes in the chunk when each of `slots` went over.
  void note_times(chunk_data& chunk, const std::vector<long long>& slots,
                  const std::vector<abi::snapshot>& snapshots) const;

  duty duty_;
  cancellation stop_;
  std::function<void()> tick_;
  plan plan_;
  abi::settings settings_;
  lane_shape shape_;
  built built_{};
  const abi::module* module_ = nullptr;  ///< null: not compiled, or interrupted

  enum class state { idle, compiling, compiled };
  std::mutex mutex_;  ///< guards what follows
  state state_ = state::idle;
  std::vector<std::function<void()>> waiting_;  ///< to be called once it is compiled
  std::exception_ptr failure_;
  std::thread compiler_;
};

}  // namespace saltus::host
