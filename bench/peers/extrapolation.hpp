// A reference solution: extrapolation of Gragg's midpoint rule in long double, 9 columns (order 18), events searched at
// quarters of every step and located by steps of other sizes.
//
// E. Hairer, S. P. Norsett, G. Wanner, Solving Ordinary Differential Equations I, 2nd ed. (1993), sections II.8 and
// II.9.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

#include <boost/math/tools/toms748_solve.hpp>

#include "side.hpp"

namespace peers {

template <class Problem>
class extrapolation {
 public:
  using real = long double;
  static constexpr int n = Problem::n, columns = 9, max_events = 10'000;

  /// Integrates from 0 to t_end; false if a step becomes too small. The error of y_i is measured by |y_i| + small_i.
  bool solve(const double* p, double t_end, real tolerance, const double* small, real* y, long& events) {
    double start[n], start_mode[Problem::modes + 1] = {};
    Problem::start(p, start);
    Problem::start_mode(p, start_mode);
    std::copy(start, start + n, y);
    std::copy(start_mode, start_mode + Problem::modes, m_);
    events = 0;
    if constexpr (has_events<Problem>) side_.start(p, m_, real(0), y);
    real t = 0, h = std::min(real(1e-3L) * t_end, real(Problem::max_step));
    for (steps = 0; t < t_end; ++steps) {
      const bool last = t + h >= t_end;
      if (last) h = t_end - t;
      if (!(h > 1e-17L * t_end) || steps > 1'000'000 || events > max_events) return false;
      real next[n], before[n];
      step(p, t, h, y, next, before);
      real error = 0;
      for (int i = 0; i < n; ++i)
        error =
            std::max(error, std::abs(next[i] - before[i]) / (std::max(std::abs(y[i]), std::abs(next[i])) + small[i]));
      error /= tolerance;
      // Accepts by `error <= 1`, so that a NaN is rejected.
      const bool good = error <= 1;
      const real factor =
          std::isfinite(error) ? std::clamp(0.8L * std::pow(std::max(error, 1e-20L), -1.0L / 17), 0.1L, 3.0L) : 0.1L;
      if (good) {
        if constexpr (has_events<Problem>) {
          const real theta = first_event(p, t, h, y, next);
          if (theta <= 1) {
            step(p, t, theta * h, y, next, before);
            t += theta * h;
            Problem::transition(p, m_, t, next);
            side_.after_event();
            ++events;
            std::copy(next, next + n, y);
            continue;
          }
        }
        std::copy(next, next + n, y);
        t = last ? real(t_end) : t + h;
      }
      h = std::min(h * factor, real(Problem::max_step));
    }
    return true;
  }
  int steps = 0;

 private:
  /// One step of size h from y: `next` by all columns, `one_less` by one column less.
  void step(const double* p, real t, real h, const real* y, real* next, real* one_less) const {
    real table[columns][n], slope[n];
    Problem::rhs(p, m_, t, y, slope);
    for (int k = 0; k < columns; ++k) {
      const int parts = 2 * (k + 1);
      const real part = h / parts;
      real a[n], b[n], f[n];
      for (int i = 0; i < n; ++i) a[i] = y[i], b[i] = y[i] + part * slope[i];
      for (int j = 1; j < parts; ++j) {
        Problem::rhs(p, m_, t + j * part, b, f);
        for (int i = 0; i < n; ++i) {
          const real c = a[i] + 2 * part * f[i];
          a[i] = b[i];
          b[i] = c;
        }
      }
      for (int i = 0; i < n; ++i) table[k][i] = b[i];
      // Aitken-Neville scheme in place: table[j] becomes column k - j + 1 of row k.
      for (int j = k - 1; j >= 0; --j) {
        const real ratio = real(parts) / (2 * (j + 1));
        for (int i = 0; i < n; ++i)
          table[j][i] = table[j + 1][i] + (table[j + 1][i] - table[j][i]) / (ratio * ratio - 1);
      }
    }
    for (int i = 0; i < n; ++i) next[i] = table[0][i], one_less[i] = table[1][i];
  }

  /// The first fraction of a step after which an event is due; above 1 if there is none.
  real first_event(const double* p, real t, real h, const real* y, const real* next) const {
    real slope;
    const auto look = [&](real theta) {
      real at[n], later[n], unused[n];
      if (theta <= 0) std::copy(y, y + n, at);
      else if (theta < 1) step(p, t, theta * h, y, at, unused);
      else std::copy(next, next + n, at);
      const real now = t + theta * h, g = Problem::guard(p, m_, now, at), moment = 1e-9L;
      Problem::rhs(p, m_, now, at, later);
      for (int i = 0; i < n; ++i) later[i] = at[i] + moment * later[i];
      slope = (Problem::guard(p, m_, now + moment, later) - g) / moment * (side_.above() ? 1 : -1);
      return g;
    };
    constexpr int parts = 4;
    real a = 0, ga = look(0), slope_a = slope;
    for (int i = 1; i <= parts; ++i) {
      const real b = real(i) / parts, gb = look(b), slope_b = slope;
      if (side_.left(gb)) return root(look, a, ga, b, gb);
      if (slope_a < 0 && slope_b > 0) {
        // The point nearest to zero in between may lie beyond zero.
        boost::uintmax_t tries = 200;
        const auto found =
            boost::math::tools::toms748_solve([&](real theta) { return look(theta), slope; }, a, b, slope_a, slope_b,
                                              [](real low, real high) { return high - low < 1e-12L; }, tries);
        const real lowest = (found.first + found.second) / 2, g = look(lowest);
        if (side_.left(g)) return root(look, a, ga, lowest, g);
      }
      a = b, ga = gb, slope_a = slope_b;
    }
    return 2;
  }
  /// The root between a, where the guard is still on its side (or at zero after an event), and b, where it is not.
  real root(const auto& look, real a, real ga, real b, real gb) const {
    // After an event the guard is zero up to rounding, and clearly on its side a little later.
    real away = 1e-9L, g = look(away);
    while (side_.left(ga) && side_.left(g) && away < b) away *= 10, g = look(away);
    if (!side_.left(g)) a = away, ga = g;
    if (gb == 0 || side_.left(ga)) return b;
    boost::uintmax_t tries = 200;
    return boost::math::tools::toms748_solve(
               look, a, b, ga, gb, [](real low, real high) { return high - low < 1e-18L * (1 + high); }, tries)
        .second;
  }

  real m_[Problem::modes + 1] = {};
  side<Problem> side_;
};

}  // namespace peers
