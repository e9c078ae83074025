// What the engine needs of a form: how a model states its equations. Sail, land and everything in event/ know of a form what stands
// here, and nothing of the kind of equations behind it.
//
// A form is derived from model_functions (form/functions.hpp), which has sizes, guards, outputs and time events for all of them,
// and says, with functions over what is held through a step (`held<Real>`: parameters, discrete variables, guard signs, pieces of tables):
//
//     rhs(t, y, held)               f(t, y), over any Value
//     implicit_rhs(t, y, held)      only of a form that has other equations for implicit methods than its field: their f
//     residual(t, y, dy, held)      F(t, y, dy), over any Value: what implicit methods solve
//     mass(held)                    the constant mass matrix; `equations` is with_mass
//     guard_values, guards_along    guards, and their time derivatives g' = g_t + g_y f along f
//
//     model_states, model_part(y)   of `states` those that the model has, the first ones: a form may integrate others behind them
//     judged                        and of these those whose errors count
//     directions                    in which derivatives of the states are carried behind them (form/sensitivities.hpp); else 0
//     keeps_derivatives             and they are results
//     follows_growth                or the results are how they grow (form/growth.hpp)
//
//     equations                     equations: what matrices implicit methods make of it (number/equations.hpp)
//     counts(i)                     does the error of state i count, to implicit methods?
//     has_field                     dy/dt = rhs(t, y) for every state: explicit methods may integrate it
//     moves_states                  `initialise` may move states: at the start and after every event
//     initialise(system, t, y, f, span, where, how, written)     makes y consistent, and f its time derivative; how:
//                                   abi::consistency; written: a written_states (below)
//     keeps_written                 it may move states which a transition can write, and keeps those that it has
//     has_constraints               steps end on constraints, samples are put onto them, and their residual is reported
//     project(system, t, y, rate, where)                puts the end of a step onto the constraints
//     gives_algebraic_rates         `project` and `initialise` give the time derivatives of algebraic states
//     constraint_residual(t, y, held)                   only of a form with both a field and constraints: explicit methods
//                                                       keep no residual with their stages
//
//     has_paradoxes                 there may be no f, or more than one, at points of the solution:
//     is_paradoxical(t, y, held)    where the instance ends
//
//     has_series                    it finds the Taylor series of a solution itself:
//     find_coefficients(t, y, held, coefficients)       as method/taylor.hpp has them
//
//     weighs_start                  at the start it matters what is given, what is a guess and what is neither:
//     begin(system, t, y, given, where, how)            makes the initial y consistent; what is not given is a NaN, in y what is free
//
//     settles_modes                 points and the signs of guards are made to go together, at the start and after every event
//
//     has_local_coordinates         a step may be made in as many coordinates as there are degrees of freedom
//                                   (form/local_coordinates.hpp): it gives `constraints`, how many, and
//     constraints_at(t, y, held), jacobian_of_constraints(t, y, held)       all of them, hidden ones too
//     follow(t, y, held, where)                         sets what follows from the values that they are about
//
//     may_be_singular               what determines f may become singular on the way:
//     independence(t, y, held)      of its equations at a point: where no step is short enough, and they depend, it is told so
//
//     has_orientation               `initialise` and `project` tell the orientation of what determines algebraic states, or highest
//                                   derivatives: a step over which it turns has passed a singularity, and is made again shorter
//     turns_within(system, t, y, rate, orientation, error)       optional: it turns if the end of a step is off by its error
//     is_next_to_singular(system, t, y, rate, nearby)            optional: it turns within the part `nearby` of what is solved for
//
//     has_branches                  its constraints may become dependent on the way (form/branches.hpp):
//     changes_branch(t0, y0, t1, y1, held)              a step that is made again shorter
//     independence(t, y, held)                          of the constraints at a point: where it is next to none the instance ends
//
//     keeps_invariants              there are quantities that steps do not change (form/invariants.hpp); held has them
//     take_invariants(held, t, y, where)                takes them where an instance starts, or an event has changed them
//     nearer_to_invariants(t, h, y, held)               from the end of a step of length h
//
//     reaches                       its constraints may be approached from elsewhere: behind the model's guards it has one of its
//                                   own for each, and arrive(held, due, where) takes in which of them are due
//
//     has_memory                    it keeps numbers of its own in an instance: members of its `held`
//     each_memory(a, b, body)       constexpr; body(of a, of b) for each of them: they are parked, moved and handed on in snapshots
//     remember(held, t, y, f, where)                    takes in an accepted point; the initial one has them zero
//
// `initialise` and `project` return a `consistency` (form/consistent/search.hpp); their system is linear/system.hpp's.
#pragma once

#include "number/real.hpp"

namespace saltus {

/// Which states the transition of an instance has written (1, else 0), of a form that may move them.
template <class Form, class Real>
using written_states = vec<Real, Form::keeps_written ? Form::states : 0>;

/// A form as the engine takes it.
template <class Form>
concept is_form = requires(int number, bool yes) {
  number = Form::states;
  number = Form::model_states;
  number = Form::judged;
  number = Form::directions;
  yes = Form::keeps_derivatives;
  yes = Form::follows_growth;
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
  yes = Form::weighs_start;
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
  yes = Form::reaches;
  typename Form::template held<pack<double, 1>>;
};

}  // namespace saltus
