// The result of one step of any implicit method, and Newton's iteration for its stages.
//
// Slopes at the ends and the dense output come from the method's own formula, never from another evaluation of f at the new point: f would
// multiply the error of a stiff component by its eigenvalue, and algebraic states have no f.
#pragma once

#include "linear/factorised.hpp"
#include "linear/jacobian.hpp"
#include "method/combine.hpp"
#include "method/erk.hpp"
#include "method/implicit_method.hpp"

namespace saltus {

template <class Method, class Real, int n>
requires(!Method::is_explicit) struct stages<Method, Real, n> : quadratures_of<Method, Real> {
  using integer = typename Real::integer;
  Real t, h;
  vec<Real, n> y, y1;
  vec<Real, n> slope0, slope1;                                          ///< of the dense output at both ends
  vec<Real, n> extra[Method::dense_rows > 0 ? Method::dense_rows : 1];  ///< terms of the dense output beyond the cubic
  vec<Real, n> error;              ///< the estimate of the local error, its stiff part damped
  vec<Real, n> interpolant_error;  ///< of the dense output inside the step, if requested
  mask_of<Real> solved;            ///< Newton has converged in every stage
  mask_of<Real> singular;          ///< the matrix was singular
  Real residual, residual_of;  ///< of the worst constraint at the end, and its number (form/consistent/consistency.hpp)
  integer evaluations;         ///< of the equations, sweeps of derivatives included
  Real rounding;               ///< of a Rosenbrock method's solves, in units of epsilon

  SALTUS_FN const vec<Real, n>& f0() const { return slope0; }
  SALTUS_FN const vec<Real, n>& f1() const { return slope1; }
  SALTUS_FN void set_end_slope(int i, Real s) { slope1[i] = s; }

  /// Copies `from` in the lanes of `where`.
  SALTUS_FN void take(const stages& from, mask_of<Real> where) {
    const auto one = [&](Real& to, Real value) SALTUS_INLINE_LAMBDA { to = select(where, value, to); };
    one(h, from.h);
    if constexpr (Method::is_rosenbrock) one(rounding, from.rounding);
    each<n>([&](int i) SALTUS_INLINE_LAMBDA {
      one(y1[i], from.y1[i]);
      one(slope0[i], from.slope0[i]);
      one(slope1[i], from.slope1[i]);
      one(error[i], from.error[i]);
      for (int j = 0; j < Method::dense_rows; ++j) one(extra[j][i], from.extra[j][i]);
    });
    solved = (solved & !where) | (from.solved & where);
    singular = (singular & !where) | (from.singular & where);
    this->take_quadratures(from, where);
  }
};

/// The estimate of the local error of a step.
template <class Method, class Real, int n>
requires(!Method::is_explicit) SALTUS_FN vec<Real, n> local_error(const stages<Method, Real, n>& s) { return s.error; }

/// The square of the scaled error norm of its first m states, as for explicit methods. States that do not count have the error zero.
template <class Method, norm_kind Norm, class Real, int n, int m>
requires(!Method::is_explicit) SALTUS_FN Real
    error_norm_squared(const stages<Method, Real, n>& s, Real rtol, const vec<Real, m>& atol) {
  return scaled_norm_squared<Norm>(s.error, s.y, s.y1, rtol, atol);
}

/// The dense output of a step, from its slopes and extra terms; f is not evaluated.
template <class Method, class F, class Real, int n>
requires(!Method::is_explicit) SALTUS_FN dense_output<Method, Real, n> interpolate(const F&,
                                                                                   const stages<Method, Real, n>& s) {
  auto q = detail::hermite<Method>(s);
  for (int j = 0; j < Method::dense_rows; ++j) q.term[3 + j] = s.extra[j];
  return q;
}

/// The middle of a step minus that of the cubic through its ends.
template <class Method, class Real, int n>
requires(!Method::is_explicit) SALTUS_FN vec<Real, n> middle_off_cubic(const stages<Method, Real, n>& s) {
  vec<Real, n> r;
  each<n>([&](int i) SALTUS_INLINE_LAMBDA {
    r[i] = s.extra[Method::dense_rows - 1][i];
    for (int j = Method::dense_rows - 2; j >= 0; --j) r[i] = fma(Real(0.5), r[i], s.extra[j][i]);
    r[i] = Real(0.0625) * r[i];
  });
  return r;
}

namespace detail {

/// Default for the change of a step before it is judged: none.
struct as_it_is {
  template <class Stages>
  SALTUS_FN void operator()(Stages&) const {}
};

/// Passes the parts of a step (its matrix, its equations, its stages) to `settle` if it takes them.
template <class Settle, class... Parts>
SALTUS_FN void show_stages(Settle& settle, const Parts&... parts) {
  if constexpr (requires { settle.take_stages(parts...); }) settle.take_stages(parts...);
}

/// The points of the stages of a step: all of them if `Settle` needs them, else one location that each stage overwrites.
template <class Settle, class Real, int n, int stages>
struct points_of_stages {
  static constexpr bool are_kept = requires(Settle & settle) { settle.sees_points; };
  vec<Real, n> at[are_kept ? stages : 1];
  SALTUS_FN vec<Real, n>& operator[](int i) { return at[are_kept ? i : 0]; }
};

/// Zeroes the error of states that do not count: an algebraic state of index 2 has a lower order, does not act on later steps, and is
/// projected onto its constraints.
template <class System, class Real, int n>
SALTUS_FN void leave_out(vec<Real, n>& error) {
  each<n>([&](int i) SALTUS_INLINE_LAMBDA {
    if (!counts<System>(i)) error[i] = Real(0.0);
  });
}

/// An estimate of the error of the dense output inside a step: the change by one iteration with the step's matrix at 0.3 h, where no
/// method's error polynomial has a zero.
template <class Method, class System, class Matrix, class Real, int n>
SALTUS_FN vec<Real, n> interpolant_error(const System& system, const stages<Method, Real, n>& s, const Matrix& w) {
  const Real part = Real(0.3);
  const auto interpolant = interpolate<Method>(system, s);
  auto slope = interpolant.slope(part);
  const Real inverse = Real(1.0) / s.h;
  each<n>([&](int i) SALTUS_INLINE_LAMBDA { slope[i] = slope[i] * inverse; });
  auto r = w.solve(system.residual(fma(part, s.h, s.t), interpolant(part), slope));
  leave_out<System>(r);
  return r;
}

/// Ends the step, `settle` included. The error of the dense output is estimated after `settle` has changed the step.
template <class Method, bool WithInterpolant, class System, class Matrix, class Real, int n, class Settle>
SALTUS_FN void conclude(stages<Method, Real, n>& s, const System& system, const Matrix& w, Settle& settle) {
  leave_out<System>(s.error);
  settle(s);
  if constexpr (WithInterpolant) {
    s.interpolant_error = interpolant_error<Method>(system, s, w);
    s.evaluations = s.evaluations + typename Real::integer(int64(1));
  }
}

/// The mean square of the weighted components of v.
template <class Real, int n>
SALTUS_FN Real weighted_square(const vec<Real, n>& v, const vec<Real, n>& weight) {
  Real sum = Real(0.0);
  each<n>([&](int i) SALTUS_INLINE_LAMBDA {
    const Real r = v[i] * weight[i];
    sum = fma(r, r, sum);
  });
  return sum * Real(1.0 / n);
}

/// A first guess of the increment over h: along the slope, unless the increment would exceed y itself, as in a boundary layer.
template <class Real, int n>
SALTUS_FN vec<Real, n> first_increment(const vec<Real, n>& y, const vec<Real, n>& slope, const vec<Real, n>& weight,
                                       Real h) {
  vec<Real, n> r;
  each<n>([&](int i) SALTUS_INLINE_LAMBDA { r[i] = h * slope[i]; });
  const auto sane = weighted_square(r, weight) <= weighted_square(y, weight);
  each<n>([&](int i) SALTUS_INLINE_LAMBDA { r[i] = select(sane, r[i], Real(0.0)); });
  return r;
}

/// The largest error of a stage, as a part of the tolerance: a hundredth (Hairer, Wanner II, IV.8). A step of a diagonally implicit method
/// ends at its last stage, whose base has the slopes of the others, and an error of a stage is that of its slope times gamma h. So the
/// error of the step is up to 1 + sum |a[last][j]| / gamma times theirs: 6 times for esdirk4, 69 times for sdirk4. It stays below a tenth.
template <class Method>
inline constexpr double error_allowed_of_stages = [] {
  if constexpr (Method::kind == methods::family::collocation) return 0.01;
  else {
    double growth = 1.0;
    for (int j = 0; j + 1 < Method::stages; ++j) {
      const double weight = Method::a[Method::stages - 1][j];
      growth += (weight < 0.0 ? -weight : weight) / Method::gamma;
    }
    return growth > 10.0 ? 0.1 / growth : 0.01;
  }
}();

/// Judges the increments of a Newton iteration, and counts them. All norms are squared, to avoid roots in the hot loop. Converged: the
/// remaining error, extrapolated with the observed rate, is at most what is allowed for a stage.
template <class Real, int n>
struct newton_watch {
  static constexpr int max_iterations = 10;
  mask_of<Real> open, failed;
  mask_of<Real> given_up;      ///< failed for good, not by rounding
  Real last, left;             ///< squared: the last increment; the factor that bounds the remaining error by it
  Real iterations;             ///< of stages
  const vec<Real, n>& weight;  ///< one over the tolerance of each state
  double enough;               ///< squared: the error allowed, as a part of the tolerance

  SALTUS_FN newton_watch(mask_of<Real> where, const vec<Real, n>& one_over_tolerance, double allowed)
      : open(where),
        failed(!where),
        given_up(!where),
        last(Real(-1.0)),
        left(Real(1.0)),
        iterations(Real(0.0)),
        weight(one_over_tolerance),
        enough(allowed * allowed) {}

  /// Begins the next stage. It assumes the rate of convergence of the previous stage.
  SALTUS_FN void next_stage() {
    open = !failed;
    last = Real(-1.0);
  }

  /// Takes an increment that was just applied to the open lanes.
  SALTUS_FN void take_in(const vec<Real, n>& change) { take_square(weighted_square(change, weight), 1.0); }
  /// The same, with its squared norm; it has solved for `stages` stages.
  SALTUS_FN void take_square(Real square, double stages) {
    iterations = iterations + select(open, Real(stages), Real(0.0));
    const auto first = last < Real(0.0);
    const Real rate = square / last;  // squared
    const auto finite = square < Real(0x1p200);
    const auto diverges = open & ((!finite) | ((!first) & (rate >= Real(1.0)) & (square > Real(enough))));
    // With theta the ratio of increments and rate = theta^2: theta / (1 - theta) <= 2 theta for theta <= 1/2; beyond it, 1 / (1 - theta) <=
    // 2 / (1 - theta^2).
    const Real bound =
        select(rate < Real(0.25), Real(4.0) * rate, Real(4.0) * rate / ((Real(1.0) - rate) * (Real(1.0) - rate)));
    // One ratio is weak evidence, because the first increment may be long for other reasons; so the bound has a floor.
    left = select(open & !first, max(bound, Real(0x1p-10)), left);
    const auto converged = open & (square * left <= Real(enough));
    failed = failed | diverges;
    open = open & !converged & !diverges;
    last = square;
  }

  /// Ends the iteration of a stage. For lanes that have failed, `solved()` tells whether the residual is only rounding. Increments do not
  /// shrink below rounding, so such a lane has met its tolerance as well as it can.
  template <class Solved>
  SALTUS_FN void give_up(Solved&& solved) {
    failed = failed | open;
    if (any(failed & !given_up)) failed = failed & (given_up | !solved());
    given_up = failed;
  }
};

}  // namespace detail
}  // namespace saltus
