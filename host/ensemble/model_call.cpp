#include "ensemble/model_call.hpp"

#include <execinfo.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <exception>
#include <map>
#include <mutex>
#include <optional>
#include <stop_token>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include "abi/status.hpp"

namespace saltus::host {

namespace {

using clock = std::chrono::steady_clock;

double seconds_now() { return std::chrono::duration<double>(clock::now().time_since_epoch()).count(); }

constexpr unsigned char under_way = static_cast<unsigned char>(status::interrupted);
constexpr unsigned char not_begun = static_cast<unsigned char>(status::not_run);

/// Seconds after `stop` within which a call should return by itself.
constexpr double patience = 2.0;

// ---------------------------------------------------------------------------------------------------- a call under way

enum class ending { returned, threw, crashed, exited, left };

/// One call, on the stack of its thread.
struct frame {
  // For the signal handlers of this thread:
  sigjmp_buf back;
  volatile sig_atomic_t in_model = 0;  ///< 0: in a callback, out of which no handler may jump
  volatile sig_atomic_t signal = 0;
  std::array<void*, 64> trace{};
  volatile int depth = 0;
  std::atomic<bool> is_to_be_left = false;

  // For the watch:
  pthread_t thread{};
  const chunk_data* chunk = nullptr;
  std::span<const long long> slots;  ///< of the chunk; empty: all
  double time_limit = 0;
  std::atomic<double> heard = 0;  ///< time of its last report
  /// slots under way and the time at which each was first seen; used by the watch alone
  std::map<std::int64_t, double> since;
  std::mutex giving_orders;
  std::vector<std::int64_t> to_end;  ///< slots whose time limit has passed
  std::atomic<bool> has_orders = false;
};

/// Signal handlers read it, so it must not need an allocation.
__attribute__((tls_model("initial-exec"))) thread_local frame* current = nullptr;

std::mutex frames_mutex;
std::vector<frame*> frames;

// ------------------------------------------------------------------------------------------------------------- signals

constexpr std::array<int, 5> crashes = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};

int leave_signal() { return SIGRTMIN + 3; }

std::atomic<bool> is_guarded = false, is_traced = false, exit_was_called = false;

/// Inlined, so that the instruction's address follows those of the handler and its caller.
__attribute__((always_inline)) inline void trace(frame& f) {
  if (is_traced) f.depth = ::backtrace(f.trace.data(), static_cast<int>(f.trace.size()));
}

extern "C" void on_crash(int number) {
  frame* f = current;
  if (f == nullptr || !f->in_model) {
    // Not in the model: do as if there were no handler.
    ::signal(number, SIG_DFL);
    ::raise(number);
    return;
  }
  f->in_model = 0;
  f->signal = number;
  trace(*f);
  ::siglongjmp(f->back, static_cast<int>(ending::crashed));
}

extern "C" void on_leave(int) {
  frame* f = current;
  if (f == nullptr || !f->in_model || !f->is_to_be_left) return;
  f->in_model = 0;
  ::siglongjmp(f->back, static_cast<int>(ending::left));
}

/// A call of exit by a model does not end the run. main then leaves without exit (a_model_called_exit).
extern "C" void on_exit_called() {
  frame* f = current;
  if (f == nullptr || !f->in_model) return;
  f->in_model = 0;
  exit_was_called = true;
  trace(*f);
  ::siglongjmp(f->back, static_cast<int>(ending::exited));
}

void install_handlers() {
  struct sigaction action {};
  ::sigemptyset(&action.sa_mask);
  action.sa_flags = SA_ONSTACK;
  action.sa_handler = on_crash;
  for (const int number : crashes) ::sigaction(number, &action, nullptr);
  struct sigaction leaving {};
  ::sigemptyset(&leaving.sa_mask);
  leaving.sa_flags = SA_RESTART | SA_ONSTACK;
  leaving.sa_handler = on_leave;
  ::sigaction(leave_signal(), &leaving, nullptr);
}

/// Called before the first call of a module, not earlier: exit destroys later objects before it calls the handler.
void listen_to_exit() {
  static const int once = std::atexit(on_exit_called);
  static_cast<void>(once);
}

/// Signal handlers need a stack of their own, since endless recursion uses up that of the thread.
class signal_stack {
 public:
  signal_stack() : memory_(new char[size]) {
    stack_t mine{};
    mine.ss_sp = memory_.get();
    mine.ss_size = size;
    ::sigaltstack(&mine, &before_);
  }
  ~signal_stack() { ::sigaltstack(&before_, nullptr); }
  signal_stack(const signal_stack&) = delete;
  signal_stack& operator=(const signal_stack&) = delete;

 private:
  static constexpr std::size_t size = std::size_t{1} << 16;
  std::unique_ptr<char[]> memory_;
  stack_t before_{};
};

void give_thread_a_signal_stack() {
  thread_local const signal_stack stack;
  static_cast<void>(stack);
}

// --------------------------------------------------------------------------------------------------------- one attempt

struct attempt_end {
  ending how = ending::returned;
  std::string what;  ///< message of an exception
};

/// State for the callbacks of one attempt.
struct callbacks {
  const module_call& call;
  frame& here;
  std::exception_ptr host_error;  ///< thrown by host code; it must not pass through a module
  std::int64_t reported = 0;

  /// Runs host code, during which no handler jumps.
  template <class What>
  void of_host(What&& what) {
    here.in_model = 0;
    try {
      what();
    } catch (...) {
      if (!host_error) host_error = std::current_exception();
    }
    here.in_model = 1;
  }

  int progress(long long some) {
    int answer = abi::stop;
    of_host([&] {
      here.heard = seconds_now();
      reported += some;
      if (host_error || !call.finished(some) || here.is_to_be_left) return;
      answer = here.has_orders ? end_overdue() : static_cast<int>(abi::go_on);
    });
    return answer;
  }
  int end_overdue() {
    const std::lock_guard lock(here.giving_orders);
    here.has_orders = false;
    for (const auto slot : std::exchange(here.to_end, {}))
      if (auto& s = call.chunk.status[static_cast<std::size_t>(slot)]; s == under_way)
        s = static_cast<unsigned char>(status::time_limit);
    return abi::end_some;
  }

  abi::sink sink() {
    return {this,
            [](void* c, long long slot, double t, int guard, const double* before, const double* after) {
              auto& self = *static_cast<callbacks*>(c);
              self.of_host([&] { self.call.log.append(slot, t, guard, before, after); });
            },
            [](void* c, long long slot, const abi::snapshot* last) {
              auto& self = *static_cast<callbacks*>(c);
              if (self.call.exceptions)
                self.of_host([&] { self.call.exceptions->append(slot, *last, self.call.module); });
            },
            [](void* c, long long some) { return static_cast<callbacks*>(c)->progress(some); }};
  }
};

/// Registers a frame with the watch.
class registered {
 public:
  registered(frame& f, const module_call& call, std::span<const long long> slots) : frame_(f) {
    f.thread = ::pthread_self();
    f.chunk = &call.chunk;
    f.slots = slots;
    f.time_limit = call.time_limit;
    f.heard = seconds_now();
    const std::lock_guard lock(frames_mutex);
    frames.push_back(&f);
  }
  ~registered() {
    const std::lock_guard lock(frames_mutex);
    frames.erase(std::find(frames.begin(), frames.end(), &frame_));
  }
  registered(const registered&) = delete;
  registered& operator=(const registered&) = delete;

 private:
  frame& frame_;
};

/// Calls `what(slot, status)` for some slots of a chunk, or all. Another thread may write a status meanwhile, as a
/// single byte.
template <class What>
void for_each_status(const chunk_data& chunk, std::span<const long long> slots, What&& what) {
  const auto tell = [&](std::int64_t slot) {
    what(slot, __atomic_load_n(&chunk.status[static_cast<std::size_t>(slot)], __ATOMIC_RELAXED));
  };
  for (const long long slot : slots) tell(slot);
  for (std::int64_t slot = 0; slots.empty() && slot < chunk.count; ++slot) tell(slot);
}

std::int64_t ended(const chunk_data& chunk, std::span<const long long> slots) {
  std::int64_t n = 0;
  for_each_status(chunk, slots, [&](std::int64_t, unsigned char s) { n += s != under_way && s != not_begun; });
  return n;
}

/// A separate function, so that no object with a destructor lies between the jump target and the model.
__attribute__((noinline)) ending enter(frame& here, const std::function<void()>& call, std::string& what) {
  const int jumped = ::sigsetjmp(here.back, 1);
  if (jumped != 0) {
    current = nullptr;
    return static_cast<ending>(jumped);
  }
  ending how = ending::returned;
  current = &here;
  here.in_model = 1;
  try {
    call();
  } catch (const std::exception& e) {
    here.in_model = 0;
    how = ending::threw;
    what = e.what();
  } catch (...) {
    here.in_model = 0;
    how = ending::threw;
    what = "something that is no std::exception";
  }
  here.in_model = 0;
  current = nullptr;
  return how;
}

/// Integrates all instances (no slots), or continues some. Throws model_crash, and exceptions of the host.
attempt_end attempt(const module_call& call, abi::usage& used, std::span<const long long> slots,
                    std::span<const abi::snapshot> from) {
  if (is_guarded) {
    give_thread_a_signal_stack();
    listen_to_exit();
  }
  frame here;
  callbacks reports{call, here, nullptr, 0};
  const abi::sink sink = reports.sink();
  const abi::batch batch = call.chunk.batch();
  const abi::results results = call.chunk.results();
  const std::function<void()> run = [&] {
    if (slots.empty()) call.module.run(&call.settings, &batch, &results, &sink, &used);
    else
      call.module.resume(&call.settings, &batch, &results, &sink, &used, static_cast<long long>(from.size()),
                         from.data());
  };
  const std::int64_t before = ended(call.chunk, slots);
  attempt_end end;
  {
    const registered watched(here, call, slots);
    end.how = enter(here, run, end.what);
  }
  if (reports.host_error) std::rethrow_exception(reports.host_error);
  if (end.how == ending::exited) std::atexit(on_exit_called);  // exit has removed the handler
  // If the signal to leave arrived in a callback, the call has returned by itself.
  if (end.how == ending::returned && here.is_to_be_left) end.how = ending::left;
  // Counts the instances that have ended since the last report.
  if (end.how != ending::returned) call.finished(ended(call.chunk, slots) - before - reports.reported);
  if (end.how == ending::crashed || end.how == ending::exited) {
    std::vector<std::int64_t> who;
    for_each_status(call.chunk, slots, [&](std::int64_t slot, unsigned char s) {
      if (s == under_way) who.push_back(call.chunk.first_id + slot);
    });
    throw model_crash(end.how == ending::exited ? 0 : static_cast<int>(here.signal), std::move(who),
                      std::vector<const void*>(here.trace.begin(), here.trace.begin() + here.depth));
  }
  return end;
}

// ------------------------------------------------------------------------------------------------ finding the culprit

/// An instance to integrate.
struct entry {
  long long slot;
  abi::snapshot from;  ///< reals null: from the beginning
};

/// Integrates the remaining instances after a call has not returned normally.
class second_try {
 public:
  second_try(const module_call& call, abi::usage& used, std::vector<entry> entries)
      : call_(call), used_(used), entries_(std::move(entries)) {}

  void run() {
    for (;;) {
      for (const entry& e : with_status(under_way)) {
        if (!call_.finished(0)) return;
        alone(e);
      }
      const auto fresh = with_status(not_begun);
      if (fresh.empty() || !call_.finished(0)) return;
      if (attempt_of(fresh).how == ending::returned) return;
    }
  }

 private:
  std::vector<entry> with_status(unsigned char wanted) const {
    std::vector<entry> some;
    for (const entry& e : entries_)
      if (call_.chunk.status[static_cast<std::size_t>(e.slot)] == wanted) some.push_back(e);
    return some;
  }

  attempt_end attempt_of(const std::vector<entry>& some) const {
    std::vector<long long> slots;
    std::vector<abi::snapshot> from;
    for (const entry& e : some) {
      slots.push_back(e.slot);
      from.push_back(e.from);
      if (e.from.reals == nullptr) from.back().integers = &e.slot;  // the slot is all that the module needs
    }
    return attempt(call_, used_, slots, from);
  }

  /// Integrates one instance alone. If it does not return, it was the culprit before, and ends here.
  void alone(const entry& e) {
    const auto slot = static_cast<std::size_t>(e.slot);
    undo(e);
    call_.chunk.status[slot] = not_begun;
    const attempt_end end = attempt_of({e});
    if (end.how == ending::returned) return;
    undo(e);
    // The call was abandoned because the run ends: the instance stays interrupted.
    if (end.how == ending::left && (call_.time_limit <= 0 || !call_.finished(0))) return;
    call_.chunk.status[slot] =
        static_cast<unsigned char>(end.how == ending::threw ? status::model_threw : status::time_limit);
    if (end.how == ending::threw) note(e.slot, end.what);
    call_.finished(1);
  }

  /// Keeps the first message of a chunk.
  void note(long long slot, const std::string& what) const {
    static std::mutex noting;
    const std::lock_guard lock(noting);
    if (call_.chunk.trouble.empty())
      call_.chunk.trouble = fmt::format("instance {}: {}", call_.chunk.first_id + slot, what);
  }

  /// Removes the traces of an attempt. Samples before the point of continuation stay.
  void undo(const entry& e) const {
    std::vector<bool> which(call_.chunk.status.size(), false);
    which[static_cast<std::size_t>(e.slot)] = true;
    if (e.from.reals == nullptr) call_.chunk.forget_results({e.slot});
    call_.log.forget(which);
    if (call_.exceptions) call_.exceptions->take(which);
  }

  const module_call& call_;
  abi::usage& used_;
  std::vector<entry> entries_;
};

}  // namespace

void guard_process() {
  if (!is_guarded.exchange(true)) install_handlers();
}

void trace_crashes() {
  void* first = nullptr;
  ::backtrace(&first, 1);  // loads the library for backtraces, which a signal handler must not do
  is_traced = true;
}

bool a_model_called_exit() { return exit_was_called; }
void end_model_that_exits() { on_exit_called(); }

void integrate(const module_call& call, abi::usage& used) {
  if (attempt(call, used, {}, {}).how == ending::returned) return;
  std::vector<entry> all;
  for (std::int64_t slot = 0; slot < call.chunk.count; ++slot) all.push_back({slot, {nullptr, nullptr}});
  second_try(call, used, std::move(all)).run();
}

void resume(const module_call& call, abi::usage& used, std::span<const long long> slots,
            std::span<const abi::snapshot> from) {
  if (attempt(call, used, slots, from).how == ending::returned) return;
  std::vector<entry> all;
  for (std::size_t k = 0; k < slots.size(); ++k) all.push_back({slots[k], from[k]});
  second_try(call, used, std::move(all)).run();
}

// ---------------------------------------------------------------------------------------------------------- the watch

namespace {

void look_at(frame& f, double now) {
  std::map<std::int64_t, double> still;
  for_each_status(*f.chunk, f.slots, [&](std::int64_t slot, unsigned char s) {
    if (s != under_way) return;
    const auto seen = f.since.find(slot);
    still[slot] = seen == f.since.end() ? now : seen->second;
  });
  f.since = std::move(still);
}

void leave(frame& f) {
  f.is_to_be_left = true;
  if (is_guarded) ::pthread_kill(f.thread, leave_signal());
}

void enforce(frame& f, double now, std::optional<double> stopped_at) {
  // Signals again if the first signal arrived in a callback.
  if (stopped_at && now - *stopped_at > patience && now - f.heard > patience) leave(f);
  if (!(f.time_limit > 0)) return;
  if (now - f.heard > f.time_limit) leave(f);
  const std::lock_guard lock(f.giving_orders);
  for (const auto& [slot, since] : f.since)
    if (now - since > f.time_limit) f.to_end.push_back(slot), f.has_orders = true;
}

}  // namespace

std::vector<slow_instance> slow_instances(double at_least) {
  const double now = seconds_now();
  std::vector<slow_instance> slow;
  const std::lock_guard lock(frames_mutex);
  for (const frame* f : frames)
    for (const auto& [slot, since] : f->since)
      if (now - since >= at_least) slow.push_back({f->chunk->first_id + slot, now - since});
  std::sort(slow.begin(), slow.end(), [](const auto& a, const auto& b) { return a.seconds > b.seconds; });
  return slow;
}

struct call_watch::state {
  std::mutex mutex;
  std::condition_variable_any changed;
  std::jthread thread;
};

call_watch::call_watch(const cancellation& stop, std::function<void()> tick) : state_(std::make_unique<state>()) {
  state_->thread = std::jthread([this, &stop, tick = std::move(tick)](const std::stop_token& over) {
    constexpr auto pause = std::chrono::milliseconds(50);
    std::optional<double> stopped_at;
    std::unique_lock lock(state_->mutex);
    while (!state_->changed.wait_for(lock, over, pause, [] { return false; }) && !over.stop_requested()) {
      const double now = seconds_now();
      if (stop && !stopped_at) stopped_at = now;
      {
        const std::lock_guard looking(frames_mutex);
        for (frame* f : frames) {
          look_at(*f, now);
          enforce(*f, now, stopped_at);
        }
      }
      tick();
    }
  });
}
call_watch::~call_watch() = default;

}  // namespace saltus::host
