// A mechanical system (model/mechanics.hpp) as a field: multipliers eliminated on the level of accelerations at every evaluation,
// and every step put back onto the constraints, on the levels of positions and of velocities ("acceleration-level" and
// "post-stabilisation" of M. D. Compere, dissertation, UT Austin 2001, chapter 3). Any method may integrate it.
//
// A point is moved by the smallest change in the metric of kinetic energy,
//
//     q - N M^-1 J' (J M^-1 J')^-1 Phi(q),   v - M^-1 J' (J M^-1 J')^-1 s(q, v)
//
// repeatedly with new J and M, until only rounding is left, and unit quaternions are normalised. After an event that switches a constraint
// on, the change of v is the plastic impact.
//
// A model with a function `reaching` may start off its constraints. Each is approached with ds/dt = -eta sign(s), the sign held until an
// event at s = 0, and holds from there on (Compere 2.1 and 3.4.3, with eta on ds/dt itself, so that constraints do not disturb each other
// and each is reached after |s| / eta). During the approach multipliers are the equivalent control alone.
#pragma once

#include "form/consistent/consistency.hpp"
#include "form/functions.hpp"
#include "form/invariants.hpp"
#include "linear/least_change.hpp"
#include "model/rough_impact.hpp"

namespace saltus {

template <class Functions>
struct mechanical_form : Functions {
  using Functions::states;
  using Model = typename Functions::Model;
  using system_of_bodies = mechanics<Model>;
  template <class Real, int N>
  using rated = typename Functions::template rated<Real, N>;
  static constexpr int coordinates = system_of_bodies::coordinates;
  static constexpr int velocities = system_of_bodies::velocities;
  static constexpr int constraints = system_of_bodies::constraints;
  static constexpr int quaternions = system_of_bodies::quaternions;

  static constexpr bool has_field = true;
  static constexpr int invariants = system_of_bodies::invariants;
  static constexpr bool is_constrained = constraints + quaternions + invariants > 0;
  static constexpr bool projects_positions = [] {
    if constexpr (requires { Model::projects_positions; }) return static_cast<bool>(Model::projects_positions);
    else return true;
  }();
  static constexpr bool has_reaching_phase = Functions::approached > 0;
  using Functions::guards;
  using Functions::model_guards;

  /// The phase of each constraint.
  static constexpr double not_begun = 0.0, reached = 2.0;  ///< else the sign of s during the approach
  template <class Real>
  struct step_constants : Functions::template step_constants<Real> {
    vec<Real, Functions::approached> phase;
    vec<Real, invariants> kept;  ///< values of the invariants since the start or the last event
  };
  template <class A, class B, class F>
  SALTUS_FN static constexpr void each_memory(A& a, B& b, F&& body) {
    each<Functions::approached>([&](int k) SALTUS_INLINE_LAMBDA { body(a.phase[k], b.phase[k]); });
    each<invariants>([&](int k) SALTUS_INLINE_LAMBDA { body(a.kept[k], b.kept[k]); });
  }
  template <class Real>
  SALTUS_FN static void remember(step_constants<Real>& c, Real t, const vec<Real, states>& y, const vec<Real, states>&,
                                 mask_of<Real> where) {
    if constexpr (has_reaching_phase) {
      const auto now = approach_at(Functions::point_at(t, y, c), c);
      each<constraints>([&](int k) SALTUS_INLINE_LAMBDA { c.phase[k] = select(where, now.phase[k], c.phase[k]); });
    }
  }
  template <class Real>
  SALTUS_FN static void take_invariants(step_constants<Real>& c, Real t, const vec<Real, states>& y,
                                        mask_of<Real> where) requires(invariants > 0) {
    detail::take_invariants<system_of_bodies, Real>(Functions::point_at(t, y, c), c.kept, where);
  }
  template <class Real>
  SALTUS_FN static detail::nearer_point<Real, states> nearer_to_invariants(Real t, Real h, const vec<Real, states>& y,
                                                                           const step_constants<Real>& c) {
    return detail::nearer_to_invariants<system_of_bodies, Real>(Functions::point_at(t, y, c), c.kept, h);
  }

  template <class Value, class Real>
  SALTUS_FN static vec<Value, states> rhs(Value t, const vec<Value, states>& y, const step_constants<Real>& c) {
    const auto at = Functions::point_at(t, y, c);
    const auto rate = system_of_bodies::rates(at);
    if constexpr (has_reaching_phase) {
      system_of_bodies::move(at, approach_at(at, c).drive, at.kept.acceleration, at.kept.multiplier);
      at.kept.known = true;
    }
    const auto& acceleration = motion_of(at).acceleration;
    vec<Value, states> f;
    each<coordinates>([&](int i) SALTUS_INLINE_LAMBDA { f[i] = rate[i]; });
    each<velocities>([&](int j) SALTUS_INLINE_LAMBDA { f[coordinates + j] = acceleration[j]; });
    Functions::time::turn(f);
    return f;
  }

  template <class Real>
  SALTUS_FN static vec<Real, guards> guard_values(Real t, const vec<Real, states>& y, const step_constants<Real>& c) {
    auto all = Functions::guard_values(t, y, c);
    if constexpr (has_reaching_phase) {
      const auto now = approach_at(Functions::point_at(t, y, c), c);
      each<constraints>([&](int k) SALTUS_INLINE_LAMBDA { all[model_guards + k] = now.way.value[k]; });
    }
    return all;
  }

  template <class Real>
  SALTUS_FN static rated<Real, guards> guards_along(Real t, const vec<Real, states>& y, const vec<Real, states>& f,
                                                    const step_constants<Real>& c) {
    auto r = Functions::guards_along(t, y, f, c);
    if constexpr (has_reaching_phase) {
      const auto now = approach_at(Functions::point_at(t, y, c), c);
      each<constraints>([&](int k) SALTUS_INLINE_LAMBDA {
        r.value[model_guards + k] = now.way.value[k];
        r.rate[model_guards + k] = now.way.rate[k];
      });
    }
    return r;
  }

  /// Marks the constraints whose guards are due as reached.
  template <class Real>
  SALTUS_FN static void arrive(step_constants<Real>& c, const vec<Real, guards>& due, mask_of<Real> where) {
    each<Functions::approached>([&](int k) SALTUS_INLINE_LAMBDA {
      c.phase[k] = select(where & (due[model_guards + k] > Real(0.5)), Real(reached), c.phase[k]);
    });
  }

  template <class Value, class Real>
  SALTUS_FN static vec<Value, states> residual(Value t, const vec<Value, states>& y, const vec<Value, states>& dy,
                                               const step_constants<Real>& c) {
    const auto f = rhs(t, y, c);
    vec<Value, states> r;
    each<states>([&](int i) SALTUS_INLINE_LAMBDA { r[i] = dy[i] - f[i]; });
    return r;
  }

  template <class System, class Real>
  SALTUS_FN static consistency<Real> initialise(const System& system, const Real& t, vec<Real, states>& y,
                                                vec<Real, states>& f,
                                                const restart<mechanical_form, Real>& start) requires(is_constrained) {
    const auto begun = y;
    auto c = onto_constraints<search_for::start>(system, t, y, start.where);
    if constexpr (Functions::keeps_written) {
      auto moved = mask_of<Real>::all(false);
      each<states>(
          [&](int i) SALTUS_INLINE_LAMBDA { moved = moved | ((start.written[i] > Real(0.0)) & !(y[i] == begun[i])); });
      if (const auto these = start.where & (moved | !c.found) & detail::has_written(start.written); any(these)) {
        auto to = begun;
        const auto found = onto_constraints_but(system, t, to, start.written, these);
        each<states>([&](int i) SALTUS_INLINE_LAMBDA { y[i] = select(these, to[i], y[i]); });
        c.found = (c.found & !these) | (found.found & these);
        c.residual = select(these, found.residual, c.residual);
        c.of = select(these, found.of, c.of);
        c.moved = select(these, found.moved, c.moved);
      }
    }
    f = rhs(t, y, system.c);
    return c;
  }

  template <class System, class Real>
  SALTUS_FN static consistency<Real> project(const System& system, Real t, vec<Real, states>& y, vec<Real, states>&,
                                             mask_of<Real> where) requires(is_constrained) {
    return onto_constraints<search_for::step>(system, t, y, where);
  }

  // ---- derivatives of a point that the constraints move (form/sensitivities.hpp): the same moves over numbers with derivatives. `c` are the
  // constants over such numbers; the values of y are those from which the search began.

  /// At the end of a step, which is already on the constraints: one move.
  template <class System, class Number>
  SALTUS_FN_COLD static void derive_projection(const System& system, const step_constants<Number>& c, const Number& t,
                                               vec<Number, states>& y) requires(is_constrained) {
    y = nearer(over_numbers<System, Number>{system, c}, Functions::point_at(t, with_unit_quaternions(y), c)).y;
  }
  /// At the start and after an event. `written` as for the search.
  template <class System, class Number, class Written>
  SALTUS_FN_COLD static void derive_start(const System& system, const step_constants<Number>& c, const Number& t,
                                          vec<Number, states>& y, const Written& written,
                                          mask_of<Number> where) requires(is_constrained) {
    const over_numbers<System, Number> lifted{system, c};
    auto held = mask_of<Number>::all(false);
    if constexpr (holds_written) {
      held = where & detail::has_written(written);
      vec<Number, states> stays;
      each<states>([&](int i) SALTUS_INLINE_LAMBDA { stays[i] = Number(written[i]); });
      until_derived<Number>(
          held, [&](mask_of<Number> open) SALTUS_INLINE_LAMBDA { return move_unwritten(lifted, t, y, stays, open); });
    }
    until_derived<Number>(where & !held, [&](mask_of<Number> open) SALTUS_INLINE_LAMBDA {
      const auto unit = with_unit_quaternions(y);
      const auto to = nearer(lifted, Functions::point_at(t, unit, c));
      each<states>([&](int i) SALTUS_INLINE_LAMBDA { y[i] = select(open, to.y[i], y[i]); });
      return to.size;
    });
  }

  /// The lanes in which friction leaves no acceleration, or more than one.
  template <class Real>
  SALTUS_FN static mask_of<Real> is_paradoxical(
      Real t, const vec<Real, states>& y, const step_constants<Real>& c) requires(system_of_bodies::has_friction) {
    return system_of_bodies::is_paradoxical(Functions::point_at(t, y, c));
  }

  /// Dead points, at which branches of the motion may meet.
  static constexpr bool has_dead_points = constraints > 0 && !has_reaching_phase && !system_of_bodies::is_sparse;
  template <class Real>
  SALTUS_FN static mask_of<Real> changes_branch(const step_ends<Real, states>& ends, const step_constants<Real>& c,
                                                Real) requires(has_dead_points) {
    return detail::on_other_branches<system_of_bodies, Real>(Functions::point_at(ends.t0, ends.y0, c),
                                                             Functions::point_at(ends.t1, ends.y1, c));
  }
  template <class Real>
  SALTUS_FN static detail::independence<Real> independence_of_constraints(Real t, const vec<Real, states>& y,
                                                                          const step_constants<Real>& c) {
    return detail::independence_at<system_of_bodies, Real>(Functions::point_at(t, y, c),
                                                           Functions::point_at(t, earlier_point(t, y, c), c));
  }
  /// Without constraints, M alone may become singular on the way.
  template <class Real>
  SALTUS_FN static detail::independence<Real> independence(
      Real t, const vec<Real, states>& y,
      const step_constants<Real>& c) requires(constraints == 0 && !system_of_bodies::is_sparse) {
    return {system_of_bodies::regularity_of_mass(Functions::point_at(t, y, c),
                                                 Functions::point_at(t, earlier_point(t, y, c), c)),
            Real(-1.0)};
  }
  /// A point that the motion may have passed, as far back as positions are large.
  template <class Real>
  SALTUS_FN static vec<Real, states> earlier_point(Real t, const vec<Real, states>& y, const step_constants<Real>& c) {
    const auto rate = system_of_bodies::rates(Functions::point_at(t, y, c));
    Real speed = Real(0.0);
    each<coordinates>([&](int i) SALTUS_INLINE_LAMBDA { speed = max(speed, abs(rate[i]) / (abs(y[i]) + Real(1.0))); });
    const Real back = select(speed > Real(0.0), Real(1.0) / speed, Real(0.0));
    auto before = y;
    each<coordinates>([&](int i) SALTUS_INLINE_LAMBDA { before[i] = fma(-back, rate[i], y[i]); });
    return before;
  }

  /// The largest residual of the constraints on both levels, and its constraint; quaternions are numbered after constraints.
  template <class Real>
  SALTUS_FN static consistency<Real> constraint_residual(Real t, const vec<Real, states>& y,
                                                         const step_constants<Real>& c) {
    consistency<Real> r{mask_of<Real>::all(true), Real(0.0), Real(-1.0), Real(0.0)};
    const auto consider = [&](Real size, mask_of<Real> where, int k) SALTUS_INLINE_LAMBDA {
      const auto worse = where & !(size <= r.residual);
      r.residual = select(worse, size, r.residual);
      r.of = select(worse, Real(static_cast<double>(k)), r.of);
    };
    if constexpr (constraints > 0) {
      const auto at = Functions::point_at(t, y, c);
      const auto s = system_of_bodies::levels_at(at);
      each<constraints>([&](int k) SALTUS_INLINE_LAMBDA {
        const Real size = max(abs(s.position[k]), abs(s.velocity[k])) + not_finite(s.velocity[k]);
        consider(size, holds(at, c, k), k);
      });
    }
    each<quaternions>([&](int k) SALTUS_INLINE_LAMBDA {
      const Real off = length_of(y, k) - Real(1.0);
      consider(abs(off) + not_finite(off), mask_of<Real>::all(true), constraints + k);
    });
    return r;
  }

  /// The point at which a method that treats bodies evaluates them.
  template <class Value, class Real>
  SALTUS_FN static auto point_of_bodies(Value t, const vec<Value, states>& y, const step_constants<Real>& c) {
    return Functions::point_at(t, y, c);
  }

 private:
  template <class Real>
  using point_of = point<Model, Real, Real>;
  template <class Real>
  using rows = typename system_of_bodies::template rows<Real>;
  template <class Real>
  using inertia = typename system_of_bodies::template inertia<Real>;

  /// The approach to the constraints at a point: their phases, ds/dt, and |s| with its time derivative during the approach, else 1.
  template <class Value, class Real>
  struct approach {
    vec<Real, constraints> phase;
    vec<Value, constraints> drive;
    with_rate<vec<Value, constraints>> way;
  };
  template <class Value, class Real>
  SALTUS_FN static approach<Value, Real> approach_at(const point<Model, Value, Real>& at,
                                                     const step_constants<Real>& c) {
    constexpr double at_once = 0x1p-40;  // the time that counts as no approach
    named<typename Functions::kinds::constraint, Value, constraints> eta;
    each<constraints>([&](int k) SALTUS_INLINE_LAMBDA { eta.values[k] = Value(Functions::unset); });
    Model::reaching(at, eta);
    const auto s = system_of_bodies::levels_at(at);
    approach<Value, Real> r;
    each<constraints>([&](int k) SALTUS_INLINE_LAMBDA {
      const Value off = system_of_bodies::deviation(s, k), speed = eta.values[k];
      const auto begins = c.phase[k] == Real(not_begun);
      const auto there = begins & ((abs(off) <= Value(at_once) * speed) | (speed == Value(0.0)));
      const auto side = select(off < Value(0.0), Real(-1.0), Real(1.0));
      r.phase[k] = select(there, Real(reached), select(begins, side, c.phase[k]));
      const auto under_way = r.phase[k] != Real(reached);
      r.drive[k] = select(under_way, -(Value(r.phase[k]) * speed), Value(0.0));
      r.way.value[k] = select(under_way, Value(r.phase[k]) * off, Value(1.0));
      r.way.rate[k] = select(under_way, -speed, Value(0.0));
    });
    return r;
  }

  /// The lanes in which constraint k is on and has been reached.
  template <class Real>
  SALTUS_FN static mask_of<Real> holds(const point_of<Real>& at, const step_constants<Real>& c, int k) {
    if constexpr (has_reaching_phase)
      return system_of_bodies::is_on(at, k) & (approach_at(at, c).phase[k] == Real(reached));
    else return system_of_bodies::is_on(at, k);
  }

  /// y after a change towards the constraints, and the size of the change in relative units.
  template <class Real>
  struct moved_point {
    vec<Real, states> y;
    Real size;
    /// Constraints depend on each other, or the mass matrix is not positive definite.
    mask_of<Real> singular = mask_of<Real>::all(false);
    Real of = Real(-1.0);  ///< the first constraint that depends on those before it, or row of M; -1: none
  };

  template <class Real>
  SALTUS_FN static Real length_of(const vec<Real, states>& y, int k) {
    Real square = Real(0.0);
    for (int i = system_of_bodies::quaternion(k), end = i + 4; i < end; ++i) square = fma(y[i], y[i], square);
    return sqrt(square);
  }

  /// y with quaternions of length one. A move along the time derivative of a quaternion keeps its length to second order, so they are normalised
  /// before each move and not after the last.
  template <class Real>
  SALTUS_FN static vec<Real, states> with_unit_quaternions(vec<Real, states> y) {
    each<quaternions>([&](int k) SALTUS_INLINE_LAMBDA {
      const Real factor = Real(1.0) / length_of(y, k);
      for (int i = system_of_bodies::quaternion(k), end = i + 4; i < end; ++i) y[i] = y[i] * factor;
    });
    return y;
  }

  static constexpr int most_moves = 40;  ///< from a start
  /// The size of the last move: that of the next one is about its square.
  template <class Real>
  static constexpr double small_move = 0x1p-4 * root_epsilon<scalar_of<Real>>;

  /// A system over numbers with derivatives.
  template <class System, class Number>
  struct over_numbers {
    const System& system;
    const step_constants<Number>& c;
    SALTUS_FN Number floor(int i) const { return Number(system.floor(i)); }
  };

  /// Repeats move(lanes), which returns its size, until one move after a small one: derivatives follow values with one move's delay.
  template <class Number, class Move>
  SALTUS_FN static void until_derived(mask_of<Number> open, Move&& move) {
    auto was_small = mask_of<Number>::all(false);
    for (int turn = 0; turn < most_moves && any(open); ++turn) {
      const auto is_small = move(open) <= Number(small_move<Number>);
      open = open & !was_small;
      was_small = is_small;
    }
  }

  template <search_for What, class System, class Real>
  SALTUS_FN_COLD static consistency<Real> onto_constraints(const System& system, Real t, vec<Real, states>& y,
                                                           mask_of<Real> where) {
    constexpr int most = What == search_for::start ? most_moves : 6;
    constexpr double enough = small_move<Real>;
    // A start on the constraints stays: a guard may be zero there, and a move by rounding would put it on an arbitrary side.
    constexpr double nothing = 8.0 * limits<scalar_of<Real>>::epsilon;
    const auto begun = y;
    auto open = where, found = mask_of<Real>::all(false), singular = mask_of<Real>::all(false);
    Real of = Real(-1.0);
    for (int turn = 0; turn < most && any(open); ++turn) {
      const auto unit = with_unit_quaternions(y);
      const auto to = nearer(system, Functions::point_at(t, unit, system.c));
      const auto lost = open & (to.singular | !(to.size < Real(limits<scalar_of<Real>>::largest)));
      of = select(lost, to.of, of);
      singular = singular | lost;
      open = open & !lost;
      if (What == search_for::start && turn == 0) {
        const auto there = open & (distance(system, y, to.y) <= Real(nothing));
        found = found | there;
        open = open & !there;
      }
      each<states>([&](int i) SALTUS_INLINE_LAMBDA { y[i] = select(open, to.y[i], y[i]); });
      const auto done = open & (to.size <= Real(enough));
      found = found | done;
      open = open & !done;
    }
    each<states>([&](int i) SALTUS_INLINE_LAMBDA { y[i] = select(found, y[i], begun[i]); });
    auto c = constraint_residual(t, y, system.c);
    c.found = found;
    c.of = select(singular & (of >= Real(0.0)), of, c.of);
    detail::how_far(c, system, begun, y);
    return c;
  }

  /// True if states that a transition has written can be held while others move. Otherwise they must satisfy the constraints as written.
  static constexpr bool holds_written = constraints > 0 && !system_of_bodies::is_sparse && Functions::keeps_written;

  /// The same if states that a transition has written must stay: the others move by the smallest change in the same metric, and constraints
  /// that they cannot influence must be satisfied already. If coordinates are not integrals of velocities, written coordinates stay to
  /// within the accuracy of the constraints.
  template <class System, class Real>
  SALTUS_FN_COLD static consistency<Real> onto_constraints_but(const System& system, Real t, vec<Real, states>& y,
                                                               const vec<Real, states>& written, mask_of<Real> where) {
    const auto begun = y;
    auto open = where, found = mask_of<Real>::all(false);
    if constexpr (holds_written)
      for (int turn = 0; turn < most_moves && any(open); ++turn) {
        const Real size = move_unwritten(system, t, y, written, open);
        const auto done = open & (size <= Real(small_move<Real>));
        found = found | done;
        open = open & !done & (size < Real(limits<scalar_of<Real>>::largest));
      }
    else found = where;
    auto c = constraint_residual(t, y, system.c);
    auto concerned = written;
    each<states>([&](int i) SALTUS_INLINE_LAMBDA {
      const Real by = abs(y[i] - begun[i]) / (abs(begun[i]) + system.floor(i)) + not_finite(y[i]);
      found = found & !((written[i] > Real(0.0)) & !(by <= Real(detail::as_good_as_met<Real>)));
    });
    c.found = found & where;
    if constexpr (constraints > 0) find_unmet(system, t, y, c, concerned);
    detail::blame_written(c, constraints + quaternions, written, where,
                          [&](int i) SALTUS_INLINE_LAMBDA { return concerned[i] > Real(0.0); });
    detail::how_far(c, system, begun, y);
    return c;
  }
  /// Makes one move in the lanes of `open` and returns its size.
  template <class System, class Real>
  SALTUS_FN static Real move_unwritten(const System& system, Real t, vec<Real, states>& y,
                                       const vec<Real, states>& written, mask_of<Real> open) {
    Real size = Real(0.0);
    const auto unit = with_unit_quaternions(y);
    each<states>([&](int i) SALTUS_INLINE_LAMBDA { y[i] = select(open, unit[i], y[i]); });
    if constexpr (projects_positions) move_level<true>(system, t, y, written, open, size);
    move_level<false>(system, t, y, written, open, size);
    return size;
  }
  template <bool of_position, class System, class Real>
  SALTUS_FN_COLD static void move_level(const System& system, Real t, vec<Real, states>& y,
                                        const vec<Real, states>& written, mask_of<Real> open, Real& size) {
    constexpr int n = velocities > constraints ? velocities : constraints;
    const auto stays = [&](int j) SALTUS_INLINE_LAMBDA {
      if constexpr (of_position && system_of_bodies::has_kinematics) return mask_of<Real>::all(false);
      else return written[of_position ? j : coordinates + j] > Real(0.0);
    };
    const auto at = Functions::point_at(t, y, system.c);
    const auto on = [&](int k) SALTUS_INLINE_LAMBDA { return holds(at, system.c, k); };
    const auto rows = rows_that_hold(at, on);
    auto mass = system_of_bodies::mass(at);
    for (int i = 0; i < velocities; ++i)
      for (int j = 0; j < i; ++j) mass[i][j] = select(stays(i) | stays(j), Real(0.0), mass[i][j]);
    const ldl<Real, velocities> m(mass);
    const auto s = system_of_bodies::levels_at(at);
    vec<Real, velocities> root;
    for (int j = 0; j < velocities; ++j) root[j] = sqrt(m.over_d[j]);
    matrix<Real, n> a;
    vec<Real, n> b;
    for (int k = 0; k < constraints; ++k) {
      vec<Real, velocities> row;
      for (int j = 0; j < velocities; ++j) row[j] = select(stays(j), Real(0.0), rows.by[k][j]);
      row = m.forward(row);
      for (int j = 0; j < n; ++j) a[k][j] = j < velocities ? row[j % velocities] * root[j % velocities] : Real(0.0);
      b[k] = select(on(k), of_position ? -s.position[k] : -system_of_bodies::deviation(s, k), Real(0.0));
    }
    const auto change = least_change<Real, n>(a, b, [](int k) SALTUS_INLINE_LAMBDA {
      return k < constraints && (!of_position || system_of_bodies::is_holonomic(k));
    });
    vec<Real, velocities> d;
    for (int j = 0; j < velocities; ++j) d[j] = change.x[j] / root[j];
    d = m.backward(d);
    const auto shift = system_of_bodies::shift(at, d);
    for (int i = of_position ? 0 : coordinates; i < (of_position ? coordinates : states); ++i) {
      const Real by = of_position ? shift[i % coordinates] : d[(i + velocities - coordinates) % velocities];
      size = max(size, abs(by) / (abs(y[i]) + system.floor(i))) + not_finite(by);
      y[i] = select(open, y[i] + by, y[i]);
    }
  }
  /// Removes lanes from `c.found` whose constraints are not met. Reports the first of these constraints and the states in it (1, else 0).
  template <class System, class Real>
  SALTUS_FN_COLD static void find_unmet(const System& system, Real t, const vec<Real, states>& y, consistency<Real>& c,
                                        vec<Real, states>& concerned) {
    const auto at = Functions::point_at(t, y, system.c);
    const auto rows = system_of_bodies::rows_at(at);
    const auto s = system_of_bodies::levels_at(at);
    auto unmet_before = mask_of<Real>::all(false);
    for (int k = 0; k < constraints; ++k) {
      Real size = Real(limits<scalar_of<Real>>::smallest), speed = size, along = Real(0.0), largest = Real(0.0);
      for (int i = 0; i < coordinates; ++i) largest = max(largest, abs(y[i]));
      for (int j = 0; j < velocities; ++j) {
        const Real v = y[coordinates + j], by = abs(rows.by[k][j]);
        const Real q = system_of_bodies::has_kinematics ? largest : abs(y[j % coordinates]);
        size = fma(by, max(q, system.floor(j % coordinates)), size);
        speed = fma(by, abs(v) + system.floor(coordinates + j), speed);
        along = fma(rows.by[k][j], v, along);
      }
      const Real met(detail::as_good_as_met<Real>);
      speed = speed + abs(s.velocity[k] - along);  // for a constraint that depends on time
      const auto is_met = (mask_of<Real>::all(!projects_positions) | (abs(s.position[k]) <= met * size)) &
                          (abs(system_of_bodies::deviation(s, k)) <= met * speed);
      const auto unmet = holds(at, system.c, k) & !is_met;
      const auto first = unmet & !unmet_before;
      c.of = select(first, Real(static_cast<double>(k)), c.of);
      for (int j = 0; j < velocities; ++j) {
        const Real is = select(rows.by[k][j] == Real(0.0), Real(0.0), Real(1.0));
        concerned[coordinates + j] = select(first, is, concerned[coordinates + j]);
        if constexpr (!system_of_bodies::has_kinematics) concerned[j] = select(first, is, concerned[j]);
      }
      unmet_before = unmet_before | unmet;
    }
    c.found = c.found & !unmet_before;
  }

  template <class System, class Real>
  SALTUS_FN static moved_point<Real> nearer(const System& system, const point_of<Real>& at) {
    if constexpr (constraints == 0) return {at.y, not_finite(at.y[system_of_bodies::quaternion(0)])};
    else if constexpr (system_of_bodies::is_sparse) return nearer_sparsely(system, at);
    else return nearer_by_energy(system, at);
  }

  template <class System, class Real>
  SALTUS_FN static moved_point<Real> nearer_by_energy(const System& system, const point_of<Real>& at) {
    const auto on = [&](int k) SALTUS_INLINE_LAMBDA { return holds(at, system.c, k); };
    const auto r = rows_that_hold(at, on);
    const inertia<Real> m(at, r);
    const auto back = [&](const auto& reduced, const vec<Real, constraints>& off) SALTUS_INLINE_LAMBDA {
      vec<Real, velocities> none;
      each<velocities>([&](int j) SALTUS_INLINE_LAMBDA { none[j] = Real(0.0); });
      return m.mass.backward(m.force(reduced.solve(off), none));
    };
    const auto all = m.template of_constraints<false>(on);
    moved_point<Real> to{at.y, Real(0.0)};
    judge(m, all, to);
    if constexpr (projects_positions) {
      vec<Real, velocities> d;
      if constexpr (system_of_bodies::any_nonholonomic) d = back(m.template of_constraints<true>(on), r.position);
      else d = back(all, r.position);
      const auto shift = system_of_bodies::shift(at, d);
      each<coordinates>([&](int i) SALTUS_INLINE_LAMBDA { move(system, to, i, -shift[i]); });
    }
    const auto off = system_of_bodies::levels_at(system_of_bodies::moved(at, at.t, to.y));
    vec<Real, constraints> left;
    each<constraints>([&](int k) SALTUS_INLINE_LAMBDA {
      left[k] = projects_positions ? off.velocity[k] : system_of_bodies::deviation(off, k);
      left[k] = select(on(k), left[k], Real(0.0));
    });
    const auto d = back(all, left);
    each<velocities>([&](int j) SALTUS_INLINE_LAMBDA { move(system, to, coordinates + j, -d[j]); });
    return to;
  }

  /// The same with the sparse matrix.
  template <class System, class Real>
  SALTUS_FN static moved_point<Real> nearer_sparsely(const System& system, const point_of<Real>& at) {
    const auto on = [&](int k) SALTUS_INLINE_LAMBDA { return holds(at, system.c, k); };
    using factorised = typename system_of_bodies::template sparse_inertia<Real>;
    factorised all;
    all.template take<false>(at, on);
    moved_point<Real> to{at.y, Real(0.0)};
    all.judge(to.singular, to.of);
    const auto only_on = [&](vec<Real, constraints>& x) SALTUS_INLINE_LAMBDA {
      if constexpr (has_reaching_phase || system_of_bodies::any_switched)
        each<constraints>([&](int k) SALTUS_INLINE_LAMBDA { x[k] = select(on(k), x[k], Real(0.0)); });
    };
    if constexpr (projects_positions) {
      auto off = system_of_bodies::levels_at(at).position;
      only_on(off);
      vec<Real, velocities> d;
      if constexpr (system_of_bodies::any_nonholonomic) {
        factorised of_positions;
        of_positions.template take<true>(at, on);
        d = of_positions.back(off);
      } else {
        d = all.back(off);
      }
      const auto shift = system_of_bodies::shift(at, d);
      each<coordinates>([&](int i) SALTUS_INLINE_LAMBDA { move(system, to, i, -shift[i]); });
    }
    const auto off = system_of_bodies::levels_at(system_of_bodies::moved(at, at.t, to.y));
    vec<Real, constraints> left;
    each<constraints>([&](int k) SALTUS_INLINE_LAMBDA {
      left[k] = projects_positions ? off.velocity[k] : system_of_bodies::deviation(off, k);
    });
    only_on(left);
    const auto d = all.back(left);
    each<velocities>([&](int j) SALTUS_INLINE_LAMBDA { move(system, to, coordinates + j, -d[j]); });
    return to;
  }

  /// The rows of constraints; zero for those that do not hold.
  template <class Real, class Holds>
  SALTUS_FN static rows<Real> rows_that_hold(const point_of<Real>& at, Holds&& on) {
    auto r = system_of_bodies::rows_at(at);
    if constexpr (has_reaching_phase)
      each<constraints>([&](int k) SALTUS_INLINE_LAMBDA {
        r.position[k] = select(on(k), r.position[k], Real(0.0));
        each<velocities>([&](int j) SALTUS_INLINE_LAMBDA { r.by[k][j] = select(on(k), r.by[k][j], Real(0.0)); });
      });
    return r;
  }

  /// The largest change from one point to another, in relative units.
  template <class System, class Real>
  SALTUS_FN static Real distance(const System& system, const vec<Real, states>& from, const vec<Real, states>& to) {
    Real r = Real(0.0);
    each<states>([&](int i)
                     SALTUS_INLINE_LAMBDA { r = max(r, abs(to[i] - from[i]) / (abs(from[i]) + system.floor(i))); });
    return r;
  }

  template <class System, class Real>
  SALTUS_FN static void move(const System& system, moved_point<Real>& to, int i, Real by) {
    to.size = max(to.size, abs(by) / (abs(to.y[i]) + system.floor(i))) + not_finite(by);
    to.y[i] = to.y[i] + by;
  }

  /// Tests that the mass matrix is positive definite and each constraint is independent of those before it.
  template <class Factor, class Real>
  SALTUS_FN static void judge(const inertia<Real>& m, const Factor& a, moved_point<Real>& to) {
    constexpr double dependent = 0x1p12 * limits<scalar_of<Real>>::epsilon;
    each<velocities>([&](int j) SALTUS_INLINE_LAMBDA {
      constexpr int rows_of_mass = constraints + quaternions + states;  // numbers of written states come first
      const auto lost = !(m.mass.d[j] > Real(0.0));
      to.of = select(lost & (to.of < Real(0.0)), Real(static_cast<double>(rows_of_mass + j)), to.of);
      to.singular = to.singular | lost;
    });
    each<constraints>([&](int k) SALTUS_INLINE_LAMBDA {
      Real whole = Real(0.0);  // the diagonal element before elimination of the others
      for (int j = 0; j < velocities; ++j) whole = fma(m.reduced[k][j] * m.mass.over_d[j], m.reduced[k][j], whole);
      const auto lost = !(a.d[k] > Real(dependent) * whole);
      to.of = select(lost & (to.of < Real(0.0)), Real(static_cast<double>(k)), to.of);
      to.singular = to.singular | lost;
    });
  }
};

}  // namespace saltus
