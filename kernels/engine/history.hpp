// The history of an instance of a model with delays (model/delays.hpp): records of accepted steps, and the levels of discontinuities.
//
// A discontinuity of level m at time T, a jump in the m-th derivative of states, makes one of level m + 1 at T + lag, for each delay. Beyond
// the order of the method they do not matter (Bellen, Zennaro, Numerical Methods for Delay Differential Equations, 2003, 2.2). Discontinuities
// begin at the start and at events.
#pragma once

#include "engine/step_system.hpp"

namespace saltus {

template <class E>
inline constexpr bool has_delays = E::form::delay_count > 0;

/// Rounding may make a step longer than the least delay by this part of it. The step then reads the last polynomial beyond its end.
inline constexpr double beyond_least_delay = 0x1p-30;

/// Largest part of the least delay that a step may take by itself: sail may stretch it by a hundredth to meet a stop.
inline constexpr double part_of_least_delay = (1.0 + beyond_least_delay) / 1.01;

namespace detail {

/// The history of one lane.
template <class E, class T, int W>
class lane_history {
  static constexpr int delays = E::form::delay_count;

 public:
  SALTUS_FN lane_history(instance<E, pack<T, W>>& x, int lane)
      : x_(x), lane_(lane), records_(x.constants.past_states.memory(lane)) {}

  SALTUS_FN auto& records() const { return records_; }
  SALTUS_FN int64 newest() const { return x_.constants.past_states.newest.get(lane_); }
  SALTUS_FN T lag(int k) const { return x_.constants.past_states.lag[k].get(lane_); }

  /// True if a record begins at a discontinuity that matters.
  SALTUS_FN bool breaks(int64 record) const { return records_.level(record) < T(E::Method::order); }

  /// Moves the first record of each delay to the time t, and the end on to the next breaking point.
  SALTUS_FN void advance(T t) const {
    auto& c = x_.constants.past_states;
    for (int k = 0; k < delays; ++k) {
      int64 end = c.end[k].get(lane_), first = c.first[k].get(lane_);
      if (end < 0) continue;
      end = next_break_from(end);
      while (first + 1 < end && records_.start(first + 1) <= t - lag(k)) ++first;
      set(c.end[k], end), set(c.first[k], first);
    }
  }

  /// The time of the next breaking point; of several that are equal to rounding, the last.
  SALTUS_FN T next_break() const {
    const T first = break_time(limits<T>::largest, false);
    return first < limits<T>::largest ? break_time(first + rounding_of_time(x_, pack<T, W>(first)).get(lane_), true)
                                      : first;
  }

  /// Passes the breaking points up to `time`. The newest record begins at the lowest of their levels, plus one.
  SALTUS_FN void pass_breaks(T time) const {
    auto& c = x_.constants.past_states;
    T& level = records_.level(newest());
    for (int k = 0; k < delays; ++k) {
      int64 end = c.end[k].get(lane_);
      while (end >= 0 && end < newest() && breaks(end) && records_.start(end) + lag(k) <= time) {
        const T here = records_.level(end) + T(1.0);
        level = here < level ? here : level;
        set(c.first[k], end);
        end = next_break_from(end + 1);
      }
      set(c.end[k], end);
    }
  }

  /// True if there is room for one more record.
  SALTUS_FN bool has_room() const {
    const auto& c = x_.constants.past_states;
    int64 oldest = newest();
    for (int k = 0; k < delays; ++k) {
      const int64 first = c.first[k].get(lane_) < 0 ? 0 : c.first[k].get(lane_);
      if (c.end[k].get(lane_) >= 0 && first < oldest) oldest = first;
    }
    return newest() + 1 - oldest < records_.capacity();
  }

  /// Begins the newest record at (t, y), smoothly.
  SALTUS_FN void open(int64 record, T t, const vec<pack<T, W>, E::n>& y) const {
    set(x_.constants.past_states.newest, record);
    records_.start(record) = t;
    records_.level(record) = T(smooth);
    show_states(record, y);
  }
  /// Notes an event, or another change of f: the level is 0 if it has moved a state, else 1 or lower.
  SALTUS_FN void note_jump() const {
    const int64 record = newest();
    T level = T(1.0);
    for (int i = 0; i < E::model_states; ++i)
      if (!(records_.coefficients(record, i)[0] == x_.y[i].get(lane_))) level = T(0.0);
    if (level < records_.level(record)) records_.level(record) = level;
    show_states(record, x_.y);
  }

 private:
  /// The first time of all delays, or the last one up to `most`.
  SALTUS_FN T break_time(T most, bool last) const {
    T found = last ? -limits<T>::largest : limits<T>::largest;
    for (int k = 0; k < delays; ++k) {
      const int64 end = x_.constants.past_states.end[k].get(lane_);
      if (end < 0 || !breaks(end)) continue;
      const T time = records_.start(end) + lag(k);
      if (time <= most && (last ? time > found : time < found)) found = time;
    }
    return found;
  }
  SALTUS_FN void show_states(int64 record, const vec<pack<T, W>, E::n>& y) const {
    for (int i = 0; i < E::model_states; ++i) records_.coefficients(record, i)[0] = y[i].get(lane_);
  }
  SALTUS_FN int64 next_break_from(int64 record) const {
    while (record < newest() && !breaks(record)) ++record;
    return record;
  }
  template <class Integer>
  SALTUS_FN void set(Integer& to, int64 value) const {
    to.set(lane_, static_cast<saltus::integer_of<T>>(value));
  }

  instance<E, pack<T, W>>& x_;
  int lane_;
  past_memory<E::model_states, T> records_;
};

}  // namespace detail

/// Degree of the polynomials of a history.
template <class E>
inline constexpr int degree_of_history = interpolant_of<E, pack<typename E::T, 1>>::terms;

/// Numbers of an instance's history; 0 for models without delays.
template <class E>
SALTUS_FN constexpr int64 history_numbers(int64 capacity) {
  if constexpr (has_delays<E>)
    return detail::past_memory<E::model_states, typename E::T>::size(capacity, degree_of_history<E>);
  else return 0;
}

/// Begins the histories of all lanes at their initial states. Lanes with a delay that is none get the status `bad_delay`.
template <class E, class T, int W>
SALTUS_FN_COLD void begin_history(instance<E, pack<T, W>>& x, mask_of<pack<T, W>> where,
                                  const tolerances<E, pack<T, W>>& tol, int64 capacity) {
  using Real = pack<T, W>;
  using integer = typename Real::integer;
  static_assert(E::form::time_sign > 0, "delays are for runs forward in time");
  static_assert(E::directions == 0, "delays are without derivatives");
  static_assert(sizeof(T) == 8, "delays are for double precision: an integer of a lane has the address of its history");
  static_assert(!E::certified && !is_series_method<typename E::Method>, "delays are not for series and enclosures");
  auto& c = x.constants.past_states;
  auto sound = mask_of<Real>::all(true);
  const auto lag = E::form::lags(x.constants);
  Real least = Real(limits<T>::largest);
  each<E::form::delay_count>([&](int k) SALTUS_INLINE_LAMBDA {
    const auto is_one = (lag[k] > rounding_of_time(x, x.t_end)) & (lag[k] < Real(limits<T>::largest));
    sound = sound & is_one;
    c.lag[k] = select(is_one, lag[k], Real(1.0));
    c.first[k] = integer(int64(-1));
    c.end[k] = select(x.t_begin + c.lag[k] <= x.t_end, integer(int64(0)), integer(int64(-1)));
    least = min(least, c.lag[k]);
  });
  if constexpr (E::fixed_steps) sound = sound & (tol.fixed_step <= Real(part_of_least_delay) * least);
  end_where(x.status, where & !sound, status::bad_delay);
  c.newest = integer(int64(0));
  for (int lane = 0; lane < W; ++lane) {
    const auto memory = c.memory(lane);
    memory.begin(capacity, degree_of_history<E>);
    for (int i = 0; i < E::model_states; ++i) memory.initial(i) = x.y[i].get(lane);
  }
  vec<Real, E::model_states> before;
  each<E::model_states>([&](int i) SALTUS_INLINE_LAMBDA { before[i] = c.before_start(i, x.t, x.constants.p); });
  for (int lane = 0; lane < W; ++lane) {
    const detail::lane_history<E, T, W> history(x, lane);
    history.open(0, x.t.get(lane), x.y);
    bool jumps = false;
    for (int i = 0; i < E::model_states; ++i) jumps = jumps || !(before[i].get(lane) == x.y[i].get(lane));
    history.records().level(0) = T(jumps ? 0.0 : 1.0);
  }
}

/// The least delay of each lane.
template <class E, class Real>
SALTUS_FN Real least_delay(const instance<E, Real>& x) {
  Real least = Real(limits<scalar_of<Real>>::largest);
  each<E::form::delay_count>([&](int k) SALTUS_INLINE_LAMBDA { least = min(least, x.constants.past_states.lag[k]); });
  return least;
}

/// Records the step s, which is about to be accepted up to (t, y), in the lanes of `where`: while x still has the start of the step, whose
/// guard signs the dense output may need. Lanes without room for it get the status `history_full`.
template <class E, class T, int W, class Stages>
SALTUS_FN void record_step(instance<E, pack<T, W>>& x, const Stages& s, const step_system<E, pack<T, W>>& f,
                           pack<T, W> t, const vec<pack<T, W>, E::n>& y, mask_of<pack<T, W>> where) {
  using Real = pack<T, W>;
  const auto interpolant = interpolate<typename E::Method>(f, s);
  constexpr int degree = degree_of_history<E>;
  add_where(x.rhs_evaluations, where, E::Method::extra_stages);
  Real c[E::model_states][degree + 1];
  each<E::model_states>([&](int i) SALTUS_INLINE_LAMBDA { interpolant.expand(i, Real(0.0), c[i]); });
  const Real inverse = Real(1.0) / s.h;
  auto full = mask_of<Real>::all(false);
  for (int lane = 0; lane < W; ++lane) {
    if (!where[lane]) continue;
    const detail::lane_history<E, T, W> history(x, lane);
    const int64 record = history.newest();
    if (!history.has_room()) {
      full = full | mask_of<Real>::from_bits(1u << lane);
      continue;
    }
    history.records().inverse_length(record) = inverse.get(lane);
    for (int i = 0; i < E::model_states; ++i)
      for (int j = 0; j <= degree; ++j) history.records().coefficients(record, i)[j] = c[i][j].get(lane);
    history.open(record + 1, t.get(lane), y);
    history.advance(t.get(lane));
  }
  end_where(x.status, full, status::history_full);
}

/// Notes that an event, or a knot of a table, has changed states or f in the lanes of `where`.
template <class E, class T, int W>
SALTUS_FN void note_jump(instance<E, pack<T, W>>& x, mask_of<pack<T, W>> where) {
  if constexpr (has_delays<E>)
    for (int lane = 0; lane < W; ++lane)
      if (where[lane]) detail::lane_history<E, T, W>(x, lane).note_jump();
}

/// Passes the breaking points at the lanes' positions.
template <class E, class T, int W>
SALTUS_FN void pass_breaks(instance<E, pack<T, W>>& x, mask_of<pack<T, W>> where) {
  const auto time = x.t + rounding_of_time(x, x.t);
  for (int lane = 0; lane < W; ++lane)
    if (where[lane]) detail::lane_history<E, T, W>(x, lane).pass_breaks(time.get(lane));
}

/// Finds the next breaking points of the lanes in `where`.
template <class E, class T, int W>
SALTUS_FN void find_next_break(instance<E, pack<T, W>>& x, mask_of<pack<T, W>> where) {
  for (int lane = 0; lane < W; ++lane)
    if (where[lane]) x.constants.past_states.next_break.set(lane, detail::lane_history<E, T, W>(x, lane).next_break());
}

/// The time of the next knot of a table or breaking point: no step passes it.
template <class E, class Real>
SALTUS_FN Real next_corner(const instance<E, Real>& x) {
  if constexpr (!has_delays<E>) return x.next_knot;
  else if constexpr (E::form::tables == 0) return x.constants.past_states.next_break;
  else return min(x.next_knot, x.constants.past_states.next_break);
}

}  // namespace saltus
