// Finds a point on the equations by continuation if damped Newton iteration does not find one from a guess (E. L. Allgower and K. Georg,
// "Introduction to Numerical Continuation Methods", 2003). For s = 0 the solution of a homotopy h(y, s) = 0 is the guess, for s = 1 it is
// that of the equations:
//
//     Newton homotopy      h = f(y) - (1 - s) f(y0)
//     linear homotopy      h = s f(y) + (1 - s) J(y0) (y - y0)
//
// The solutions are followed by arc length, so that s may turn back where the curve does: at a minimum of |f|, which an iteration that
// only decreases |f| cannot pass. With fewer equations than unknowns the solutions are not a curve: the direction along them that is nearest
// to the last one is taken, and corrections are the smallest (Moore and Penrose).
#pragma once

#include "linear/least_change.hpp"

namespace saltus {

enum class homotopy { newton, linear };

/// Stage k of the equations `Series` (form/equation_series.hpp) of a single instance, followed from the guess y0; the values of earlier
/// stages are held. A value of width zero stays.
template <class Series, class Real>
struct continuation {
  static constexpr int unknowns = Series::unknowns, values = Series::values;
  using layout = typename Series::layout;
  using step_constants = typename Series::template step_constants<Real>;
  /// For every unknown its change from the guess over its width; then s.
  using curve_point = vec<Real, unknowns + 1>;

  const int k;
  const Real t;
  const vec<Real, values>& guess;
  const step_constants& fixed;
  const homotopy kind;
  matrix<Real, unknowns> j0;
  vec<Real, unknowns> width, f0, scale;

  SALTUS_FN_COLD continuation(int stage, Real time, const vec<Real, values>& y, const vec<Real, values>& sizes,
                              const step_constants& what_is_held, homotopy which)
      : k(stage), t(time), guess(y), fixed(what_is_held), kind(which) {
    for (int l = 0; l < unknowns; ++l) width[l] = k + Series::d(l) >= 0 ? sizes[value_of(l)] : Real(0.0);
    f0 = Series::residual_of_stage(k, t, guess, fixed);
    j0 = jacobian_at(guess);
    for (int i = 0; i < unknowns; ++i) {
      Real largest = Real(0.0);
      for (int l = 0; l < unknowns; ++l) largest = max(largest, abs(j0[i][l]));
      if (!is(largest > Real(0.0))) largest = abs(f0[i]);
      scale[i] = is(largest > Real(0.0)) ? Real(1.0) / largest : Real(1.0);
    }
  }

  /// Follows the solutions to s = 1 and calls arrives(y) there, which may move y and returns true if y is a solution. `way`: 1 begins with
  /// s increasing, -1 with s decreasing.
  template <class Arrives>
  SALTUS_FN_COLD bool follow(double way, vec<Real, values>& y, Arrives&& arrives) const {
    constexpr int most = 2000;
    constexpr double least_step = 0x1p-40, straight = 0.9, farthest = 1e8;
    curve_point at, along;
    for (int l = 0; l < unknowns; ++l) at[l] = along[l] = Real(0.0);
    at[unknowns] = Real(0.0);
    along[unknowns] = Real(way);
    if (!turn(at, along)) return false;
    double step = 0x1p-4;
    for (int tried = 0; tried < most && step > least_step; ++tried) {
      auto next = at, ahead = along;
      for (int l = 0; l <= unknowns; ++l) next[l] = fma(Real(step), along[l], at[l]);
      const int iterations = correct(next, step);
      if (iterations == 0 || !turn(next, ahead) || !is(dot(ahead, along) > Real(straight))) {
        step *= 0.25;
        continue;
      }
      const Real s0 = at[unknowns], s1 = next[unknowns];
      if (is(((s0 < Real(1.0)) & (s1 >= Real(1.0))) | ((s0 > Real(1.0)) & (s1 <= Real(1.0))))) {
        y = values_between(at, next, (Real(1.0) - s0) / (s1 - s0));
        if (arrives(y)) return true;
        step *= 0.25;
        continue;
      }
      at = next;
      along = ahead;
      const Real far = sqrt(dot(at, at));
      if (!is(far < Real(farthest))) return false;
      step *= iterations <= 3 ? 2.0 : iterations > 5 ? 0.5 : 1.0;
      const Real longest = Real(0.25) * (Real(1.0) + far);
      if (!is(Real(step) < longest)) step = static_cast<double>(longest.get(0));
    }
    return false;
  }

 private:
  SALTUS_FN static bool is(mask_of<Real> m) { return m[0]; }
  SALTUS_FN static bool is_row(int stage, int i) { return i < unknowns && stage + Series::c(i) >= 0; }
  SALTUS_FN int value_of(int l) const { return layout::first(l) + k + Series::d(l); }
  SALTUS_FN static Real dot(const curve_point& a, const curve_point& b) {
    Real r = Real(0.0);
    for (int l = 0; l <= unknowns; ++l) r = fma(a[l], b[l], r);
    return r;
  }

  /// The values a part of the way from one point to another.
  SALTUS_FN vec<Real, values> values_between(const curve_point& a, const curve_point& b, Real part) const {
    auto y = guess;
    for (int l = 0; l < unknowns; ++l)
      if (k + Series::d(l) >= 0) y[value_of(l)] = fma(width[l], fma(part, b[l] - a[l], a[l]), y[value_of(l)]);
    return y;
  }
  /// J of the stage, with respect to the scaled changes of the unknowns.
  SALTUS_FN matrix<Real, unknowns> jacobian_at(const vec<Real, values>& y) const {
    auto j = Series::jacobian(t, y, fixed);
    for (int i = 0; i < unknowns; ++i)
      for (int l = 0; l < unknowns; ++l) j[i][l] = j[i][l] * width[l];
    return j;
  }

  /// h(y, s), and its derivatives with respect to all components of a point.
  struct linear_homotopy {
    matrix<Real, unknowns + 1> by;
    vec<Real, unknowns + 1> h;
  };
  SALTUS_FN_COLD linear_homotopy homotopy_at(const curve_point& at) const {
    const auto y = values_between(at, at, Real(0.0));
    const auto f = Series::residual_of_stage(k, t, y, fixed);
    const auto j = jacobian_at(y);
    const Real s = at[unknowns], rest = Real(1.0) - s;
    linear_homotopy r;
    for (int l = 0; l <= unknowns; ++l) r.h[l] = r.by[unknowns][l] = Real(0.0);
    for (int i = 0; i < unknowns; ++i) {
      Real from_guess = Real(0.0);
      for (int l = 0; l < unknowns; ++l) {
        from_guess = fma(j0[i][l], at[l], from_guess);
        r.by[i][l] = scale[i] * (kind == homotopy::newton ? j[i][l] : fma(s, j[i][l], rest * j0[i][l]));
      }
      const bool is_newton = kind == homotopy::newton;
      r.by[i][unknowns] = scale[i] * (is_newton ? f0[i] : f[i] - from_guess);
      r.h[i] = scale[i] * (is_newton ? fma(-rest, f0[i], f[i]) : fma(s, f[i], rest * from_guess));
    }
    return r;
  }

  /// Replaces a direction by the nearest one along the solutions; false if there is none.
  SALTUS_FN_COLD bool turn(const curve_point& at, curve_point& along) const {
    constexpr double least = 1e-6;
    const auto here = homotopy_at(at);
    curve_point across;
    for (int i = 0; i <= unknowns; ++i) {
      across[i] = Real(0.0);
      for (int l = 0; l <= unknowns; ++l) across[i] = fma(here.by[i][l], along[l], across[i]);
    }
    const auto off = least_change<Real, unknowns + 1>(here.by, across, [&](int i) { return is_row(k, i); });
    for (int l = 0; l <= unknowns; ++l) along[l] = along[l] - off.x[l];
    const Real length = sqrt(dot(along, along));
    for (int l = 0; l <= unknowns; ++l) along[l] = along[l] / length;
    return is((off.dependent < Real(0.0)) & (length > Real(least)));
  }

  /// Corrects back onto the solutions after a step along them. Returns the number of iterations, 0 without convergence.
  SALTUS_FN_COLD int correct(curve_point& at, double step) const {
    constexpr int most = 8;
    constexpr double enough = 1e-10;
    Real last = Real(step);
    for (int turn = 1; turn <= most; ++turn) {
      auto here = homotopy_at(at);
      for (int i = 0; i <= unknowns; ++i) here.h[i] = -here.h[i];
      const auto change = least_change<Real, unknowns + 1>(here.by, here.h, [&](int i) { return is_row(k, i); });
      for (int l = 0; l <= unknowns; ++l) at[l] = at[l] + change.x[l];
      const Real size = sqrt(dot(change.x, change.x));
      if (!is((change.dependent < Real(0.0)) & (size <= Real(0.5) * last))) return 0;
      if (is(size <= Real(enough) * (Real(1.0) + sqrt(dot(at, at))))) return turn;
      last = size;
    }
    return 0;
  }
};

}  // namespace saltus
