// A token that stops work: the caller keeps one and cancels it, the worker holds a copy and polls it.
#pragma once

#include <atomic>
#include <memory>

namespace saltus::host {

/// A token is cancelled once, for good. Copies are the same token. Any thread or signal handler may poll or cancel it:
/// the flag is a lock-free atomic.
class cancellation {
 public:
  cancellation() : state_(std::make_shared<state>()) {}

  /// A new token that is also cancelled when this one is.
  cancellation within() const {
    cancellation inner;
    inner.state_->outer = state_;
    return inner;
  }

  void cancel() const noexcept { state_->cancelled.store(true, std::memory_order_relaxed); }
  bool is_cancelled() const noexcept {
    for (const state* s = state_.get(); s != nullptr; s = s->outer.get())
      if (s->cancelled.load(std::memory_order_relaxed)) return true;
    return false;
  }
  explicit operator bool() const noexcept { return is_cancelled(); }

 private:
  struct state {
    std::atomic<bool> cancelled{false};
    std::shared_ptr<state> outer;
    static_assert(std::atomic<bool>::is_always_lock_free, "a signal handler must not wait for a lock");
  };
  std::shared_ptr<state> state_;
};

}  // namespace saltus::host
