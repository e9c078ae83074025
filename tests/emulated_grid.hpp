// A grid of CUDA threads without a device. device_warp (run/on_cuda.cuh) and lane_of_warp (statistics/cuda_statistics.cuh) are compiled
// unchanged, over the CUDA functions that are defined here; each thread is a fibre. If threads meet or add to shared memory,
// a thread of any warp and block, chosen at random, continues, so results that depend on the order of threads show up. Uses
// that CUDA forbids are errors here, where a device would only behave wrongly:
//
//   - lanes that meet in different functions, with different masks, or wait for one that has ended;
//   - a shuffle from a lane that does not take part;
//   - an atomic addition to a thread's own memory, or to an address that is not aligned.
//
// Include this before the kernels.
#pragma once

#include <ucontext.h>

#include <array>
#include <csetjmp>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <random>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#define SALTUS_EMULATED_GRID

namespace saltus::test {

class grid {
 public:
  static constexpr int lanes = 32;

  explicit grid(unsigned seed = 1) : random_(seed) {}

  /// Runs `body` in all threads of a grid to their end. Throws std::logic_error if they do what CUDA forbids.
  void run(int blocks, int block, const std::function<void()>& body) {
    body_ = &body;
    block_ = block;
    blocks_ = blocks;
    failure_ = {};
    threads_.resize(static_cast<std::size_t>(blocks * block));
    shared_.assign(static_cast<std::size_t>(blocks), std::vector<char>(shared_size(), '\x5a'));
    resident_ = -1;
    current() = this;
    live_.clear();
    for (int i = 0; i < blocks * block; ++i) {
      prepare(i);
      live_.push_back(i);
    }
    while (!live_.empty()) {
      const std::size_t pick = choose();
      running_ = live_[pick];
      if (at(running_).waits == at_activemask) release_together(running_);
      bring_in(running_ / block_);
      enter();
      if (!failure_.empty()) throw std::logic_error(failure_);
      if (at(running_).ended) {
        live_[pick] = live_.back();
        live_.pop_back();
      }
    }
  }

  /// The running grid.
  static grid*& current() {
    static grid* g = nullptr;
    return g;
  }

  // ---- building blocks of the CUDA functions

  int thread_in_block() const { return running_ % block_; }
  int block_number() const { return running_ / block_; }
  int block_size() const { return block_; }
  int blocks() const { return blocks_; }

  /// Returns the value that lane `from` has brought, once all lanes of `mask` have reached the same function; each lane brings a
  /// value.
  template <class T>
  T meet(const char* function, unsigned mask, T mine, int from) {
    static_assert(sizeof(T) <= sizeof(std::uint64_t), "of four or eight bytes");
    std::uint64_t bits = 0;
    std::memcpy(&bits, &mine, sizeof mine);
    const auto& all = come(function, mask, bits);
    if (from < 0 || from >= lanes || !(mask >> from & 1u))
      fail(std::string(function) + ": from lane " + std::to_string(from) + ", which does not take part");
    T theirs;
    std::memcpy(&theirs, &all[static_cast<std::size_t>(from)], sizeof theirs);
    return theirs;
  }
  unsigned ballot(unsigned mask, bool yes) {
    const auto& all = come("__ballot_sync", mask, yes);
    unsigned bits = 0;
    for (int i = 0; i < lanes; ++i)
      bits |= (mask >> i & 1u) != 0 && all[static_cast<std::size_t>(i)] != 0 ? 1u << i : 0u;
    return bits;
  }
  void meet(const char* function, unsigned mask) { come(function, mask, 0); }

  /// Some of the lanes at this place of the program, this one among them: a device guarantees no more.
  unsigned activemask(const void* place) {
    thread& me = at(running_);
    me.place = place;
    me.waits = at_activemask;
    leave();
    seen_together.insert(__builtin_popcount(me.together));
    return me.together;
  }

  template <class T>
  T add(T* to, T number) {
    if (reinterpret_cast<std::uintptr_t>(to) % sizeof(T) != 0) fail("atomicAdd: the address is not aligned");
    for (const thread& t : threads_)
      if (const auto offset = reinterpret_cast<std::uintptr_t>(to) - reinterpret_cast<std::uintptr_t>(t.stack.get());
          offset < stack_size)
        fail("atomicAdd: to a thread's own memory");
    leave();  // another thread may come first
    const T before = *to;
    *to = static_cast<T>(before + number);
    return before;
  }

  /// Numbers of lanes that have met at __activemask.
  std::set<int> seen_together;

 private:
  static constexpr std::size_t stack_size = std::size_t{1} << 18;

  enum waiting { for_nobody, for_others, at_activemask };
  struct thread {
    std::unique_ptr<char[]> stack;
    ucontext_t context;
    std::jmp_buf inside;
    bool begun = false, ended = false;
    waiting waits = for_nobody;
    const char* function = nullptr;  ///< the function in which it waits for others
    unsigned mask = 0;
    std::uint64_t brought = 0;
    const void* place = nullptr;  ///< the place at which it asks for the active lanes
    unsigned together = 0;
    std::array<std::uint64_t, lanes> heard = {};
  };
  thread& at(int i) { return threads_[static_cast<std::size_t>(i)]; }

  // Each context is entered once. Later switches are jumps, which unlike swapcontext need no system call.
  [[gnu::noinline]] void prepare(int i) {
    thread& t = at(i);
    if (!t.stack) t.stack.reset(new char[stack_size]);
    t.begun = t.ended = false;
    t.waits = for_nobody;
    getcontext(&t.context);
    t.context.uc_stack.ss_sp = t.stack.get();
    t.context.uc_stack.ss_size = stack_size;
    t.context.uc_link = nullptr;
    makecontext(
        &t.context, [] { current()->begin(); }, 0);
  }
  void begin() {
    (*body_)();
    thread& me = at(running_);
    me.ended = true;
    for (int i = 0; i < lanes; ++i)
      if (const int other = neighbour(i);
          other >= 0 && at(other).waits == for_others && (at(other).mask >> lane() & 1u))
        failure_ = std::string(at(other).function) + ": a lane waits for one that has ended";
    _longjmp(outside_, 1);
  }
  [[gnu::noinline]] void enter() {
    if (_setjmp(outside_) != 0) return;
    thread& t = at(running_);
    if (t.begun) _longjmp(t.inside, 1);
    t.begun = true;
    setcontext(&t.context);
  }
  [[gnu::noinline]] void leave() {
    if (_setjmp(at(running_).inside) == 0) _longjmp(outside_, 1);
  }
  [[noreturn]] void fail(const std::string& what) {
    failure_ = what;
    _longjmp(outside_, 1);
  }

  int lane() const { return running_ % block_ % lanes; }
  /// Index of the thread that is lane `which` of this thread's warp; -1 if the warp has no such lane.
  int neighbour(int which) const {
    const int in_block = running_ % block_ / lanes * lanes + which;
    return in_block < block_ ? running_ / block_ * block_ + in_block : -1;
  }

  /// Chooses a thread that can continue; returns its index in live_.
  std::size_t choose() {
    const std::size_t first = random_() % live_.size();
    for (std::size_t i = 0; i < live_.size(); ++i) {
      const std::size_t pick = (first + i) % live_.size();
      if (at(live_[pick]).waits != for_others) return pick;
    }
    throw std::logic_error("all threads wait for each other");
  }

  const std::array<std::uint64_t, lanes>& come(const char* function, unsigned mask, std::uint64_t brought) {
    thread& me = at(running_);
    if (!(mask >> lane() & 1u)) fail(std::string(function) + ": a lane that is not in its own mask");
    me.function = function, me.mask = mask, me.brought = brought;
    bool all_here = true;
    for (int i = 0; i < lanes; ++i) {
      if (!(mask >> i & 1u) || i == lane()) continue;
      const int other = neighbour(i);
      if (other < 0 || at(other).ended) fail(std::string(function) + ": a lane waits for one that has ended");
      // Other lanes of the mask may meet among themselves first.
      const thread& t = at(other);
      const bool same = t.mask == mask && std::strcmp(t.function, function) == 0;
      if (t.waits == for_others && (t.mask >> lane() & 1u) && !same)
        fail(std::string("lanes of a warp meet in ") + function + " and " + t.function +
             (t.mask != mask ? ", with different masks" : ""));
      all_here = all_here && t.waits == for_others && same;
    }
    me.waits = for_others;
    if (all_here) {
      std::array<std::uint64_t, lanes> said = {};
      for (int i = 0; i < lanes; ++i)
        if (mask >> i & 1u) said[static_cast<std::size_t>(i)] = at(neighbour(i)).brought;
      for (int i = 0; i < lanes; ++i)
        if (mask >> i & 1u) at(neighbour(i)).heard = said, at(neighbour(i)).waits = for_nobody;
    }
    leave();
    return at(running_).heard;
  }

  /// Releases lanes that ask at the same place together, in groups of random size.
  void release_together(int asks) {
    std::vector<int> group = {asks};
    for (int i = 0; i < lanes; ++i)
      if (const int other = neighbour(i); other >= 0 && other != asks && !at(other).ended &&
                                          at(other).waits == at_activemask && at(other).place == at(asks).place &&
                                          random_() % 4 != 0)
        group.push_back(other);
    unsigned mask = 0;
    for (const int i : group) mask |= 1u << (i % block_ % lanes);
    for (const int i : group) at(i).together = mask, at(i).waits = for_nobody;
  }

  /// Brings in the shared memory of a block in place of another block's.
  void bring_in(int block) {
    if (block == resident_ || shared_size() == 0) return;
    if (resident_ >= 0) std::memcpy(shared_[static_cast<std::size_t>(resident_)].data(), shared_begin(), shared_size());
    std::memcpy(shared_begin(), shared_[static_cast<std::size_t>(block)].data(), shared_size());
    resident_ = block;
  }
  static char* shared_begin();
  static std::size_t shared_size();

  std::minstd_rand random_;
  const std::function<void()>* body_ = nullptr;
  int block_ = 0, blocks_ = 0, running_ = 0, resident_ = -1;
  std::vector<thread> threads_;
  std::vector<int> live_;
  std::vector<std::vector<char>> shared_;
  std::jmp_buf outside_;
  std::string failure_;
};

}  // namespace saltus::test

// ---- the CUDA functions

// Variables declared __shared__ lie in a section of their own, whose bounds the linker provides.
extern "C" char __start_saltus_shared[] __attribute__((weak));
extern "C" char __stop_saltus_shared[] __attribute__((weak));
inline char* saltus::test::grid::shared_begin() { return __start_saltus_shared; }
inline std::size_t saltus::test::grid::shared_size() {
  return static_cast<std::size_t>(__stop_saltus_shared - __start_saltus_shared);
}

#define __device__
#define __forceinline__ inline __attribute__((always_inline))
#define __shared__ static __attribute__((section("saltus_shared")))

struct emulated_index {
  unsigned x;
};
#define threadIdx (emulated_index{static_cast<unsigned>(saltus::test::grid::current()->thread_in_block())})
#define blockIdx (emulated_index{static_cast<unsigned>(saltus::test::grid::current()->block_number())})
#define blockDim (emulated_index{static_cast<unsigned>(saltus::test::grid::current()->block_size())})
#define gridDim (emulated_index{static_cast<unsigned>(saltus::test::grid::current()->blocks())})

inline int __popc(unsigned x) { return __builtin_popcount(x); }
inline int __ffs(int x) { return __builtin_ffs(x); }
inline unsigned __ballot_sync(unsigned mask, int yes) { return saltus::test::grid::current()->ballot(mask, yes != 0); }
inline void __syncwarp(unsigned mask = ~0u) { saltus::test::grid::current()->meet("__syncwarp", mask); }
template <class T>
T __shfl_sync(unsigned mask, T mine, int from) {
  return saltus::test::grid::current()->meet("__shfl_sync", mask, mine, from);
}
template <class T>
T __shfl_xor_sync(unsigned mask, T mine, int distance) {
  const int lane = saltus::test::grid::current()->thread_in_block() % 32;
  return saltus::test::grid::current()->meet("__shfl_xor_sync", mask, mine, lane ^ distance);
}
/// A lane beyond the last one returns its own value.
template <class T>
T __shfl_down_sync(unsigned mask, T mine, int distance) {
  const int lane = saltus::test::grid::current()->thread_in_block() % 32;
  return saltus::test::grid::current()->meet("__shfl_down_sync", mask, mine,
                                             lane + distance < 32 ? lane + distance : lane);
}
/// The address of the call is the place: callers must be inlined into the kernel.
[[gnu::noinline]] inline unsigned __activemask() {
  return saltus::test::grid::current()->activemask(__builtin_return_address(0));
}
inline int atomicAdd(int* to, int number) { return saltus::test::grid::current()->add(to, number); }
inline unsigned long long atomicAdd(unsigned long long* to, unsigned long long number) {
  return saltus::test::grid::current()->add(to, number);
}
