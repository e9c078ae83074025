// One CPU thread integrates one chunk: W lanes sail; suspects are parked and landed W at a time; whoever ends is stored
// and replaced at once.
//
//                 +--------- begin (W at once) <--- chunk
//                 v
//     ready --> lanes: sail --> parked --> land (W at once) --+
//       ^         |                                           |
//       |         +--> stored <-------------------------------+
//       +-----------------------------------------------------+
//
// Several groups of lanes may take turns: while the last operations of one group's turn wait for each other, the processor
// begins with the next group's.
#pragma once

#include "chunk.hpp"

namespace saltus {

/// Hands events and exceptions on to the host, at once.
struct events_to_host {
  const abi::sink& sink;
  SALTUS_FN void   append(int64 slot, double t, int guard, const double* before, const double* after) const {
      sink.append(sink.context, slot, t, guard, before, after);
  }
  SALTUS_FN void except(int64 slot, const double* reals, const long long* integers) const {
    const abi::snapshot last{reals, integers};
    if (sink.except) sink.except(sink.context, slot, &last);
  }
};

/// Of `Groups` groups of W lanes.
template <class E, int W, int Groups>
class cpu_chunk {
  using T       = typename E::T;
  using Real    = pack<T, W>;
  using Scalar  = pack<T, 1>;
  using Lanes   = instance<E, Real>;
  using Record  = instance<E, Scalar>;
  using Integer = typename Real::integer;
  using Run     = chunk_run<E, events_to_host>;

 public:
  cpu_chunk(const abi::settings& settings, const abi::batch& batch, const abi::results& results, const abi::sink& sink,
            abi::usage& usage, int64 resumed = -1, const abi::snapshot* from = nullptr)
      : run_{settings, batch, results, events_to_host{sink}},
        sink_(sink),
        usage_(usage),
        tol_(tolerances_from<E, Real>(settings)),
        resumed_(resumed),
        from_(from) {}

  /// Integrates every instance of the chunk; false if told to stop before the end.
  bool integrate() {
    for (;;) {
      for (group& g : groups_) refill(g);
      if (is_idle()) {
        if (parked_count_ == 0) break;
        land_parked();
        continue;
      }
      for (int turn = 0; turn < turns_between_reports && !is_idle(); ++turn)
        for (group& g : groups_) {
          if (g.active == 0 || one_turn(g) == 0) continue;
          if (parked_count_ > W) land_parked();
          refill(g);
        }
      if (!report()) {
        abandon();
        return false;
      }
    }
    return report();
  }

 private:
  static constexpr int turns_between_reports = 2048;

  struct group {
    Lanes    lanes{};
    unsigned active = 0;  ///< bit j: lane j is under way
  };

  /// The first `some` lanes.
  static constexpr unsigned first(int some) { return some >= 32 ? ~0u : (1u << some) - 1u; }

  bool is_idle() const {
    unsigned active = 0;
    for (const group& g : groups_) active |= g.active;
    return active == 0;
  }

  /// One turn of a group; lanes that leave are emptied. Returns them.
  __attribute__((noinline, flatten)) unsigned one_turn(group& g) {
    const auto     active = mask_of<Real>::from_bits(g.active);
    const unsigned parked = sail(g.lanes, active, tol_, run_).bits();
    const unsigned ended  = (active & (g.lanes.status != Integer(int64(status::interrupted)))).bits();
    usage_.turns += 1;
    usage_.lane_turns += __builtin_popcount(g.active);
    const unsigned leaving = parked | ended;
    if (leaving != 0) leave(g, leaving, parked);
    return leaving;
  }

  /// Lanes that leave are parked or stored.
  __attribute__((noinline)) void leave(group& g, unsigned leaving, unsigned parked) {
    for (int lane = 0; lane < W; ++lane) {
      if ((leaving >> lane & 1u) == 0) continue;
      if (parked >> lane & 1u) parked_[parked_count_++] = take(g.lanes, lane);
      else finish(take(g.lanes, lane));
    }
    g.active &= ~leaving;
  }

  /// Fills empty lanes: with whoever is ready, else with fresh instances.
  void refill(group& g) {
    while (g.active != first(W)) {
      while (ready_count_ == 0 && begin_fresh()) {}  // some end at their start
      if (ready_count_ == 0) {
        calm_empty_lanes(g);
        return;
      }
      const int lane = __builtin_ctz(~g.active);
      put(g.lanes, lane, ready_[--ready_count_]);
      g.active |= 1u << lane;
    }
  }

  /// Begins up to W fresh instances at once, or makes the next one that was under way before ready; false if none is left.
  bool begin_fresh() {
    const int64 left = (resumed_ >= 0 ? resumed_ : run_.batch.count) - next_;
    if (left <= 0) return false;
    if (resumed_ >= 0 && from_[next_].reals != nullptr) {
      ready_[ready_count_++] = restore<E, T>(from_[next_++]);
      return true;
    }
    const int some = resumed_ >= 0 ? 1 : left < W ? static_cast<int>(left) : W;
    Lanes     x{};
    for (int lane = 0; lane < W; ++lane) {
      const int64 slot = resumed_ >= 0 ? from_[next_].integers[0] : next_ + (lane < some ? lane : 0);
      x.slot.set(lane, static_cast<integer_of<T>>(slot));
    }
    begin(x, mask_of<Real>::from_bits(first(some)), tol_, run_);
    next_ += some;
    for (int lane = some - 1; lane >= 0; --lane) take_back(x, lane);
    return true;
  }

  /// Lands up to W parked instances at once.
  void land_parked() {
    const int some = parked_count_ < W ? parked_count_ : W;
    Lanes     x{};
    for (int lane = 0; lane < W; ++lane) put(x, lane, parked_[parked_count_ - 1 - (lane < some ? lane : 0)]);
    parked_count_ -= some;
    land(x, mask_of<Real>::from_bits(first(some)), tol_, run_);
    usage_.landings += 1;
    usage_.landed += some;
    for (int lane = 0; lane < some; ++lane) take_back(x, lane);
  }

  /// A lane of a batch that was begun or landed: stored if it has its verdict, else ready to sail.
  void take_back(const Lanes& x, int lane) {
    const Record one = take(x, lane);
    if (one.status.v == static_cast<integer_of<T>>(status::interrupted)) ready_[ready_count_++] = one;
    else finish(one);
  }

  void finish(Record one) {
    store<E>(one, run_);
    ++finished_;
  }

  /// Stores what is under way as it stands: status interrupted.
  void abandon() {
    for (const group& g : groups_)
      for (int lane = 0; lane < W; ++lane)
        if (g.active >> lane & 1u) finish(take(g.lanes, lane));
    while (ready_count_ > 0) finish(ready_[--ready_count_]);
    while (parked_count_ > 0) finish(parked_[--parked_count_]);
  }

  /// Empty lanes copy a busy one, so that they compute nothing slow or strange.
  void calm_empty_lanes(group& g) {
    if (g.active == 0) return;
    const Record busy = take(g.lanes, __builtin_ctz(g.active));
    for (int lane = 0; lane < W; ++lane)
      if ((g.active >> lane & 1u) == 0) put(g.lanes, lane, busy);
  }

  bool report() {
    const int64 news = finished_ - reported_;
    reported_        = finished_;
    return sink_.progress(sink_.context, news) != 0;
  }

  Run                  run_;
  const abi::sink&     sink_;
  abi::usage&          usage_;
  tolerances<E, Real>  tol_;
  group                groups_[Groups];
  Record               ready_[3 * W], parked_[2 * W];
  int                  ready_count_ = 0, parked_count_ = 0;
  int64                next_ = 0, finished_ = 0, reported_ = 0;
  int64                resumed_;  ///< instances to be continued; -1: all of the chunk are to be begun
  const abi::snapshot* from_;
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
  // On the heap: a thousand guards or states times the lanes are too much for a thread's stack.
  auto*      chunk = new cpu_chunk<E, W, Groups>(*settings, *batch, *results, *sink, *usage, count, from);
  const bool whole = chunk->integrate();
  delete chunk;
  return whole ? 0 : 1;
}

/// What a unit exports as `saltus_unit`.
template <class E, int W, int Groups = 1>
inline constexpr abi::unit cpu_unit = {abi::version,
                                       W,
                                       instance<E, pack<typename E::T, W>>::real_count,
                                       instance<E, pack<typename E::T, W>>::integer_count,
                                       &run_chunk<E, W, Groups>,
                                       &resume_chunk<E, W, Groups>};

}  // namespace saltus
