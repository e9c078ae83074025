// Invariants of a mechanical system, such as the energy without drive and damping. A step ends on the values that they had after the last
// event, so their errors do not accumulate (standard projection: E. Hairer, C. Lubich, G. Wanner, Geometric Numerical Integration, IV.4).
//
// A point on the constraints is moved along them,
//
//     q + N a,  v + b,   J a = J b = 0,   |a|^2 / h^2 + |b|^2 least in the metric of the kinetic energy,
//
// by one step of Newton's iteration. With h, the length of the step, mainly velocities change. Positions change where velocities have
// next to no influence on an invariant, as on the energy of a pendulum at its turning point. The residual after the move is of second
// order, and the next step starts from the same values.
//
// The residual of an invariant is known only up to the rounding of its terms, which may be much larger than the quantities that change: the
// energy of a small swing of a large mass. A residual of a few ulps of these terms moves nothing. Near an extremum, as at rest, Newton's
// step is long and wrong; a move that does not halve the residual is not made. An invariant without derivatives is left alone: a model may
// write a constant where it has no invariant.
#pragma once

#include "form/branches.hpp"

namespace saltus::detail {

/// A point nearer to the invariants.
template <class Real, int states>
struct nearer_point {
  vec<Real, states> y;
  mask_of<Real> sound;  ///< true if it is; elsewhere y is not used
};

/// body(solver): solver(f) is the acceleration along the constraints due to a force f: M a = f + J' lambda, J a = 0.
template <class Bodies, class Real, class Point, class F>
SALTUS_FN void with_free_motion(const Point& at, F&& body) {
  using by_velocity = typename Bodies::template by_velocity<Real>;
  using by_constraint = typename Bodies::template by_constraint<Real>;
  const auto on = [&](int k) SALTUS_INLINE_LAMBDA { return Bodies::is_on(at, k); };
  if constexpr (Bodies::is_sparse) {
    typename Bodies::template sparse_inertia<Real> m;
    m.template take<false>(at, on);
    by_constraint none, lambda;
    each<Bodies::constraints>([&](int k) SALTUS_INLINE_LAMBDA { none[k] = Real(0.0); });
    body([&](const by_velocity& f) SALTUS_INLINE_LAMBDA {
      by_velocity a;
      m.solve(f, none, a, lambda);
      return a;
    });
  } else if constexpr (Bodies::constraints > 0) {
    const constraints_there<Bodies, Real, Point> here(at);
    const auto factor = here.inertia.template of_constraints<false>(on);
    body([&](const by_velocity& f) SALTUS_INLINE_LAMBDA {
      const auto free = here.inertia.mass.forward(f);
      by_constraint right = here.inertia.along(free);
      each<Bodies::constraints>([&](int k) SALTUS_INLINE_LAMBDA { right[k] = -right[k]; });
      return here.inertia.mass.backward(here.inertia.force(factor.solve(right), free));
    });
  } else {
    const auto mass = Bodies::factorised_mass(at);
    body([&](const by_velocity& f) SALTUS_INLINE_LAMBDA { return mass.solve(f); });
  }
}

/// A few ulps of the terms of invariant k, as estimated from its derivatives.
template <class Bodies, class Real, class Point, class Rows>
SALTUS_FN Real rounding_of(const Point& at, const Rows& rows, int k) {
  constexpr double some = 16.0 * limits<scalar_of<Real>>::epsilon;
  Real size = abs(rows.value[k]), largest = Real(0.0);
  for (int i = 0; i < Bodies::coordinates; ++i) largest = max(largest, abs(at.y[i]));
  for (int j = 0; j < Bodies::velocities; ++j) {
    const Real position = Bodies::has_kinematics ? largest : abs(at.y[j]);
    size = fma(abs(rows.by_position[k][j]), position, size);
    size = fma(abs(rows.by_speed[k][j]), abs(at.y[Bodies::coordinates + j]), size);
  }
  return Real(some) * size;
}

/// Takes the invariants of a point in the lanes of `where`. Invariants that an event has not changed keep their old values, because the
/// residuals of steps would add up.
template <class Bodies, class Real, class Point>
SALTUS_FN_COLD void take_invariants(const Point& at, vec<Real, Bodies::invariants>& kept, mask_of<Real> where) {
  const auto rows = Bodies::invariant_rows_at(at);
  each<Bodies::invariants>([&](int k) SALTUS_INLINE_LAMBDA {
    const auto same = abs(rows.value[k] - kept[k]) <= rounding_of<Bodies, Real>(at, rows, k);
    kept[k] = select(where & !same, rows.value[k], kept[k]);
  });
}

/// Moves a point at the end of a step of length h towards the invariants `kept`.
template <class Bodies, class Real, class Point>
SALTUS_FN_COLD nearer_point<Real, Bodies::states> nearer_to_invariants(const Point& at,
                                                                       const vec<Real, Bodies::invariants>& kept,
                                                                       Real h) {
  constexpr int count = Bodies::invariants, velocities = Bodies::velocities;
  constexpr double dependent = 0x1p-40;
  using by_velocity = typename Bodies::template by_velocity<Real>;
  const auto rows = Bodies::invariant_rows_at(at);
  by_velocity by_position[count], by_speed[count];  // the smallest motions per unit change of an invariant
  with_free_motion<Bodies, Real>(at, [&](const auto& solver) SALTUS_INLINE_LAMBDA {
    each<count>([&](int k) SALTUS_INLINE_LAMBDA {
      by_velocity position, speed;
      each<velocities>([&](int j) SALTUS_INLINE_LAMBDA {
        position[j] = h * rows.by_position[k][j];
        speed[j] = rows.by_speed[k][j];
      });
      by_position[k] = solver(position);
      by_speed[k] = solver(speed);
    });
  });
  matrix<Real, count> a;
  vec<Real, count> off;
  each<count>([&](int k) SALTUS_INLINE_LAMBDA {
    for (int l = 0; l <= k; ++l) {
      a[k][l] = Real(0.0);
      for (int j = 0; j < velocities; ++j)
        a[k][l] = fma(h * rows.by_position[k][j], by_position[l][j], fma(rows.by_speed[k][j], by_speed[l][j], a[k][l]));
    }
    const auto constant = a[k][k] == Real(0.0);
    a[k][k] = select(constant, Real(1.0), a[k][k]);
    off[k] = rows.value[k] - kept[k];
    off[k] = select(constant | (abs(off[k]) <= rounding_of<Bodies, Real>(at, rows, k)), Real(0.0), off[k]);
  });
  const ldl<Real, count> factor(a);
  const auto share = factor.solve(off);
  by_velocity shift, change;
  each<velocities>([&](int j) SALTUS_INLINE_LAMBDA {
    shift[j] = change[j] = Real(0.0);
    for (int k = 0; k < count; ++k) {
      shift[j] = fma(h * share[k], by_position[k][j], shift[j]);
      change[j] = fma(share[k], by_speed[k][j], change[j]);
    }
  });
  const auto further = Bodies::shift(at, shift);
  nearer_point<Real, Bodies::states> to;
  each<Bodies::states>([&](int i) SALTUS_INLINE_LAMBDA {
    to.y[i] = at.y[i] - (i < Bodies::coordinates ? further[i % Bodies::coordinates] : change[i - Bodies::coordinates]);
  });
  // In the metric of the changes required.
  const auto there = Bodies::invariants_at(Bodies::moved(at, at.t, to.y));
  vec<Real, count> left;
  to.sound = mask_of<Real>::all(true);
  each<count>([&](int k) SALTUS_INLINE_LAMBDA {
    left[k] = select(off[k] == Real(0.0), Real(0.0), there[k] - kept[k]);  // a residual that was treated as zero stays
                                                                           // zero
    to.sound = to.sound & (factor.d[k] > Real(dependent) * a[k][k]);
  });
  const auto more = factor.solve(left);
  Real before = Real(0.0), after = Real(0.0);
  each<count>([&](int k) SALTUS_INLINE_LAMBDA {
    before = fma(off[k], share[k], before);
    after = fma(left[k], more[k], after);
  });
  to.sound = to.sound & (before > Real(0.0)) & (after <= Real(0.25) * before);
  return to;
}

}  // namespace saltus::detail
