// A CUDA device integrates one chunk: threads sail; suspects are parked, and landed by another kernel; whoever has
// ended is stored and replaced by a third. Instances stay where they are, at their places in a pool; lists of places go
// from kernel to kernel.
//
//        +---------- begin <------ vacant <--+-----------+
//        v                                   |           |
//     ready --> sail --> parked --> land ----+           |
//        ^       | |                 |                   |
//        |       | +-----------------|-------------------+
//        +-------+-------------------+
//
// begin, sail, land and turn over make a round. A kernel waits for the one before it and threads of a kernel never wait
// for each other, so that a plain loop over thread numbers does the same on a CPU. Which place an instance is given and
// which thread sails it varies from run to run; its result does not, bit for bit.
#pragma once

#include "abi_cuda.hpp"
#include "chunk.hpp"

namespace saltus {

#if defined(__CUDACC__)
/// A thread of a CUDA grid, and what it does together with others.
class cuda_thread {
 public:
  __device__ int number() const { return static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x); }
  __device__ int count() const { return static_cast<int>(gridDim.x * blockDim.x); }

  /// Makes a list one longer and returns where its new entry stands. Lanes that come together add once.
  template <class Integer>
  __device__ Integer reserve(Integer& length) const {
    const unsigned together = __activemask();
    const int      first    = __ffs(static_cast<int>(together)) - 1;
    Integer        entry    = 0;
    if (lane() == first) entry = add(length, static_cast<Integer>(__popc(together)));
    entry = __shfl_sync(together, entry, first);
    return entry + __popc(together & ((1u << lane()) - 1u));
  }

  // For all lanes of a warp together:
  /// In how many lanes is this true?
  __device__ int how_many(bool yes) const { return __popc(__ballot_sync(~0u, yes)); }
  /// Adds the numbers of all lanes, which are counts, to `to`.
  __device__ void count_in(int64& to, int number) const {
    for (int distance = 16; distance > 0; distance /= 2) number += __shfl_xor_sync(~0u, number, distance);
    if (lane() == 0 && number > 0) add(to, static_cast<int64>(number));
  }
  /// Adds a number that counts once for the warp: that of its first lane.
  __device__ void count_once(int64& to, int number) const {
    if (lane() == 0 && number > 0) add(to, static_cast<int64>(number));
  }

 private:
  __device__ static int   lane() { return static_cast<int>(threadIdx.x % 32); }
  __device__ static int   add(int& to, int number) { return atomicAdd(&to, number); }
  __device__ static int64 add(int64& to, int64 number) {
    return static_cast<int64>(atomicAdd(reinterpret_cast<uint64*>(&to), static_cast<uint64>(number)));
  }
};
#endif

/// One of `count` threads that run one after another, each a warp of its own.
class emulated_thread {
 public:
  SALTUS_FN     emulated_thread(int number, int count) : number_(number), count_(count) {}
  SALTUS_FN int number() const { return number_; }
  SALTUS_FN int count() const { return count_; }
  template <class Integer>
  SALTUS_FN Integer reserve(Integer& length) const {
    return length++;
  }
  SALTUS_FN int  how_many(bool yes) const { return yes ? 1 : 0; }
  SALTUS_FN void count_in(int64& to, int number) const { to += number; }
  SALTUS_FN void count_once(int64& to, int number) const { to += number; }

 private:
  int number_, count_;
};

/// Events become rows of the log, in which `landable` leaves room for them; exceptions become rows of theirs while there
/// is room.
template <class E, class Thread>
struct events_to_rows {
  const abi::cuda_events&     log;
  const abi::cuda_exceptions& exceptions;
  abi::cuda_progress&         progress;
  const Thread&               thread;

  SALTUS_FN void append(int64 slot, double t, int guard, const double* before, const double* after) const {
    const int64 row = thread.reserve(progress.rows);
    log.slot[row]   = slot;
    log.time[row]   = t;
    log.guard[row]  = guard;
    for (int i = 0; i < E::n; ++i) {
      log.before[row * E::n + i] = before[i];
      log.after[row * E::n + i]  = after[i];
    }
  }
  SALTUS_FN void except(int64 slot, const double* reals, const long long* integers) const {
    using Record    = instance<E, pack<typename E::T, 1>>;
    const int64 row = thread.reserve(progress.exceptions);
    if (row >= exceptions.capacity) return;
    exceptions.slot[row] = slot;
    for (int j = 0; j < Record::real_count; ++j) exceptions.reals[row * Record::real_count + j] = reals[j];
    for (int j = 0; j < Record::integer_count; ++j) exceptions.integers[row * Record::integer_count + j] = integers[j];
  }
};

/// The most rows one landing can log: every guard in every round of event iteration, every instant, and a rest.
template <class E>
inline constexpr int rows_per_landing = event_rounds*(E::form::model_guards + 1) + E::form::instants + 1;

/// One thread's part in the kernels of a chunk.
template <class E, class Thread>
class cuda_rounds {
  using T       = typename E::T;
  using Real    = pack<T, 1>;
  using Integer = typename Real::integer;
  using Record  = instance<E, Real>;
  using Run     = chunk_run<E, events_to_rows<E, Thread>>;

 public:
  /// All arguments must outlive it. `tol` is `tolerances_from` the chunk's settings, made by the host: as an argument of
  /// a kernel it lies in constant memory and takes up no registers.
  SALTUS_FN cuda_rounds(const abi::cuda_chunk& chunk, const tolerances<E, Real>& tol, const Thread& thread)
      : c_(chunk),
        p_(*chunk.progress),
        tol_(tol),
        thread_(thread),
        run_{chunk.how, chunk.in, chunk.out,
             events_to_rows<E, Thread>{chunk.events, chunk.exceptions, *chunk.progress, thread_}},
        half_(chunk.progress->half) {}

  /// Stores the instances that have ended and begins fresh ones in their places.
  SALTUS_FN void begin_fresh() const {
    const int count  = p_.vacant[half_];
    int       stored = 0;
    for (int k = thread_.number(); k < count; k += thread_.count()) {
      const int place = c_.vacant.place[half_][k];
      Record    x;
      load(x, place);
      if (x.slot.v >= 0) {
        store<E>(x, run_);
        clear_samples_to_come(x);
        stored += 1;
      }
      if (k >= p_.fresh) continue;
      x        = Record{};
      x.slot.v = static_cast<integer_of<T>>(p_.next + k);
      begin(x, everyone(), tol_, run_);
      save(x, place);
      if (is_under_way(x)) append(c_.ready, p_.ready, half_, place);
      else append(c_.vacant, p_.vacant, 1 - half_, place);
    }
    thread_.count_in(p_.stored, stored);
  }

  /// Sails ready instances one after another, each until its step may contain an event or it ends, as long as the turn
  /// budget lasts.
  SALTUS_FN void sail_ready() const {
    const int count     = p_.ready[half_];
    bool      exhausted = false;
    int       place = nowhere, most_busy = 0, useful = 0, turn = 0;
    Record    x;
    for (; turn < c_.turn_budget; ++turn) {
      if (place == nowhere && !exhausted) {
        const int k = thread_.reserve(p_.taken);
        exhausted   = k >= count;
        if (!exhausted) {
          place = c_.ready.place[half_][k];
          load(x, place);
        }
      }
      // Once a quarter of the warp has run out of instances, the others go on in full warps of the next round.
      const int busy = thread_.how_many(place != nowhere);
      if (busy == 0 || 4 * busy < 3 * most_busy) break;
      most_busy = busy > most_busy ? busy : most_busy;
      if (place == nowhere) continue;
      useful += 1;
      const bool parks = static_cast<bool>(sail(x, everyone(), tol_, run_));
      if (!parks && is_under_way(x)) continue;
      save_sailed(x, place);
      if (parks) append(c_.parked, p_.parked, half_, place);
      else append(c_.vacant, p_.vacant, 1 - half_, place);
      place = nowhere;
    }
    if (place != nowhere) {
      save_sailed(x, place);
      append(c_.ready, p_.ready, 1 - half_, place);
    }
    thread_.count_once(p_.used.turns, turn);
    thread_.count_in(p_.used.lane_turns, useful);
  }

  /// Lands parked instances, as many as the event log has room for. The others, and ready instances that no thread had
  /// turns left to sail, wait for the next round.
  SALTUS_FN void land_parked() const {
    for (int k = p_.taken + thread_.number(); k < p_.ready[half_]; k += thread_.count())
      append(c_.ready, p_.ready, 1 - half_, c_.ready.place[half_][k]);
    const int count  = p_.parked[half_];
    int       passes = 0, landed = 0;
    for (int k = thread_.number(); k < count; k += thread_.count()) {
      const int place = c_.parked.place[half_][k];
      if (k >= p_.landable) {
        append(c_.parked, p_.parked, 1 - half_, place);
        continue;
      }
      passes += 1;
      landed += 1;
      Record x;
      load(x, place);
      land(x, everyone(), tol_, run_);
      save(x, place);
      if (is_under_way(x)) append(c_.ready, p_.ready, 1 - half_, place);
      else append(c_.vacant, p_.vacant, 1 - half_, place);
    }
    thread_.count_once(p_.used.landings, passes);
    thread_.count_in(p_.used.landed, landed);
  }

  /// For one thread alone: what this round has filled, the next one consumes.
  SALTUS_FN void turn_over() const {
    p_.ready[half_] = p_.parked[half_] = p_.vacant[half_] = p_.taken = 0;

    p_.half = 1 - half_;
    p_.next += p_.fresh;
    const int64 left = c_.in.count - p_.next;
    const int   room = p_.vacant[p_.half];
    p_.fresh         = left < room ? static_cast<int>(left) : room;
    p_.landable      = abi::landable_places(c_, p_.rows, rows_per_landing<E>);
  }

 private:
  static constexpr int nowhere = -1;

  SALTUS_FN static mask_of<Real> everyone() { return mask_of<Real>::all(true); }

  SALTUS_FN static bool is_under_way(const Record& x) {
    return x.status.v == static_cast<integer_of<T>>(status::interrupted);
  }
  /// Samples that an instance did not live to see: nobody has preset them in the memory of a device.
  SALTUS_FN void clear_samples_to_come(const Record& x) const {
    if constexpr (E::samples)
      for (int quantity = 0; quantity < E::n + E::form::outputs; ++quantity)
        for (int64 j = x.sample.v; j < c_.how.sample_count; ++j)
          run_.store_sample(x.slot.v, quantity, j, static_cast<T>(E::form::unset));
  }
  SALTUS_FN void append(const abi::cuda_list& list, int (&length)[2], int half, int place) const {
    list.place[half][thread_.reserve(length[half])] = place;
  }

  SALTUS_FN T& real(int column, int place) const {
    return static_cast<T*>(c_.pool.reals)[static_cast<int64>(column) * c_.pool.places + place];
  }
  SALTUS_FN integer_of<T>& integer(int column, int place) const {
    return static_cast<integer_of<T>*>(c_.pool.integers)[static_cast<int64>(column) * c_.pool.places + place];
  }
  SALTUS_FN void load(Record& x, int place) const {
    int j = 0, k = 0;
    Record::each_real(x, x, [&](Real& to, Real&) SALTUS_INLINE_LAMBDA { to.v = real(j++, place); });
    Record::each_integer(x, x, [&](Integer& to, Integer&) SALTUS_INLINE_LAMBDA { to.v = integer(k++, place); });
  }
  SALTUS_FN void save(const Record& x, int place) const {
    int j = 0, k = 0;
    Record::each_real(x, x, [&](const Real& from, const Real&) SALTUS_INLINE_LAMBDA { real(j++, place) = from.v; });
    Record::each_integer(
        x, x, [&](const Integer& from, const Integer&) SALTUS_INLINE_LAMBDA { integer(k++, place) = from.v; });
  }
  /// Saves what sailing changes, at the place that x was loaded from.
  SALTUS_FN void save_sailed(const Record& x, int place) const {
    int j = 0, k = 0;
    Record::each_sailed_real(x, x,
                             [&](const Real& from, const Real&) SALTUS_INLINE_LAMBDA { real(j++, place) = from.v; });
    Record::each_sailed_integer(
        x, x, [&](const Integer& from, const Integer&) SALTUS_INLINE_LAMBDA { integer(k++, place) = from.v; });
  }

  const abi::cuda_chunk&     c_;
  abi::cuda_progress&        p_;
  const tolerances<E, Real>& tol_;
  const Thread&              thread_;
  Run                        run_;
  int                        half_;
};

/// The unit's description for the host.
template <class E>
inline constexpr abi::cuda_unit cuda_unit_of = {abi::version, instance<E, pack<typename E::T, 1>>::real_count,
                                                instance<E, pack<typename E::T, 1>>::integer_count, rows_per_landing<E>,
                                                static_cast<int>(sizeof(tolerances<E, pack<typename E::T, 1>>))};

}  // namespace saltus

#if defined(__CUDACC__)
/// Exports the kernels and the description of an engine.
#define SALTUS_CUDA_UNIT(engine)                                                                          \
  extern "C" {                                                                                            \
  __global__ void saltus_describe(saltus::abi::cuda_unit* unit) { *unit = saltus::cuda_unit_of<engine>; } \
  SALTUS_CUDA_KERNEL(engine, saltus_begin, begin_fresh)                                                   \
  SALTUS_CUDA_KERNEL(engine, saltus_sail, sail_ready)                                                     \
  SALTUS_CUDA_KERNEL(engine, saltus_land, land_parked)                                                    \
  SALTUS_CUDA_KERNEL(engine, saltus_turn_over, turn_over)                                                 \
  }
#define SALTUS_CUDA_KERNEL(engine, name, part)                                                   \
  __global__ void __launch_bounds__(saltus::abi::cuda_block)                                     \
      name(const __grid_constant__ saltus::abi::cuda_chunk chunk,                                \
           const __grid_constant__ saltus::tolerances<engine, saltus::pack<engine::T, 1>> tol) { \
    const saltus::cuda_thread thread;                                                            \
    saltus::cuda_rounds<engine, saltus::cuda_thread>(chunk, tol, thread).part();                 \
  }
#endif
