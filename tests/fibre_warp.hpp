// A warp of 32 lanes without a device: each lane is a fibre, which goes on until it must meet the others. What a warp's
// lanes do together in a kernel is done by 32 of them here, as on a device, where a lone_warp has nobody to meet.
#pragma once

#include <ucontext.h>

#include <array>
#include <csetjmp>
#include <functional>
#include <stdexcept>
#include <vector>

namespace saltus::test {

/// The fibres of one warp at a time.
class fibres {
 public:
  static constexpr int lanes = 32;

  /// Runs `lane_does(lane)` in 32 fibres to their end. Throws if some wait for one that has ended.
  void run(const std::function<void(int)>& lane_does) {
    lane_does_ = &lane_does;
    arrived_ = waiting_for_nobody_ = 0;
    ended_.fill(false);
    begun_.fill(false);
    current() = this;
    for (int i = 0; i < lanes; ++i) prepare(i);
    for (bool some = true; some;) {
      some = false;
      for (running_ = 0; running_ < lanes; ++running_) {
        if (ended_[running_]) continue;
        some = true;
        enter();
      }
      if (some && ++waiting_for_nobody_ > 4) throw std::logic_error("lanes of a warp wait for one that does not come");
    }
  }

  /// Waits until all lanes have come here.
  void meet() {
    const long mine = meetings_;
    if (++arrived_ == lanes) {
      arrived_ = waiting_for_nobody_ = 0;
      ++meetings_;
    }
    while (meetings_ == mine) leave();
  }
  /// What each lane has said, to all of them. There are two places to say it, so that none is overwritten before all have
  /// heard it.
  const std::array<int, lanes>& exchange(int lane, int number) {
    auto& said = said_[meetings_ % 2];
    said[lane] = number;
    meet();
    return said;
  }
  int rooms[2][2 * lanes] = {};

 private:
  static fibres*& current() {
    static fibres* f = nullptr;
    return f;
  }
  // A context is entered once. To and fro goes by jumps, which unlike swapcontext do not ask the kernel.
  [[gnu::noinline]] void prepare(int i) {
    stacks_[i].resize(std::size_t{1} << 18);
    getcontext(&contexts_[i]);
    contexts_[i].uc_stack.ss_sp   = stacks_[i].data();
    contexts_[i].uc_stack.ss_size = stacks_[i].size();
    contexts_[i].uc_link          = nullptr;
    makecontext(
        &contexts_[i], [] { current()->begin(); }, 0);
  }
  void begin() {
    (*lane_does_)(running_);
    ended_[running_] = true;
    _longjmp(outside_, 1);
  }
  [[gnu::noinline]] void enter() {
    if (_setjmp(outside_) != 0) return;
    if (begun_[running_]) _longjmp(inside_[running_], 1);
    begun_[running_] = true;
    setcontext(&contexts_[running_]);
  }
  [[gnu::noinline]] void leave() {
    if (_setjmp(inside_[running_]) == 0) _longjmp(outside_, 1);
  }

  const std::function<void(int)>*       lane_does_ = nullptr;
  std::array<std::vector<char>, lanes>  stacks_;
  std::array<ucontext_t, lanes>         contexts_;
  std::array<std::jmp_buf, lanes>       inside_;
  std::jmp_buf                          outside_;
  std::array<std::array<int, lanes>, 2> said_  = {};
  std::array<bool, lanes>               begun_ = {}, ended_ = {};
  int                                   running_ = 0, arrived_ = 0, waiting_for_nobody_ = 0;
  long                                  meetings_ = 0;
};

/// What device_warp (run_cuda.cuh) is to a kernel.
class fibre_warp {
 public:
  static constexpr int lanes = fibres::lanes;

  fibre_warp(fibres& all, int number, int lane, int threads)
      : all_(&all), number_(number), lane_(lane), threads_(threads) {}
  int      thread() const { return number_ * lanes + lane_; }
  int      threads() const { return threads_; }
  int      lane() const { return lane_; }
  unsigned ballot(bool yes) const {
    const auto& all  = all_->exchange(lane_, yes);
    unsigned    bits = 0;
    for (int i = 0; i < lanes; ++i) bits |= (all[i] != 0 ? 1u : 0u) << i;
    return bits;
  }
  int shuffle(int number, int from) const { return all_->exchange(lane_, number).at(static_cast<std::size_t>(from)); }
  int sum(int number) const {
    int r = 0;
    for (const int n : all_->exchange(lane_, number)) r += n;
    return r;
  }
  void meet() const { all_->meet(); }
  int* room(int list) const { return all_->rooms[list]; }
  template <class Integer>
  static Integer add(Integer& to, Integer number) {
    const Integer before = to;
    to += number;
    return before;
  }
  template <class Integer>
  Integer reserve(Integer& length) const {
    return length++;
  }

 private:
  fibres* all_;
  int     number_, lane_, threads_;
};

}  // namespace saltus::test
