// A gradient keeps rows of every event (run/trajectory.hpp): the points at which the model's functions are called, and with what. The conditions
// under which there is no derivative are those of event/derivatives_at_events.hpp. Some of them depend on how the times of events move with
// the parameters. Only the sweep knows this, so it decides these (run/gradient_at_events.hpp).
#pragma once

#include "engine/data.hpp"
#include "event/derivatives_at_events.hpp"

namespace saltus {

/// The way to a landing point, of which a gradient is the derivative: a step, then moves along parabolas and one along f, each of which may
/// go back, as lengths of time. Empty without a gradient.
inline constexpr int most_parabolas = 4;
template <class Real, bool has_gradient>
struct way_to_landing {
  SALTUS_FN void begin(Real, mask_of<Real>) {}
  SALTUS_FN void follow_parabola(Real, mask_of<Real>) {}
  SALTUS_FN void shift(Real, mask_of<Real>) {}
};
template <class Real>
struct way_to_landing<Real, true> {
  Real step;
  vec<Real, most_parabolas + 1> moves;  ///< the last one along f; those left out are 0

  SALTUS_FN void begin(Real h, mask_of<Real> where) {
    step = select(where, h, step);
    for (int k = 0; k <= most_parabolas; ++k) moves[k] = select(where, Real(0.0), moves[k]);
  }
  SALTUS_FN void follow_parabola(Real d, mask_of<Real> where) {
    for (int k = 0; k < most_parabolas; ++k) {
      const auto here = where & (moves[k] == Real(0.0));
      moves[k] = select(here, d, moves[k]);
      where = where & !here;
    }
  }
  SALTUS_FN void shift(Real d, mask_of<Real> where) { moves[most_parabolas] = select(where, d, moves[most_parabolas]); }
};

/// The rows of an event, in the order of a trajectory. There is one transition, and one mode if the model has `mode`, for every round of
/// event iteration.
enum class row_kind {
  entry = 1,           ///< where an event is due, with guards on the sides of the step, and what is due
  entry_at_end = 2,    ///< the same at the end of the time span
  entry_at_knot = 3,   ///< the same at the knot of a table, where guards may have jumped: a fixed time
  transition = 4,      ///< before a transition, with the guards that it sees
  mode = 5,            ///< before `mode`, with the guards that it sees
  departure = 6,       ///< after the event, with the sides of guards from there on
  start = 7,           ///< the same at the start; guards at zero are due
  field = 8,           ///< behind an entry: f there, in the place of the states
  entry_at_datum = 9,  ///< an entry at the time of a datum
};

template <class E, class Real>
SALTUS_FN due_events<E, Real> nothing_due() {
  due_events<E, Real> r;
  each<E::ng>([&](int i) SALTUS_INLINE_LAMBDA { r.guard[i] = Real(0.0); });
  each<E::form::time_events>([&](int i) SALTUS_INLINE_LAMBDA { r.time_event[i] = Real(0.0); });
  return r;
}

/// Keeps the point before `mode` is called with the guards g.
template <class E, class Real, class Run>
SALTUS_FN void keep_mode(const instance<E, Real>& x, const vec<Real, E::ng>& g, mask_of<Real> where, const Run& run) {
  run.events.keep_event(x, row_kind::mode, x.t, g, nothing_due<E, Real>(), where);
}

/// Keeps the start, with the guards that are zero there.
template <class E, class Real, class Run>
SALTUS_FN_COLD void keep_start(const instance<E, Real>& x, mask_of<Real> where, const Run& run) {
  auto at_zero = nothing_due<E, Real>();
  each<E::ng>([&](int i)
                  SALTUS_INLINE_LAMBDA { at_zero.guard[i] = select(is_zero_at_start(x, i), Real(1.0), Real(0.0)); });
  run.events.keep_event(x, row_kind::start, x.t + rounding_of_time(x, x.t), x.constants.guard_values, at_zero, where);
}

/// Keeps the point at which events fire. Their times are taken to move.
template <class E, class Real, class Run>
SALTUS_FN_COLD void keep_entry(instance<E, Real>& x, const event_here<E, Real>& event, mask_of<Real> where,
                               const tolerances<E, Real>& tol, const Run& run) {
  const auto& due = event.due;
  const auto at_knot = event.at_knot;
  const auto there = x.constants.guard_values;
  each<E::ng>([&](int i) SALTUS_INLINE_LAMBDA {
    assign_where(where & !at_knot, x.constants.guard_values[i], event.of_step[i]);
  });
  if constexpr (E::form::model_guards > 0) look_for_grazing(x, due, where & !at_knot, tol);
  const Real near = ulps_of_time(x, 64.0);
  const auto at_end = abs(x.t - x.t_end) <= near, at_datum = !at_end & is_at_datum(tol, x.t, near);
  each<E::ng>([&](int i) SALTUS_INLINE_LAMBDA {
    const auto is_due = where & !at_knot & (due.guard[i] > Real(0.5));
    undefine(x, is_due & at_end, sensitivity::at_end);
    undefine(x, is_due & at_datum, sensitivity::at_datum);
  });
  if constexpr (E::form::kinds::schedules)
    each<E::form::time_events>([&](int i) SALTUS_INLINE_LAMBDA {
      if (queue_of<typename E::Model>(i).capacity < 2) return;
      const auto two = is_item_up_to(x, i, 1, together_with(x, x.t));
      undefine(x, where & two & (due.time_event[i] > Real(0.5)), sensitivity::order);
    });
  const auto keep = [&](row_kind row, mask_of<Real> lanes) SALTUS_INLINE_LAMBDA {
    if (any(lanes)) run.events.keep_event(x, row, x.t, x.constants.guard_values, due, lanes);
  };
  keep(row_kind::entry, where & !at_knot & !at_end & !at_datum);
  keep(row_kind::entry_at_end, where & !at_knot & at_end);
  keep(row_kind::entry_at_datum, where & !at_knot & at_datum);
  keep(row_kind::entry_at_knot, where & at_knot);
  auto field = x;
  field.y = x.f;
  run.events.keep_event(field, row_kind::field, x.t, x.constants.guard_values, due, where);
  x.constants.guard_values = there;
}

/// Events that are due again at the same time move with it, unless they have times of their own: guards that were at zero without being
/// moved there, and items of scheduled time events.
template <class E, class Real>
SALTUS_FN_COLD void look_at_due_again_of_gradient(instance<E, Real>& x, const due_events<E, Real>& due,
                                                  mask_of<Real> where, const tolerances<E, Real>& tol) {
  if constexpr (E::ng > 0) {
    const auto g = E::form::guard_values(x.t, x.y, x.constants);
    const Real tolerance = max(ulps_of_time(x, 1024.0), tol.event_tol + tol.event_tol);
    each<E::ng>([&](int i) SALTUS_INLINE_LAMBDA {
      const auto at_zero = abs(g[i]) <= abs(x.rate[i]) * tolerance;
      undefine(x, where & at_zero & (due.guard[i] > Real(0.5)), sensitivity::order);
    });
  }
  each<E::form::time_events>(
      [&](int i) SALTUS_INLINE_LAMBDA { undefine(x, where & (due.time_event[i] > Real(0.5)), sensitivity::order); });
}

}  // namespace saltus
