// A singular mass matrix in whose rows rates are mixed: steps of implicit Euler over an instant; their slope is the rate.
#pragma once

#include "form/consistent/search.hpp"

namespace saltus {

/// One step of implicit Euler over `instant`: increments of y, and whether they were found.
template <class System, class Real, int n>
SALTUS_FN_COLD mask_of<Real> euler_step(const System& system, Real t, const vec<Real, n>& y, Real instant,
                                        vec<Real, n>& z, mask_of<Real> where) {
  using T = scalar_of<Real>;
  const Real shift = Real(1.0) / instant, end = t + instant;
  mask_of<Real> open = where;
  Real last = Real(0.0);
  vec<Real, n> nowhere;
  each<n>([&](int i) SALTUS_INLINE_LAMBDA { z[i] = nowhere[i] = Real(0.0); });
  for (int iteration = 0; iteration < 30 && any(open); ++iteration) {
    vec<Real, n> point, slope, terms;
    each<n>([&](int i) SALTUS_INLINE_LAMBDA {
      point[i] = y[i] + z[i];
      slope[i] = z[i] * shift;
      terms[i] = abs(slope[i]);
    });
    const linear_system<System, Real, n> lin(system, end, point, nowhere);
    const auto r = system.residual(end, point, slope);
    const auto change = lu<Real, n>(lin.shifted(shift)).solve(r);
    Real size = Real(0.0);
    each<n>([&](int i) SALTUS_INLINE_LAMBDA {
      size = max(size, abs(change[i]) / (abs(point[i]) + system.floor(i))) + not_finite(change[i]);
      z[i] = select(open, z[i] - change[i], z[i]);
    });
    auto done = size <= Real(4096.0 * limits<T>::epsilon);
    const auto stuck = open & !done & (size >= Real(0.5) * last);
    if (iteration > 0 && any(stuck)) done = done | (stuck & is_rounding(r, lin.size_of_terms(r, point, slope, terms)));
    open = open & !done;
    last = size;
  }
  return where & !open;
}

/// A singular mass matrix in whose rows rates are mixed. Steps of implicit Euler, each over an instant in which nothing
/// happens: the first meets the constraints, and what follows shows how to go back to t. Rows that add up to a constraint
/// add up the rounding of a step's slopes too: as long as steps differ, another one takes away what the last has left of
/// it. One more, over a time in which states change by a part of themselves that rounding does not hide, shows the rates.
template <class System, class Real, int n>
SALTUS_FN_COLD consistency<Real> settle_mixed(const System& system, Real t, vec<Real, n>& y, vec<Real, n>& rate,
                                              Real span, mask_of<Real> where) {
  using T = scalar_of<Real>;
  constexpr double change = root_epsilon<T> * 0x1p12;
  const auto begun = y;
  const Real instant = max(Real(4096.0 * limits<T>::epsilon) * span, Real(256.0 * limits<T>::epsilon) * abs(t));
  consistency<Real> c{where, Real(0.0), Real(-1.0), Real(0.0)};
  vec<Real, n> z, next;
  each<n>([&](int i) SALTUS_INLINE_LAMBDA { z[i] = Real(0.0); });
  mask_of<Real> open = where;
  Real steps = Real(0.0);
  for (int iteration = 0; iteration < 6 && any(open); ++iteration) {
    c.found = c.found & (euler_step(system, fma(steps, instant, t), y, instant, next, open) | !open);
    Real apart = Real(0.0);
    each<n>([&](int i) SALTUS_INLINE_LAMBDA {
      apart = max(apart, abs(next[i] - z[i]) / (abs(y[i]) + system.floor(i)));
      z[i] = select(open, next[i], z[i]);
      y[i] = select(open, y[i] + next[i], y[i]);
    });
    steps = select(open, steps + Real(1.0), steps);
    if (iteration > 0) open = open & !(apart <= Real(16.0 * limits<T>::epsilon));
  }
  Real fastest = Real(0.0);  // relative change in an instant
  each<n>([&](int i) SALTUS_INLINE_LAMBDA {
    y[i] = select(where, fma(-steps, z[i], y[i]), y[i]);
    fastest = max(fastest, abs(z[i]) / (abs(y[i]) + system.floor(i)));
  });
  const Real longer = max(
      instant, min(instant * (Real(change) / max(fastest, Real(limits<T>::epsilon))), Real(root_epsilon<T>) * span));
  c.found = c.found & euler_step(system, t, y, longer, z, where);
  each<n>([&](int i) SALTUS_INLINE_LAMBDA { rate[i] = select(where, z[i] / longer, rate[i]); });
  detail::how_far(c, system, begun, y);
  return c;
}

}  // namespace saltus
