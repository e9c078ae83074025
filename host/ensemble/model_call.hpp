// Calls a compiled module and protects the program from the model's functions. These may throw, crash, call exit, loop
// for ever, or be so slow that one instance holds up a run. It depends on chunks and signals, not on backends.
//
// A module marks every instance that it begins as `interrupted` until it has ended (kernels/run/on_cpu.hpp). If a call
// does not return normally, the host therefore knows the instances under way. It tries these again one by one, which
// shows the culprit. The other instances end as they would have anyway, since their bits do not depend on their
// neighbours.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "abi/module.hpp"
#include "base/cancellation.hpp"
#include "base/error.hpp"
#include "ensemble/chunk_data.hpp"

namespace saltus::host {

/// A function of the model crashed or called exit. Memory may be damaged: the run should end.
struct model_crash : error {
  model_crash(int number, std::vector<std::int64_t> who, std::vector<const void*> where)
      : error(exit_failure, "the model crashed"), signal(number), instances(std::move(who)), trace(std::move(where)) {}
  int signal;                           ///< 0: exit was called
  std::vector<std::int64_t> instances;  ///< ids of the instances under way
  std::vector<const void*> trace;       ///< return addresses, the innermost first; see trace_crashes
};

/// For a program that owns its process: from now on the host abandons a call if the model crashes, calls exit or does
/// not return. It handles signals and exit for that. Without guard_process a crash ends the process, and a call that
/// does not return is waited for; exceptions of a model are caught in both cases.
void guard_process();
/// From now on a crash records its trace, which is unsafe in a signal handler: only for a process made for this.
void trace_crashes();
/// Has a model called exit? Then this program must not call it: exit handlers have already begun.
bool a_model_called_exit();
/// If a model is being called on this thread, ends the call as if the model had called exit; else returns.
void end_model_that_exits();

/// Inputs of a call and the targets of its reports. Refers to all of them.
struct module_call {
  const abi::module& module;
  const abi::settings& settings;
  chunk_data& chunk;
  event_log& log;
  exception_list* exceptions;                         ///< null: not recorded
  const std::function<bool(std::int64_t)>& finished;  ///< as for backend::integrate
  double time_limit;                                  ///< seconds per instance; 0: none
};

/// Integrates all instances of the chunk. Throws model_crash.
void integrate(const module_call& call, abi::usage& used);
/// Continues the instances in `slots`, which have been under way before; their status must be not_run. Throws
/// model_crash.
void resume(const module_call& call, abi::usage& used, std::span<const long long> slots,
            std::span<const abi::snapshot> from);

/// An instance and the seconds since it began.
struct slow_instance {
  std::int64_t id;
  double seconds;
};
/// Instances under way for at least `at_least` seconds, as seen by a `call_watch`; the slowest first.
std::vector<slow_instance> slow_instances(double at_least);

/// While it lives, calls on all threads are watched. Instances beyond their time limit are told to end. A call that
/// does not return is abandoned when an instance has no time left, or some seconds after `stop` was cancelled.
class call_watch {
 public:
  /// `tick` is called at intervals from a separate thread.
  call_watch(const cancellation& stop, std::function<void()> tick);
  ~call_watch();
  call_watch(const call_watch&) = delete;
  call_watch& operator=(const call_watch&) = delete;

 private:
  struct state;
  std::unique_ptr<state> state_;
};

}  // namespace saltus::host
