// The declarations that a model's author makes, and the functions that he may write.
//
// A model is a struct named like its file. It declares up to ten enumerations with a list each,
//
//     enum state     { ... };  static constexpr saltus::variable<state>     state_list[]     = {{id, default, unit, about}, ...};
//     enum parameter { ... };  static constexpr saltus::variable<parameter> parameter_list[] = ...
//     enum discrete  { ... };  static constexpr saltus::variable<discrete>  discrete_list[]  = ...
//     enum guard     { ... };  static constexpr saltus::event_function<guard> guard_list[]  = {{id, direction, sidedness, about}, ...};
//     enum time_event   { ... };  static constexpr saltus::timed<time_event>      time_event_list[]   = {{id, about}, ...};
//     enum column    { ... };  static constexpr saltus::recorded<column>    column_list[]    = {{id, time_event, unit, about}, ...};
//     enum stream    { ... };  static constexpr saltus::random_stream<stream> stream_list[]  = {{id, about}, ...};
//     enum output    { ... };  static constexpr saltus::derived<output>     output_list[]    = {{id, unit, about}, ...};
//     enum delay     { ... };  static constexpr saltus::lag<delay>          delay_list[]     = {{id, about}, ...};
//     enum table     { ... };  static constexpr saltus::tabulated<table>    table_list[]     = {{id, unit, about, interpolation, at_ends}, ...};
//
// (only `state` is compulsory), and writes the functions
//
//     static void initial(auto& at);                          // at[state] = ...; may depend on parameters and time
//     static void rhs(const auto& at, auto& dy);              // dy[state] = ...; for an algebraic state: 0 = ...
//     static void mass(const auto& at, auto& m);              // m(row, column) = ...: m dy/dt equals rhs
//     static void residual(const auto& at, const auto& dy, auto& r);  // in place of rhs: 0 = r[state]
//     static void residual(const auto& at, auto& r);          // of any order and index: 0 = r[equation], x'' is at.d(x, 2)
//     static void guards(const auto& at, auto& g);            // g[guard] = ...
//     static void time_events(const auto& at, auto& when);       // when.at(time_event, time), when.every(time_event, period, first)
//     static void outputs(const auto& at, auto& out);         // out[output] = ...
//     static void transition(auto& now);                      // at an event: if (now.due(guard)) now[state] = ...
//                                                             // now.after(time_event, delay, ...), now.each_due(time_event, body),
//                                                             // now.cancel(time_event), now.uniform(stream), now.normal(stream)
//     static void mode(auto& now);                            // discrete variables from guard signs: now.above(guard)
//     static void rest(auto& now);                            // where events accumulate: the state at their limit
//     static auto max_step(const auto& at);                   // the longest step at which the guards can be trusted
//     static void delays(const auto& at, auto& lag);          // lag[delay] = ...: positive, of parameters alone
//     static void history(const auto& at, auto& y);           // y[state] = ...: the states before the start, of time and parameters
//
// A mechanical system (kernels/model/mechanics.hpp, docs/mechanics.md) has no `rhs`: its states are coordinates q, then velocities v,
//
//     static constexpr auto first_velocity = vx;              // the states before it are coordinates
//     enum constraint { ... };  static constexpr saltus::constrained<constraint> constraint_list[] = {{id, kind, unit, about}, ...};
//     static void mass(const auto& at, auto& m);              // m(row, column) = ...: two velocities; symmetric, write one of a pair
//     static void force(const auto& at, auto& f);             // f[velocity] = ...: all forces except those of constraints
//     static void constraints(const auto& at, auto& c);       // c[constraint] = ...: 0 = Phi(t, q), or Phi(t, q, v)
//     static void kinematics(const auto& at, auto& dq);       // dq[coordinate] = ...: linear in v; without it q' = v
//     static constexpr bool mass_is_diagonal = true;          // if it is so; saves work
//     static constexpr state quaternion_list[] = {p, ...};    // p and the next three are a unit quaternion, and are kept so
//     static void friction(const auto& at, auto& b);           // b(velocity or constraint, contact) = ...: force per unit of its multiplier
//     enum invariant { ... };  static constexpr saltus::conserved<invariant> invariant_list[] = {{id, unit, about}, ...};
//     static void invariants(const auto& at, auto& i);        // i[invariant] = ...: of t, q, v; between events steps end on its value
//     static void reaching(const auto& at, auto& eta);        // eta[constraint] = ...: rate at which an unmet constraint is approached
//
// and, optionally, the entries of the Jacobian df/dy of `rhs` that may be non-zero, so that implicit methods need fewer
// derivatives: static constexpr saltus::entry<state> sparsity[] = {{row, column}, ...}
//
// With a residual of any order, `initial` may write guesses of derivatives, at.d(x, 1) = ..., and guards, outputs and transitions may use
// at.d(x, k). Its equations have the names of the states, or names of their own:
//
//     enum equation { ... };  static constexpr saltus::equated<equation> equation_list[] = {{id, unit, about}, ...};
//
// `rhs` or `residual` is compulsory. A model with guards but no `transition` uses their signs (at.above) or only logs the events.
// `initial`, `rhs`, `mass`, `residual`, `guards`, `time_events`, `outputs` and `max_step` run for several instances at once: a condition
// on a value is `select(condition, a, b)`. `transition`, `mode` and `rest` run for one instance: they may use an ordinary `if`, and
// convert a value to a plain number: int(now[gear]), double(now.t).
//
// at.delayed(state, delay) is the value of a state at the time t - lag[delay], also in guards, outputs, time events and transitions. Without
// `history` states have had their initial values before the start (docs/delays.md).
//
// A time event that is `.recorded()` comes at the times of an instance's rows of data, with the values of its columns:
// now.each_due(dose, [&](const auto& row) { now[blood] += row[amount]; }). when.delay(dose, lag) shifts all of them.
//
// Several members of one kind form a family: saltus::variable<state>{height, 1.0, "m", "..."}.of(100). Its members are at(height, i),
// dy(height, i), now.due(contact, i), and are called height_0 ... height_99 outside. The next enumerator counts on from there:
// enum state { height, velocity = height + 100 }. docs/add_a_problem.md is the tutorial.
#pragma once

#include "abi/choices.hpp"
#include "abi/module.hpp"

namespace saltus {

using abi::direction, abi::rising, abi::falling, abi::both;
using abi::knot;
using abi::sidedness, abi::bilateral, abi::unilateral;
enum class ending : int { continues, terminal };
inline constexpr ending continues = ending::continues;
inline constexpr ending terminal = ending::terminal;

namespace detail {
template <class Declared>
constexpr Declared family(Declared one, int members) {
  one.count = members;
  return one;
}
}  // namespace detail

/// A state, parameter or discrete variable: identity, default, unit ("1" if none), meaning.
template <class Id>
struct variable {
  Id id;
  double value;
  const char* unit;
  const char* about;
  int count = 1;
  int index = 0;  ///< of a state: 0 differential; 1, 2: algebraic, fixed by a constraint of that index

  /// A family of n members.
  constexpr auto of(int n) const { return detail::family(*this, n); }
  /// A state without a time derivative: its entry of the right-hand side is a constraint, 0 = g(t, y). Index 1: the constraints can be
  /// solved for the algebraic states. Index 2 (Hessenberg): the constraints do not contain them, but their time derivatives can be solved.
  constexpr variable algebraic(int differentiation_index = 1) const {
    variable r = *this;
    r.index = differentiation_index;
    return r;
  }
};

/// The quantities in a constraint of a mechanical system.
enum class constraint_kind : int {
  holonomic,    ///< 0 = Phi(t, q): of time and coordinates
  nonholonomic  ///< 0 = Phi(t, q, v): of velocities, too
};
inline constexpr constraint_kind holonomic = constraint_kind::holonomic;
inline constexpr constraint_kind nonholonomic = constraint_kind::nonholonomic;

/// A constraint of a mechanical system. Its multiplier is the force along its gradient: M v' = f + J' lambda.
template <class Id>
struct constrained {
  Id id;
  constraint_kind kind;
  const char* unit;
  const char* about;
  int count = 1;
  double decay_rate = 0.0;
  int switched_by = -1;  ///< a discrete variable; -1: always on

  /// A family of n members.
  constexpr auto of(int n) const { return detail::family(*this, n); }
  /// The constraint holds only while a discrete variable is on: a contact, a joint that opens. In a family, variable i switches member i.
  template <class Discrete>
  constexpr constrained when(Discrete variable) const {
    constrained r = *this;
    r.switched_by = static_cast<int>(variable);
    return r;
  }
  /// For a holonomic constraint: within a step, its residual decays as exp(-rate t) (the sigma of Compere 3.19).
  constexpr constrained decaying(double rate) const {
    constrained r = *this;
    r.decay_rate = rate;
    return r;
  }
};

/// A quantity that is constant along the motion between events, such as the energy of a system that is neither driven nor damped.
template <class Id>
struct conserved {
  Id id;
  const char* unit;
  const char* about;
  int count = 1;

  /// A family of n members.
  constexpr auto of(int n) const { return detail::family(*this, n); }
};

/// An entry of the Jacobian of `rhs`: the time derivative of `row` depends on `column`.
template <class Id>
struct entry {
  Id row, column;
};

/// A guard, or event function: an event is where g crosses zero in `direction`.
template <class Id>
struct event_function {
  Id id;
  saltus::direction which;
  saltus::sidedness side;
  const char* about;
  saltus::ending ends = continues;
  bool may_slide = false;
  bool only_condition = false;
  int count = 1;

  /// A family of n members.
  constexpr auto of(int n) const { return detail::family(*this, n); }
  /// The right-hand side switches with this guard's sign (at.above). Where both sides push onto g = 0, the solution slides along it
  /// (Filippov). The guard has direction both and is bilateral.
  constexpr event_function sliding() const {
    event_function r = *this;
    r.may_slide = true;
    return r;
  }
  /// Only `mode` uses this guard's sign: a crossing at which no discrete variable changes has no effect.
  constexpr event_function condition() const {
    event_function r = *this;
    r.only_condition = true;
    return r;
  }
};

/// A time event: `time_events` gives its times, or transitions schedule it.
template <class Id>
struct timed {
  Id id;
  const char* about;
  int count = 1;
  int capacity = 0;  ///< number of items that may be scheduled at the same time
  int carries = 0;   ///< numbers that each of them carries
  bool has_rows = false;

  /// Transitions and `initial` schedule it (after), with up to n items under way.
  constexpr timed scheduled(int n) const {
    timed r = *this;
    r.capacity = n;
    return r;
  }
  /// Each item carries k numbers from where it is scheduled to where it is due.
  constexpr timed carrying(int k) const {
    timed r = *this;
    r.carries = k;
    return r;
  }
  /// Its times are those of rows of data, which each instance has of its own. `time_events` may delay them: when.delay(id, lag).
  constexpr timed recorded() const {
    timed r = *this;
    r.has_rows = true;
    return r;
  }
};

/// A column of the rows of a recorded time event, whose enumerator is `event`.
template <class Id>
struct recorded {
  Id id;
  int event;
  const char* unit;
  const char* about;
  int count = 1;
};

/// A stream of random numbers, independent of the other streams and of all other instances: now.uniform(id), now.normal(id).
template <class Id>
struct random_stream {
  Id id;
  const char* about;
  int count = 1;

  /// A family of n members.
  constexpr auto of(int n) const { return detail::family(*this, n); }
};

/// A table: a function of time given by values at knots and smooth between them. at[id] is its value at the time of the point. Steps end at
/// its knots, which are no events.
template <class Id>
struct tabulated {
  Id id;
  const char* unit;
  const char* about;
  saltus::interpolation between = interpolation::linear;
  saltus::at_ends beyond = at_ends::none;
  int count = 1;
  const knot* knots = nullptr;
  int knot_count = 0;
  int choice = -1;  ///< a parameter; -1: there is one curve

  /// A family of n members.
  constexpr auto of(int n) const { return detail::family(*this, n); }
  /// The table has several curves, with values at the same knots. A parameter is the number of the one that an instance reads, from 0 on.
  template <class Parameter>
  constexpr tabulated chosen_by(Parameter number) const {
    tabulated r = *this;
    r.choice = static_cast<int>(number);
    return r;
  }
  /// Default knots, for runs that give the table no others: a static constexpr saltus::knot list[].
  template <int N>
  constexpr tabulated with(const knot (&list)[N]) const {
    tabulated r = *this;
    r.knots = list;
    r.knot_count = N;
    return r;
  }
};

/// A delay: a positive time, constant in an instance, which `delays` computes. at.delayed(state, id) is the value of a state so long ago.
template <class Id>
struct lag {
  Id id;
  const char* about;
  int count = 1;
};

/// An equation of a residual of any order: identity, unit and meaning of its residual.
template <class Id>
struct equated {
  Id id;
  const char* unit;
  const char* about;
  int count = 1;

  /// A family of n members.
  constexpr auto of(int n) const { return detail::family(*this, n); }
};

/// An output: computed from the point, never integrated.
template <class Id>
struct derived {
  Id id;
  const char* unit;
  const char* about;
  int count = 1;

  /// A family of n members.
  constexpr auto of(int n) const { return detail::family(*this, n); }
};

}  // namespace saltus
