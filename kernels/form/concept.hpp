// The interface of a form, which states how a model's equations are treated. Sail, land and event/ use nothing else of a form, and do not
// know the kind of equations behind it.
//
// A form is derived from model_functions (form/functions.hpp), which has sizes, guards, outputs and time events for all of them. It
// declares, with functions over the quantities held through a step (`step_constants<Real>`: parameters, discrete variables, guard signs, pieces of tables):
//
//     rhs(t, y, constants)          f(t, y), over any Value
//     implicit_rhs(t, y, constants)                     for a form whose equations for implicit methods differ from its field: their f
//     residual(t, y, dy, constants)                     F(t, y, dy), over any Value: the equations that implicit methods solve
//     mass(constants)               the constant mass matrix; `equations` is with_mass
//     guard_values, guards_along    guards, and their time derivatives g' = g_t + g_y f along f
//
//     model_states, model_part(y)   the model's own states, the first ones of `states`: a form may integrate more behind them
//     judged                        number of states whose errors count
//     directions                    number of directions in which derivatives of the states are carried (form/sensitivities.hpp); else 0
//     keeps_derivatives             these are results
//     lyapunov                      or their growth is (form/lyapunov.hpp)
//
//     equations                     equations: the kind of matrices for implicit methods (number/equations.hpp)
//     counts(i)                     true if implicit methods count the error of state i
//     has_field                     dy/dt = rhs(t, y) for every state: explicit methods may integrate it
//     moves_states                  `initialise` may move states: at the start and after every event
//     initialise(system, t, y, f, span, where, how, written)     makes y consistent, and f its time derivative; how:
//                                   abi::consistency; written: a written_states (below)
//     keeps_written                 it may move states that a transition can write, and keeps those that it has written
//     has_constraints               steps end on constraints, samples are projected onto them, and their residual is reported
//     project(system, t, y, rate, where)                projects the end of a step onto the constraints
//     gives_algebraic_rates         `project` and `initialise` give the time derivatives of algebraic states
//     constraint_residual(t, y, constants)              for a form with both a field and constraints: explicit methods
//                                                       keep no residual with their stages
//
//     has_paradoxes                 there may be no f, or more than one, at points of the solution:
//     is_paradoxical(t, y, constants)                   where the instance ends
//
//     has_series                    it finds the Taylor series of a solution itself:
//     find_coefficients(t, y, constants, coefficients)  with the coefficients of method/taylor.hpp
//
//     ranks_initial_guesses         the start distinguishes given values, guesses and free values:
//     begin(system, t, y, given, where, how)            makes the initial y consistent; a NaN marks values not given, and in y free ones
//
//     settles_modes                 points and the signs of guards are made consistent, at the start and after every event
//
//     has_local_coordinates         a step may use as many coordinates as there are degrees of freedom
//                                   (form/local_coordinates.hpp); the form gives `constraints`, their number, and
//     constraints_at(t, y, constants), jacobian_of_constraints(t, y, constants)  all constraints, hidden ones included
//     follow(t, y, constants, where)                    sets the values that follow from those in the constraints
//
//     may_be_singular               the matrix that determines f may become singular during the motion:
//     independence(t, y, constants)                     of its equations at a point; if no step is short enough and they depend, this is reported
//
//     has_orientation               `initialise` and `project` give the orientation of the matrix that determines algebraic states, or highest
//                                   derivatives. A step over which it turns has passed a singularity and is repeated with a smaller size
//     turns_within(system, t, y, rate, orientation, error)       optional: the lanes in which it turns within the error of the step
//     is_next_to_singular(system, t, y, rate, nearby)            optional: the lanes in which it turns within the fraction `nearby` of the unknowns
//
//     has_branches                  its constraints may become dependent on the way (form/branches.hpp):
//     changes_branch(t0, y0, t1, y1, constants, rtol)   the step is repeated with a smaller size
//     independence_of_constraints(t, y, constants)      at a point: close to zero, the instance ends
//     where_branches_meet                               with this status
//
//     keeps_invariants              there are quantities that steps do not change (form/invariants.hpp); held has them
//     take_invariants(constants, t, y, where)           takes them when an instance starts or an event has changed them
//     nearer_to_invariants(t, h, y, constants)          from the end of a step of length h
//
//     has_reaching_phase            its constraints may be approached from elsewhere. For each it has a guard of its own, behind the
//                                   model's; arrive(constants, due, where) marks those that are due as reached
//
//     has_memory                    it keeps numbers of its own in an instance: members of its `step_constants`
//     each_memory(a, b, body)       constexpr; body(of a, of b) for each of them: they are parked, moved and put into snapshots
//     remember(constants, t, y, f, where)               takes in an accepted point; at the initial one they are zero
//
// `initialise` and `project` return a `consistency` (form/consistent/search.hpp); `system` is a system of linear/system.hpp.
#pragma once

#include "number/real.hpp"

namespace saltus {

/// The states that the transition of an instance has written (1, else 0), for a form that may move them.
template <class Form, class Real>
using written_states = vec<Real, Form::keeps_written ? Form::states : 0>;

/// The interface that the engine requires of a form.
template <class Form>
concept is_form = requires(int number, bool yes) {
  number = Form::states;
  number = Form::model_states;
  number = Form::judged;
  number = Form::directions;
  yes = Form::keeps_derivatives;
  yes = Form::lyapunov;
  number = Form::params;
  number = Form::discretes;
  number = Form::guards;
  number = Form::model_guards;
  number = Form::time_events;
  number = Form::outputs;
  number = Form::tables;
  number = Form::highest_index;
  yes = Form::has_memory;
  yes = Form::has_paradoxes;
  yes = Form::has_branches;
  yes = Form::keeps_invariants;
  yes = Form::has_series;
  yes = Form::ranks_initial_guesses;
  yes = Form::settles_modes;
  yes = Form::has_local_coordinates;
  yes = Form::may_be_singular;
  yes = Form::has_orientation;
  yes = Form::has_field;
  yes = Form::moves_states;
  yes = Form::keeps_written;
  yes = Form::has_constraints;
  yes = Form::gives_algebraic_rates;
  yes = Form::slides;
  yes = Form::has_reaching_phase;
  typename Form::template step_constants<pack<double, 1>>;
};

}  // namespace saltus
