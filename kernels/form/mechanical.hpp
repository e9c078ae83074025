// A mechanical system (model/mechanics.hpp) as a field: multipliers eliminated on the level of accelerations at every evaluation,
// and every step put back onto the constraints, on the levels of positions and of velocities ("acceleration-level" and
// "post-stabilisation" of D. A. Compere, thesis, 1999, chapter 3). Any method may integrate it.
//
// A point is moved by the smallest change in the metric of kinetic energy,
//
//     q - N M^-1 J' (J M^-1 J')^-1 Phi(q),   v - M^-1 J' (J M^-1 J')^-1 s(q, v)
//
// again and again with J and M taken anew, until no more than rounding is left; after an event that switches a constraint on,
// the change of v is the plastic impact. A model with `printed_projection` is moved exactly twice by the formula as Compere
// printed it (3.27), without M and with the nonholonomic constraints among those of positions.
#pragma once

#include "form/consistent/search.hpp"
#include "form/functions.hpp"
#include "model/mechanics.hpp"

namespace saltus {

template <class Functions>
struct mechanical_form : Functions {
  using Functions::states;
  using Model = typename Functions::Model;
  using system_of_bodies = mechanics<Model>;
  template <class Real>
  using held = typename Functions::template held<Real>;
  static constexpr int coordinates = system_of_bodies::coordinates;
  static constexpr int velocities = system_of_bodies::velocities;
  static constexpr int constraints = system_of_bodies::constraints;

  static constexpr bool has_field = true;
  static constexpr bool has_constraints = constraints > 0;
  static constexpr bool moves_states = has_constraints;
  static constexpr bool printed_projection = requires { Model::printed_projection; };

  template <class Value, class Real>
  SALTUS_FN static vec<Value, states> rhs(Value t, const vec<Value, states>& y, const held<Real>& c) {
    const auto at = Functions::point_at(t, y, c);
    const auto rate = system_of_bodies::rates(at);
    const auto& acceleration = motion_of(at).acceleration;
    vec<Value, states> f;
    each<coordinates>([&](int i) SALTUS_INLINE_LAMBDA { f[i] = rate[i]; });
    each<velocities>([&](int j) SALTUS_INLINE_LAMBDA { f[coordinates + j] = acceleration[j]; });
    Functions::time::turn(f);
    return f;
  }

  template <class Value, class Real>
  SALTUS_FN static vec<Value, states> residual(Value t, const vec<Value, states>& y, const vec<Value, states>& dy,
                                               const held<Real>& c) {
    const auto f = rhs(t, y, c);
    vec<Value, states> r;
    each<states>([&](int i) SALTUS_INLINE_LAMBDA { r[i] = dy[i] - f[i]; });
    return r;
  }

  template <class System, class Real>
  SALTUS_FN static consistency<Real> initialise(const System& system, const Real& t, vec<Real, states>& y,
                                                vec<Real, states>& f, Real, mask_of<Real> where, int) {
    auto c = onto_constraints<search_for::start>(system, t, y, where);
    f = rhs(t, y, system.c);
    return c;
  }

  template <class System, class Real>
  SALTUS_FN static consistency<Real> project(const System& system, Real t, vec<Real, states>& y, vec<Real, states>&,
                                             mask_of<Real> where) {
    return onto_constraints<search_for::step>(system, t, y, where);
  }

  /// The largest of what is left of the constraints on both levels, and whose it is.
  template <class Real>
  SALTUS_FN static consistency<Real> constraint_residual(Real t, const vec<Real, states>& y, const held<Real>& c) {
    consistency<Real> r{mask_of<Real>::all(true), Real(0.0), Real(-1.0), Real(0.0)};
    const auto at = Functions::point_at(t, y, c);
    const auto s = system_of_bodies::levels_at(at);
    each<constraints>([&](int k) SALTUS_INLINE_LAMBDA {
      const Real size = max(abs(s.position[k]), abs(s.velocity[k])) + not_finite(s.velocity[k]);
      const auto worse = system_of_bodies::is_on(at, k) & !(size <= r.residual);
      r.residual = select(worse, size, r.residual);
      r.of = select(worse, Real(static_cast<double>(k)), r.of);
    });
    return r;
  }

 private:
  template <class Real>
  using point_of = point<Model, Real, Real>;
  template <class Real>
  using rows = typename system_of_bodies::template rows<Real>;
  template <class Real>
  using inertia = typename system_of_bodies::template inertia<Real>;

  /// y a change nearer to the constraints, and by how much it has moved, relative to what counts.
  template <class Real>
  struct moved_point {
    vec<Real, states> y;
    Real size;
    mask_of<Real> singular;  ///< constraints depend on each other, or the mass matrix is not positive definite
    Real of;                 ///< the first constraint that depends on those before it; -1: none
  };

  template <search_for What, class System, class Real>
  SALTUS_FN_COLD static consistency<Real> onto_constraints(const System& system, Real t, vec<Real, states>& y,
                                                           mask_of<Real> where) {
    constexpr int most = printed_projection ? 2 : What == search_for::start ? 40 : 6;
    constexpr double enough = 0x1p-4 * root_epsilon<scalar_of<Real>>;  // it leaves about its square
    const auto begun = y;
    auto open = where, found = mask_of<Real>::all(false), singular = mask_of<Real>::all(false);
    Real of = Real(-1.0);
    for (int turn = 0; turn < most && any(open); ++turn) {
      const auto at = Functions::point_at(t, y, system.c);
      const auto to = nearer(system, at);
      const auto lost = open & (to.singular | !(to.size < Real(limits<scalar_of<Real>>::largest)));
      of = select(lost, to.of, of);
      singular = singular | lost;
      open = open & !lost;
      each<states>([&](int i) SALTUS_INLINE_LAMBDA { y[i] = select(open, to.y[i], y[i]); });
      const auto done = open & (printed_projection ? mask_of<Real>::all(turn == 1) : to.size <= Real(enough));
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

  template <class System, class Real>
  SALTUS_FN static moved_point<Real> nearer(const System& system, const point_of<Real>& at) {
    if constexpr (printed_projection) return nearer_as_printed(system, at);
    const auto r = system_of_bodies::rows_at(at);
    const inertia<Real> m(at, r);
    const auto back = [&](const auto& reduced, const vec<Real, constraints>& off) SALTUS_INLINE_LAMBDA {
      vec<Real, velocities> none;
      each<velocities>([&](int j) SALTUS_INLINE_LAMBDA { none[j] = Real(0.0); });
      return m.mass.backward(m.force(reduced.solve(off), none));
    };
    const auto all = m.template of_constraints<false>(at);
    moved_point<Real> to{at.y, Real(0.0), mask_of<Real>::all(false), Real(-1.0)};
    judge(m, r, all, to);
    vec<Real, velocities> d;
    if constexpr (system_of_bodies::any_nonholonomic) d = back(m.template of_constraints<true>(at), r.position);
    else d = back(all, r.position);
    const auto shift = system_of_bodies::shift(at, d);
    each<coordinates>([&](int i) SALTUS_INLINE_LAMBDA { move(system, to, i, -shift[i]); });
    d = back(all, off_at(at, to.y).velocity);
    each<velocities>([&](int j) SALTUS_INLINE_LAMBDA { move(system, to, coordinates + j, -d[j]); });
    return to;
  }

  /// The constraints that are on at a new point; 0 of others.
  template <class Real>
  SALTUS_FN static auto off_at(const point_of<Real>& at, const vec<Real, states>& y) {
    auto s = system_of_bodies::levels_at(system_of_bodies::moved(at, at.t, y));
    if constexpr (system_of_bodies::any_switched)
      each<constraints>([&](int k) SALTUS_INLINE_LAMBDA {
        s.velocity[k] = select(system_of_bodies::is_on(at, k), s.velocity[k], Real(0.0));
        s.position[k] = select(system_of_bodies::is_on(at, k), s.position[k], Real(0.0));
      });
    return s;
  }

  template <class System, class Real>
  SALTUS_FN static void move(const System& system, moved_point<Real>& to, int i, Real by) {
    to.size = max(to.size, abs(by) / (abs(to.y[i]) + system.floor(i))) + not_finite(by);
    to.y[i] = to.y[i] + by;
  }

  /// Is the mass matrix positive definite, and is each constraint independent of those before it?
  template <class Factor, class Real>
  SALTUS_FN static void judge(const inertia<Real>& m, const rows<Real>& r, const Factor& a, moved_point<Real>& to) {
    constexpr double dependent = 0x1p12 * limits<scalar_of<Real>>::epsilon;
    each<velocities>([&](int j) SALTUS_INLINE_LAMBDA { to.singular = to.singular | !(m.mass.d[j] > Real(0.0)); });
    each<constraints>([&](int k) SALTUS_INLINE_LAMBDA {
      Real whole = Real(0.0);  // the diagonal element before others were eliminated
      for (int j = 0; j < velocities; ++j) whole = fma(m.reduced[k][j] * m.mass.over_d[j], m.reduced[k][j], whole);
      const auto lost = !(a.d[k] > Real(dependent) * whole);
      to.of = select(lost & (to.of < Real(0.0)), Real(static_cast<double>(k)), to.of);
      to.singular = to.singular | lost;
    });
  }

  /// Compere 3.27: x - F [Phi; S], F = J' (J J')^-1 where the pass begins.
  template <class System, class Real>
  SALTUS_FN static moved_point<Real> nearer_as_printed(const System& system, const point_of<Real>& at) {
    static_assert(coordinates == velocities, "Compere's projection is for q' = v");
    const auto r = system_of_bodies::rows_at(at);
    matrix<Real, constraints> a;
    each<constraints>([&](int k) SALTUS_INLINE_LAMBDA {
      for (int l = 0; l <= k; ++l) {
        a[k][l] = r.by[k][0] * r.by[l][0];
        for (int j = 1; j < velocities; ++j) a[k][l] = fma(r.by[k][j], r.by[l][j], a[k][l]);
      }
    });
    const ldl<Real, constraints> f(a);
    moved_point<Real> to{at.y, Real(0.0), mask_of<Real>::all(false), Real(-1.0)};
    const auto off = [&](bool position, int k) SALTUS_INLINE_LAMBDA {
      const auto s = off_at(at, to.y);
      const bool holonomic = system_of_bodies::is_holonomic(k);
      if (position) return holonomic ? s.position[k] : s.velocity[k];
      const Real decay = Real(system_of_bodies::table.of[k].decay_rate);
      return holonomic ? fma(decay, s.position[k], s.velocity[k]) : s.velocity[k];
    };
    for (const bool position : {true, false}) {
      vec<Real, constraints> left;
      each<constraints>([&](int k) SALTUS_INLINE_LAMBDA { left[k] = off(position, k); });
      const auto d = r.force(f.solve(left));
      each<velocities>([&](int j) SALTUS_INLINE_LAMBDA { move(system, to, position ? j : coordinates + j, -d[j]); });
    }
    return to;
  }
};

}  // namespace saltus
