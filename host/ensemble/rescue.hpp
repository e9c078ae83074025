// A fallback integrator continues instances from the last accepted point where another module gave up. Instances that lanes cannot settle
// (events that they cannot order, a step at its floor, a NaN) are rescued one at a time, by slower, conservative means. With method = "auto",
// instances that became too stiff for the explicit method are handed over to an implicit one, or to another one if stiffness will last; the last
// rescue, by the latter, takes what is left.
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
#include "ensemble/chunk_data.hpp"
#include "spec/plan.hpp"

namespace saltus::host {

/// Does rescue take over instances of this model with this status? For equations of any order this includes a
/// consistent point that was not found at the start or after an event: rescue starts afresh and searches further.
bool is_rescued_from(status why, const model& m);

class fallback_integrator {
 public:
  enum class duty { rescue, hand_over, hand_over_for_long, last_rescue };

  /// `stop` ends the compilation of the module; `tick` is called at intervals while it lasts.
  fallback_integrator(const plan& p, duty what, cancellation stop, std::function<void()> tick = {});
  ~fallback_integrator();
  fallback_integrator(const fallback_integrator&) = delete;
  fallback_integrator& operator=(const fallback_integrator&) = delete;

  /// Continues every instance of the chunk that left with a status of this duty: `stiff`, `stiff_for_long`, or one that
  /// it is_rescued_from. Records the time and the method of the change, or that status as its exception. An instance with a snapshot
  /// continues from there; one without starts afresh. An instance that fails here, too, has its row among the chunk's
  /// exceptions. Cancelling `stop` ends the call early: instances under way get status `interrupted`. Any thread. The
  /// module is compiled on first use; meanwhile the waiting thread of TBB runs other tasks. Throws `error`.
  void carry_on(chunk_data& chunk, const cancellation& stop);

  /// Seconds spent compiling, valid once all chunks are done.
  double compile_seconds() const { return built_.seconds; }

 private:
  /// The instances that it takes over; each counts as interrupted until it has another terminal status.
  std::vector<long long> take_over(chunk_data& chunk) const;
  /// Waits for the module; the first call compiles it. Returns false if compilation was interrupted.
  bool is_ready(const cancellation& stop);
  void compile();
  void wait_until_compiled();
  /// The snapshots of the instances in `slots`; refers to `slots` and `from`.
  std::vector<abi::snapshot> snapshots_of(chunk_data& chunk, const std::vector<long long>& slots,
                                          const exception_list& from) const;
  /// Records in the chunk when each of `slots` changed, and to which method.
  void note_change(chunk_data& chunk, const std::vector<long long>& slots,
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
  std::mutex mutex_;  ///< guards the members below
  state state_ = state::idle;
  std::vector<std::function<void()>> waiting_;  ///< callbacks for the end of compilation
  std::exception_ptr failure_;
  std::thread compiler_;
};

/// The fallback integrators of a run, one after the other.
class fallback_integrators {
 public:
  /// Refers to the plan; the rest is as for one of them.
  fallback_integrators(const plan& p, const cancellation& stop, const std::function<void()>& tick = {});
  /// As fallback_integrator::carry_on.
  void carry_on(chunk_data& chunk, const cancellation& stop);
  /// Seconds spent compiling, valid once all chunks are done: of what instances are handed over to, and of rescue.
  double seconds_for_stiff() const { return stiff_.compile_seconds() + lasting_.compile_seconds(); }
  double seconds_for_rescue() const { return rescue_.compile_seconds() + last_.compile_seconds(); }

 private:
  const plan& plan_;
  fallback_integrator rescue_, stiff_, lasting_, last_;
};

}  // namespace saltus::host
