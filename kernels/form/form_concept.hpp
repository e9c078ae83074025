// The interface of a form, which states how a model's equations are treated. Sail, land and event/ use nothing else of a form, and do not
// know the kind of equations behind it.
//
// A form is derived from model_functions (form/functions.hpp), which has sizes, guards, outputs and time events for all of them, and the
// defaults below. Its functions take the quantities held through a step (`step_constants<Real>`: parameters, discrete variables, guard
// signs, pieces of tables):
//
//     rhs(t, y, constants)          f(t, y), over any Value
//     implicit_rhs(t, y, constants)                     for a form whose equations for implicit methods differ from its field: their f
//     residual(t, y, dy, constants)                     F(t, y, dy), over any Value: the equations that implicit methods solve
//     mass(constants)               the constant mass matrix; `equations` is with_mass
//     visit_equations(t, y, dy, constants), visit_outputs(t, y, constants)      the model's own functions, without a result, for numbers
//                                   that note what happens in them (number/watched.hpp); y and dy are the model's states
//     integrates_output(i)          output i is integrated as a state; integrates_outputs: some output is
//     guard_values, guards_along    guards, and their time derivatives g' = g_t + g_y f along f
//
//     model_states, model_part(y)   the model's own states, the first ones of `states`: a form may integrate more behind them
//     judged                        number of states whose errors count
//     equations                     equations: the kind of matrices for implicit methods (number/equations.hpp)
//     counts(i)                     true if implicit methods count the error of state i
//     has_field                     dy/dt = rhs(t, y) for every state: explicit methods may integrate it
//     finds_rates                   rates_at(system, t, y, guess), over any Value, gives the time derivatives of all states at a consistent
//                                   point, since steps and searches give some of them with a low order or not at all. Such a form may move
//                                   any state
//     each_memory(a, b, body)       constexpr; body(of a, of b) for each number of its own that it keeps in an instance, as a member of its
//                                   `step_constants`: they are parked, moved and put into snapshots
//     remember(constants, t, y, f, where)               takes in an accepted point; at the initial one the memory is zero
//
// Further functions are capabilities. A form has one if it has the functions of its concept, below; the engine asks for nothing else.
#pragma once

#include "number/pack.hpp"
#include "number/real.hpp"
#include "number/solution_point.hpp"

namespace saltus {

/// The states that the transition of an instance has written (1, else 0), for a form that may move them.
template <class Form, class Real>
using written_states = vec<Real, Form::keeps_written ? Form::model_states : 0>;

/// A start or a restart after an event, for `initialise`.
template <class Form, class Real>
struct restart {
  mask_of<Real> where;  ///< the lanes that start
  int how;              ///< abi::consistency
  Real span;            ///< the length of the time span
  const written_states<Form, Real>& written;
};

/// The beginning and the end of a step.
template <class Real, int n>
struct step_ends {
  Real t0;
  const vec<Real, n>& y0;
  Real t1;
  const vec<Real, n>& y1;
};

namespace detail {
struct no_action {
  SALTUS_FN constexpr void operator()(auto&, auto&) const {}
};

/// Arguments to ask with whether a form has a function.
template <class Form>
struct asked {
  using real = pack<double, 1>;
  struct system {};
  static constexpr int order = 2;
  system in;
  real t;
  vec<real, Form::states> y;
  vec<real, Form::model_states> of_model;
  typename Form::template step_constants<real> constants;
  vec<real, Form::guards> due;
  mask_of<real> where;
  written_states<Form, real> written;
  vec<real, Form::states> coefficient[order];
};
}  // namespace detail

/// Constraints: steps end on them, samples are projected onto them, and their residual is reported. `project` moves the end of a step onto
/// them, and gives the time derivatives of algebraic states if the form `gives_algebraic_rates`. It returns a `consistency`
/// (form/consistent/consistency.hpp); its system is one of linear/system.hpp. A form with a field as well has constraint_residual(t, y,
/// constants), since explicit methods keep no residual with their stages.
template <class Form>
concept has_constraints = requires(detail::asked<Form> a) {
  Form::project(a.in, a.t, a.y, a.y, a.where);
};

/// States may move at the start and after every event: initialise(system, t, y, f, restart) makes y consistent, and f its time derivative.
/// A form that `keeps_written` may move states that a transition can write, and keeps those that it has written.
template <class Form>
concept moves_states = requires(detail::asked<Form> a, int how) {
  Form::initialise(a.in, a.t, a.y, a.y, {a.where, how, a.t, a.written});
};

/// Start and modes: the start distinguishes given values, guesses and free values. `begin` makes the initial y consistent; a NaN marks
/// values not given, and in y free ones. Points and the signs of guards are made consistent, at the start and after every event.
template <class Form>
concept chooses_start = requires(detail::asked<Form> a, int how) {
  Form::begin(a.in, a.t, a.y, a.y, a.where, how);
};

/// The form finds the Taylor series of a solution itself, with the coefficients of method/taylor_step.hpp, and says whether its equations
/// have made decisions.
template <class Form>
concept finds_series = requires(detail::asked<Form> a) {
  static_cast<bool>(Form::find_coefficients(a.t, a.y, a.constants, a.coefficient));
};

/// There may be no f, or more than one, at points of the solution, where the instance ends.
template <class Form>
concept has_paradoxes = requires(detail::asked<Form> a) {
  Form::is_paradoxical(a.t, a.of_model, a.constants);
};

/// Constraints may become dependent on the way (form/branches.hpp). A step with changes_branch(step_ends, constants, rtol) is repeated
/// with a smaller size. Where independence_of_constraints is close to zero, the instance ends as `where_branches_meet`.
template <class Form>
concept has_branches = requires(detail::asked<Form> a) {
  Form::changes_branch({a.t, a.of_model, a.t, a.of_model}, a.constants, a.t);
  Form::independence_of_constraints(a.t, a.of_model, a.constants);
};

/// The matrix that determines f may become singular during the motion. If no step is short enough and `independence` shows that its rows
/// depend on each other, this is reported.
template <class Form>
concept may_be_singular = requires(detail::asked<Form> a) {
  Form::independence(a.t, a.of_model, a.constants);
};

/// There are quantities that steps do not change (form/invariants.hpp), kept in the form's memory. `take_invariants` takes their values when
/// an instance starts or an event has changed them; nearer_to_invariants(t, h, y, constants) moves the end of a step of length h.
template <class Form>
concept keeps_invariants = requires(detail::asked<Form> a) {
  Form::take_invariants(a.constants, a.t, a.y, a.where);
  Form::nearer_to_invariants(a.t, a.t, a.y, a.constants);
};

/// A step may use as many coordinates as there are degrees of freedom (form/local_coordinates.hpp). `constraints` is the number of all
/// constraints, hidden ones included; `follow` sets the values that follow from those in the constraints.
template <class Form>
concept has_local_coordinates = requires(detail::asked<Form> a) {
  Form::constraints_at(a.t, a.y, a.constants);
  Form::jacobian_of_constraints(a.t, a.y, a.constants);
  Form::follow(a.t, a.y, a.constants, a.where);
};

/// The interface that the engine requires of a form. Capabilities that are numbers or marks:
///
///     directions           number of directions in which derivatives of the states are carried (form/sensitivities.hpp); else 0
///     keeps_derivatives    these are results
///     lyapunov             or their growth is (form/growth.hpp)
///     has_orientation      `initialise` and `project` give the orientation of the matrix that determines algebraic states, or highest
///                          derivatives; for forms without constraints orientation_at(system, t, y, rate) does. A step over which it turns
///                          has passed a singularity and is repeated with a smaller size. Optional: turns_within(system, at, orientation,
///                          error), the lanes in which it turns within the error of the step whose end is the solution_point `at`;
///                          is_next_to_singular(system, at, nearby), those in which it turns within the fraction `nearby` of the unknowns
///     slides               it slides along guards (form/sliding.hpp)
///     approached           number of constraints that are approached from elsewhere. For each it has a guard of its own, behind the
///                          model's; arrive(constants, due, where) marks those that are due as reached
template <class Form>
concept is_form = requires(detail::asked<Form> a, int number, bool yes) {
  number = Form::judged;
  number = Form::directions;
  yes = Form::keeps_derivatives;
  yes = Form::lyapunov;
  number = Form::params;
  number = Form::discretes;
  number = Form::model_guards;
  number = Form::time_events;
  number = Form::records;
  number = Form::outputs;
  number = Form::tables;
  number = Form::highest_index;
  number = Form::approached;
  yes = Form::has_orientation;
  yes = Form::has_field;
  yes = Form::gives_algebraic_rates;
  yes = Form::slides;
  Form::guard_values(a.t, a.y, a.constants);
  Form::guards_along(a.t, a.y, a.y, a.constants);
  Form::each_memory(a.constants, a.constants, detail::no_action{});
  Form::remember(a.constants, a.t, a.y, a.y, a.where);
  Form::arrive(a.constants, a.due, a.where);
};

}  // namespace saltus
