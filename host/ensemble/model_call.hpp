// Calls into a compiled module: what a model's functions do there must not take the program along. They may throw, crash,
// call exit, loop for ever, or be so slow that one instance holds up a run. Knows chunks and signals, no backend.
//
// A module marks every instance that it begins as `interrupted` until it has ended (kernels/run/cpu.hpp). So the host knows who was
// under way when a call does not return as it should: these are tried again, one by one, which shows who it was. The
// others, whose bits do not depend on who is beside them, end as they would have ended.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "abi/module.hpp"
#include "base/cancellation.hpp"
#include "base/error.hpp"
#include "ensemble/chunk.hpp"

namespace saltus::host {

/// A function of the model crashed, or called exit. Memory may be damaged: the run should end.
struct model_crash : error {
  model_crash(int number, std::vector<std::int64_t> who, std::vector<const void*> where)
      : error(exit_failure, "the model crashed"), signal(number), instances(std::move(who)), trace(std::move(where)) {}
  int signal;                           ///< 0: exit was called
  std::vector<std::int64_t> instances;  ///< ids of those that were under way
  std::vector<const void*> trace;       ///< addresses of the calls, the innermost first; see trace_crashes
};

/// For a program that has the process for itself: from now on a model that crashes, calls exit or does not come back is left.
/// Listens to signals and to exit. Without it what crashes takes the process along, and what does not come back is waited
/// for; what a model throws is caught either way.
void guard_process();
/// From now on a crash is traced, which may make things worse: for a process that was made for this.
void trace_crashes();
/// Has a model called exit? Then this program must not: what exit does has been begun.
bool a_model_called_exit();
/// Where a model is being called on this thread, its call ends here as one that has called exit; else returns.
void end_model_that_exits();

/// What a call integrates, and where its reports go. Refers to all of them.
struct module_call {
  const abi::module& module;
  const abi::settings& settings;
  chunk_data& chunk;
  event_log& log;
  exception_list* exceptions;                         ///< null: not wanted
  const std::function<bool(std::int64_t)>& finished;  ///< as of backend::integrate
  double time_limit;                                  ///< seconds for an instance; 0: none
};

/// Integrates all instances of the chunk. Throws model_crash.
void integrate(const module_call& call, abi::usage& used);
/// Continues some of them, that have been under way before; `slots` says which, and their status must be not_run. Throws
/// model_crash.
void resume(const module_call& call, abi::usage& used, std::span<const long long> slots,
            std::span<const abi::snapshot> from);

/// An instance, and for how long it has been under way, in seconds.
struct slow_instance {
  std::int64_t id;
  double seconds;
};
/// Those that are under way for at least so long, as a `call_watch` has seen them; the slowest first.
std::vector<slow_instance> slow_instances(double at_least);

/// While it lives, calls on all threads are watched: instances beyond their time limit are told to end, and a call that
/// does not come back is left, once an instance has no time left or some seconds after `stop` was cancelled.
class call_watch {
 public:
  /// `tick` is called now and then, from a thread of its own.
  call_watch(const cancellation& stop, std::function<void()> tick);
  ~call_watch();
  call_watch(const call_watch&) = delete;
  call_watch& operator=(const call_watch&) = delete;

 private:
  struct state;
  std::unique_ptr<state> state_;
};

}  // namespace saltus::host
