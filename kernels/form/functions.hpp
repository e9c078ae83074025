// A model's functions evaluated over any Real, in the engine's time, with time derivatives of guards and outputs by dual numbers: the
// common part of all forms.
#pragma once

#include "abi/status.hpp"
#include "form/form_concept.hpp"
#include "form/time_direction.hpp"
#include "linear/system.hpp"
#include "model/checks.hpp"
#include "number/dual.hpp"
#include "number/with_rate.hpp"

namespace saltus {

/// `Time` is forward_time or backward_time.
template <class Model_, class Time>
struct model_functions {
  using Model = Model_;
  using time = Time;
  using kinds = contract<Model>;
  static constexpr int time_sign = Time::sign;  ///< model time = time_sign * engine time
  static constexpr int states = kinds::value_count;
  static constexpr int params = kinds::parameter_count;
  static constexpr int discretes = kinds::discrete_count;
  static constexpr int model_guards = kinds::guard_count;
  static constexpr bool slides = kinds::sliding_count > 0;
  static constexpr int approached = kinds::has_reaching ? kinds::constraint_count : 0;
  static constexpr int guards = model_guards + (slides ? 2 : 0) + approached;
  static constexpr int time_events = kinds::time_event_count;
  static constexpr int records = record_table_of<Model>.count;  ///< recorded time events
  static constexpr int outputs = kinds::output_count;
  static constexpr int tables = kinds::table_count;
  static constexpr int delay_count = kinds::delay_count;
  static constexpr int piece_numbers = tabulated_table_of<Model>.numbers;  ///< numbers that represent tables within a
                                                                           ///< step
  static constexpr bool tables_jump = tabulated_table_of<Model>.jump;

  static constexpr int highest_index = kinds::highest_index;

  // Defaults for most forms: form/form_concept.hpp.
  static constexpr auto equations = kinds::equations;
  static constexpr bool has_field = false;
  static constexpr bool integrates_outputs = false;
  SALTUS_FN static constexpr bool integrates_output(int) { return false; }
  static constexpr bool keeps_written = detail::moves_unwritten_states<Model>;
  static constexpr bool gives_algebraic_rates = highest_index == 1;
  static constexpr bool finds_rates = false;
  static constexpr auto where_branches_meet = status::dead_point;
  static constexpr bool has_orientation = highest_index > 0;
  static constexpr int model_states = states;       ///< those of the model; a form may integrate more behind them
  static constexpr int judged = states;             ///< those whose errors count
  static constexpr int directions = 0;              ///< in which derivatives are taken (form/sensitivities.hpp)
  static constexpr bool keeps_derivatives = false;  ///< and kept as results
  static constexpr bool lyapunov = false;           ///< or their growth is kept (form/growth.hpp)
  template <class Value>
  SALTUS_FN static const vec<Value, states>& model_part(const vec<Value, states>& y) {
    return y;
  }

  /// The quantities held constant through a step: parameters, discrete variables, guard signs (as values at the step's start), the pieces
  /// of tables, the past.
  template <class Real>
  struct step_constants {
    vec<Real, params> p;
    vec<Real, discretes> d;
    vec<Real, guards> guard_values;
    vec<Real, piece_numbers> pieces;
    [[no_unique_address]] detail::past_of<Model, Real> past_states;
  };

  template <class A, class B, class F>
  SALTUS_FN static constexpr void each_memory(A&, B&, F&&) {}
  template <class Constants, class Real>
  SALTUS_FN static void remember(Constants&, Real, const vec<Real, states>&, const vec<Real, states>&, mask_of<Real>) {}
  template <class Constants, class Real>
  SALTUS_FN static void arrive(Constants&, const vec<Real, guards>&, mask_of<Real>) {}

  template <class Real, int N>
  using rated = with_rate<vec<Real, N>>;

  /// The value of a component that the model forgets to set: a NaN, which is reported as such.
  static constexpr double unset = detail::no_number;

  /// Guard i, of the model or of the engine.
  SALTUS_FN static constexpr detail::guard_traits traits(int i) {
    if constexpr (model_guards > 0)
      if (i < model_guards) return guard_traits_of<Model>(i);
    return {falling, bilateral, false, false, false, smoothness::smooth};
  }

  /// The index of state i: 0 differential, 1 or 2 algebraic.
  SALTUS_FN static constexpr int index(int i) { return index_of_state<Model>(i); }

  /// True if the error of state i counts. An algebraic state of index 2 acts on no later value.
  SALTUS_FN static constexpr bool counts(int i) { return index(i) != 2; }

  static constexpr int widest_sweep = saltus::widest_sweep;  ///< derivatives that Jacobians take at a time
  static constexpr int colours = colouring_of<Model>.count;  ///< directions for the columns of df/dy
  SALTUS_FN static constexpr int colour(int j) { return colouring_of<Model>.of[j]; }
  SALTUS_FN static constexpr bool entry(int i, int j) { return colouring_of<Model>.entry[i][j]; }

  /// f(t, y) as the model wrote it; Value is Real, or a dual of it. A form with another field overrides it.
  template <class Value, class Real>
  SALTUS_FN static vec<Value, states> rhs(Value t, const vec<Value, states>& y, const step_constants<Real>& c) {
    return field(t, y, c);
  }

  template <class Real>
  SALTUS_FN static vec<Real, guards> guard_values(Real t, const vec<Real, states>& y, const step_constants<Real>& c) {
    vec<Real, guards> all;
    if constexpr (model_guards > 0) {
      const auto g = model_guards_at(t, y, c);
      each<model_guards>([&](int i) SALTUS_INLINE_LAMBDA { all[i] = g[i]; });
    }
    return all;
  }

  /// g and g' = g_t + g_y f (Compere 5.2), the total derivative along f, by a dual number.
  template <class Real>
  SALTUS_FN static rated<Real, guards> guards_along(Real t, const vec<Real, states>& y, const vec<Real, states>& f,
                                                    const step_constants<Real>& c) {
    rated<Real, guards> r;
    if constexpr (model_guards > 0) {
      const auto g = model_guards_at(dual<Real>(t, Real(1.0)), along(y, f), c);
      each<model_guards>([&](int i) SALTUS_INLINE_LAMBDA {
        r.value[i] = g[i].value;
        r.rate[i] = g[i].d[0];
      });
    }
    return r;
  }

  /// The model's guards at a point that moves in the direction (dt, dy): their values and changes.
  template <class Real>
  SALTUS_FN static rated<Real, model_guards> model_guards_through(Real t, Real dt, const vec<Real, states>& y,
                                                                  const vec<Real, states>& dy,
                                                                  const step_constants<Real>& c) {
    rated<Real, model_guards> r;
    const auto g = model_guards_at(dual<Real>(t, dt), along(y, dy), c);
    each<model_guards>([&](int i) SALTUS_INLINE_LAMBDA {
      r.value[i] = g[i].value;
      r.rate[i] = g[i].d[0];
    });
    return r;
  }

  template <class Real>
  SALTUS_FN static rated<Real, outputs> outputs_along(Real t, const vec<Real, states>& y, const vec<Real, states>& f,
                                                      const step_constants<Real>& c) {
    return outputs_through(t, Real(1.0), y, f, c);
  }
  /// The outputs at a point that moves in the direction (dt, dy): their values and changes.
  template <class Value, class Real>
  SALTUS_FN static rated<Value, outputs> outputs_through(Value t, Value dt, const vec<Value, states>& y,
                                                         const vec<Value, states>& dy, const step_constants<Real>& c) {
    rated<Value, outputs> r;
    if constexpr (outputs > 0) {
      named<typename kinds::output, dual<Value>, outputs> out;
      each<outputs>([&](int i) SALTUS_INLINE_LAMBDA { out.values[i] = dual<Value>(Value(unset)); });
      const auto yd = along(y, dy);
      Model::outputs(point_at(dual<Value>(t, dt), yd, c), out);
      each<outputs>([&](int i) SALTUS_INLINE_LAMBDA {
        r.value[i] = out.values[i].value;
        r.rate[i] = out.values[i].d[0];
      });
    }
    return r;
  }

  /// Value is Real, or a number type over it.
  template <class Value, class Real>
  SALTUS_FN static vec<Value, outputs> output_values(Value t, const vec<Value, states>& y,
                                                     const step_constants<Real>& c) {
    named<typename kinds::output, Value, outputs> out;
    if constexpr (outputs > 0) {
      each<outputs>([&](int i) SALTUS_INLINE_LAMBDA { out.values[i] = Value(unset); });
      Model::outputs(point_at(t, y, c), out);
    }
    return out.values;
  }

  /// The same for numbers that note what happens in the outputs.
  template <class Value, class Real>
  SALTUS_FN static void visit_outputs(Value t, const vec<Value, states>& y, const step_constants<Real>& c) {
    static_cast<void>(model_functions::output_values(t, y, c));
  }

  /// The next engine time of each time event after t; `sound` where the model's times are valid. `rows` are the engine times of the next
  /// rows of recorded time events, without their delays; a delay must not bring a row before t.
  template <class Real>
  SALTUS_FN static vec<Real, time_events> next_time_events(Real t, const vec<Real, states>& y,
                                                           const step_constants<Real>& c, mask_of<Real>& sound,
                                                           const vec<Real, records>& rows) {
    auto when = schedule_at(t, y, c);
    each<records>([&](int k) SALTUS_INLINE_LAMBDA {
      const Real next = rows[k] + when.delays[k];
      when.sound = when.sound & (next > t);
      when.next[event_of_record<Model>(k)] = next;
    });
    if constexpr (kinds::schedules) {
      static_assert(time_sign > 0, "scheduled events are for runs forward in time");
      each<time_events>([&](int i) SALTUS_INLINE_LAMBDA {
        const Real first = detail::event_queue<Model, Real>::next(c.d, queue_of<Model>(i), t);
        when.next[i] = select(first < when.next[i], first, when.next[i]);
      });
    }
    sound = when.sound;
    return when.next;
  }
  /// The delays of the rows of recorded time events; `sound` where they are valid.
  template <class Real>
  SALTUS_FN static vec<Real, records> delays(Real t, const vec<Real, states>& y, const step_constants<Real>& c,
                                             mask_of<Real>& sound) {
    const auto when = schedule_at(t, y, c);
    sound = when.sound;
    return when.delays;
  }

  template <class Real>
  SALTUS_FN static Real max_step(Real t, const vec<Real, states>& y, const step_constants<Real>& c) {
    return Model::max_step(point_at(t, y, c));
  }

  /// The delays of an instance.
  template <class Real>
  SALTUS_FN static vec<Real, delay_count> lags(const step_constants<Real>& c) {
    named<typename kinds::delay, Real, delay_count> lag;
    each<delay_count>([&](int k) SALTUS_INLINE_LAMBDA { lag.values[k] = Real(unset); });
    if constexpr (delay_count > 0) Model::delays(parameters_alone<Model, Real>{c.p}, lag);
    return lag.values;
  }

  template <class Value>
  SALTUS_FN static Value model_time(Value t) {
    return Time::of_model(t);
  }

  /// Value is Real, or a number type over it.
  template <class Value, class Real>
  SALTUS_FN static vec<Value, model_guards> model_guards_at(Value t, const vec<Value, states>& y,
                                                            const step_constants<Real>& c) {
    named<typename kinds::guard, Value, model_guards> g;
    each<model_guards>([&](int i) SALTUS_INLINE_LAMBDA { g.values[i] = Value(unset); });
    if constexpr (model_guards > 0) Model::guards(point_at(t, y, c), g);
    return g.values;
  }

  /// Evaluates the model's own right-hand side, residual or force, for numbers that note what happens in it.
  template <class Value, class Real>
  SALTUS_FN static void visit_equations(Value t, const vec<Value, states>& y, const vec<Value, states>& rate,
                                        const step_constants<Real>& c) {
    const auto at = point_at(t, y, c);
    named<typename kinds::state, Value, states> out;
    if constexpr (kinds::has_residual) {
      named<typename kinds::state, Value, states> slope;
      each<states>([&](int i) SALTUS_INLINE_LAMBDA { slope.values[i] = Time::turned(rate[i]); });
      Model::residual(at, slope, out);
    } else if constexpr (kinds::has_force) {
      named_by<typename kinds::state, Value, states> force{out.values};
      Model::force(at, force);
    } else if constexpr (kinds::has_rhs) {
      named_by<typename kinds::state, Value, states> slope{out.values};
      Model::rhs(at, slope);
    }
  }

 protected:
  /// The next times of the model's time events, and the delays of rows, from `time_events`.
  template <class Real>
  SALTUS_FN static schedule<Model, Real, time_sign> schedule_at(Real t, const vec<Real, states>& y,
                                                                const step_constants<Real>& c) {
    schedule<Model, Real, time_sign> when;
    when.t = Time::of_model(t);
    when.sound = mask_of<Real>::all(true);
    each<time_events>([&](int i) SALTUS_INLINE_LAMBDA { when.next[i] = Real(limits<scalar_of<Real>>::largest); });
    each<records>([&](int k) SALTUS_INLINE_LAMBDA { when.delays[k] = Real(0.0); });
    if constexpr (kinds::has_time_events) Model::time_events(point_at(t, y, c), when);
    return when;
  }
  template <class Value, class Real>
  SALTUS_FN static point<Model, Value, Real> point_at(Value t, const vec<Value, states>& y,
                                                      const step_constants<Real>& c) {
    if constexpr (delay_count > 0)
      return {Time::of_model(t), y, c.p, c.d, c.guard_values.data, c.pieces.data, {&c.past_states}};
    else return {Time::of_model(t), y, c.p, c.d, c.guard_values.data, c.pieces.data};
  }

  /// The model's own right-hand side, in engine time.
  template <class Value, class Real>
  SALTUS_FN static vec<Value, states> field(Value t, const vec<Value, states>& y, const step_constants<Real>& c) {
    vec<Value, states> f;  // returned without a copy
    named_by<typename kinds::state, Value, states> dy{f};
    each<states>([&](int i) SALTUS_INLINE_LAMBDA { f[i] = Value(unset); });
    Model::rhs(point_at(t, y, c), dy);
    Time::turn(f);
    return f;
  }

  template <class Value>
  SALTUS_FN static vec<dual<Value>, states> along(const vec<Value, states>& y, const vec<Value, states>& f) {
    vec<dual<Value>, states> r;
    each<states>([&](int i) SALTUS_INLINE_LAMBDA { r[i] = dual<Value>(y[i], f[i]); });
    return r;
  }
};

}  // namespace saltus
