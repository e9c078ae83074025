// The interface between the columns of a chunk and the instances in flight: how an instance begins and how its result is stored.
#pragma once

#include "engine/first_step.hpp"
#include "engine/history.hpp"
#include "engine/pieces.hpp"
#include "engine/reduce.hpp"
#include "engine/samples.hpp"
#include "engine/stiffness.hpp"
#include "event/carried.hpp"
#include "event/kept_events.hpp"
#include "event/rows_at_start.hpp"

namespace saltus {

/// The settings in the arithmetic of the lanes.
template <class E, class Real>
SALTUS_FN tolerances<E, Real> tolerances_from(const abi::settings& s) {
  tolerances<E, Real> tol;
  tol.rtol = Real(s.rtol);
  each<E::judged>([&](int i) SALTUS_INLINE_LAMBDA { tol.atol[i] = Real(s.atol[i]); });
  tol.event_tol = Real(s.event_tol);
  tol.fixed_step = Real(s.fixed_step);
  tol.concurrency_time = Real(s.concurrency_time);
  tol.concurrency_value = Real(s.concurrency_value);
  tol.zeno_part = Real(s.zeno_part);
  tol.conservative = s.conservative != 0;
  tol.algebra = s.algebra;
  tol.tables = s.tables;
  tol.records = s.records;
  tol.windows = s.windows;
  tol.data = s.data;
  tol.data_count = s.data_count;
  tol.max_steps = typename Real::integer(s.max_steps);
  tol.max_events = typename Real::integer(s.max_events);
  return tol;
}

/// A chunk under way: its columns, and the destinations of samples and results. `Events` decides where events are logged.
template <class E, class Events>
struct chunk_run {
  const abi::settings& settings;
  const abi::batch& batch;
  const abi::results& results;
  Events events;

  SALTUS_FN void store_sample(int64 slot, int quantity, int64 j, typename E::T value) const {
    results.samples[(quantity * batch.count + slot) * settings.sample_count + j] = static_cast<double>(value);
  }
  SALTUS_FN void note_event(int64 slot, int event) const {
    if (event < E::form::model_guards) history(event, slot) |= abi::has_fired;
  }
  /// Writes a row of the event log, as one of those that an instance may keep; -1: no bound on rows.
  template <class Scalar>
  SALTUS_FN void log_event(int64 slot, int kept_row, double t, int event, const vec<Scalar, E::logged>& before,
                           const vec<Scalar, E::logged>& after) const {
    double was[E::logged], is[E::logged];
    for (int i = 0; i < E::logged; ++i) {
      was[i] = static_cast<double>(before[i].v);
      is[i] = static_cast<double>(after[i].v);
    }
    if (kept_row < 0) return events.append(slot, t, event, was, is);
    const int64 kept_rows = settings.log_first + settings.log_last;
    double* const row = results.kept_rows + (slot * kept_rows + kept_row) * (2 + 2 * E::logged);
    row[0] = t;
    row[1] = event;
    for (int i = 0; i < E::logged; ++i) {
      row[2 + i] = was[i];
      row[2 + E::logged + i] = is[i];
    }
  }
  SALTUS_FN double parameter(int j, int64 slot) const { return batch.parameters[j * batch.count + slot]; }
  SALTUS_FN double initial(int i, int64 slot) const { return batch.initial[i * batch.count + slot]; }
  SALTUS_FN double initial_discrete(int i, int64 slot) const {
    return batch.discrete == nullptr ? detail::no_number : batch.discrete[i * batch.count + slot];
  }
  SALTUS_FN unsigned char& history(int guard, int64 slot) const {
    return results.guard_history[guard * batch.count + slot];
  }
};

/// The largest step, and the first one.
template <class E, class T, int W, class Run>
SALTUS_FN void set_first_step(instance<E, pack<T, W>>& x, mask_of<pack<T, W>> where,
                              const tolerances<E, pack<T, W>>& tol, const Run& run) {
  using Real = pack<T, W>;
  using form = typename E::form;
  x.h_max = min(Real(run.settings.max_step < limits<T>::largest ? run.settings.max_step : double(limits<T>::largest)),
                x.t_end - x.t_begin);
  if constexpr (form::kinds::has_max_step) x.h_max = min(x.h_max, form::max_step(x.t, x.y, x.constants));
  if constexpr (has_delays<E>) x.h_max = min(x.h_max, Real(part_of_least_delay) * least_delay(x));
  x.memory = {rough_of<Real>(0.0), rough_of<Real>(0.0), rough_of<Real>(0.0)};
  if constexpr (E::fixed_steps) x.h = tol.fixed_step;
  else if (run.settings.first_step > 0.0) x.h = min(Real(run.settings.first_step), x.h_max);
  else x.h = first_step(x, where, tol);
}

/// Sets span, parameters and given initial values from the slots in x.slot, and zeroes counters and memories.
template <class E, class T, int W, class Run>
SALTUS_FN given_to<E, pack<T, W>> begin_from_columns(instance<E, pack<T, W>>& x, const Run& run) {
  using Real = pack<T, W>;
  using Integer = typename Real::integer;
  using form = typename E::form;
  given_to<E, Real> given;
  for (int lane = 0; lane < W; ++lane) {
    const int64 slot = x.slot.get(lane);
    x.t_begin.set(lane, static_cast<T>(form::time_sign * run.batch.t_begin[slot]));
    x.t_end.set(lane, static_cast<T>(form::time_sign * run.batch.t_end[slot]));
    for (int j = 0; j < form::params; ++j) x.constants.p[j].set(lane, static_cast<T>(run.parameter(j, slot)));
    for (int i = 0; i < E::model_states; ++i) given.y[i].set(lane, static_cast<T>(run.initial(i, slot)));
    for (int i = 0; i < form::discretes; ++i) given.d[i].set(lane, static_cast<T>(run.initial_discrete(i, slot)));
    if constexpr (form::records > 0)
      for (int k = 0; k < form::records; ++k) {
        x.next_row[k].set(lane, static_cast<integer_of<T>>(run.batch.first_row[k * run.batch.count + slot]));
        x.end_row[k].set(lane, static_cast<integer_of<T>>(run.batch.end_row[k * run.batch.count + slot]));
      }
  }
  x.t = x.t_begin;
  x.h = x.t_end - x.t_begin;
  x.sample = Integer(int64(0));
  if constexpr (E::watch_stiffness) {
    constexpr int64 first_look = stiffness_schedule::first;
    x.next_look = Integer(run.settings.max_steps < first_look ? run.settings.max_steps : first_look);
  }
  if constexpr (E::bounds_log) x.logged[0] = Integer(int64(0));
  abi::each_counter(x, x, [](auto& count, auto&) SALTUS_INLINE_LAMBDA { count = Integer(int64(0)); });
  each<form::model_guards>([&](int i) SALTUS_INLINE_LAMBDA {
    x.event_time[i] = x.t_begin;
    x.event_interval[i] = x.event_ratio[i] = Real(0.0);
    x.event_streak[i] = Integer(int64(0));
  });
  form::each_memory(x.constants, x.constants, [](auto& kept, const auto&) SALTUS_INLINE_LAMBDA { kept = Real(0.0); });
  x.status = Integer(int64(status::interrupted));
  x.residual = x.far_steps = x.rounding = x.stiff_looks = x.doubts = x.orientation = x.largest_orientation = Real(0.0);
  x.residual_of = Real(-1.0);
  if constexpr (E::gradient) x.undefined = Real(0.0);
  if constexpr (cuts_at_corners<E>) {
    x.h_before_corner = Real(0.0);
    x.last_corner = x.t_begin;
  }
  return given;
}

/// Items that are due at the start fire there: those that `initial` has scheduled without a delay, or that an earlier run has left.
template <class E, class T, int W, class Run>
SALTUS_FN_COLD void begin_with_items(instance<E, pack<T, W>>& x, mask_of<pack<T, W>> where,
                                     const tolerances<E, pack<T, W>>& tol, const Run& run) {
  using Real = pack<T, W>;
  if constexpr (E::directions > 0)
    for (int i = 0; i < E::form::time_events; ++i) {
      vec<Real, E::directions> stays;
      for (int j = 0; j < E::directions; ++j) stays[j] = Real(0.0);
      const auto due = select(has_items_up_to(x, i, together_with(x, x.t)), Real(1.0), Real(0.0));
      look_at_items<E>(x, i, due, stays, where, sensitivity::at_start, tol);
    }
  fire_items_here(x, where, tol, run);
  look_ahead(x, where, tol, together_with(x, x.t));
}

/// Begins the instances whose slots stand in x.slot: initial state, discrete variables, first step. Lanes that cannot begin
/// get the terminal status `bad_start`.
template <class E, class T, int W, class Run>
SALTUS_FN_COLD void begin(instance<E, pack<T, W>>& x, mask_of<pack<T, W>> where, const tolerances<E, pack<T, W>>& tol,
                          const Run& run) {
  using Real = pack<T, W>;
  using Model = typename E::Model;
  using form = typename E::form;
  const auto given = begin_from_columns(x, run);
  each<form::discretes>([&](int i) SALTUS_INLINE_LAMBDA { x.constants.d[i] = Real(default_discrete<Model>(i)); });
  if constexpr (form::tables > 0) {
    end_without_curve(x, where, tol);
    where = where & is_under_way(x);
    enter_pieces(x, mask_of<Real>::all(true), tol, true);
  }

  carried<E>::begin(x, given, run);
  if constexpr (form::kinds::schedules) {
    end_at_faults(x, where);
    where = where & is_under_way(x);
  }
  if constexpr (has_delays<E>) {
    begin_history(x, where, tol, run.settings.history);
    where = where & is_under_way(x);
  }
  if constexpr (chooses_start<form>) {
    begin_consistently<E>(x, given.y, where, tol, run.settings.consistency);
    where = where & is_under_way(x);
  }
  const point_rules<E, Real> rules{run.settings.consistency};
  const auto mode = set_modes<E>(x, where, tol, rules);
  start_from<E>(x, where, tol, rules);
  follow_sides<E>(x, mode, where, tol, rules, run);
  if constexpr (form::slides) begin_slides(x, none_fired<E, Real>(), where);
  carried<E>::accept(x, where);

  for (int i = 0; i < form::model_guards; ++i) {
    const auto can_fire = armed<E>(i, x.constants.guard_values[i]);
    for (int lane = 0; lane < W; ++lane)
      if (where[lane]) run.history(i, x.slot.get(lane)) = can_fire[lane] ? 0 : abi::began_beyond;
  }

  // tests that the start is finite
  Real finite = Real(0.0);
  each<E::model_states>([&](int i) SALTUS_INLINE_LAMBDA { finite += not_finite(x.y[i]) + not_finite(x.f[i]); });
  each<E::ng>([&](int i) SALTUS_INLINE_LAMBDA { finite += not_finite(x.constants.guard_values[i]); });
  end_where(x.status, where & !(finite == Real(0.0)), status::bad_start);
  carried<E>::look_at_start(x, where);
  if constexpr (E::gradient && (E::ng > 0 || form::time_events > 0)) keep_start(x, where, run);
  // Reductions see the jumps of events at the start; samples see what is after them.
  if constexpr (E::reductions > 0) begin_reductions<E>(x, where);
  if constexpr (form::records > 0) give_rows_at_start(x, where, tol, run);
  look_ahead(x, where, tol, x.t + rounding_of_time(x, x.t));

  set_first_step(x, where, tol, run);
  if constexpr (E::samples)
    for (int lane = 0; lane < W; ++lane) first_sample<E>(x, lane, run);
  else x.next_sample = Real(0.0);
  if constexpr (form::kinds::schedules) begin_with_items<E>(x, where, tol, run);
}

/// Hands an instance that could not go on to the host, with all data needed to continue it.
template <class E, class T, class Run>
SALTUS_FN_COLD void except(instance<E, pack<T, 1>>& x, const Run& run) {
  using Record = instance<E, pack<T, 1>>;
  double reals[record_of<E>.reals];
  long long integers[record_of<E>.integers];
  int j = 0, k = 0;
  Record::each_real(
      x, x, [&](const auto& from, const auto&) SALTUS_INLINE_LAMBDA { reals[j++] = static_cast<double>(from.v); });
  Record::each_integer(x, x, [&](const auto& from, const auto&) SALTUS_INLINE_LAMBDA { integers[k++] = from.v; });
  run.events.except(x.slot.v, reals + record_of<E>.remembered, integers);
}

/// An instance from a snapshot by `except`, to be continued in the arithmetic T.
template <class E, class T>
SALTUS_FN_COLD instance<E, pack<T, 1>> restore(const abi::snapshot& from) {
  using Record = instance<E, pack<T, 1>>;
  Record x;
  int j = -record_of<E>.remembered, k = 0;
  Record::each_real(x, x, [&](auto& to, const auto&) SALTUS_INLINE_LAMBDA {
    to.v = static_cast<decltype(to.v)>(j < 0 ? 0.0 : from.reals[j]);
    j += 1;
  });
  Record::each_integer(
      x, x, [&](auto& to, const auto&) SALTUS_INLINE_LAMBDA { to.v = static_cast<integer_of<T>>(from.integers[k++]); });
  x.status.v = static_cast<integer_of<T>>(status::interrupted);
  x.far_steps.v = T(0.0);
  // A step that was given up may be rounding of t, and would show no reason for a failure.
  x.h = max(x.h, pack<T, 1>(64.0 * limits<T>::epsilon) * abs(x.t));
  return x;
}

/// Stores the result of an instance that has its terminal status.
template <class E, class T, class Real, class Run>
SALTUS_FN_COLD void store(instance<E, pack<T, 1>>& x, const tolerances<E, Real>& tol, const Run& run) {
  using form = typename E::form;
  const auto& r = run.results;
  const int64 count = run.batch.count, slot = x.slot.v;
  const auto why = static_cast<status>(x.status.v);
  if constexpr (E::samples) {
    // Samples at the very end of the instance show the state after the last event.
    if (is_ok(why)) {
      const auto out = form::output_values(x.t, x.y, x.constants);
      while (x.sample.v < run.settings.sample_count && x.next_sample.v <= x.t.v) {
        for (int i = 0; i < E::model_states; ++i) run.store_sample(slot, i, x.sample.v, x.y[i].v);
        for (int i = 0; i < form::outputs; ++i) run.store_sample(slot, E::model_states + i, x.sample.v, out[i].v);
        if constexpr (E::kept_directions > 0) record_derivatives(x, x.y, mask_of<pack<T, 1>>::all(true), run);
        x.sample.v += 1;
        next_sample<E>(x, 0, run);
      }
    }
  }
  for (int i = 0; i < E::model_states; ++i) r.final_state[i * count + slot] = static_cast<double>(x.y[i].v);
  if constexpr (form::outputs > 0) {
    const auto out = form::output_values(x.t, x.y, x.constants);
    for (int i = 0; i < form::outputs; ++i) r.final_output[i * count + slot] = static_cast<double>(out[i].v);
  }
  for (int i = 0; i < form::discretes; ++i)
    r.final_discrete[i * count + slot] = static_cast<double>(x.constants.d[i].v);
  E::each_reduction([&](auto kind, int j, int at) SALTUS_INLINE_LAMBDA {
    r.reductions[j * count + slot] = final_reduction<decltype(kind)>(x, j, at, run);
  });
  if constexpr (E::bounds_log) r.logged[slot] = x.logged[0].v;
  r.t_final[slot] = form::model_time(static_cast<double>(x.t.v));
  r.status[slot] = static_cast<unsigned char>(why);
  if (is_ok(why)) rounding_check<E>::mark(x, tol);
  abi::each_counter<E::lacks_counter>(r, r, [&](auto& column, auto&) SALTUS_INLINE_LAMBDA { column[slot] = 0; });
  abi::each_counter<E::has_counter>(
      r, x, [&](auto& column, auto& counter) SALTUS_INLINE_LAMBDA { column[slot] = counter.v; });
  for (int i = 0; i < form::model_guards; ++i) {
    const int past = run.history(i, slot) & ~abi::ends_armed;  // history before a fallback integrator continued the
                                                               // instance
    run.history(i, slot) =
        static_cast<unsigned char>(armed<E>(i, x.constants.guard_values[i])[0] ? past | abi::ends_armed : past);
  }
  if constexpr (has_constraints<form>) {
    r.residual[slot] = static_cast<double>(x.residual.v);
    r.residual_of[slot] = static_cast<long long>(x.residual_of.v);
  }
  carried<E>::store(x, why, run);
  // A history, or a trajectory, is no part of a snapshot: a fallback integrator begins such an instance afresh.
  if constexpr (!has_delays<E> && !E::gradient)
    if (is_stiff(why) || (rescuable(why) && run.settings.conservative == 0)) except(x, run);
}

}  // namespace saltus
