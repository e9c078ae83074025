// What the author of a model declares, and the functions that he may write.
//
// A model is a struct named like its file. It declares up to seven enumerations with a list each,
//
//     enum state     { ... };  static constexpr saltus::variable<state>     state_list[]     = {{id, default, unit, about}, ...};
//     enum parameter { ... };  static constexpr saltus::variable<parameter> parameter_list[] = ...
//     enum discrete  { ... };  static constexpr saltus::variable<discrete>  discrete_list[]  = ...
//     enum guard     { ... };  static constexpr saltus::event_function<guard> guard_list[]  = {{id, direction, sidedness, about}, ...};
//     enum time_event   { ... };  static constexpr saltus::timed<time_event>      time_event_list[]   = {{id, about}, ...};
//     enum output    { ... };  static constexpr saltus::derived<output>     output_list[]    = {{id, unit, about}, ...};
//     enum table     { ... };  static constexpr saltus::tabulated<table>    table_list[]     = {{id, unit, about, interpolation, at_ends}, ...};
//
// (only `state` is compulsory), and writes the functions
//
//     static void initial(auto& at);                          // at[state] = ...; may depend on parameters and time
//     static void rhs(const auto& at, auto& dy);              // dy[state] = ...; of an algebraic variable: 0 = ...
//     static void mass(const auto& at, auto& m);              // m(row, column) = ...: m dy/dt is what rhs gives
//     static void residual(const auto& at, const auto& dy, auto& r);  // in place of rhs: 0 = r[state]
//     static void residual(const auto& at, auto& r);          // of any order and index: 0 = r[equation], x'' is at.d(x, 2)
//     static void guards(const auto& at, auto& g);            // g[guard] = ...
//     static void time_events(const auto& at, auto& when);       // when.at(time_event, time), when.every(time_event, period, first)
//     static void outputs(const auto& at, auto& out);         // out[output] = ...
//     static void transition(auto& now);                      // at an event: if (now.due(guard)) now[state] = ...
//     static void mode(auto& now);                            // discrete variables from guard signs: now.above(guard)
//     static void rest(auto& now);                            // where events accumulate: the state at their limit
//     static auto max_step(const auto& at);                   // the longest step at which the guards can be trusted
//
// A mechanical system (kernels/model/mechanics.hpp, docs/mechanics.md) has no `rhs`: its states are coordinates q, then velocities v,
//
//     static constexpr auto first_velocity = vx;              // the states before it are coordinates
//     enum constraint { ... };  static constexpr saltus::constrained<constraint> constraint_list[] = {{id, kind, unit, about}, ...};
//     static void mass(const auto& at, auto& m);              // m(row, column) = ...: of two velocities; symmetric, one of a pair
//     static void force(const auto& at, auto& f);             // f[velocity] = ...: all but the forces of constraints
//     static void constraints(const auto& at, auto& c);       // c[constraint] = ...: 0 = Phi(t, q), or Phi(t, q, v)
//     static void kinematics(const auto& at, auto& dq);       // dq[coordinate] = ...: linear in v; without it q' = v
//     static constexpr bool mass_is_diagonal = true;          // saves work if it is so
//     static constexpr state quaternion_list[] = {p, ...};    // p and the three after it are a unit quaternion: it is kept so
//     static void friction(const auto& at, auto& b);           // b(velocity or constraint, contact) = ...: force for each unit of its multiplier
//     enum invariant { ... };  static constexpr saltus::conserved<invariant> invariant_list[] = {{id, unit, about}, ...};
//     static void invariants(const auto& at, auto& i);        // i[invariant] = ...: of t, q, v; between events steps end on its value
//     static void reaching(const auto& at, auto& eta);        // eta[constraint] = ...: how fast one is approached that is not met
//
// and, optionally, which entries of the Jacobian df/dy of `rhs` are not zero throughout, so that implicit methods need fewer
// derivatives: static constexpr saltus::entry<state> sparsity[] = {{row, column}, ...}
//
// Of a residual of any order `initial` may write guesses of derivatives, at.d(x, 1) = ..., and guards, outputs and transitions may use
// at.d(x, k). Its equations have the names of the states, or names of their own:
//
//     enum equation { ... };  static constexpr saltus::equated<equation> equation_list[] = {{id, unit, about}, ...};
//
// `rhs` or `residual` is compulsory. A model with guards but no `transition` uses their signs (at.above) or only logs the events.
// `initial`, `rhs`, `mass`, `residual`, `guards`, `time_events`, `outputs` and `max_step` run for several instances at once: a condition on a value
// is `select(condition, a, b)`. `transition`, `mode` and `rest` run for one instance: an ordinary `if` is right there,
// and a value becomes a plain number where that is asked for: int(now[gear]), double(now.t).
//
// Many alike are a family: saltus::variable<state>{height, 1.0, "m", "..."}.of(100), whose members are at(height, i),
// dy(height, i), now.due(contact, i), and are called height_0 ... height_99 outside; the next enumerator counts on from
// there: enum state { height, velocity = height + 100 }. docs/add_a_problem.md is the tutorial.
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

/// A state, parameter or discrete variable: identity, default, unit ("1" if none), meaning.
template <class Id>
struct variable {
  Id id;
  double value;
  const char* unit;
  const char* about;
  int count = 1;
  int index = 0;  ///< of a state: 0 differential; 1, 2: algebraic, fixed by a constraint of that index

  /// A family of n alike.
  constexpr variable of(int n) const {
    variable r = *this;
    r.count = n;
    return r;
  }
  /// A state without a rate: its entry of the right-hand side is a constraint, 0 = g(t, y). Index 1: the constraints can
  /// be solved for the algebraic states. Index 2 (Hessenberg): they do not contain them, but their rates can.
  constexpr variable algebraic(int differentiation_index = 1) const {
    variable r = *this;
    r.index = differentiation_index;
    return r;
  }
};

/// What a constraint of a mechanical system is about.
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

  /// A family of n alike.
  constexpr constrained of(int n) const {
    constrained r = *this;
    r.count = n;
    return r;
  }
  /// It holds only while a discrete variable is on: a contact, a joint that opens. Of a family, member i by variable i.
  template <class Discrete>
  constexpr constrained when(Discrete variable) const {
    constrained r = *this;
    r.switched_by = static_cast<int>(variable);
    return r;
  }
  /// Of a holonomic constraint: within a step, what is left of it is made to decay as exp(-rate t) (the sigma of Compere 3.19).
  constexpr constrained decaying(double rate) const {
    constrained r = *this;
    r.decay_rate = rate;
    return r;
  }
};

/// A quantity that does not change along the motion between events, as the energy of what is neither driven nor damped.
template <class Id>
struct conserved {
  Id id;
  const char* unit;
  const char* about;
  int count = 1;

  /// A family of n alike.
  constexpr conserved of(int n) const {
    conserved r = *this;
    r.count = n;
    return r;
  }
};

/// An entry of the Jacobian of `rhs`: the rate of `row` depends on `column`.
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

  /// A family of n alike.
  constexpr event_function of(int n) const {
    event_function r = *this;
    r.count = n;
    return r;
  }
  /// The right-hand side switches with this guard's sign (at.above), and where both sides push onto g = 0 the solution
  /// slides along it (Filippov). Direction both, bilateral.
  constexpr event_function sliding() const {
    event_function r = *this;
    r.may_slide = true;
    return r;
  }
  /// This guard's sign matters only to `mode`: where it crosses and no discrete variable changes, nothing happens.
  constexpr event_function condition() const {
    event_function r = *this;
    r.only_condition = true;
    return r;
  }
};

/// A time event, known beforehand; `time_events` gives its times.
template <class Id>
struct timed {
  Id id;
  const char* about;
  int count = 1;
};

/// A table: a function of time given by values at knots, between which it is smooth. It is at[id] at the time of the point. Steps end
/// at its knots, which are no events.
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

  /// A family of n alike.
  constexpr tabulated of(int n) const {
    tabulated r = *this;
    r.count = n;
    return r;
  }
  /// With knots of its own, for runs that give it no others: those of a static constexpr saltus::knot list[].
  template <int N>
  constexpr tabulated with(const knot (&list)[N]) const {
    tabulated r = *this;
    r.knots = list;
    r.knot_count = N;
    return r;
  }
};

/// An equation of a residual of any order: identity, unit and meaning of what is to be zero.
template <class Id>
struct equated {
  Id id;
  const char* unit;
  const char* about;
  int count = 1;

  /// A family of n alike.
  constexpr equated of(int n) const {
    equated r = *this;
    r.count = n;
    return r;
  }
};

/// An output: computed from the point, never integrated.
template <class Id>
struct derived {
  Id id;
  const char* unit;
  const char* about;
  int count = 1;

  /// A family of n alike.
  constexpr derived of(int n) const {
    derived r = *this;
    r.count = n;
    return r;
  }
};

}  // namespace saltus
