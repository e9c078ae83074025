// Corners and jumps of right-hand sides that no guard announces: `abs`, `max`, `floor` and selections by t or a state. The error estimate of
// a step across one sees a part of its error, and at some places almost none. This file finds the steps that cross one, by the answers of
// the model's comparisons at both ends and at points between them, and estimates their errors from the values there.
#pragma once

#include "engine/trial.hpp"
#include "number/watched.hpp"

namespace saltus {

/// The answers of the comparisons in the model's equations at a point of a solution.
template <class E, class Real>
SALTUS_FN noted_answers<Real> answers_at(const instance<E, Real>& x, Real t, const vec<Real, E::n>& y,
                                         const vec<Real, E::n>& rate) {
  using number = watched<Real>;
  noted_answers<Real> notes;
  vec<number, E::model_states> at, slope;
  each<E::model_states>([&](int i) SALTUS_INLINE_LAMBDA {
    at[i] = number(y[i], &notes);
    slope[i] = number(rate[i], &notes);
  });
  E::form::visit_equations(number(t, &notes), at, slope, x.constants);
  return notes;
}

/// A step and four points that divide it into equal parts, with the weights of Newton and Cotes. A step over a flat piece may be eight times as
/// long as the one before, and points or stages must see a pulse within it. `safety` multiplies the error, of which the points see a part.
template <class E, class Real>
class divided_step {
  /// A dense output of high order spares the long steps of such methods at smooth corners, as that of v |v|.
  static constexpr bool is_fine = E::Method::dense_order >= 7;
  const trial<E, Real>& a_;
  vec<Real, E::n> off_;  ///< the middle minus that of the cubic through the ends

 public:
  static constexpr int points = 6;
  static constexpr double safety = 4.0;
  SALTUS_FN static constexpr double weight(int k) {
    constexpr double of[] = {19.0 / 288, 75.0 / 288, 50.0 / 288, 50.0 / 288, 75.0 / 288, 19.0 / 288};
    return of[k];
  }

  SALTUS_FN explicit divided_step(const trial<E, Real>& a) : a_(a) {
    if constexpr (knows_middle<typename E::Method>) {
      const auto off = middle_off_cubic(a.s);
      each<E::n>([&](int i) SALTUS_INLINE_LAMBDA { off_[i] = off[i]; });
    }
  }

  SALTUS_FN Real t(int k) const { return k == points - 1 ? a_.t1 : t(part(k)); }
  SALTUS_FN Real t(Real at) const { return fma(at, a_.s.h, a_.s.t); }
  /// The states at all points, for an estimate of the error: on the dense output where its order is high.
  template <class System>
  SALTUS_FN auto accurately(const System& system) const {
    if constexpr (is_fine) return states_on(interpolate<typename E::Method>(system, a_.s));
    else return simply();
  }
  /// The same on the cubic through the ends, and the middle where the method knows it.
  SALTUS_FN auto simply() const {
    return states_on([this](Real at) SALTUS_INLINE_LAMBDA { return on_cubic(at); });
  }
  /// The states at which answers are asked for. A step of a series is too long for a cubic.
  template <class System>
  SALTUS_FN auto for_answers(const System& system) const {
    if constexpr (is_series_method<typename E::Method>) return accurately(system);
    else return simply();
  }
  /// On the straight line through those at the ends.
  SALTUS_FN vec<Real, E::n> slope(Real at, const vec<Real, E::n>& at_begin) const {
    vec<Real, E::n> r;
    each<E::n>([&](int i) SALTUS_INLINE_LAMBDA { r[i] = fma(at, a_.s.f1()[i] - at_begin[i], at_begin[i]); });
    return r;
  }
  SALTUS_FN vec<Real, E::n> slope(int k, const vec<Real, E::n>& at_begin) const { return slope(part(k), at_begin); }

  /// The lanes of `where` in which answers are not the same at all points, and the part of the step before the first change.
  struct changes {
    mask_of<Real> where;
    Real part;
  };
  template <class Answers>
  SALTUS_FN changes changes_of(const Answers& answers, mask_of<Real> where) const {
    auto before = answers(0);
    changes r{mask_of<Real>::all(false), Real(1.0)};
    for (int k = 1; k < points; ++k) {
      const auto here = answers(k);
      const auto changed = where & differ(before, here);
      r.part = select(changed & !r.where, part(k - 1), r.part);
      r.where = r.where | changed;
      before = here;
    }
    return r;
  }
  SALTUS_FN static Real part(int k) { return Real(k * (1.0 / (points - 1))); }

 private:
  SALTUS_FN vec<Real, E::n> on_cubic(Real at) const {
    const Real left = Real(1.0) - at, bulge = at * left;
    vec<Real, E::n> r;
    each<E::n>([&](int i) SALTUS_INLINE_LAMBDA {
      const Real change = a_.s.y1[i] - a_.s.y[i];
      const Real begin = fma(a_.s.h, a_.s.f0()[i], -change), end = fma(a_.s.h, a_.s.f1()[i], -change);
      r[i] = fma(bulge, fma(left, begin, -(at * end)), fma(at, change, a_.s.y[i]));
      if constexpr (knows_middle<typename E::Method>) r[i] = fma(Real(16.0) * bulge * bulge, off_[i], r[i]);
    });
    return r;
  }
  template <class Dense>
  struct states {
    const trial<E, Real>& a;
    Dense dense;
    SALTUS_FN vec<Real, E::n> operator()(Real at) const { return dense(at); }
    SALTUS_FN vec<Real, E::n> operator()(int k) const {
      return k == 0 ? a.s.y : k == points - 1 ? a.s.y1 : dense(part(k));
    }
  };
  template <class Dense>
  SALTUS_FN states<Dense> states_on(const Dense& dense) const {
    return {a_, dense};
  }
};

/// The change of M y in a step minus that by the weights of the divided step, for equations M dy/dt = f. The field at the ends is not that
/// of the step itself: the stages of an implicit step may all lie on one side of a corner.
template <class System, class States, class E, class Real, int n>
SALTUS_FN vec<Real, n> defect_of_step(const System& system, const divided_step<E, Real>& points, const States& states,
                                      Real h, const vec<Real, n>& change) {
  auto r = change;
  for (int k = 0; k < points.points; ++k) {
    const auto y = states(k);
    vec<Real, n> part;
    each<n>([&](int i) SALTUS_INLINE_LAMBDA { part[i] = y[i]; });
    const auto f = system(points.t(k), part);
    const Real weight = Real(-points.weight(k)) * h;
    each<n>([&](int i) SALTUS_INLINE_LAMBDA { r[i] = fma(weight, f[i], r[i]); });
  }
  each<n>([&](int i) SALTUS_INLINE_LAMBDA { r[i] = Real(points.safety) * r[i]; });
  return r;
}

/// The same with a mass matrix that may be singular: each row relative to the tolerances of its states.
template <class States, class E, class Real>
SALTUS_FN vec<Real, E::model_states> defect_with_mass(const instance<E, Real>& x, const trial<E, Real>& a,
                                                      const divided_step<E, Real>& points, const States& states,
                                                      const tolerances<E, Real>& tol) {
  constexpr int n = E::model_states;
  const auto system = system_of_model(x, tol);
  const auto m = system.mass();
  const auto weight = system.weight(E::form::model_part(a.s.y1));
  vec<Real, n> change, size;
  each<n>([&](int i) SALTUS_INLINE_LAMBDA {
    change[i] = size[i] = Real(0.0);
    for (int j = 0; j < n; ++j) {
      change[i] = fma(m[i][j], a.s.y1[j] - a.s.y[j], change[i]);
      size[i] = fma(abs(m[i][j]), Real(1.0) / weight[j], size[i]);
    }
  });
  auto r = defect_of_step(system, points, states, a.s.h, change);
  each<n>([&](int i)
              SALTUS_INLINE_LAMBDA { r[i] = select(size[i] > Real(0.0), r[i] / (size[i] * weight[i]), Real(0.0)); });
  return r;
}

/// True if the points within a step have a defect. Values there do not satisfy equations of any order, and residuals have no right-hand side.
template <class E>
inline constexpr bool has_defect = !E::form::kinds::has_residual_of_any_order &&
                                   (E::form::has_field || E::form::equations == equations::semi_explicit ||
                                    E::form::equations == equations::with_mass);

/// The error of steps across a corner: their defect, or the change of slopes.
template <class E, class Real>
SALTUS_FN_COLD vec<Real, E::n> error_at_corner(const instance<E, Real>& x, const trial<E, Real>& a,
                                               const divided_step<E, Real>& points, const tolerances<E, Real>& tol) {
  const step_system<E, Real> whole{x.constants, &tol};
  const auto states = points.accurately(whole);
  vec<Real, E::n> error;
  if constexpr (E::form::kinds::has_residual_of_any_order) {
    const auto slopes = whole(a.t1, a.s.y1);  // on the equations, to which the step has been projected
    each<E::n>([&](int i) SALTUS_INLINE_LAMBDA { error[i] = a.s.h * (slopes[i] - x.f[i]); });
  } else if constexpr (E::form::has_field || E::form::equations == equations::semi_explicit) {
    each<E::n>([&](int i) SALTUS_INLINE_LAMBDA { error[i] = a.s.y1[i] - a.s.y[i]; });
    error = defect_of_step(whole, points, states, a.s.h, error);
  } else {
    constexpr bool has_slopes = E::keeps_derivative && !E::form::kinds::mass_is_singular;
    each<E::n>([&](int i) SALTUS_INLINE_LAMBDA { error[i] = has_slopes ? a.s.h * (a.s.f1()[i] - x.f[i]) : Real(0.0); });
    if constexpr (E::form::equations == equations::with_mass) {
      const auto of_model = defect_with_mass(x, a, points, states, tol);
      each<E::model_states>([&](int i) SALTUS_INLINE_LAMBDA { error[i] = of_model[i]; });
    }
  }
  each<E::n>([&](int i) SALTUS_INLINE_LAMBDA {
    if (E::form::index(i % E::model_states) != 0) error[i] = Real(0.0);  // derivatives follow the states in blocks
  });
  return error;
}

/// The squared norm of an error at a corner. The time derivatives of derivatives jump there, so these count like states, even where their
/// errors do not determine steps.
template <class E, class Real>
SALTUS_FN rough_of<Real> norm_at_corner_squared(const instance<E, Real>& x, const trial<E, Real>& a,
                                                const vec<Real, E::n>& error, const tolerances<E, Real>& tol) {
  const Real squared = of_what_counts(x, tol, [&](const auto& atol) SALTUS_INLINE_LAMBDA {
    return scaled_norm_squared<E::norm>(error, a.s.y, a.s.y1, tol.rtol, atol);
  });
  if constexpr (E::gradient) {
    // A gradient is the derivative of the steps. Its error at a corner is of first order in h where theirs is of second order. So a step is
    // judged by the square of the tolerance, but not below rounding.
    constexpr double rounding = 1e-14;
    const Real finer = max(tol.rtol * tol.rtol, Real(rounding * rounding) / (tol.rtol * tol.rtol));
    return to_rough(squared / finer);
  }
  auto worst = to_rough(squared);
  if constexpr (E::directions > 0) {
    // A step as short as this shows a jump of the slopes beside their change (event/unguarded_jumps.hpp).
    constexpr double share_of_span = 0x1p-10;
    const auto part = to_rough(a.s.h / (Real(share_of_span) * sqrt(tol.rtol) * (x.t_end - x.t_begin)));
    worst = max(worst, part * part);
  }
  if constexpr (E::directions > 0 && E::judged == E::model_states)
    for (int j = 0; j < E::directions; ++j) {
      const Real size = size_of_direction(x, j);
      each<E::model_states>([&](int i) SALTUS_INLINE_LAMBDA {
        const int at = E::form::rate_index(i, j);
        const Real scale = max(abs(a.s.y[i]), abs(a.s.y1[i])) + size * max(abs(a.s.y[at]), abs(a.s.y1[at]));
        const auto part = to_rough(size * error[at] / fma(tol.rtol, scale, tol.atol[i]));
        worst = max(worst, part * part);
      });
    }
  return worst;
}

/// The lanes whose step does not lie on one smooth piece of the model's equations, and their squared errors; 0 in others.
template <class Real>
struct crossed_corners {
  mask_of<Real> where;
  rough_of<Real> error2;
  Real part;  ///< to which the next trial should be cut; 1 elsewhere
};

/// The part to which a step is cut that has changed its answers between `begin` and `begin + width`. It ends just before the change, or, if it
/// begins there, so little after it that this is accepted. A controller alone takes a step to each halving of an error of first order. Small
/// errors are left to it: they may be those of smooth corners.
template <class Real, class Answers>
SALTUS_FN_COLD Real part_to_corner(const Answers& answers, mask_of<Real> crosses, Real begin, Real width, Real error2) {
  constexpr double large = 0x1p10, beyond = 0x1p80, accepted = 0.05, apart = 4.0;
  constexpr int attempts = 60;
  const auto wanted = crosses & (error2 > Real(large)) & (error2 < Real(beyond));
  if (none(wanted)) return Real(1.0);
  const Real enough = max(Real(accepted) / sqrt(error2), Real(16.0 * limits<scalar_of<Real>>::epsilon));
  const auto first = answers(Real(0.0));
  Real lo = begin, hi = begin + width;
  for (int attempt = 0; attempt < attempts; ++attempt) {
    const auto open = wanted & (hi - lo > enough);
    if (none(open)) break;
    const Real middle = Real(0.5) * (lo + hi);
    const auto changed = differ(answers(middle), first);
    assign_where(open & !changed, lo, middle);
    assign_where(open & changed, hi, middle);
  }
  return select(wanted, select(lo > Real(apart) * (hi - lo), lo, hi), Real(1.0));
}

template <class E, class Real>
SALTUS_FN crossed_corners<Real> corners_in(const instance<E, Real>& x, const trial<E, Real>& a, mask_of<Real> where,
                                           const tolerances<E, Real>& tol) {
  const divided_step<E, Real> points(a);
  const auto states = points.for_answers(step_system<E, Real>{x.constants, &tol});
  const auto answers = [&](auto at) SALTUS_INLINE_LAMBDA {
    return answers_at(x, points.t(at), states(at), points.slope(at, x.f));
  };
  const auto changes = points.changes_of(answers, where);
  if (!any(changes.where)) return {changes.where, rough_of<Real>(0.0), Real(1.0)};
  auto error2 = norm_at_corner_squared(x, a, error_at_corner(x, a, points, tol), tol);
  if constexpr (!has_defect<E>) {
    // A pulse within the step does not show at its ends.
    constexpr double too_long = 0x1p40;
    const auto hidden = !differ(answers(0), answers(points.points - 1)) & !is_as_short_as_a_jump(x, a.s.h, tol);
    error2 = select(to_rough(hidden), rough_of<Real>(too_long), error2);
  }
  Real part(1.0);
  if constexpr (cuts_at_corners<E>)
    part = part_to_corner(answers, changes.where, changes.part, points.part(1), from_rough<Real>(error2));
  return {changes.where, select(to_rough(changes.where), error2, rough_of<Real>(0.0)), part};
}

/// True where no dense output can be accurate: in a short step across a jump of an algebraic state.
template <class E, class Real>
SALTUS_FN mask_of<Real> jumps_within(const instance<E, Real>& x, const trial<E, Real>& a, mask_of<Real> crosses,
                                     const tolerances<E, Real>& tol) {
  constexpr bool has_algebraic_states = E::form::highest_index > 0 || E::form::kinds::mass_is_singular;
  if constexpr (has_algebraic_states) return crosses & is_as_short_as_a_jump(x, a.s.h, tol);
  else return mask_of<Real>::all(false);
}

/// The answers of the comparisons in the model's outputs.
template <class E, class Real>
SALTUS_FN noted_answers<Real> answers_of_outputs(const instance<E, Real>& x, Real t, const vec<Real, E::n>& y) {
  using number = watched<Real>;
  noted_answers<Real> notes;
  vec<number, E::model_states> at;
  each<E::model_states>([&](int i) SALTUS_INLINE_LAMBDA { at[i] = number(y[i], &notes); });
  E::form::visit_outputs(number(t, &notes), at, x.constants);
  return notes;
}

/// The differences of the integrals over a step from those by the weights of the divided step.
template <class E, class Real>
SALTUS_FN_COLD void find_defects(const instance<E, Real>& x, const trial<E, Real>& a,
                                 const divided_step<E, Real>& points, const tolerances<E, Real>& tol,
                                 errors_at_corners<E, Real>& error) {
  const step_system<E, Real> system{x.constants, &tol};
  const auto states = points.accurately(system);
  constexpr int count = E::Method::quadratures, sums = stages<typename E::Method, Real, E::n>::sums;
  each<sums>([&](int i) SALTUS_INLINE_LAMBDA { error[i] = a.s.integral[i]; });
  for (int k = 0; k < points.points; ++k) {
    const auto q = quantities_at<E>(points.t(k), states(k), x.constants);
    const Real weight = Real(-points.weight(k)) * a.s.h;
    for (int i = 0; i < count; ++i) {
      const Real change = q[i] - a.s.at_start[i];
      error[i] = fma(weight, change, error[i]);
      if (i < E::Method::squares) error[count + i] = fma(weight, change * change, error[count + i]);
    }
  }
  each<sums>([&](int i) SALTUS_INLINE_LAMBDA { error[i] = Real(points.safety) * error[i]; });
}

/// The errors of the integrals of outputs in steps that do not lie on one smooth piece of the outputs, 0 in others.
template <class E, class Real>
struct corners_of_outputs {
  typename divided_step<E, Real>::changes changes;
  errors_at_corners<E, Real> error;
};
template <class E, class Real>
SALTUS_FN corners_of_outputs<E, Real> corners_of_outputs_in(const instance<E, Real>& x, const trial<E, Real>& a,
                                                            mask_of<Real> where, const tolerances<E, Real>& tol) {
  corners_of_outputs<E, Real> r;
  if constexpr (watches_corners_of_outputs<E>) {
    const divided_step<E, Real> points(a);
    const auto states = points.simply();
    r.changes = points.changes_of(
        [&](int k) SALTUS_INLINE_LAMBDA { return answers_of_outputs(x, points.t(k), states(k)); }, where);
    constexpr int sums = stages<typename E::Method, Real, E::n>::sums;
    each<sums>([&](int i) SALTUS_INLINE_LAMBDA { r.error[i] = Real(0.0); });
    if (any(r.changes.where)) find_defects(x, a, points, tol, r.error);
    each<sums>([&](int i) SALTUS_INLINE_LAMBDA { r.error[i] = select(r.changes.where, r.error[i], Real(0.0)); });
  }
  return r;
}

/// Notes the corner of an output in a step whose integrals have this error.
template <class E, class Real>
SALTUS_FN void note_corner_of_output(const instance<E, Real>& x, trial<E, Real>& a,
                                     const typename divided_step<E, Real>::changes& changes, Real error2) {
  if (none(changes.where)) return;
  const divided_step<E, Real> points(a);
  const auto states = points.simply();
  const auto answers = [&](Real at) SALTUS_INLINE_LAMBDA { return answers_of_outputs(x, points.t(at), states(at)); };
  a.crosses_corner = a.crosses_corner | changes.where;
  a.part_to_corner =
      min(a.part_to_corner, part_to_corner(answers, changes.where, changes.part, points.part(1), error2));
}

}  // namespace saltus
