// One CPU thread integrates one chunk. W lanes sail; lanes whose step may contain an event are parked until there are W of them, and
// landed. An instance that ends is stored and replaced at once.
//
//            chunk ---> begin (W at once) ---+
//                                            v
//     lanes: sail --> parked --> land -----> ready --> lanes
//       |                         (W at once) |
//       +--> stored <-------------------------+
//
// Where many steps end in events, lanes wait in their group instead and land there once all wait: no instance is moved, but lanes idle.
// Both ways give the same bits.
//
// Several groups of lanes may take turns: while the last operations of one group's turn wait for each other, the processor begins
// the next group's turn. Between its turns an instance lies in a batch, first parked and then ready, in the same lane in which it has
// landed. So each event moves an instance twice, number by number.
#pragma once

#include "chunk.hpp"
#include "land.hpp"
#include "run/gradient.hpp"
#include "sail.hpp"

namespace saltus {

/// Hands events and exceptions on to the host at once, and what gradients need to the trajectories of the chunk.
struct events_to_host {
  const abi::sink& sink;
  trajectory* trajectories = nullptr;  ///< by slots; null without a gradient
  SALTUS_FN void append(int64 slot, double t, int guard, const double* before, const double* after) const {
    sink.append(sink.context, slot, t, guard, before, after);
  }
  SALTUS_FN void except(int64 slot, const double* reals, const long long* integers) const {
    const abi::snapshot last{reals, integers};
    if (sink.except) sink.except(sink.context, slot, &last);
  }
  template <class E, class Real>
  SALTUS_FN void keep_steps(const instance<E, Real>& x, Real h, mask_of<Real> where) const {
    saltus::keep_steps(x, h, where, trajectories);
  }
  template <class E, class Real>
  SALTUS_FN void keep_landing(const instance<E, Real>& x, const way_to_landing<Real, true>& way,
                              mask_of<Real> where) const {
    saltus::keep_landing(x, way, where, trajectories);
  }
  template <class E, class Real>
  SALTUS_FN void keep_event(const instance<E, Real>& x, row_kind kind, Real t, const vec<Real, E::ng>& g,
                            const due_events<E, Real>& due, mask_of<Real> where) const {
    saltus::keep_event(x, kind, t, g, due, where, trajectories);
  }
};

namespace detail {
/// part = lanes[first], lanes[first + 1], ...
template <class E, class T, int W, int Part>
SALTUS_FN void take_part(const instance<E, pack<T, W>>& lanes, int first, instance<E, pack<T, Part>>& part) {
  const auto copy = [&](auto& to, const auto& from) SALTUS_INLINE_LAMBDA {
    __builtin_memcpy(&to, reinterpret_cast<const decltype(to.get(0))*>(&from) + first, sizeof to);
  };
  instance<E, pack<T, W>>::each_real(part, lanes, copy);
  instance<E, pack<T, W>>::each_integer(part, lanes, copy);
}
/// lanes[first], lanes[first + 1], ... = part
template <class E, class T, int W, int Part>
SALTUS_FN void put_part(instance<E, pack<T, W>>& lanes, int first, const instance<E, pack<T, Part>>& part) {
  const auto copy = [&](auto& to, const auto& from) SALTUS_INLINE_LAMBDA {
    __builtin_memcpy(reinterpret_cast<decltype(to.get(0))*>(&to) + first, &from, sizeof from);
  };
  instance<E, pack<T, W>>::each_real(lanes, part, copy);
  instance<E, pack<T, W>>::each_integer(lanes, part, copy);
}
}  // namespace detail

/// Lands the lanes whose bits are in `some`. Wide lanes land one register at a time: landing is most of a module's code, and two registers
/// side by side double the time in which it is compiled.
template <class E, class T, int W>
void land_lanes(instance<E, pack<T, W>>& lanes, unsigned some, const chunk_run<E, events_to_host>& run) {
  using Real = pack<T, W>;
  if constexpr (detail::is_split<T, W>) {
    constexpr int half = W / 2;
    for (int first = 0; first < W; first += half) {
      const unsigned here = some >> first & ((1u << half) - 1u);
      if (here == 0) continue;
      instance<E, pack<T, half>> part;
      detail::take_part(lanes, first, part);
      land_lanes(part, here, run);
      detail::put_part(lanes, first, part);
    }
  } else {
    land(lanes, mask_of<Real>::from_bits(some), tolerances_from<E, Real>(run.settings), run);
  }
}

#ifdef SALTUS_LANDS_APART
// Landing is compiled as another unit of the module, at the same time as this one. It passes types of the model, which may be local to
// each unit, so the border has none of them.
extern "C" void saltus_land(void* lanes, unsigned some, const void* run);
#endif
/// The body of saltus_land for lanes of width W.
template <class E, int W>
void land_from_apart(void* lanes, unsigned some, const void* run) {
  land_lanes(*static_cast<instance<E, pack<typename E::T, W>>*>(lanes), some,
             *static_cast<const chunk_run<E, events_to_host>*>(run));
}

/// Memory for the histories of the instances that a chunk holds at a time, one more for lanes without an instance. Empty for models without
/// delays.
template <class E, int Instances>
class history_places {
 public:
  explicit history_places(const abi::settings&) {}
  void give(auto&, int, bool) {}
  void take_back(const auto&, int) {}
};
template <class E, int Instances>
requires has_delays<E>
class history_places<E, Instances> {
  using T = typename E::T;

 public:
  explicit history_places(const abi::settings& settings)
      : numbers_(history_numbers<E>(settings.history)),
        all_(new T[static_cast<decltype(sizeof 0)>(numbers_ * (Instances + 1))]) {
    for (int place = 0; place < Instances; ++place) free_[place] = Instances - 1 - place;
  }
  ~history_places() { delete[] all_; }
  history_places(const history_places&) = delete;
  history_places& operator=(const history_places&) = delete;

  /// Gives a lane a place of its own, if it begins an instance.
  void give(auto& lanes, int lane, bool begins) {
    const int place = begins ? free_[--left_] : Instances;
    lanes.constants.past_states.address.set(lane, reinterpret_cast<int64>(all_ + place * numbers_));
  }
  /// The instance of a lane has ended.
  void take_back(const auto& lanes, int lane) {
    const auto* const at = reinterpret_cast<const T*>(lanes.constants.past_states.address.get(lane));
    free_[left_++] = static_cast<int>((at - all_) / numbers_);
  }

 private:
  int64 numbers_;  ///< of one place
  T* all_;
  int free_[Instances];
  int left_ = Instances;
};

/// One chunk with `Groups` groups of W lanes.
template <class E, int W, int Groups>
class cpu_chunk {
  using T = typename E::T;
  using Real = pack<T, W>;
  using Scalar = pack<T, 1>;
  using Lanes = instance<E, Real>;
  using Record = instance<E, Scalar>;
  using Integer = typename Real::integer;
  using Run = chunk_run<E, events_to_host>;

 public:
  cpu_chunk(const abi::settings& settings, const abi::batch& in, const abi::results& results, const abi::sink& sink,
            abi::usage& usage, int64 resumed = -1, const abi::snapshot* from = nullptr)
      : trajectories_(in.count),
        run_{settings, in, results, events_to_host{sink, trajectories_.data()}},
        sink_(sink),
        usage_(usage),
        tol_(tolerances_from<E, Real>(settings)),
        histories_(settings),
        resumed_(resumed),
        from_(from),
        turns_before_(usage.lane_turns) {}

  /// Integrates every instance of the chunk; false if told to stop before the end.
  bool integrate() {
    const bool whole = sail_on();
    gradients_.sweep(trajectories_, run_);
    return whole;
  }

 private:
  bool sail_on() {
    for (;;) {
      for (group& g : groups_) refill(g);
      if (is_idle()) {
        batch* const last = with_parked();
        if (last == nullptr) break;
        land_parked(*last);
        continue;
      }
      for (int turn = 0; turn < turns_between_reports && !is_idle(); ++turn)
        for (group& g : groups_)
          if (g.active != 0 && one_turn(g) != 0) refill(g);
      switch (report()) {
        case abi::stop: abandon(); return false;
        case abi::end_some: end_some(); break;
        default: break;
      }
    }
    return report() != abi::stop;
  }

  static constexpr int turns_between_reports = 2048;
  static constexpr int longest_wait = 32;  ///< turns: one instance without events must not keep its neighbours

  struct group {
    Lanes lanes{};
    unsigned active = 0;   ///< bit j: lane j is under way
    unsigned waiting = 0;  ///< bit j: lane j is under way, and waits to land in the group
    int turns_waited = 0;  ///< since the first of these began to wait
  };

  struct batch {
    Lanes lanes{};
    unsigned parked = 0, ready = 0;  ///< bit j: lane j is parked, or ready; never both
  };

  /// The first `some` lanes.
  static constexpr unsigned first(int some) { return some >= 32 ? ~0u : (1u << some) - 1u; }

  bool is_idle() const {
    unsigned active = 0;
    for (const group& g : groups_) active |= g.active;
    return active == 0;
  }

  /// One turn of a group. Returns the lanes that leave, which are emptied.
  __attribute__((noinline, flatten)) unsigned one_turn(group& g) {
    const unsigned sailing = g.active & ~g.waiting;
    const auto active = mask_of<Real>::from_bits(sailing);
    const unsigned parked = sail(g.lanes, active, tol_, run_).bits();
    const unsigned ended = (active & (g.lanes.status != Integer(int64(status::interrupted)))).bits();
    usage_.turns += 1;
    usage_.lane_turns += __builtin_popcount(sailing);
    if (g.waiting != 0) g.turns_waited += 1;
    const bool is_due = g.waiting != 0 && (sailing == 0 || g.turns_waited >= longest_wait);
    if ((parked | ended) == 0 && !is_due) return 0;
    if (lands_in_place_ || g.waiting != 0) return wait(g, parked, ended);
    leave(g, parked | ended, parked);
    return parked | ended;
  }

  /// Lets lanes wait, and lands them once no other sails. Lanes that wait for too long are parked. Returns the lanes that leave.
  __attribute__((noinline)) unsigned wait(group& g, unsigned parked, unsigned ended) {
    ended &= ~parked;  // landing stores lanes that are both
    if (ended != 0) leave(g, ended, 0);
    g.waiting |= parked;
    const bool all_wait = g.waiting == g.active;
    if (g.waiting == 0 || (!all_wait && g.turns_waited < longest_wait)) return ended;
    const unsigned waiting = g.waiting;
    g.waiting = 0;
    g.turns_waited = 0;
    if (!all_wait) {
      leave(g, waiting, waiting);
      return ended | waiting;
    }
    calm_empty_lanes(g.lanes, waiting);
    land_lanes(g.lanes, waiting);
    const unsigned at_landing = (g.lanes.status != Integer(int64(status::interrupted))).bits() & waiting;
    if (at_landing != 0) leave(g, at_landing, 0);
    return ended | at_landing;
  }

  /// Parks or stores the lanes that leave.
  __attribute__((noinline)) void leave(group& g, unsigned leaving, unsigned parked) {
    for (int lane = 0; lane < W; ++lane) {
      if ((leaving >> lane & 1u) == 0) continue;
      if (parked >> lane & 1u) park(g.lanes, lane);
      else finish(g.lanes, lane);
    }
    g.active &= ~leaving;
  }

  void park(const Lanes& from, int lane) {
    batch* b = with_parked();
    if (b == nullptr) b = &empty_batch();
    const int to = __builtin_ctz(~b->parked);
    move(from, lane, b->lanes, to);
    b->parked |= 1u << to;
    if (b->parked == first(W)) land_parked(*b);
  }

  batch* with_parked() {
    for (batch& b : batches_)
      if (b.parked != 0) return &b;
    return nullptr;
  }

  /// The batch with the fewest ready instances, so that it is soon empty.
  batch* with_ready() {
    batch* fewest = nullptr;
    for (batch& b : batches_)
      if (b.ready != 0 && (fewest == nullptr || __builtin_popcount(b.ready) < __builtin_popcount(fewest->ready)))
        fewest = &b;
    return fewest;
  }

  /// An empty batch; if there is none, ready instances of two batches are merged.
  batch& empty_batch() {
    for (batch& b : batches_)
      if ((b.parked | b.ready) == 0) return b;
    batch& from = *with_ready();
    for (batch& to : batches_)
      while (&to != &from && to.parked == 0 && to.ready != first(W) && from.ready != 0) {
        const int lane = __builtin_ctz(from.ready), free = __builtin_ctz(~to.ready);
        move(from.lanes, lane, to.lanes, free);
        from.ready &= ~(1u << lane);
        to.ready |= 1u << free;
      }
    return from;
  }

  /// Fills empty lanes with ready instances, else with fresh ones.
  void refill(group& g) {
    while (g.active != first(W)) {
      batch* b = with_ready();
      while (b == nullptr && begin_fresh()) b = with_ready();  // some instances end at their start
      if (b == nullptr) {
        calm_empty_lanes(g.lanes, g.active);
        return;
      }
      const int lane = __builtin_ctz(b->ready), free = __builtin_ctz(~g.active);
      move(b->lanes, lane, g.lanes, free);
      b->ready &= ~(1u << lane);
      g.active |= 1u << free;
    }
  }

  /// Begins up to W fresh instances at once; when instances are resumed, makes the next one ready. Returns false if none is left. Called
  /// while no instance is ready.
  bool begin_fresh() {
    const int64 left = (resumed_ >= 0 ? resumed_ : run_.batch.count) - next_;
    if (left <= 0) return false;
    batch& b = empty_batch();
    if (resumed_ >= 0 && from_[next_].reals != nullptr) {
      put(b.lanes, 0, restore<E, T>(from_[next_++]));
      is_under_way(b.lanes.slot.get(0));
      b.ready = 1u;
      return true;
    }
    const int some = resumed_ >= 0 ? 1 : left < W ? static_cast<int>(left) : W;
    b.lanes = Lanes{};
    for (int lane = 0; lane < W; ++lane) {
      const int64 slot = resumed_ >= 0 ? from_[next_].integers[0] : next_ + (lane < some ? lane : 0);
      b.lanes.slot.set(lane, static_cast<integer_of<T>>(slot));
      histories_.give(b.lanes, lane, lane < some);
      is_under_way(slot);
    }
    begin(b.lanes, mask_of<Real>::from_bits(first(some)), tol_, run_);
    next_ += some;
    settle(b, first(some));
    return true;
  }

  /// Lands all that is parked in a batch.
  void land_parked(batch& b) {
    calm_empty_lanes(b.lanes, b.parked);
    land_lanes(b.lanes, b.parked);
    settle(b, b.parked);
    b.parked = 0;
  }

  /// Lands some lanes, and decides how the next ones land.
  void land_lanes(Lanes& lanes, unsigned some) {
    // Without guards and time events nothing is ever parked, so the landing code need not be compiled.
    if constexpr (E::ng > 0 || E::form::time_events > 0)
#ifdef SALTUS_LANDS_APART
      saltus_land(&lanes, some, &run_);
#else
      saltus::land_lanes(lanes, some, run_);
#endif
    usage_.landings += 1;
    usage_.landed += __builtin_popcount(some);
    landed_ += __builtin_popcount(some);
    constexpr int64 dense = 4;  // fewer trials than this for an event; measured on balls, thermostats and walls
    lands_in_place_ = dense * landed_ > usage_.lane_turns - turns_before_;
  }

  /// Stores those of the given lanes, just begun or landed, that have a terminal status; the others become ready.
  void settle(batch& b, unsigned lanes) {
    const unsigned ended = (b.lanes.status != Integer(int64(status::interrupted))).bits() & lanes;
    b.ready = lanes & ~ended;
    for (unsigned left = ended; left != 0; left &= left - 1) finish(b.lanes, __builtin_ctz(left));
  }

  void finish(const Lanes& from, int lane) {
    Record one;
    take(from, lane, one);
    store<E>(one, tol_, run_);
    histories_.take_back(from, lane);
    gradients_.take(one, trajectories_, run_);
    ++finished_;
  }

  /// Marks an instance as begun and not ended, so that the host knows it even if a function of the model does not return.
  void is_under_way(int64 slot) const { run_.results.status[slot] = static_cast<unsigned char>(status::interrupted); }

  /// Ends the instances under way to which the host has given a status. Other lanes are not affected.
  void end_some() {
    const auto ended = [&](Lanes& lanes, unsigned which) {
      unsigned gone = 0;
      for (; which != 0; which &= which - 1) {
        const int lane = __builtin_ctz(which);
        const auto told = run_.results.status[lanes.slot.get(lane)];
        if (told == static_cast<unsigned char>(status::interrupted)) continue;
        lanes.status.set(lane, static_cast<integer_of<T>>(told));
        finish(lanes, lane);
        gone |= 1u << lane;
      }
      return gone;
    };
    for (group& g : groups_) {
      g.active &= ~ended(g.lanes, g.active);
      g.waiting &= g.active;
    }
    for (batch& b : batches_) {
      b.parked &= ~ended(b.lanes, b.parked);
      b.ready &= ~ended(b.lanes, b.ready);
    }
  }

  /// Stores the instances under way as they stand, with status interrupted.
  void abandon() {
    const auto give_up = [&](const Lanes& lanes, unsigned which) {
      for (; which != 0; which &= which - 1) finish(lanes, __builtin_ctz(which));
    };
    for (const group& g : groups_) give_up(g.lanes, g.active);
    for (const batch& b : batches_) give_up(b.lanes, b.parked | b.ready);
  }

  /// Copies a busy lane into the empty ones, so that they compute nothing slow or strange.
  static void calm_empty_lanes(Lanes& lanes, unsigned busy) {
    if (busy == 0) return;
    for (unsigned empty = first(W) & ~busy; empty != 0; empty &= empty - 1)
      move(lanes, __builtin_ctz(busy), lanes, __builtin_ctz(empty));
  }

  int report() {
    const int64 news = finished_ - reported_;
    reported_ = finished_;
    return sink_.progress(sink_.context, news);
  }

  [[no_unique_address]] trajectories<E> trajectories_;
  [[no_unique_address]] gradients<E, W> gradients_;
  Run run_;
  const abi::sink& sink_;
  abi::usage& usage_;
  tolerances<E, Real> tol_;
  static constexpr int batch_count = 4;
  [[no_unique_address]] history_places<E, (Groups + batch_count) * W> histories_;
  group groups_[Groups];
  batch batches_[batch_count];  ///< one with parked instances, up to two with ready ones, and one for the next
  int64 next_ = 0, finished_ = 0, reported_ = 0;
  int64 resumed_;  ///< number of instances to be continued; -1: the whole chunk is to be begun
  const abi::snapshot* from_;
  int64 turns_before_;           ///< turns of lanes in earlier chunks
  int64 landed_ = 0;             ///< instances landed in this one
  bool lands_in_place_ = false;  ///< events are so dense that lanes had better wait for each other
};

template <class E, int W, int Groups = 1>
int resume_chunk(const abi::settings* settings, const abi::batch* batch, const abi::results* results,
                 const abi::sink* sink, abi::usage* usage, long long count, const abi::snapshot* from);

/// Integrates all instances of a chunk, or continues some of them.
template <class E, int W, int Groups = 1>
int run_chunk(const abi::settings* settings, const abi::batch* batch, const abi::results* results,
              const abi::sink* sink, abi::usage* usage) {
  return resume_chunk<E, W, Groups>(settings, batch, results, sink, usage, -1, nullptr);
}
template <class E, int W, int Groups>
int resume_chunk(const abi::settings* settings, const abi::batch* batch, const abi::results* results,
                 const abi::sink* sink, abi::usage* usage, long long count, const abi::snapshot* from) {
  // On the heap: a thousand guards or states times the lanes would overflow a thread's stack. Owned, because a model may throw.
  const struct owner {
    cpu_chunk<E, W, Groups>* chunk;
    ~owner() { delete chunk; }
  } own{new cpu_chunk<E, W, Groups>(*settings, *batch, *results, *sink, *usage, count, from)};
  return own.chunk->integrate() ? 0 : 1;
}

/// The interface that a module exports as `saltus_module`.
template <class E, int W, int Groups = 1>
inline constexpr abi::module cpu_module = {
    abi::version, W, snapshot_reals<E>, record_of<E>.integers, &run_chunk<E, W, Groups>, &resume_chunk<E, W, Groups>};

}  // namespace saltus
