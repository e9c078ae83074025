// Long work called from Python: without the GIL, and ended by Ctrl-C. It depends on Python alone.
#pragma once

#include <chrono>
#include <condition_variable>
#include <exception>
#include <functional>
#include <mutex>
#include <optional>
#include <stop_token>
#include <thread>

#include <nanobind/nanobind.h>

namespace saltus::python {

/// Does `work` on a thread of its own. Meanwhile the calling thread checks for signals, as only Python's main thread may, and
/// calls `tick` every 50 ms with the GIL held. If Python raises an exception in either, a stop is requested, and the exception
/// is thrown once the work has ended; otherwise an exception of `work` is thrown.
inline void interruptible(std::stop_source& stop, const std::function<void()>& work,
                          const std::function<void()>& tick = {}) {
  constexpr auto between = std::chrono::milliseconds(50);
  std::mutex mutex;
  std::condition_variable has_ended;
  bool ended = false;
  std::exception_ptr failure;
  std::optional<nanobind::python_error> raised;
  const auto look = [&] {
    const nanobind::gil_scoped_acquire gil;
    try {
      if (PyErr_CheckSignals() != 0) throw nanobind::python_error();
      if (tick) tick();
    } catch (nanobind::python_error& e) {
      raised.emplace(std::move(e));
      stop.request_stop();
    }
  };
  {
    const nanobind::gil_scoped_release no_gil;
    std::thread worker([&] {
      try {
        work();
      } catch (...) { failure = std::current_exception(); }
      const std::lock_guard lock(mutex);
      ended = true;
      has_ended.notify_one();
    });
    for (std::unique_lock lock(mutex); !has_ended.wait_for(lock, between, [&] { return ended; });) {
      lock.unlock();
      if (!raised) look();
      lock.lock();
    }
    worker.join();
  }
  if (raised) throw nanobind::python_error(std::move(*raised));
  if (failure) std::rethrow_exception(failure);
}

}  // namespace saltus::python
