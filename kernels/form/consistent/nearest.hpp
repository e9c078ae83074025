// The nearest point that satisfies the constraints, with all states free.
#pragma once

#include "form/consistent/consistency.hpp"

namespace saltus {

/// Moves y to the nearest point, in units of the states' own sizes, that satisfies the constraints of a semi-explicit system, with all
/// states free. For constraints linearised about y, the nearest point to y0 is y0 - S C'(C S C')^-1 (g + C (y0 - y)).
template <class System, class Real, int n>
SALTUS_FN_COLD void move_to_nearest(const System& system, Real t, vec<Real, n>& y, mask_of<Real> where) {
  using part = detail::algebraic_part<System, n>;
  constexpr int m = part::count;
  constexpr int most = 200;  // the rate of convergence is curvature times distance
  const auto y0 = y;
  mask_of<Real> open = where;
  Real damping = Real(1.0), last = Real(limits<scalar_of<Real>>::largest);
  vec<Real, n> s;
  each<n>([&](int i) SALTUS_INLINE_LAMBDA {
    s[i] = abs(y0[i]) + system.floor(i);
    s[i] = s[i] * s[i];
  });
  for (int iteration = 0; iteration < most && any(open); ++iteration) {
    const auto l = linearise(system, t, y);
    vec<Real, m> right;
    matrix<Real, m> by;
    each<m>([&](int k) SALTUS_INLINE_LAMBDA {
      right[k] = l.f[part::state(k)];
      for (int i = 0; i < n; ++i) right[k] = fma(l.dy[part::state(k)][i], y0[i] - y[i], right[k]);
      each<m>([&](int j) SALTUS_INLINE_LAMBDA {
        Real sum = Real(0.0);
        for (int i = 0; i < n; ++i) sum = fma(l.dy[part::state(k)][i] * s[i], l.dy[part::state(j)][i], sum);
        by[k][j] = sum;
      });
    });
    const auto along = lu<Real, m>(by).solve(right);
    Real size = Real(0.0);
    vec<Real, n> way;
    each<n>([&](int i) SALTUS_INLINE_LAMBDA {
      Real next = y0[i];
      for (int k = 0; k < m; ++k) next = fma(-along[k] * s[i], l.dy[part::state(k)][i], next);
      way[i] = next - y[i];
      size = max(size, abs(way[i]) / (abs(y[i]) + Real(1e-6) * system.floor(i))) + not_finite(next);
    });
    // Without damping it would oscillate ever wider far from strongly curved constraints.
    damping = select(size < Real(0.9) * last, damping, max(Real(0.5) * damping, Real(1.0 / 256)));
    last = size;
    each<n>([&](int i) SALTUS_INLINE_LAMBDA { y[i] = select(open, fma(damping, way[i], y[i]), y[i]); });
    open = open & (size > Real(64.0 * limits<scalar_of<Real>>::epsilon)) & (size < Real(0x1p100));
  }
}

}  // namespace saltus
