// A singular mass matrix whose rows mix time derivatives: steps of implicit Euler over an instant, whose slope is the time derivative.
#pragma once

#include "form/consistent/consistency.hpp"
#include "form/form_concept.hpp"
#include "linear/least_change.hpp"
#include "model/offsets.hpp"

namespace saltus {

/// One step of implicit Euler over `instant`: increments of y; returns the lanes in which they were found.
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

/// A singular mass matrix whose rows mix time derivatives. The search takes steps of implicit Euler, each over an instant in which the
/// solution hardly changes. The first step satisfies the constraints; the later ones give the slope for the way back to t. Rows that add up
/// to a constraint also add up the rounding of a step's slopes, so another step follows as long as steps differ: it removes the residual of
/// the last. A final step, over a time in which states change by a fraction well above rounding, gives the time derivatives. With
/// floats an instant is so long that the curvature of the solution makes steps differ. The search then takes four steps, and their
/// difference corrects the state and the slope.
template <class System, class Form, class Real, int n>
SALTUS_FN_COLD consistency<Real> settle_freely(const System& system, Real t, vec<Real, n>& y, vec<Real, n>& rate,
                                               const restart<Form, Real>& start) {
  using T = scalar_of<Real>;
  const Real span = start.span;
  const auto where = start.where;
  constexpr double change = root_epsilon<T> * 0x1p12;
  constexpr bool is_coarse = sizeof(T) == sizeof(float);
  constexpr int most = is_coarse ? 4 : 6;
  const auto begun = y;
  const Real instant = max(Real(4096.0 * limits<T>::epsilon) * span, Real(256.0 * limits<T>::epsilon) * abs(t));
  consistency<Real> c{where, Real(0.0), Real(-1.0), Real(0.0)};
  vec<Real, n> z, next, bend;  // bend: change of a step against the one before
  each<n>([&](int i) SALTUS_INLINE_LAMBDA { z[i] = bend[i] = Real(0.0); });
  mask_of<Real> open = where;
  Real steps = Real(0.0);
  for (int iteration = 0; iteration < most && any(open); ++iteration) {
    c.found = c.found & (euler_step(system, fma(steps, instant, t), y, instant, next, open) | !open);
    Real apart = Real(0.0);
    each<n>([&](int i) SALTUS_INLINE_LAMBDA {
      bend[i] = next[i] - z[i];
      apart = max(apart, abs(bend[i]) / (abs(y[i]) + system.floor(i)));
      z[i] = select(open, next[i], z[i]);
      y[i] = select(open, y[i] + next[i], y[i]);
    });
    steps = select(open, steps + Real(1.0), steps);
    if (iteration > 0 && !is_coarse) open = open & !(apart <= Real(16.0 * limits<T>::epsilon));
  }
  if constexpr (is_coarse) {
    each<n>([&](int i) SALTUS_INLINE_LAMBDA {
      const Real back = fma(-steps, z[i], Real(0.5 * most * (most - 1)) * bend[i]);
      y[i] = select(where, y[i] + back, y[i]);
      rate[i] = select(where, fma(-steps, bend[i], z[i]) / instant, rate[i]);
    });
    detail::how_far(c, system, begun, y);
    return c;
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

/// For each row of m that depends on those before it, the coefficients u, the last of them 1, of the combination of these rows that vanishes;
/// zero for others. By Gram and Schmidt, each row against those before it twice.
template <class Real, int n>
SALTUS_FN_COLD matrix<Real, n> dependences(const matrix<Real, n>& m) {
  constexpr double negligible = 0x1p10 * limits<scalar_of<Real>>::epsilon;
  matrix<Real, n> q, made, r;  // orthonormal rows q = made m, and the coefficients
  for (int i = 0; i < n; ++i) {
    vec<Real, n> rest, u;
    Real whole = Real(0.0), own = Real(0.0);
    for (int j = 0; j < n; ++j) {
      rest[j] = m[i][j];
      whole = fma(rest[j], rest[j], whole);
      u[j] = Real(i == j ? 1.0 : 0.0);
    }
    for (int turn = 0; turn < 2; ++turn)
      for (int k = 0; k < i; ++k) {
        Real part = Real(0.0);
        for (int j = 0; j < n; ++j) part = fma(q[k][j], rest[j], part);
        for (int j = 0; j < n; ++j) {
          rest[j] = fma(-part, q[k][j], rest[j]);
          u[j] = fma(-part, made[k][j], u[j]);
        }
      }
    for (int j = 0; j < n; ++j) own = fma(rest[j], rest[j], own);
    const auto depends = !(own > Real(negligible * negligible) * whole);
    const Real inverse = select(depends, Real(0.0), Real(1.0) / sqrt(own));
    for (int j = 0; j < n; ++j) {
      q[i][j] = rest[j] * inverse;
      made[i][j] = u[j] * inverse;
      r[i][j] = select(depends, u[j], Real(0.0));
    }
  }
  return r;
}
/// The rows of u times m.
template <class Real, int n>
SALTUS_FN matrix<Real, n> combined(const matrix<Real, n>& u, const matrix<Real, n>& m) {
  matrix<Real, n> r;
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j < n; ++j) r[i][j] = Real(0.0);
    for (int k = 0; k < n; ++k)
      for (int j = 0; j < n; ++j) r[i][j] = fma(u[i][k], m[k][j], r[i][j]);
  }
  return r;
}

/// The constraints hidden in M(t, y) dy/dt - f: if a row of M depends on those before it, the combination u of these rows leaves u'F
/// without time derivatives. For each such row, u'F and its derivatives by y; zero for others.
template <class Real, int n>
struct hidden_rows {
  vec<Real, n> value;
  matrix<Real, n> by;
};
template <class System, class Real, int n>
SALTUS_FN_COLD hidden_rows<Real, n> hidden_rows_at(const System& system, Real t, const vec<Real, n>& y) {
  vec<Real, n> still;
  for (int i = 0; i < n; ++i) still[i] = Real(0.0);
  const auto F = system.residual(t, y, still);
  const auto l = linearise(system, t, y, still);
  const auto u = dependences(l.by_rate);
  hidden_rows<Real, n> r;
  for (int i = 0; i < n; ++i) {
    r.value[i] = Real(0.0);
    for (int j = 0; j < n; ++j) r.value[i] = fma(u[i][j], F[j], r.value[i]);
  }
  r.by = combined(u, l.by_y);
  return r;
}

/// The time derivatives of all states at a consistent point: F = 0, and for each combination u without time derivatives u'(F_t + F_y y') = 0,
/// with the y' in F held. NaN if these do not determine them: the index is above 1. Value may be a dual, to differentiate them.
template <class System, class Value, int n>
SALTUS_FN_COLD vec<Value, n> rates_of_mixed(const System& system, Value t, const vec<Value, n>& y, vec<Value, n> rate) {
  using once = dual<Value>;
  constexpr int turns = 3;
  for (int turn = 0; turn < turns; ++turn) {
    const auto l = linearise(system, t, y, rate);
    const auto u = dependences(l.by_rate);
    vec<once, n> at, held;
    for (int i = 0; i < n; ++i) {
      at[i] = once(y[i], rate[i]);
      held[i] = once(rate[i]);
    }
    const auto F = system.residual(once(t, Value(1.0)), at, held);
    auto by = combined(u, l.by_y);
    vec<Value, n> right;
    for (int i = 0; i < n; ++i) {
      const auto depends = u[i][i] > Value(0.5);
      right[i] = Value(0.0);
      for (int k = 0; k < n; ++k) right[i] = fma(u[i][k], F[k].d[0], right[i]);
      right[i] = select(depends, right[i], F[i].value);
      for (int j = 0; j < n; ++j) by[i][j] = select(depends, by[i][j], l.by_rate[i][j]);
    }
    const auto lost = dependences(by);
    const auto change = lu<Value, n>(by).solve(right);
    auto known = mask_of<Value>::all(true);
    for (int i = 0; i < n; ++i) known = known & (lost[i][i] < Value(0.5));
    for (int i = 0; i < n; ++i) rate[i] = select(known, rate[i] - change[i], change[i] * Value(detail::no_number));
  }
  return rate;
}

/// The same if states that a transition has written must stay: the others are first moved onto the constraints, by the smallest change
/// relative to their sizes.
template <class System, class Form, class Real, int n>
SALTUS_FN_COLD consistency<Real> settle_mixed(const System& system, Real t, vec<Real, n>& y, vec<Real, n>& rate,
                                              const restart<Form, Real>& start) {
  constexpr int most = 40;
  constexpr double enough = 64.0 * limits<scalar_of<Real>>::epsilon;
  const auto& written = start.written;
  const auto some = start.where & detail::has_written(written);
  if (none(some)) return settle_freely(system, t, y, rate, start);
  const auto begun = y;
  auto open = some, met = mask_of<Real>::all(false);
  for (int turn = 0; turn < most && any(open); ++turn) {
    auto g = hidden_rows_at(system, t, y);
    auto is_met = open;
    vec<Real, n> sizes;
    for (int i = 0; i < n; ++i) sizes[i] = select(written[i] > Real(0.0), Real(0.0), abs(y[i]) + system.floor(i));
    for (int i = 0; i < n; ++i) {
      Real terms = Real(limits<scalar_of<Real>>::smallest);
      for (int j = 0; j < n; ++j) {
        terms = fma(abs(g.by[i][j]), abs(y[j]) + system.floor(j), terms);
        g.by[i][j] = g.by[i][j] * sizes[j];
      }
      is_met = is_met & (abs(g.value[i]) <= Real(detail::as_good_as_met<Real>) * terms);
      g.value[i] = -g.value[i];
    }
    const auto by = least_change<Real, n>(g.by, g.value, [](int) SALTUS_INLINE_LAMBDA { return true; }).x;
    Real size = Real(0.0);
    for (int i = 0; i < n; ++i) {
      size = max(size, abs(by[i])) + not_finite(by[i]);
      y[i] = select(open, fma(sizes[i], by[i], y[i]), y[i]);
    }
    const auto done = open & (size <= Real(enough));
    met = met | (done & is_met);
    open = open & !done & (size < Real(limits<scalar_of<Real>>::largest));
  }
  for (int i = 0; i < n; ++i) y[i] = select(some & !met, begun[i], y[i]);
  auto c = settle_freely(system, t, y, rate,
                         restart<Form, Real>{start.where & (met | !some), start.how, start.span, written});
  c.found = c.found & (met | !some);
  for (int i = 0; i < n; ++i) y[i] = select(some & (written[i] > Real(0.0)), begun[i], y[i]);  // removes rounding
  detail::how_far(c, system, begun, y);
  return c;
}

}  // namespace saltus
