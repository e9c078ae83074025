// Detection for Taylor methods: the series of the guards are found in the same way, and Bernstein coefficients isolate their roots
// (Nedialkov and Ramdani 3.1). All roots of these polynomials are found: no dip between two points is missed, however narrow. The truncated
// rest of a series is of the size of the local error.
#pragma once

#include "engine/guard_series.hpp"
#include "event/detect.hpp"

namespace saltus {

/// The part of a step over which the last two terms of every guard's series are below a thousandth of the tolerance relative to its largest
/// term: between near roots a guard is small, and the truncated rest must be smaller. The largest term falls with the step, too, down to
/// the error that the tolerated ones of the states give the guard.
template <class E, class Real>
SALTUS_FN Real reach_of_guards(const instance<E, Real>& x, const guard_polynomials<E, Real>& g,
                               const tolerances<E, Real>& tol) {
  constexpr int degree = E::Method::order, most = 20;
  constexpr double narrow = -0.1;  // log2 of a part that ends the iteration
  const Real tiny(limits<typename E::T>::smallest);
  const Real tolerated = max(Real(0.001) * tol.rtol, Real(4.0 * limits<typename E::T>::epsilon));
  Real part = Real(1.0);
  auto open = mask_of<Real>::all(true);
  vec<Real, E::ng> least;
  each<E::ng>([&](int i) SALTUS_INLINE_LAMBDA { least[i] = tiny; });
  for (int attempts = 0; attempts < most && any(open); ++attempts) {
    if (attempts == 1) {
      const auto of_states = tolerated_errors_of_guards<E>(x.t, x.y, x.constants, tol);
      each<E::ng>([&](int i) SALTUS_INLINE_LAMBDA { least[i] = fma(Real(0.001), of_states[i], tiny); });
    }
    Real log_part = Real(0.0);
    for (int i = 0; i < E::ng; ++i) {
      Real largest = abs(g.of[i][0]), power = Real(1.0), last[2] = {Real(0.0), Real(0.0)};
      for (int k = 1; k <= degree; ++k) {
        power = power * part;
        const Real term = power * abs(g.of[i][k]);
        largest = max(largest, term);
        if (k >= degree - 1) last[degree - k] = term;
      }
      for (int k = degree - 1; k <= degree; ++k) {
        const Real room = fma(tolerated, largest, least[i]) / (last[degree - k] + tiny);
        log_part = min(log_part, Real(1.0 / k) * rough_log2(max(min(room, Real(1.0)), Real(0x1p-60))));
      }
    }
    part = select(open, part * rough_exp2(log_part), part);
    open = open & (log_part < Real(narrow));
  }
  return part;
}

namespace detail {
/// 1 / binomial(Degree, k).
template <int Degree>
struct inverse_binomials {
  double of[Degree + 1];
  constexpr inverse_binomials() : of{} {
    double binomial = 1.0;
    for (int k = 0; k <= Degree; ++k) {
      of[k] = 1.0 / binomial;
      binomial = binomial * (Degree - k) / (k + 1);
    }
  }
};
/// The Bernstein coefficients on [0, 1] of a polynomial: it lies in their hull, and has at most as many roots inside as they have changes
/// of sign. Unrolled, because a compiler that keeps the table in memory rebuilds it for each of its numbers.
template <int Degree, class Real>
SALTUS_FN void to_bernstein(Real (&c)[Degree + 1]) {
  constexpr inverse_binomials<Degree> inverse;
  static_for<Degree>([&](auto i) SALTUS_INLINE_LAMBDA {
    constexpr int k = decltype(i)::value + 1;
    constexpr double factor = inverse.of[k];
    c[k] = Real(factor) * c[k];
  });
  static_for<Degree>([&](auto level) SALTUS_INLINE_LAMBDA {
    static_for<Degree - level.value>([&](auto i) SALTUS_INLINE_LAMBDA {
      constexpr int k = Degree - decltype(i)::value;
      c[k] = c[k] + c[k - 1];
    });
  });
}

/// The information of a guard's Bernstein coefficients, seen from its side, about a piece.
template <class Real>
struct piece_of_guard {
  mask_of<Real> stays;      ///< the guard keeps to its side
  mask_of<Real> is_beyond;  ///< the guard has left its side at the end
  Real changes;             ///< changes of sign
};
template <int Degree, class Real>
SALTUS_FN piece_of_guard<Real> judge_guard(const Real (&bernstein)[Degree + 1], Real side) {
  Real least = side * bernstein[1], changes = Real(0.0);
  auto was_below = side * bernstein[0] < Real(0.0);
  for (int k = 1; k <= Degree; ++k) {
    const Real b = side * bernstein[k];
    least = min(least, b);
    const auto is_below = b < Real(0.0);
    changes = changes + select(is_below ^ was_below, Real(1.0), Real(0.0));
    was_below = is_below;
  }
  return {least >= Real(0.0), was_below, changes};
}
}  // namespace detail

/// The guards that may leave their side within a step, by their own series.
template <class E, class Real>
SALTUS_FN suspected_guards<E, Real> suspect_series(const instance<E, Real>& x, const trial<E, Real>& a) {
  constexpr int degree = E::Method::order;
  constexpr double rounding = 0x1p-20;
  suspected_guards<E, Real> r{mask_of<Real>::all(false), {}};
  for (int i = 0; i < E::ng; ++i) {
    const Real g0 = x.constants.guard_values[i], side = side_of(g0);
    const auto& series = a.guards.of[i];
    const auto is_armed = armed<E>(i, g0);
    const auto end = !has_crossed(side, a.g.value[i], a.g.rate[i]);
    // No Bernstein coefficient is further from a straight line than `bend`; most guards are far from zero.
    Real bend = Real(0.0), changes_of_sign = Real(0.0);
    for (int k = 2; k <= degree; ++k) bend = bend + abs(series[k]);
    const Real line = side * series[0] + min(side * series[1], Real(0.0));
    auto stays = line > fma(Real(rounding), abs(series[1]) + bend, bend);
    // An armed guard that ends on its other side has left, however often it crossed before.
    if (any((!stays) & (end | (!is_armed)))) {
      Real bernstein[degree + 1];
      for (int k = 0; k <= degree; ++k) bernstein[k] = series[k];
      detail::to_bernstein<degree>(bernstein);
      const auto piece = detail::judge_guard<degree>(bernstein, side);
      changes_of_sign = select(stays, Real(0.0), piece.changes);
      stays = stays | piece.stays;
    }
    r.leaves = r.leaves | (is_armed & !(stays & end));
    r.take(i, g0, [&]() SALTUS_INLINE_LAMBDA { return changes_of_sign > Real(1.0); });
  }
  return r;
}

/// The guards at the end of a step, against their series: the distances, and the larger of the values at both ends. A series does not see
/// corners of its guard within the step. Where the guards have compared series, as |sin t| does, there may be two corners and none may show
/// at the end, so the distances inside the step count as well.
template <class E, class Real>
struct guards_beside_series {
  vec<Real, E::ng> off, largest;

  SALTUS_FN guards_beside_series(const instance<E, Real>& x, const trial<E, Real>& a) {
    each<E::ng>([&](int i) SALTUS_INLINE_LAMBDA {
      off[i] = abs(a.guards(i, Real(1.0)) - a.g.value[i]);
      largest[i] = max(abs(x.constants.guard_values[i]), abs(a.g.value[i]));
    });
    if constexpr (has_piecewise_guards<E>) compare_inside(x, a);
  }

 private:
  SALTUS_FN_COLD void compare_inside(const instance<E, Real>& x, const trial<E, Real>& a) {
    constexpr int points = 7;
    const auto series = interpolate<typename E::Method>(x.constants, a.s);
    for (int k = 1; k <= points; ++k) {
      const Real at = detail::inner_point<Real>(k);
      const auto all = series(at);
      vec<Real, E::model_states> y;
      each<E::model_states>([&](int i) SALTUS_INLINE_LAMBDA { y[i] = all[i]; });
      const auto g = E::form::model_guards_at(fma(at, a.s.h, a.s.t), y, x.constants);
      each<E::ng>([&](int i) SALTUS_INLINE_LAMBDA { off[i] = max(off[i], abs(a.guards(i, at) - g[i])); });
    }
  }
};

/// The squared error of the guards' series over a step. Each may be off by a sixteenth of the guard's larger value at both ends, plus what the
/// tolerated errors of the states make of it.
template <class E, class Real>
SALTUS_FN_COLD rough_of<Real> error_of_series_squared(const instance<E, Real>& x, const trial<E, Real>& a,
                                                      const tolerances<E, Real>& tol) {
  const auto tolerated = tolerated_errors_of_guards<E>(a.t1, a.s.y1, x.constants, tol);
  const guards_beside_series<E, Real> g(x, a);
  Real worst(0.0);
  each<E::ng>([&](int i) SALTUS_INLINE_LAMBDA {
    worst =
        max(worst, g.off[i] / (fma(Real(0.0625), g.largest[i], tolerated[i]) + Real(negligible_guard<typename E::T>)));
  });
  return squared_error_of_guards(x, a.s.h, worst);
}

/// True where a guard is off its series by more than rounding.
template <class E, class Real>
SALTUS_FN mask_of<Real> leaves_series(const instance<E, Real>& x, const trial<E, Real>& a) {
  const guards_beside_series<E, Real> g(x, a);
  auto r = mask_of<Real>::all(false);
  each<E::ng>([&](int i) SALTUS_INLINE_LAMBDA { r = r | (g.off[i] > Real(0x1p-10) * g.largest[i]); });
  return r;
}

/// The first piece, from `from` on, at whose end a guard has left its side and in which every guard that is not excluded has one root.
template <class E, class Real>
SALTUS_FN_COLD bracket<E, Real> detect_on_series(const guard_polynomials<E, Real>& g, const vec<Real, E::ng>& side,
                                                 const guards_at<E, Real>& from, const guards_at<E, Real>& end,
                                                 mask_of<Real> where) {
  constexpr int degree = E::Method::order;
  constexpr int most = 400;  // pieces
  const Real narrowest(0x1p-40);
  bracket<E, Real> r{mask_of<Real>::all(false), from.s, from.s};
  Real at = from.s, width = Real(1.0) - at;
  auto open = where & (width > Real(0.0));
  for (int attempts = 0; attempts < most && any(open); ++attempts) {
    const Real to = at + width;
    auto quiet = mask_of<Real>::all(true), beyond = mask_of<Real>::all(false), single = mask_of<Real>::all(true);
    for (int i = 0; i < E::ng; ++i) {
      Real c[degree + 1];
      for (int k = 0; k <= degree; ++k) c[k] = g.of[i][k];
      for (int level = 0; level < degree; ++level)
        for (int k = degree - 1; k >= level; --k) c[k] = fma(at, c[k + 1], c[k]);
      Real power = width;
      for (int k = 1; k <= degree; ++k, power = power * width) c[k] = power * c[k];
      detail::to_bernstein<degree>(c);
      const auto piece = detail::judge_guard<degree>(c, side[i]);
      const auto is_armed = side[i] != Real(0.0);
      quiet = quiet & (piece.stays | !is_armed);
      beyond = beyond | (piece.is_beyond & is_armed);
      single = single & (piece.stays | !is_armed | (piece.changes <= Real(1.0)));
    }
    const auto narrow = width <= narrowest;
    const auto found = open & beyond & (single | narrow);
    r.found = r.found | found;
    assign_where(found, r.lo, at);
    assign_where(found, r.hi, to);
    open = open & !found;
    const auto passed = open & (quiet | narrow);
    assign_where(passed, at, to);
    assign_where(open, width, select(passed, min(width + width, Real(1.0) - at), Real(0.5) * width));
    open = open & (width > Real(0.0));
  }
  // A root at the very end: the guard is moving out, or rounding of the series puts it beyond zero.
  const auto at_end = where & !r.found & any_crossed<E>(side, end.g);
  r.found = r.found | at_end;
  assign_where(at_end, r.lo, max(from.s, Real(1.0) - narrowest));
  assign_where(at_end, r.hi, Real(1.0));
  return r;
}

}  // namespace saltus
