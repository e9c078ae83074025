// One instance in flight: all data needed to continue it. Over packs it is a row of lanes; over packs of one it is a parked record. There
// is no other state.
#pragma once

#include "abi/choices.hpp"
#include "abi/counters.hpp"
#include "abi/module.hpp"
#include "abi/reductions.hpp"
#include "abi/status.hpp"
#include "form/form_concept.hpp"
#include "method/controller.hpp"
#include "method/coordinate_partitioning.hpp"
#include "method/dirk.hpp"
#include "method/erk.hpp"
#include "method/low_storage.hpp"
#include "method/method_concept.hpp"
#include "method/norm.hpp"
#include "method/quadrature.hpp"
#include "method/radau.hpp"
#include "method/rosenbrock.hpp"
#include "method/taylor_step.hpp"

namespace saltus {

/// One reduction, as a type: of state (or output, or event) number Index, over the whole trajectory or within a window.
template <reduce Kind, bool OfOutput, int Index, bool Windowed = false>
struct reduction {
  static constexpr reduce kind = Kind;
  static constexpr bool of_output = OfOutput;
  static constexpr int index = Index;
  static constexpr bool windowed = Windowed;
};

/// True if the quantity of a reduction is integrated (method/quadrature.hpp). A mean is computed from the integral. An extremum or a
/// quantile of an output does not use the integral, but its error shows whether steps resolve the output. For states, error control
/// does that already.
template <class Reduction>
inline constexpr bool reduces_integrals = row_of(Reduction::kind).group == reduction_group::integral;
template <class Reduction>
inline constexpr bool integrates_squares = Reduction::kind == reduce::deviation || Reduction::kind == reduce::rms;
template <class Reduction>
inline constexpr bool is_integrated = reduces_integrals<Reduction> ||
                                      (Reduction::of_output && counts_whole_steps(Reduction::kind));

/// The integrated quantities, each once, however many reductions use it. SquaresFollow: then the squares of those whose squares are
/// integrated, as quantities of their own, which have derivatives like the others.
template <bool SquaresFollow, class... Reductions>
struct quantity_list {
  struct quantity {
    bool of_output = false;
    int index = 0;
    bool squared = false;
  };
  struct list {
    quantity of[2 * sizeof...(Reductions) + 1];
    int count = 0;
    int squares = 0;  ///< so many of the first quantities may have their squares integrated beside them

    constexpr int find(quantity wanted) const {
      for (int i = 0; i < count; ++i)
        if (of[i].of_output == wanted.of_output && of[i].index == wanted.index && of[i].squared == wanted.squared)
          return i;
      return count;
    }
    constexpr void take(quantity one) {
      const int i = find(one);
      of[i] = one;
      if (i == count) ++count;
    }
  };
  static constexpr list all = [] {
    list l;
    ((is_integrated<Reductions> ? l.take({Reductions::of_output, Reductions::index}) : void()), ...);
    if ((integrates_squares<Reductions> || ...)) l.squares = l.count;
    if constexpr (SquaresFollow)
      ((integrates_squares<Reductions> ? l.take({Reductions::of_output, Reductions::index, true}) : void()), ...);
    return l;
  }();
  static constexpr int count = all.count;
  static constexpr bool any_output = [] {
    for (int i = 0; i < count; ++i)
      if (all.of[i].of_output) return true;
    return false;
  }();
  template <class R>
  static constexpr int number_of = all.find({R::of_output, R::index});
  template <class R>
  static constexpr int square_of = all.find({R::of_output, R::index, true});

  /// The number of the quantity that is the derivative of quantity i in direction j.
  SALTUS_FN static constexpr int rate(int i, int directions, int j) { return count + i * directions + j; }

  template <class Method, int directions>
  static auto integrate_by() {
    if constexpr (count == 0) return Method{};
    else return methods::with_quadratures<Method, count*(1 + directions), all.squares>{};
  }
  /// The method with these quantities and, in so many directions, their derivatives.
  template <class Method, int directions>
  using integrated_by = decltype(integrate_by<Method, directions>());
};

/// The time that counts for reduction j, in engine time; `windows` is abi::settings'.
template <class Real>
struct time_window {
  Real from, to;
};
template <class R, class Real>
SALTUS_FN time_window<Real> window_of(const double* windows, int j) {
  if constexpr (!R::windowed) return {Real(-limits<scalar_of<Real>>::largest), Real(limits<scalar_of<Real>>::largest)};
  else return {Real(windows[3 * j]), Real(windows[3 * j + 1])};
}
template <class R, class Real, class Run>
requires requires(const Run& run) { run.settings; }
SALTUS_FN time_window<Real> window_of(const Run& run, int j) { return window_of<R, Real>(run.settings.windows, j); }

/// Number of values kept, with one more for a quantity in the error control: its largest magnitude so far.
template <class Reduction>
inline constexpr int numbers_kept_for = row_of(Reduction::kind).numbers + (is_integrated<Reduction> ? 1 : 0);

/// True for the time of an extremum.
template <class R>
inline constexpr bool has_time = R::kind == reduce::time_of_min || R::kind == reduce::time_of_max;

/// True if a reduction keeps derivatives in two rows: of an integral and of the integral of squares, or of an extremum and of its time.
template <class Reduction>
inline constexpr bool keeps_two_rates = Reduction::kind == reduce::deviation || has_time<Reduction>;

/// Options that change the code of a module, beyond model, method and arithmetic.
struct options {
  norm_kind norm = norm_kind::rms;
  controller_kind controller = controller_kind::pi;
  detection detect = detection::hermite;
  bool fixed_steps = false;      ///< constant step, no error control
  bool samples = false;          ///< a time grid is recorded
  bool guards_in_error = false;  ///< guards take part in the error control (Mao and Petzold 3.1.2)
  bool inject = false;           ///< artificial exceptions, for tests
  bool watch_stiffness = false;  ///< an explicit method ends stiff instances; an implicit one continues them
  saltus::coordinates coordinates = saltus::coordinates::all;
  bool logs_outputs = false;  ///< the event log contains outputs
  bool bounds_log = false;    ///< and it keeps only the first or the last rows of an instance
  bool gradient = false;      ///< of one outcome, backward through the steps (run/gradient.hpp)
};

/// The compile-time parameters of an engine: a model in its form (chosen in form/of_model.hpp), a method, an arithmetic, and the
/// observations.
template <class Form, class Method_, class T_, options Options, class... Reductions>
struct engine {
  using form = Form;
  using Model = typename form::Model;
  static constexpr int directions = form::directions;
  static constexpr int kept_directions = form::keeps_derivatives ? directions : 0;
  using quantities = quantity_list<(kept_directions > 0 && !is_series_method<Method_>), Reductions...>;
  using Method = typename quantities::template integrated_by<Method_, kept_directions>;
  using plain_method = Method_;  ///< without the quantities
  using T = T_;
  using whole = engine;

  static constexpr norm_kind norm = Options.norm;
  static constexpr controller_kind controller = Options.controller;
  static constexpr bool certified = Options.detect == detection::certified;
  static constexpr saltus::coordinates coordinates = Options.coordinates;
  static constexpr bool in_local_coordinates = coordinates != saltus::coordinates::all;
  static constexpr bool fixed_steps = Options.fixed_steps;
  static constexpr bool samples = Options.samples;
  static constexpr bool guards_in_error = Options.guards_in_error && form::guards > 0;
  static constexpr bool inject = Options.inject;
  static constexpr bool gradient = Options.gradient;
  static constexpr bool watch_stiffness = Options.watch_stiffness;
  static constexpr int n = form::states;
  static constexpr int model_states = form::model_states;
  static constexpr int judged = form::judged;
  static constexpr int logged_outputs = Options.logs_outputs ? form::outputs : 0;
  static constexpr int logged_point = model_states + logged_outputs;
  static constexpr int logged = logged_point + kept_directions;  ///< numbers kept of a state at an event
  static constexpr bool bounds_log = Options.bounds_log;
  static constexpr bool is_quick = false;  ///< event/quick.hpp
  static constexpr int ng = form::guards;
  static constexpr int reductions = sizeof...(Reductions);
  static constexpr int reduced_numbers = (numbers_kept_for<Reductions> + ... + 0);
  static constexpr int rows_of_rates = reductions + (keeps_two_rates<Reductions> + ... + 0);
  /// The row of the second derivatives that reduction number `item` keeps.
  SALTUS_FN static constexpr int second_row(int item) {
    constexpr bool has_one[] = {keeps_two_rates<Reductions>..., false};
    int row = reductions;
    for (int i = 0; i < item; ++i) row += has_one[i] ? 1 : 0;
    return row;
  }
  static constexpr bool reduces_quantities = (!is_of_event(Reductions::kind) || ...);
  /// True if the integral of output i is a result, or a part of one.
  SALTUS_FN static constexpr bool integrates_output(int i) {
    return ((reduces_integrals<Reductions> && Reductions::of_output && Reductions::index == i) || ...) ||
           form::integrates_output(i);
  }
  static constexpr bool reduces_events = (is_of_event(Reductions::kind) || ...);
  /// Steps end where windows of time begin and end.
  static constexpr bool stops_at_windows = ((Reductions::windowed && counts_whole_steps(Reductions::kind)) || ...);
  /// There and at the data of a gradient.
  static constexpr bool has_fixed_stops = stops_at_windows || gradient;

  /// The quantities held through a step: those of the form, and the method's memory.
  template <class Real>
  using step_constants =
      methods::held_with_memory<typename form::template step_constants<Real>, Method, Real, form::states>;

  /// True if steps are watched that the projection moves much too far. The tolerance distinguishes them from others, and three in a row end an
  /// instance.
  static constexpr bool watches_adjustments = has_constraints<form> && !fixed_steps;
  static constexpr bool watches_orientation = form::has_orientation;
  /// True if rounding of the linear solves is added up. "auto" chooses a Rosenbrock method only where it cannot matter.
  static constexpr bool watches_rounding =
      Method::is_rosenbrock && form::has_field && !has_constraints<form> && !fixed_steps && !watch_stiffness;

  /// Does this engine have the counters that are changed `by` a part of it?
  static constexpr bool has_counter(abi::change by) {
    switch (by) {
      case abi::change::landing: return ng > 0 || form::time_events > 0;
      case abi::change::certification: return certified;
      case abi::change::constraints: return has_constraints<form>;
      case abi::change::rosenbrock: return watches_rounding;
      default: return true;
    }
  }
  static constexpr bool lacks_counter(abi::change by) { return !has_counter(by); }
  static constexpr bool has_sailed_counter(abi::change by) {
    return has_counter(by) && by != abi::change::landing && by != abi::change::certification;
  }
  static constexpr bool has_landed_counter(abi::change by) { return has_counter(by) && !has_sailed_counter(by); }

  /// True if the time derivative at accepted points is used: for guards and observations, or for the next step.
  static constexpr bool keeps_derivative =
      ng > 0 || samples || reduces_quantities || !Method::is_rosenbrock ||
      (directions > 0 && (form::time_events > 0 || form::tables > 0 || has_constraints<form> || form::lyapunov ||
                          smoothness_of<Model>.equations == smoothness::piecewise));

  /// True if the dense output is used, so that its error is kept within the tolerance. The ends of a step do not show this error: at them
  /// stiff components follow the solution for any step size.
  static constexpr bool follows_interpolant =
      !Method::is_explicit && (ng > 0 || samples || reduces_quantities || form::delay_count > 0);

  /// body(reduction type instance, constant index, constant index of the first of its numbers) for every reduction.
  template <class F>
  SALTUS_FN static void each_reduction(F&& body) {
    [[maybe_unused]] int j = 0, at = 0;
    ((body(Reductions{}, j++, at), at += numbers_kept_for<Reductions>), ...);
  }

  static_assert(methods::is_method<Method, pack<T, 1>, n>,
                "this is no method: method/method_concept.hpp says what one is");
  static_assert(Options.fixed_steps || Method::embedded_order > 0,
                "this method has no error estimate: give a fixed step (step = ...) or choose another method");
  static_assert(!gradient || (form::has_field && !form::slides && form::records == 0 && directions == 0 &&
                              !is_series_method<Method> && sizeof(T) == sizeof(double)),
                "gradients are those of dy/dt = f(t, y) without slides and recorded time events, by Runge-Kutta and "
                "Rosenbrock methods in double");
  static_assert(Options.detect == detection::hermite || form::guards == 0 || methods::certifies<Method>,
                "this method has no error estimate that a certified search could go by");
  static_assert(!in_local_coordinates || (has_local_coordinates<form> && Method::is_explicit),
                "local coordinates are for equations of any order, by explicit methods");
  static_assert(kept_directions == 0 || (has_derivative(Reductions::kind) && ...),
                "this reduction is without derivatives");
  static_assert(is_form<form>, "this is no form of equations: form/form_concept.hpp says what one is");
  static_assert(form::has_field || !Method::is_explicit,
                "explicit methods integrate dy/dt = f(t, y): this model needs an implicit one");
  static_assert(
      !Method::for_mechanics || requires { typename form::system_of_bodies; },
      "this method integrates mechanical models alone (first_velocity)");
  static_assert(Method::highest_index >= form::highest_index, "constraints of index 2 need method radau5");
};

/// The engine for the model alone, without the quantities that its form integrates behind the model's states.
template <class E>
struct engine_of_model {
  using form = typename E::form::model_form;
  using Model = typename E::Model;
  using Method = typename E::Method;
  using quantities = typename E::quantities;
  using T = typename E::T;
  using whole = E;  ///< the engine whose tolerances its systems use
  static constexpr int kept_directions = 0;
  static constexpr int n = E::model_states;
  static constexpr bool fixed_steps = E::fixed_steps;
  static constexpr bool keeps_derivative = E::keeps_derivative;
  static constexpr bool in_local_coordinates = false;
};

/// The settings of a run in the arithmetic of the lanes; the same for every instance.
template <class E, class Real>
struct tolerances {
  Real rtol;
  vec<Real, E::judged> atol;
  Real event_tol, fixed_step, concurrency_time, concurrency_value, zeno_part;
  typename Real::integer max_steps, max_events;
  const abi::dense_algebra* algebra;
  const abi::table* tables;
  const double* windows;  ///< abi::settings'
  const abi::datum* data;
  int data_count;
  bool conservative;  ///< rescue: events are located by bracketing alone
  const abi::record* records;
};

/// The rows of an instance in each recorded time event, by number: the next one, the one behind those that come with it, the one behind the
/// last (event/records.hpp).
template <class Integer, int records>
struct row_numbers {
  vec<Integer, records> next_row, due_row, end_row;
};
template <class Integer>
struct row_numbers<Integer, 0> {};

/// Why an instance has no gradient: a saltus::sensitivity. Empty without a gradient.
template <class Real, bool has_gradient>
struct reason_of_gradient {};
template <class Real>
struct reason_of_gradient<Real, true> {
  Real undefined;
};

/// True if the answers of the comparisons in the equations can be compared from point to point.
template <class E>
inline constexpr bool notes_answers = [] {
  constexpr auto is = smoothness_of<typename E::Model>;
  return (is.equations == smoothness::piecewise ||
          (E::form::integrates_outputs && is.outputs == smoothness::piecewise));
}();

/// True if the errors of steps across corners are estimated. The rates of algebraic states may be infinite at a jump, so residuals are left
/// out whose algebraic states are not declared.
template <class E>
inline constexpr bool watches_corners =
    notes_answers<E> && !E::fixed_steps &&
    (E::form::has_field || E::form::equations == equations::semi_explicit ||
     E::form::equations == equations::with_mass ||
     (E::form::highest_index == 0 && !E::form::kinds::mass_is_singular && E::keeps_derivative));

/// True if steps are looked at for corners and jumps of integrated outputs. Series are compared with outputs within every step.
template <class E>
inline constexpr bool watches_corners_of_outputs =
    E::quantities::any_output && !E::fixed_steps && !is_series_method<typename E::Method> &&
    smoothness_of<typename E::Model>.outputs == smoothness::piecewise;

/// True if steps are cut at such corners. The derivatives of a step that begins just before one would be those of before in its first stage.
/// The same for all methods, since an instance may pass from one to another.
template <class E>
inline constexpr bool cuts_at_corners = (smoothness_of<typename E::Model>.equations == smoothness::piecewise ||
                                         smoothness_of<typename E::Model>.outputs == smoothness::piecewise) &&
                                        E::directions == 0 && !E::gradient;

/// Steps at corners that no guard announces (engine/corners.hpp). Empty where they are not cut there.
template <class Real, bool are_cut>
struct steps_at_corners {};
template <class Real>
struct steps_at_corners<Real, true> {
  Real h_before_corner;  ///< with which to go on after the corner ahead; 0: none is ahead
  Real last_corner;      ///< when the last one was passed, or the beginning
};

/// Its counters are those of abi/counters.def.
template <class E, class Real>
struct instance : abi::counters<typename Real::integer>,
                  row_numbers<typename Real::integer, E::form::records>,
                  reason_of_gradient<Real, E::gradient>,
                  steps_at_corners<Real, cuts_at_corners<E>> {
  using integer = typename Real::integer;

  // the last accepted point
  Real t;
  vec<Real, E::n> y, f;
  typename E::template step_constants<Real> constants;  ///< constants.guard_values are the guards at the accepted point
  vec<Real, E::ng> rate;                                ///< dg/dt there

  // the step to come
  Real h, h_max, t_begin, t_end;
  vec<Real, E::form::time_events> next_time_event;  ///< when each time event comes next
  Real next_knot;  ///< end time of the current piece of a table, the first of all tables
  Real t_stop;     ///< the first of all these, or t_end; no step passes it
  control_memory<Real> memory;

  // the last events of every guard (event/accumulate.hpp)
  vec<Real, E::form::model_guards> event_time, event_interval, event_ratio;
  vec<integer, E::form::model_guards> event_streak;

  Real residual,
      residual_of;  ///< of the worst constraint after any step so far, and its number; for models with constraints
  Real orientation, largest_orientation;  ///< at the accepted point, and the largest so far; for forms that have one
  Real far_steps;                         ///< consecutive steps that the projection has moved much too far; if watched
  Real rounding;                          ///< of the linear solves of all steps, in units of epsilon; if watched
  Real stiff_looks;  ///< looks at which steps were near the limit of stability; if stiffness is watched
  /// Consecutive doubtful steps; those rejected by error control count as one. For certified searches.
  Real doubts;

  // observations
  Real next_sample;
  vec<Real, E::reduced_numbers> reduced;
  vec<Real, E::rows_of_rates * E::kept_directions> reduced_rates;  ///< their derivatives, row by row
  vec<Real, E::kept_directions == 0 ? 0 : E::reductions> extreme;  ///< for extrema: the value to which these
                                                                   ///< derivatives belong
  vec<integer, E::bounds_log ? 1 : 0> logged;  ///< rows that the event log would have without a bound

  vec<integer, E::form::tables> piece, cycle;  ///< position of the instance in each table (engine/pieces.hpp)
  integer slot, sample, status;
  integer next_look;  ///< for stiffness, as a count of trial steps (engine/stiffness.hpp); if stiffness is watched

  /// Knots of tables, breaking points of delays, ends of windows and data need no landing.
  static constexpr bool sailing_passes_stops = E::form::tables > 0 || E::form::delay_count > 0 || E::has_fixed_stops;

  /// The numbers that the method remembers, which are first in the list and no part of a snapshot: another method may continue it.
  template <class A, class B, class F>
  SALTUS_FN static constexpr void each_remembered(A& a, B& b, F&& body) {
    if constexpr (methods::has_memory<typename E::Method>)
      E::Method::template memory<Real, E::n>::each(a.constants.past, b.constants.past, body);
  }
  // The one list of an instance's data: body(field of a, field of b) for every number kept. Sailing changes only the first of the two
  // parts.
  template <class A, class B, class F>
  SALTUS_FN static constexpr void each_sailed_real(A& a, B& b, F&& body) {
    each_remembered(a, b, body);
    body(a.t, b.t);
    each<E::n>([&](int i) SALTUS_INLINE_LAMBDA {
      body(a.y[i], b.y[i]);
      body(a.f[i], b.f[i]);
    });
    each<E::ng>([&](int i) SALTUS_INLINE_LAMBDA {
      body(a.constants.guard_values[i], b.constants.guard_values[i]);
      body(a.rate[i], b.rate[i]);
    });
    body(a.h, b.h);
    body(a.memory.log_error, b.memory.log_error);
    body(a.memory.log_ratio, b.memory.log_ratio);
    body(a.memory.rejected, b.memory.rejected);
    if constexpr (E::certified) body(a.doubts, b.doubts);
    if constexpr (has_constraints<typename E::form>) {
      body(a.residual, b.residual);
      body(a.residual_of, b.residual_of);
    }
    if constexpr (E::watches_orientation) {
      body(a.orientation, b.orientation);
      body(a.largest_orientation, b.largest_orientation);
    }
    if constexpr (E::watches_adjustments) body(a.far_steps, b.far_steps);
    if constexpr (E::watches_rounding) body(a.rounding, b.rounding);
    if constexpr (E::watch_stiffness) body(a.stiff_looks, b.stiff_looks);
    if constexpr (E::gradient) body(a.undefined, b.undefined);
    if constexpr (cuts_at_corners<E>) {
      body(a.h_before_corner, b.h_before_corner);
      body(a.last_corner, b.last_corner);
    }
    E::form::each_memory(a.constants, b.constants, body);
    if constexpr (E::form::tables > 0) {
      each<E::form::piece_numbers>([&](int i)
                                       SALTUS_INLINE_LAMBDA { body(a.constants.pieces[i], b.constants.pieces[i]); });
      body(a.next_knot, b.next_knot);
    }
    if constexpr (E::form::delay_count > 0)
      body(a.constants.past_states.next_break, b.constants.past_states.next_break);
    if constexpr (sailing_passes_stops) body(a.t_stop, b.t_stop);
    body(a.next_sample, b.next_sample);
    each<E::reduced_numbers>([&](int i) SALTUS_INLINE_LAMBDA { body(a.reduced[i], b.reduced[i]); });
    if constexpr (E::kept_directions > 0) {
      each<E::rows_of_rates * E::kept_directions>(
          [&](int i) SALTUS_INLINE_LAMBDA { body(a.reduced_rates[i], b.reduced_rates[i]); });
      each<E::reductions>([&](int i) SALTUS_INLINE_LAMBDA { body(a.extreme[i], b.extreme[i]); });
    }
  }
  template <class A, class B, class F>
  SALTUS_FN static constexpr void each_real(A& a, B& b, F&& body) {
    each_sailed_real(a, b, body);
    each<E::form::params>([&](int i) SALTUS_INLINE_LAMBDA { body(a.constants.p[i], b.constants.p[i]); });
    each<E::form::discretes>([&](int i) SALTUS_INLINE_LAMBDA { body(a.constants.d[i], b.constants.d[i]); });
    if constexpr (E::form::delay_count > 0)
      each<E::form::delay_count>(
          [&](int k) SALTUS_INLINE_LAMBDA { body(a.constants.past_states.lag[k], b.constants.past_states.lag[k]); });
    body(a.h_max, b.h_max);
    body(a.t_begin, b.t_begin);
    body(a.t_end, b.t_end);
    each<E::form::time_events>([&](int i) SALTUS_INLINE_LAMBDA { body(a.next_time_event[i], b.next_time_event[i]); });
    if constexpr (!sailing_passes_stops) body(a.t_stop, b.t_stop);
    each<E::form::model_guards>([&](int i) SALTUS_INLINE_LAMBDA {
      body(a.event_time[i], b.event_time[i]);
      body(a.event_interval[i], b.event_interval[i]);
      body(a.event_ratio[i], b.event_ratio[i]);
    });
  }
  template <class A, class B, class F>
  SALTUS_FN static constexpr void each_sailed_integer(A& a, B& b, F&& body) {
    body(a.sample, b.sample);
    each<E::form::tables>([&](int i) SALTUS_INLINE_LAMBDA {
      body(a.piece[i], b.piece[i]);
      body(a.cycle[i], b.cycle[i]);
    });
    if constexpr (E::form::delay_count > 0) {
      auto& to = a.constants.past_states;
      auto& from = b.constants.past_states;
      body(to.newest, from.newest);
      each<E::form::delay_count>([&](int k) SALTUS_INLINE_LAMBDA {
        body(to.first[k], from.first[k]);
        body(to.end[k], from.end[k]);
      });
    }
    if constexpr (E::watch_stiffness) body(a.next_look, b.next_look);
    abi::each_counter<E::has_sailed_counter>(a, b, body);
    body(a.status, b.status);
  }
  template <class A, class B, class F>
  SALTUS_FN static constexpr void each_integer(A& a, B& b, F&& body) {
    each_sailed_integer(a, b, body);
    body(a.slot, b.slot);
    if constexpr (E::form::delay_count > 0) body(a.constants.past_states.address, b.constants.past_states.address);
    if constexpr (E::bounds_log) body(a.logged[0], b.logged[0]);
    if constexpr (E::form::records > 0)
      each<E::form::records>([&](int k) SALTUS_INLINE_LAMBDA {
        body(a.next_row[k], b.next_row[k]);
        body(a.due_row[k], b.due_row[k]);
        body(a.end_row[k], b.end_row[k]);
      });
    abi::each_counter<E::has_landed_counter>(a, b, body);
    each<E::form::model_guards>([&](int i) SALTUS_INLINE_LAMBDA { body(a.event_streak[i], b.event_streak[i]); });
  }
};

/// The numbers of a record, in the order in which `each_real` and `each_integer` go through them.
struct record_shape {
  int reals = 0, integers = 0;
  int remembered = 0;  ///< reals that the method remembers, the first ones
  int slot = -1;       ///< index of the slot among the integers
};

/// The shape of the records of an engine, counted by going through one.
template <class E>
SALTUS_FN constexpr record_shape count_record() {
  using Record = instance<E, pack<typename E::T, 1>>;
  Record x{};
  record_shape r;
  Record::each_remembered(x, x, [&](auto&, auto&) { r.remembered += 1; });
  Record::each_real(x, x, [&](auto&, auto&) { r.reals += 1; });
  Record::each_integer(x, x, [&](auto& number, auto&) {
    if (&number == &x.slot) r.slot = r.integers;
    r.integers += 1;
  });
  return r;
}
template <class E>
inline constexpr record_shape record_of = count_record<E>();
template <class E>
inline constexpr int snapshot_reals = record_of<E>.reals - record_of<E>.remembered;

/// lanes[lane] = record.
template <class E, class T, int W>
SALTUS_FN void put(instance<E, pack<T, W>>& lanes, int lane, const instance<E, pack<T, 1>>& record) {
  auto copy = [&](auto& to, const auto& from) SALTUS_INLINE_LAMBDA { to.set(lane, from.v); };
  instance<E, pack<T, W>>::each_real(lanes, record, copy);
  instance<E, pack<T, W>>::each_integer(lanes, record, copy);
}

/// to[to_lane] = from[lane].
template <class E, class T, int W>
SALTUS_FN void move(const instance<E, pack<T, W>>& from, int lane, instance<E, pack<T, W>>& to, int to_lane) {
  auto copy = [&](auto& there, const auto& here) SALTUS_INLINE_LAMBDA { there.set(to_lane, here.get(lane)); };
  instance<E, pack<T, W>>::each_real(to, from, copy);
  instance<E, pack<T, W>>::each_integer(to, from, copy);
}

/// lanes[lane] as a record.
template <class E, class T, int W>
SALTUS_FN void take(const instance<E, pack<T, W>>& lanes, int lane, instance<E, pack<T, 1>>& record) {
  auto copy = [&](auto& to, const auto& from) SALTUS_INLINE_LAMBDA { to.v = from.get(lane); };
  instance<E, pack<T, W>>::each_real(record, lanes, copy);
  instance<E, pack<T, W>>::each_integer(record, lanes, copy);
}

/// Counts in masked lanes.
template <class Integer, class Mask>
SALTUS_FN void add_where(Integer& counter, Mask m, int amount) {
  counter = counter + select(m, Integer(int64(amount)), Integer(int64(0)));
}

template <class Real>
SALTUS_FN void assign_where(mask_of<Real> m, Real& to, Real from) {
  to = select(m, from, to);
}

/// Sets the terminal status of lanes; the first one stays. An instance in flight has status interrupted.
template <class Integer, class Mask>
SALTUS_FN void end_where(Integer& current, Mask m, status why) {
  const auto running = current == Integer(int64(status::interrupted));
  current = select(m & running, Integer(int64(why)), current);
}

/// Times near t that differ by no more than this are equal. Two clocks that meet may differ by it, because each of their times is a sum of
/// products of rounded numbers.
template <class Real>
SALTUS_FN Real rounding_of_time(Real t, Real t_begin) {
  return Real(4.0 * limits<scalar_of<Real>>::epsilon) * max(abs(t), abs(t_begin));
}
template <class E, class Real>
SALTUS_FN Real rounding_of_time(const instance<E, Real>& x, Real t) {
  return rounding_of_time(t, x.t_begin);
}

/// The time of the next time event.
template <class E, class Real>
SALTUS_FN Real first_time_event(const instance<E, Real>& x) {
  Real first = Real(limits<typename E::T>::largest);
  each<E::form::time_events>([&](int i) SALTUS_INLINE_LAMBDA { first = min(first, x.next_time_event[i]); });
  return first;
}
/// True if a time event is due at t.
template <class E, class Real>
SALTUS_FN mask_of<Real> at_time_event(const instance<E, Real>& x, Real t) {
  if constexpr (E::form::time_events > 0) return first_time_event(x) <= t;
  else return mask_of<Real>::all(false);
}

/// Just before t where a time event is due at t, or a table jumps there, else t.
template <class E, class Real>
SALTUS_FN Real before_jump(const instance<E, Real>& x, Real t) {
  auto jumps = at_time_event(x, t);
  if constexpr (E::form::tables > 0)
    if constexpr (E::form::tables_jump) jumps = jumps | ((t >= x.next_knot) & (t < x.t_end));
  if constexpr (E::form::time_events > 0 || E::form::tables > 0) return select(jumps, t - rounding_of_time(x, t), t);
  else return t;
}

/// Lanes that have no terminal status yet.
template <class E, class Real>
SALTUS_FN mask_of<Real> is_under_way(const instance<E, Real>& x) {
  return x.status == typename Real::integer(int64(status::interrupted));
}

/// The size of direction j: that of the parameter, 1 if it is zero. Initial values are not kept, so their size is 1.
template <class E, class Real>
SALTUS_FN Real size_of_direction(const instance<E, Real>& x, int j) {
  Real size = Real(0.0);
  each<E::form::params>([&](int i) SALTUS_INLINE_LAMBDA {
    if (E::form::is_of_parameter(j, i)) size = abs(x.constants.p[i]);
  });
  return select(size > Real(0.0), size, Real(1.0));
}

}  // namespace saltus
