// A CUDA device integrates one chunk. Threads sail. Instances whose step may contain an event are parked, and another kernel lands them.
// A third kernel stores instances that have ended and begins new ones. Instances stay at their places in a pool; lists of places go from
// kernel to kernel.
//
//        +---------- begin <------ vacant <--+-----------+
//        v                                   |           |
//     ready --> sail --> parked --> land ----+           |
//        ^       | |                 |                   |
//        |       | +-----------------|-------------------+
//        +-------+-------------------+
//
// Most instances land quickly, in a kernel with little code. Those that it leaves are landed by another one (event/quick.hpp).
//
// begin, sail, land and turn over make a round. A kernel waits for the one before it, and threads of a kernel never wait for each
// other, so a plain loop over thread numbers does the same on a CPU. The place of an instance and the thread that sails it vary from run
// to run; its result does not, bit for bit.
#pragma once

#include "abi/device.hpp"
#include "chunk.hpp"
#include "land.hpp"
#include "sail.hpp"

namespace saltus {

#if defined(__CUDACC__) || defined(SALTUS_EMULATED_GRID)
/// The warp of this thread: collective functions and those of one lane. `reserve` may be called by some lanes; all other functions that
/// return data of several lanes must be called by all of them.
class device_warp {
 public:
  static constexpr int lanes = 32;

  __device__ int thread() const { return static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x); }
  __device__ int threads() const { return static_cast<int>(gridDim.x * blockDim.x); }
  __device__ int lane() const { return static_cast<int>(threadIdx.x % 32); }

  /// A bit for every lane that says yes.
  __device__ unsigned ballot(bool yes) const { return __ballot_sync(~0u, yes); }
  __device__ int shuffle(int number, int from) const { return __shfl_sync(~0u, number, from); }
  __device__ int sum(int number) const {
    for (int distance = lanes / 2; distance > 0; distance /= 2) number += __shfl_xor_sync(~0u, number, distance);
    return number;
  }
  /// Makes the lanes' writes to the warp's room visible to the others.
  __device__ void meet() const { __syncwarp(); }
  /// The warp's room for two lists of two widths each.
  __device__ int* room(int list) const {
    __shared__ int rooms[abi::device_block / lanes][2][2 * lanes];
    return rooms[threadIdx.x / lanes][list];
  }

  __device__ static int add(int& to, int number) { return atomicAdd(&to, number); }
  __device__ static int64 add(int64& to, int64 number) {
    return static_cast<int64>(atomicAdd(reinterpret_cast<uint64*>(&to), static_cast<uint64>(number)));
  }
  /// Makes a list one longer and returns the index of the new entry. Lanes that call it together add once.
  template <class Integer>
  __device__ __forceinline__ Integer reserve(Integer& length) const {
    const unsigned together = __activemask();
    const int first = __ffs(static_cast<int>(together)) - 1;
    Integer entry = 0;
    if (lane() == first) entry = add(length, static_cast<Integer>(__popc(together)));
    entry = __shfl_sync(together, entry, first);
    return entry + __popc(together & ((1u << lane()) - 1u));
  }
};
#endif

/// One of `count` threads that run one after another, each a warp by itself.
class lone_warp {
 public:
  static constexpr int lanes = 1;

  SALTUS_FN lone_warp(int number, int count) : number_(number), count_(count) {}
  SALTUS_FN int thread() const { return number_; }
  SALTUS_FN int threads() const { return count_; }
  SALTUS_FN int lane() const { return 0; }
  SALTUS_FN unsigned ballot(bool yes) const { return yes ? 1u : 0u; }
  SALTUS_FN int shuffle(int number, int) const { return number; }
  SALTUS_FN int sum(int number) const { return number; }
  SALTUS_FN void meet() const {}
  SALTUS_FN int* room(int list) const { return room_[list]; }
  template <class Integer>
  SALTUS_FN static Integer add(Integer& to, Integer number) {
    const Integer before = to;
    to += number;
    return before;
  }
  template <class Integer>
  SALTUS_FN Integer reserve(Integer& length) const {
    return length++;
  }

 private:
  int number_, count_;
  mutable int room_[2][2] = {};
};

/// No place.
inline constexpr int nowhere = -1;

/// Number of lanes in a ballot.
SALTUS_FN int lanes_in(unsigned ballot) {
#if defined(__CUDA_ARCH__)
  return __popc(ballot);
#else
  return __builtin_popcount(ballot);
#endif
}
SALTUS_FN int lanes_before(unsigned ballot, int lane) { return lanes_in(ballot & ((1u << lane) - 1u)); }

/// The consuming end of a warp-aggregated queue, a list that a grid shares. The warp takes up to a width of places at once and stores those
/// that its lanes do not need yet, so one addition to `taken` and one look at the list serve many lanes. Towards the end of the list the
/// portions shrink to the current need, so that no warp stores places while others are idle.
template <class Warp>
class warp_consumer {
 public:
  /// Called by all lanes together: returns a place for each lane in want; `nowhere` at the end of the list.
  SALTUS_FN int take(const Warp& warp, bool in_want, const int* list, int count, int& taken) {
    const unsigned who = warp.ballot(in_want);
    const int wanted = lanes_in(who);
    if (wanted == 0) return nowhere;
    const int rank = lanes_before(who, warp.lane()), left = held_ - used_;
    int place = warp.shuffle(mine_, (used_ + rank) % Warp::lanes);
    if (!in_want || rank >= left) place = nowhere;
    if (wanted <= left || seen_ >= count) {
      used_ += wanted < left ? wanted : left;
      return place;
    }
    fetch(warp, wanted - left, list, count, taken);
    const int further = warp.shuffle(mine_, (rank - left + Warp::lanes) % Warp::lanes);
    if (in_want && rank >= left && rank - left < held_) place = further;
    used_ = wanted - left < held_ ? wanted - left : held_;
    return place;
  }
  /// The place that this lane still holds of the warp's store at the end.
  SALTUS_FN int rest(const Warp& warp) const { return warp.lane() >= used_ && warp.lane() < held_ ? mine_ : nowhere; }

 private:
  /// Fetches the next portion: at least `needed` places, if the list has as many.
  SALTUS_FN void fetch(const Warp& warp, int needed, const int* list, int count, int& taken) {
    const int portion = (count - seen_) / (4 * ((warp.threads() + Warp::lanes - 1) / Warp::lanes));
    const int most = portion < Warp::lanes ? portion : Warp::lanes;
    const int asked = needed > most ? needed : most;
    int first = 0;
    if (warp.lane() == 0) first = warp.add(taken, asked);
    first = warp.shuffle(first, 0);
    seen_ = first + asked;
    const int there = count - first;
    held_ = there < 0 ? 0 : there < asked ? there : asked;
    mine_ = warp.lane() < held_ ? list[first + warp.lane()] : nowhere;
  }

  int mine_ = nowhere;       ///< the place that this lane keeps for the warp
  int held_ = 0, used_ = 0;  ///< number of places that the lanes hold, and of those used; the same in all lanes
  int seen_ = 0;             ///< length of the list at the last portion
};

/// The producing end of a warp-aggregated queue: it gathers a width of places before it appends to the list.
template <class Warp, int Room>
class warp_producer {
 public:
  /// Called by all lanes together: each lane with `gives` hands over a place. Returns their number.
  SALTUS_FN int put(const Warp& warp, bool gives, int place, int* list, int& length) {
    const unsigned who = warp.ballot(gives);
    if (who == 0) return 0;
    if (gives) warp.room(Room)[held_ + lanes_before(who, warp.lane())] = place;
    held_ += lanes_in(who);
    warp.meet();
    if (held_ >= Warp::lanes) pass_on(warp, Warp::lanes, list, length);
    return lanes_in(who);
  }
  /// Appends the remaining places at the end.
  SALTUS_FN void finish(const Warp& warp, int* list, int& length) {
    if (held_ > 0) pass_on(warp, held_, list, length);
  }

 private:
  SALTUS_FN void pass_on(const Warp& warp, int some, int* list, int& length) {
    int* const room = warp.room(Room);
    int first = 0;
    if (warp.lane() == 0) first = warp.add(length, some);
    first = warp.shuffle(first, 0);
    if (warp.lane() < some) list[first + warp.lane()] = room[warp.lane()];
    held_ -= some;
    const int left = warp.lane() < held_ ? room[some + warp.lane()] : nowhere;
    warp.meet();
    if (warp.lane() < held_) room[warp.lane()] = left;
    warp.meet();
  }

  int held_ = 0;  ///< places in the room; the same in all lanes
};

/// Writes events and exceptions as rows of their logs. `landable` leaves room for events; exceptions are written while there is room. Rows
/// without room are counted all the same, so that the host notices that they are missing.
template <class E, class Warp>
struct events_to_rows {
  const abi::device_events& log;
  const abi::device_exceptions& exceptions;
  abi::device_progress& progress;
  const Warp& warp;

  SALTUS_FN void append(int64 slot, double t, int guard, const double* before, const double* after) const {
    const int64 row = warp.reserve(progress.rows);
    if (row >= log.capacity) return;
    log.slot[row] = slot;
    log.time[row] = t;
    log.guard[row] = guard;
    for (int i = 0; i < E::logged; ++i) {
      log.before[row * E::logged + i] = before[i];
      log.after[row * E::logged + i] = after[i];
    }
  }
  SALTUS_FN void except(int64 slot, const double* reals, const long long* integers) const {
    constexpr int some_reals = snapshot_reals<E>, some_integers = record_of<E>.integers;
    const int64 row = warp.reserve(progress.exceptions);
    if (row >= exceptions.capacity) return;
    exceptions.slot[row] = slot;
    for (int j = 0; j < some_reals; ++j) exceptions.reals[row * some_reals + j] = reals[j];
    for (int j = 0; j < some_integers; ++j) exceptions.integers[row * some_integers + j] = integers[j];
  }
};

/// The most rows that one landing can log: every guard in every round of event iteration, every time event (a scheduled one in
/// every round), every constraint that is reached, and a rest.
template <class E>
inline constexpr int rows_per_landing = [] {
  int rows = event_rounds * (E::form::model_guards + 1) + E::form::time_events + 1;
  if (E::form::kinds::schedules) rows += (event_rounds - 1) * E::form::time_events;
  rows += E::form::approached;
  return rows;
}();

/// Half a strip: what one instruction of a device loads or stores.
template <class Number>
struct alignas(abi::sector_bytes / 2) half_strip {
  static constexpr int width = abi::sector_bytes / 2 / static_cast<int>(sizeof(Number));
  Number numbers[width];

  /// The one with number j of a place.
  SALTUS_FN static half_strip& of(void* numbers, int j, int place, int places) {
    return *reinterpret_cast<half_strip*>(static_cast<Number*>(numbers) +
                                          abi::pool_index<sizeof(Number)>(j - j % width, place, places));
  }
};

/// Reads the numbers of a place one after another.
template <class Number>
class strip_reader {
  using half = half_strip<Number>;

 public:
  SALTUS_FN strip_reader(void* numbers, int places, int place) : numbers_(numbers), places_(places), place_(place) {}
  SALTUS_FN Number next() {
    if (j_ % half::width == 0) half_ = half::of(numbers_, j_, place_, places_);
    return half_.numbers[j_++ % half::width];
  }

 private:
  void* numbers_;
  int places_, place_, j_ = 0;
  half half_ = {};
};

/// Writes the numbers of a place one after another. Those behind the last one stay as they are.
template <class Number>
class strip_writer {
  using half = half_strip<Number>;

 public:
  SALTUS_FN strip_writer(void* numbers, int places, int place) : numbers_(numbers), places_(places), place_(place) {}
  SALTUS_FN void put(Number number) {
    half_.numbers[j_++ % half::width] = number;
    if (j_ % half::width == 0) half::of(numbers_, j_ - 1, place_, places_) = half_;
  }
  SALTUS_FN void finish() {
    for (int k = 0; k < j_ % half::width; ++k)
      half::of(numbers_, j_ - 1, place_, places_).numbers[k] = half_.numbers[k];
  }

 private:
  void* numbers_;
  int places_, place_, j_ = 0;
  half half_ = {};
};

/// One thread's part in the kernels of a chunk.
template <class E, class Warp>
class cuda_rounds {
  using T = typename E::T;
  using Real = pack<T, 1>;
  using Integer = typename Real::integer;
  using Record = instance<E, Real>;
  using Run = chunk_run<E, events_to_rows<E, Warp>>;

 public:
  /// All arguments must outlive it. `tol` is `tolerances_from` the run's settings (saltus_tolerances): as an argument of a
  /// kernel it lies in constant memory and takes up no registers.
  SALTUS_FN cuda_rounds(const abi::device_chunk& chunk, const tolerances<E, Real>& tol, const Warp& warp)
      : c_(chunk),
        p_(*chunk.progress),
        tol_(tol),
        warp_(warp),
        run_{chunk.how, chunk.in, chunk.out,
             events_to_rows<E, Warp>{chunk.events, chunk.exceptions, *chunk.progress, warp_}},
        half_(chunk.progress->half) {}

  /// Stores the instances that have ended and begins fresh ones in their places.
  SALTUS_FN void begin_fresh() const {
    const int count = p_.vacant[half_];
    int stored = 0;
    for (int k = warp_.thread(); k < count; k += warp_.threads()) {
      const int place = c_.vacant.place[half_][k];
      Record x;
      load(x, place);
      if (x.slot.v >= 0) {
        store<E>(x, tol_, run_);
        clear_samples_to_come(x);
        stored += 1;
      }
      if (k >= p_.fresh) continue;
      x = Record{};
      x.slot.v = static_cast<integer_of<T>>(c_.order ? c_.order[p_.next + k] : p_.next + k);
      if constexpr (has_delays<E>)
        x.constants.past_states.address.v =
            reinterpret_cast<int64>(static_cast<T*>(c_.pool.histories) + place * history_numbers<E>(c_.how.history));
      begin(x, everyone(), tol_, run_);
      save(x, place);
      if (is_under_way(x)) append(c_.ready, p_.ready, half_, place);
      else append(c_.vacant, p_.vacant, 1 - half_, place);
    }
    count_in(p_.stored, stored);
  }

  /// Sails ready instances one after another, each until its step may contain an event or it ends, as long as the turn
  /// budget lasts.
  SALTUS_FN void sail_ready() const {
    warp_consumer<Warp> ready;
    warp_producer<Warp, 0> parked;
    warp_producer<Warp, 1> vacant;
    int place = nowhere, max_busy = 0, has_parked = 0, useful = 0, turn = 0;
    Record x;
    // true if there are instances for at least half of the threads
    const bool is_full = 2 * p_.ready[half_] >= warp_.threads();
    for (; turn < c_.turn_budget; turn += c_.look_every) {
      const int next = ready.take(warp_, place == nowhere, c_.ready.place[half_], p_.ready[half_], p_.taken);
      if (next != nowhere) load(x, place = next);
      // When a quarter of the warp has run out of instances, the others continue in full warps of the next round. On a device that is not
      // full they would have as many warps to themselves, so there only instances that wait to be landed end a round early.
      const int busy = lanes_in(warp_.ballot(place != nowhere));
      const int gone = is_full || max_busy - busy < has_parked ? max_busy - busy : has_parked;
      if (busy == 0 || 4 * gone > max_busy) break;
      max_busy = busy > max_busy ? busy : max_busy;
      bool sails = place != nowhere, parks = false;
      for (int k = 0; k < c_.look_every; ++k)
        if (sails) {
          useful += 1;
          parks = static_cast<bool>(sail(x, everyone(), tol_, run_));
          sails = !parks && is_under_way(x);
        }
      const bool ends = place != nowhere && !sails && !parks;
      if (parks || ends) save_sailed(x, place);
      has_parked += parked.put(warp_, parks, place, c_.parked.place[half_], p_.parked[half_]);
      vacant.put(warp_, ends, place, c_.vacant.place[1 - half_], p_.vacant[1 - half_]);
      if (parks || ends) place = nowhere;
    }
    parked.finish(warp_, c_.parked.place[half_], p_.parked[half_]);
    vacant.finish(warp_, c_.vacant.place[1 - half_], p_.vacant[1 - half_]);
    if (place != nowhere) {
      save_sailed(x, place);
      append(c_.ready, p_.ready, 1 - half_, place);
    }
    if (const int rest = ready.rest(warp_); rest != nowhere) append(c_.ready, p_.ready, 1 - half_, rest);
    count_once(p_.used.turns, turn * Warp::lanes);
    count_in(p_.used.lane_turns, useful);
  }

  /// Lands as many parked instances as the event log has room for, or those that quick landings have left. The others, and ready instances
  /// that no thread had turns left to sail, wait for the next round.
  SALTUS_FN void land_parked() const {
    for (int k = p_.taken + warp_.thread(); k < p_.ready[half_]; k += warp_.threads())
      append(c_.ready, p_.ready, 1 - half_, c_.ready.place[half_][k]);
    const bool rest = c_.unlanded != nullptr;
    const int* const list = rest ? c_.unlanded : c_.parked.place[half_];
    const int count = rest ? p_.unlanded : p_.parked[half_];
    int passes = 0, landed = 0;
    for (int k = warp_.thread(); k < count; k += warp_.threads()) {
      const int place = list[k];
      if (k >= p_.landable) {
        append(c_.parked, p_.parked, 1 - half_, place);
        continue;
      }
      passes += 1;
      landed += 1;
      land_place(place);
    }
    count_once(p_.used.landings, passes * Warp::lanes);
    count_in(p_.used.landed, landed);
  }

  /// Lands parked instances quickly, and lists those that it leaves as they were.
  SALTUS_FN void land_quickly() const requires(has_quick_landings<E>) {
    const int count = p_.parked[half_];
    int passes = 0, landed = 0;
    for (int k = warp_.thread(); k < count; k += warp_.threads()) {
      const int place = c_.parked.place[half_][k];
      passes += 1;
      if (land_place(place)) landed += 1;
      else c_.unlanded[warp_.reserve(p_.unlanded)] = place;
    }
    count_once(p_.used.landings, passes * Warp::lanes);
    count_in(p_.used.landed, landed);
  }

  SALTUS_FN void land_quickly() const requires(!has_quick_landings<E>) {}

  /// For one thread alone: the next round consumes the lists that this round has filled.
  SALTUS_FN void turn_over() const {
    p_.worked += p_.ready[half_] + p_.parked[half_] + p_.vacant[half_] > 0 ? 1 : 0;
    p_.ready[half_] = p_.parked[half_] = p_.vacant[half_] = p_.unlanded = p_.taken = 0;
    p_.half = 1 - half_;
    p_.next += p_.fresh;
    const int64 left = c_.in.count - p_.next;
    const int room = p_.vacant[p_.half];
    p_.fresh = left < room ? static_cast<int>(left) : room;
    p_.landable = abi::landable_places(c_, p_.rows, rows_per_landing<E>);
  }

 private:
  SALTUS_FN static mask_of<Real> everyone() { return mask_of<Real>::all(true); }

  SALTUS_FN static bool is_under_way(const Record& x) {
    return x.status.v == static_cast<integer_of<T>>(status::interrupted);
  }
  /// Lands the instance at a place. False if a quick landing leaves it.
  SALTUS_FN bool land_place(int place) const {
    Record x;
    load(x, place);
    land(x, everyone(), tol_, run_);
    if (E::is_quick && x.status.v == static_cast<integer_of<T>>(left_to_full)) return false;
    save(x, place);
    if (is_under_way(x)) append(c_.ready, p_.ready, 1 - half_, place);
    else append(c_.vacant, p_.vacant, 1 - half_, place);
    return true;
  }
  /// Clears the samples that an instance did not reach, because device memory is not preset.
  SALTUS_FN void clear_samples_to_come(const Record& x) const {
    if constexpr (E::samples)
      for (int quantity = 0; quantity < (E::model_states + E::form::outputs) * (1 + E::directions); ++quantity)
        for (int64 j = x.sample.v; j < c_.how.sample_count; ++j)
          run_.store_sample(x.slot.v, quantity, j, static_cast<T>(E::form::unset));
  }
  SALTUS_FN void append(const abi::device_list& list, int (&length)[2], int half, int place) const {
    list.place[half][warp_.reserve(length[half])] = place;
  }
  /// Called by all lanes together: adds the counts of all of them to `to`.
  SALTUS_FN void count_in(int64& to, int number) const { count_once(to, warp_.sum(number)); }
  /// Adds a number that counts once for the warp.
  SALTUS_FN void count_once(int64& to, int number) const {
    if (warp_.lane() == 0 && number > 0) warp_.add(to, static_cast<int64>(number));
  }

  SALTUS_FN void load(Record& x, int place) const {
    strip_reader<T> reals(c_.pool.reals, c_.pool.places, place);
    strip_reader<integer_of<T>> integers(c_.pool.integers, c_.pool.places, place);
    Record::each_real(x, x,
                      [&](auto& to, auto&) SALTUS_INLINE_LAMBDA { to.v = static_cast<decltype(to.v)>(reals.next()); });
    Record::each_integer(x, x, [&](Integer& to, Integer&) SALTUS_INLINE_LAMBDA { to.v = integers.next(); });
  }
  SALTUS_FN void save(const Record& x, int place) const {
    strip_writer<T> reals(c_.pool.reals, c_.pool.places, place);
    strip_writer<integer_of<T>> integers(c_.pool.integers, c_.pool.places, place);
    Record::each_real(x, x, [&](const auto& from, const auto&) SALTUS_INLINE_LAMBDA { reals.put(from.v); });
    Record::each_integer(x, x, [&](const Integer& from, const Integer&) SALTUS_INLINE_LAMBDA { integers.put(from.v); });
    reals.finish(), integers.finish();
  }
  /// Saves what sailing changes, the first numbers, at the place that x was loaded from.
  SALTUS_FN void save_sailed(const Record& x, int place) const {
    strip_writer<T> reals(c_.pool.reals, c_.pool.places, place);
    strip_writer<integer_of<T>> integers(c_.pool.integers, c_.pool.places, place);
    Record::each_sailed_real(x, x, [&](const auto& from, const auto&) SALTUS_INLINE_LAMBDA { reals.put(from.v); });
    Record::each_sailed_integer(
        x, x, [&](const Integer& from, const Integer&) SALTUS_INLINE_LAMBDA { integers.put(from.v); });
    reals.finish(), integers.finish();
  }

  const abi::device_chunk& c_;
  abi::device_progress& p_;
  const tolerances<E, Real>& tol_;
  const Warp& warp_;
  Run run_;
  int half_;
};

/// The module's description for the host.
template <class E>
inline constexpr abi::device_module cuda_module_of = {abi::version,
                                                      record_of<E>.reals,
                                                      record_of<E>.integers,
                                                      snapshot_reals<E>,
                                                      record_of<E>.slot,
                                                      rows_per_landing<E>,
                                                      static_cast<int>(sizeof(tolerances<E, pack<typename E::T, 1>>)),
                                                      has_quick_landings<E>,
                                                      history_numbers<E>(0),
                                                      history_numbers<E>(1) - history_numbers<E>(0)};

}  // namespace saltus

#if defined(__CUDACC__)
// The kernels of an engine, in four texts that are compiled separately: in parallel, and so that the number of registers of a kernel can
// be tuned without recompiling the others. The minimum of blocks per multiprocessor may follow as an argument; without it the compiler
// chooses the number of registers.
#define SALTUS_CUDA_BEGIN(engine, ...)                                                                              \
  extern "C" {                                                                                                      \
  __global__ void saltus_describe(saltus::abi::device_module* module) { *module = saltus::cuda_module_of<engine>; } \
  __global__ void saltus_tolerances(const __grid_constant__ saltus::abi::settings how,                              \
                                    saltus::tolerances<engine, saltus::pack<engine::T, 1>>* made) {                 \
    *made = saltus::tolerances_from<engine, saltus::pack<engine::T, 1>>(how);                                       \
  }                                                                                                                 \
  SALTUS_CUDA_KERNEL(engine, saltus_begin, begin_fresh __VA_OPT__(, ) __VA_ARGS__)                                  \
  SALTUS_CUDA_KERNEL(engine, saltus_turn_over, turn_over)                                                           \
  }
#define SALTUS_CUDA_SAIL(engine, ...)                                            \
  extern "C" {                                                                   \
  SALTUS_CUDA_KERNEL(engine, saltus_sail, sail_ready __VA_OPT__(, ) __VA_ARGS__) \
  }
#define SALTUS_CUDA_LAND(engine, ...)                                             \
  extern "C" {                                                                    \
  SALTUS_CUDA_KERNEL(engine, saltus_land, land_parked __VA_OPT__(, ) __VA_ARGS__) \
  }

#define SALTUS_CUDA_LAND_QUICKLY(engine, ...)                                                    \
  using quick_engine = saltus::quick<engine>;                                                    \
  extern "C" {                                                                                   \
  SALTUS_CUDA_KERNEL(quick_engine, saltus_land_quickly, land_quickly __VA_OPT__(, ) __VA_ARGS__) \
  }

#define SALTUS_CUDA_KERNEL(engine, name, part, ...)                                              \
  __global__ void __launch_bounds__(saltus::abi::device_block __VA_OPT__(, ) __VA_ARGS__)        \
      name(const __grid_constant__ saltus::abi::device_chunk chunk,                              \
           const __grid_constant__ saltus::tolerances<engine, saltus::pack<engine::T, 1>> tol) { \
    const saltus::device_warp warp;                                                              \
    saltus::cuda_rounds<engine, saltus::device_warp>(chunk, tol, warp).part();                   \
  }
#endif
