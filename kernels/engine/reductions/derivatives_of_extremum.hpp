// The derivatives of an extremum.
//
// An extremum has the derivative of the quantity at the point where it is attained; the motion of this point does not contribute (envelope
// theorem). The derivative is at a fixed time for a turning point, along with the event for an extremum at its side, and along with the corner
// for one at a corner of an output. If two extrema are equal within errors and have different derivatives, the reduction has no derivative: NaN
// for this one alone.
//
// The time of an extremum is that of an event or a corner, a fixed one at the ends of the span and of windows, or that of a turning point:
// q'(t*, p) = 0, so dt*/dp = -(dq'/dp) / q''.
#pragma once

#include "engine/corners.hpp"
#include "engine/reductions/extremum_in_step.hpp"

namespace saltus {

/// Values of a quantity that differ by no more than this are equal within errors.
template <class E, class Reduction, class Real>
SALTUS_FN Real noise_of_quantity(Real size, const tolerances<E, Real>& tol) {
  Real noise = tol.rtol * size;
  if constexpr (!Reduction::of_output) noise = noise + tol.atol[Reduction::index < E::judged ? Reduction::index : 0];
  return Real(4.0) * noise;
}

/// The derivatives of the time of an extremum, if that is asked for.
template <class E, class Reduction, class Real>
using rates_of_time = vec<Real, has_time<Reduction> ? E::directions : 0>;

/// Takes in a point at which reduction `item` may have its extremum; its time has the derivatives `of_time`. Values are equal within
/// `least_noise`, too.
template <class E, class Reduction, class Real>
SALTUS_FN_COLD void take_rates_of_extremum(instance<E, Real>& x, int item,
                                           const typename E::form::template lifted<Real>& q,
                                           const rates_of_time<E, Reduction, Real>& of_time, Real sign,
                                           mask_of<Real> where, const tolerances<E, Real>& tol,
                                           Real least_noise = Real(0.0)) {
  const Real best = x.extreme[item], beyond = sign * (q.value - best);
  const Real noise = max(noise_of_quantity<E, Reduction>(max(abs(q.value), abs(best)), tol), least_noise);
  const auto clearly = where & (beyond > noise), tied = where & (abs(beyond) <= noise);
  const Real relative = Real(1e-7) + Real(100.0) * tol.rtol;
  each<E::directions>([&](int j) SALTUS_INLINE_LAMBDA {
    Real& rate = x.reduced_rates[item * E::directions + j];
    const Real apart = abs(q.d[j] - rate), bound = max(abs(q.d[j]), abs(rate));
    const auto agree = apart <= max(relative * bound, Real(64.0) * noise / size_of_direction(x, j));
    const Real tie = select(agree, select(beyond > Real(0.0), q.d[j], rate), Real(E::form::unset));
    rate = select(clearly, q.d[j], select(tied, tie, rate));
    if constexpr (has_time<Reduction>) {
      Real& moves = x.reduced_rates[E::second_row(item) * E::directions + j];
      const Real other = of_time[j], most = max(abs(other), abs(moves));
      const Real rounding = Real(1e-12) * (x.t_end - x.t_begin) / size_of_direction(x, j);
      const auto together = agree & (abs(other - moves) <= max(relative * most, rounding));
      moves = select(clearly, other, select(tied & !together, Real(E::form::unset), moves));
    }
  });
  assign_where(where & (beyond > Real(0.0)), x.extreme[item], q.value);
}

/// The fraction of a step at which the quantity turns: the root of its time derivative on the dense output, in a stretch with ends of
/// opposite signs.
template <class E, class Reduction, class Interpolant, class Real>
SALTUS_FN_COLD Real zero_of_rate(const instance<E, Real>& x, const Interpolant& step, const stretch<Real>& p,
                                 Real guess) {
  using form = typename E::form;
  constexpr int most = 40;
  const auto rate_at = [&](Real at) SALTUS_INLINE_LAMBDA {
    const Real t = fma(at, step.h, step.t);
    const auto y = step(at);
    vec<Real, E::n> f = step.slope(at);
    each<E::n>([&](int i) SALTUS_INLINE_LAMBDA { f[i] = f[i] / step.h; });
    if constexpr (form::has_field && E::Method::is_explicit) {
      const auto field = form::model_form::rhs(t, form::model_part(y), x.constants);
      each<E::model_states>([&](int i) SALTUS_INLINE_LAMBDA { f[i] = field[i]; });
    }
    if constexpr (Reduction::of_output) return form::outputs_along(t, y, f, x.constants).rate[Reduction::index];
    else return f[Reduction::index];
  };
  // Regula falsi in the Illinois form: the value at the end that stays is halved.
  Real low = p.left, high = p.right, at_low = p.d0, at_high = p.d1, at = guess;
  auto low_stayed = mask_of<Real>::all(false), high_stayed = low_stayed;
  auto open = mask_of<Real>::all(true);  // a lane that has settled stays while others go on
  for (int attempts = 0; attempts < most; ++attempts) {
    const Real rate = rate_at(at);
    const auto is_low = at_low * rate > Real(0.0);
    at_high = select(is_low & high_stayed, Real(0.5) * at_high, at_high);
    at_low = select((!is_low) & low_stayed, Real(0.5) * at_low, at_low);
    low = select(is_low, at, low), at_low = select(is_low, rate, at_low);
    high = select(is_low, high, at), at_high = select(is_low, at_high, rate);
    high_stayed = is_low, low_stayed = !is_low;
    const Real next = low - at_low * (high - low) / (at_high - at_low);
    const Real safe = select((next >= low) & (next <= high), next, Real(0.5) * (low + high));
    const auto settled = (abs(safe - at) <= Real(16.0 * limits<typename E::T>::epsilon)) | (rate == Real(0.0));
    at = select(open & !(rate == Real(0.0)), safe, at);
    open = open & !settled;
    if (none(open)) break;
  }
  return at;
}

/// The second time derivative of the quantity at a fraction of a step. `y` and `f` receive the states and their time derivatives there.
template <class E, class Reduction, class Interpolant, class Real>
SALTUS_FN_COLD Real curvature_at(const instance<E, Real>& x, const step_system<E, Real>& system,
                                 const Interpolant& step, Real at, vec<Real, E::n>& y, vec<Real, E::n>& f) {
  using form = typename E::form;
  const Real t = fma(at, step.h, step.t);
  y = step(at);
  if constexpr (form::has_field) {
    f = form::rhs(t, y, x.constants);
  } else {
    f = step.slope(at);
    each<E::n>([&](int i) SALTUS_INLINE_LAMBDA { f[i] = f[i] / step.h; });
    const auto everywhere = mask_of<Real>::all(true);
    if constexpr (has_constraints<form>) form::project(system, t, y, f, everywhere);
    if constexpr (!has_constraints<form> || form::model_form::finds_rates)
      form::settle_derivatives(system, typename form::template lifted<Real>(t), y, f, everywhere);
    const auto rate = all_rates<E>(system, t, y, f);
    each<E::model_states>([&](int i) SALTUS_INLINE_LAMBDA { f[i] = rate[i]; });
  }
  const auto along = with_two_rates<E>(system, t, y, f);
  if constexpr (Reduction::of_output)
    return form::model_form::output_values(time_with_two_rates(t), along, x.constants)[Reduction::index].d[0].d[0];
  else return along[Reduction::index].d[0].d[0];
}

/// The change of the time derivative of the quantity, whose value is q, by errors of the states as large as the tolerance: of equal and of
/// alternating signs. Without a field it is that of the dense output.
template <class E, class Reduction, class Real>
SALTUS_FN_COLD Real error_of_rate(const instance<E, Real>& x, const committed_step<E, Real>& of, Real t,
                                  const vec<Real, E::n>& y, const vec<Real, E::n>& f, Real q) {
  using form = typename E::form;
  if constexpr (form::has_field) {
    Real value, rate, worst = Real(0.0);
    quantity_along<E, Reduction>({t, y, f}, x.constants, value, rate);
    for (int turn = 0; turn < 2; ++turn) {
      auto off = y;
      each<E::model_states>([&](int i) SALTUS_INLINE_LAMBDA {
        const Real error = fma(of.f.tol->rtol, abs(y[i]), of.f.tol->atol[i < E::judged ? i : 0]);
        off[i] = turn == 1 && i % 2 == 1 ? y[i] - error : y[i] + error;
      });
      Real other;
      quantity_along<E, Reduction>({t, off, form::rhs(t, off, x.constants)}, x.constants, value, other);
      worst = max(worst, abs(other - rate));
    }
    return worst;
  } else {
    return noise_of_quantity<E, Reduction>(abs(q), *of.f.tol) / of.s.h;
  }
}

/// The derivatives of the time at which the quantity, with the value q, turns in a step. There are none if the second time derivative changes
/// by more than half a percent within the error of that time. The change is looked at a hundred such errors away, or half a step away if that
/// is nearer: the part that is odd in the distance then counts in proportion to it, and the even part to its square.
template <class E, class Reduction, class Interpolant, class Real>
SALTUS_FN_COLD vec<Real, E::directions> rates_of_turning_time(const instance<E, Real>& x,
                                                              const committed_step<E, Real>& of,
                                                              const Interpolant& step, Real at, Real q) {
  constexpr double errors = 100.0;
  vec<Real, E::n> y, f, beside, rate;
  Real bend = curvature_at<E, Reduction>(x, of.f, step, at, y, f);
  if constexpr (!E::form::has_field) {
    // Dense output shows the time with a lower order than the equations.
    constexpr int turns = 2;
    for (int turn = 0; turn < turns; ++turn) {
      Real value, slope;
      quantity_along<E, Reduction>({fma(at, step.h, step.t), y, f}, x.constants, value, slope);
      const Real next = at - slope / (bend * step.h);
      at = select((next > Real(-0.5)) & (next < Real(1.5)), next, at);
      bend = curvature_at<E, Reduction>(x, of.f, step, at, y, f);
    }
  }
  const Real t = fma(at, step.h, step.t);
  const Real away = Real(errors) * error_of_rate<E, Reduction>(x, of, t, y, f, q) / (abs(bend) * step.h);
  const Real near = min(away, Real(0.5)), further = max(Real(2.0) * away, Real(1.0));
  const Real before = curvature_at<E, Reduction>(x, of.f, step, at - near, beside, rate);
  const Real after = curvature_at<E, Reduction>(x, of.f, step, at + near, beside, rate);
  const Real odd = Real(0.5) * (after - before), even = Real(0.5) * (after + before) - bend;
  const Real change = further * fma(further, abs(even), abs(odd));
  const auto known = (away * step.h < x.t_end - x.t_begin) & (change <= Real(0.005 * errors) * abs(bend));
  const auto slope = lifted_quantity<E, Reduction>(x, typename E::form::template lifted<Real>(t), y, f);
  vec<Real, E::directions> r;
  each<E::directions>(
      [&](int j) SALTUS_INLINE_LAMBDA { r[j] = select(known, -slope.rate.d[j] / bend, Real(E::form::unset)); });
  return r;
}

/// Takes in the point at which the quantity turns in a stretch of a step, if it does.
template <class E, class Reduction, class Interpolant, class Real>
SALTUS_FN void turn_rates_within(instance<E, Real>& x, int item, const committed_step<E, Real>& of,
                                 const Interpolant& step, const stretch<Real>& p, Real sign, mask_of<Real> where) {
  using lifted = typename E::form::template lifted<Real>;
  auto turns = where & (sign * p.d0 >= Real(0.0)) & (sign * p.d1 < Real(0.0));
  if (none(turns)) return;
  const Real top = turning_point(sign, p, p.width);
  const auto from_start = p.d0 == Real(0.0);
  const auto is_inside = turns & !from_start & (top > Real(0.0)) & (top < Real(1.0));
  const Real guess = fma(p.right - p.left, select(is_inside, top, Real(0.5)), p.left);
  const Real at = select(from_start, p.left, zero_of_rate<E, Reduction>(x, step, p, guess));
  const auto q = lifted_quantity<E, Reduction>(x, lifted(fma(at, of.s.h, of.s.t)), step(at), of.s.f0());
  rates_of_time<E, Reduction, Real> of_time;
  if constexpr (has_time<Reduction>) {
    // Most turning points are no new extremum.
    const Real beyond = sign * (q.value.value - x.extreme[item]);
    turns = turns & !(beyond < -noise_of_quantity<E, Reduction>(abs(x.extreme[item]), *of.f.tol));
    if (none(turns)) return;
    of_time = rates_of_turning_time<E, Reduction>(x, of, step, at, q.value.value);
  }
  take_rates_of_extremum<E, Reduction>(x, item, q.value, of_time, sign, turns, *of.f.tol);
}

/// Where the cubic through the ends of a stretch bends, as a fraction of it; the middle if it does so elsewhere.
template <class Real>
SALTUS_FN Real bending_point(const stretch<Real>& s) {
  const Real rise = s.q1 - s.q0, a = s.width * (s.d0 + s.d1) - (rise + rise);
  const Real at = (s.width * (s.d0 + s.d0 + s.d1) - Real(3.0) * rise) / (Real(3.0) * a);
  return select((at > Real(0.0)) & (at < Real(1.0)), at, Real(0.5));
}

/// A point of a committed step.
template <class E, class Real>
struct point_of_step {
  Real t;
  vec<Real, E::n> y;
};

/// The ends of a step as they were accepted, and other points on the dense output.
template <class E, class Interpolant, class Real>
SALTUS_FN point_of_step<E, Real> point_at(const committed_step<E, Real>& of, const Interpolant& step, Real at) {
  const auto at_begin = at == Real(0.0), at_end = at == Real(1.0);
  point_of_step<E, Real> r{select(at_end, of.t1, fma(at, step.h, step.t)), step(at)};
  each<E::n>([&](int i)
                 SALTUS_INLINE_LAMBDA { r.y[i] = select(at_begin, of.s.y[i], select(at_end, of.s.y1[i], r.y[i])); });
  return r;
}

/// The time derivatives of the states at a point: those of the field if there is one, else those of the dense output.
template <class E, class Interpolant, class Real>
SALTUS_FN vec<Real, E::n> slopes_at(const instance<E, Real>& x, const Interpolant& step, Real at,
                                    const point_of_step<E, Real>& point) {
  if constexpr (E::form::has_field) {
    return E::form::rhs(point.t, point.y, x.constants);
  } else {
    vec<Real, E::n> f = step.slope(at);
    each<E::n>([&](int i) SALTUS_INLINE_LAMBDA { f[i] = f[i] / step.h; });
    return f;
  }
}

/// The first corner or jump of an output in a stretch of a step: points before and after it, as fractions of the step.
template <class Real>
struct corner_of_output {
  mask_of<Real> there;
  Real before, after;  ///< the end of the stretch where there is none
};

/// Looks for the first change of the answers of outputs at five points between `left` and `right`.
template <class E, class Interpolant, class Real>
SALTUS_FN_COLD corner_of_output<Real> first_change(const instance<E, Real>& x, const committed_step<E, Real>& of,
                                                   const Interpolant& step, Real left, Real right) {
  constexpr int points = 5, attempts = 60;
  const auto answers = [&](Real at) SALTUS_INLINE_LAMBDA {
    const auto point = point_at(of, step, at);
    return answers_of_outputs(x, point.t, point.y);
  };
  const auto first = answers(left);
  const Real width = right - left;
  auto there = mask_of<Real>::all(false);
  Real lo = left, hi = right;
  for (int k = 1; k <= points; ++k) {
    const Real at = k == points ? right : fma(width, Real(k * (1.0 / points)), left);
    const auto changed = differ(answers(at), first) & !there;
    lo = select(there | changed, lo, at);
    hi = select(changed, at, hi);
    there = there | changed;
  }
  for (int attempt = 0; attempt < attempts; ++attempt) {
    const auto open = there & (hi - lo > Real(16.0 * limits<typename E::T>::epsilon));
    if (none(open)) break;
    const Real middle = Real(0.5) * (lo + hi);
    const auto changed = differ(answers(middle), first);
    assign_where(open & !changed, lo, middle);
    assign_where(open & changed, hi, middle);
  }
  return {there, select(there, lo, right), select(there, hi, right)};
}

/// Differences of a quantity over a corner that are rounding. `slope`: its time derivative at other points of the step.
template <class Real>
struct noise_at_corner {
  Real value, slope;

  SALTUS_FN noise_at_corner(Real rtol, Real h, Real size, Real slope_before, Real slope_after, Real elsewhere) {
    constexpr double rounding = 0x1p10 * limits<scalar_of<Real>>::epsilon, part = 1e-6;
    value = fma(Real(rounding), size, rtol * abs(h) * (abs(slope_before) + abs(slope_after)));
    slope = Real(part) * max(elsewhere, max(abs(slope_before), abs(slope_after)));
  }
};

/// The first corner or jump of the quantity itself. Most changes of answers are those of other outputs, or change nothing.
template <class E, class Reduction, class Interpolant, class Real>
SALTUS_FN_COLD corner_of_output<Real> first_corner(const instance<E, Real>& x, const committed_step<E, Real>& of,
                                                   const Interpolant& step, Real left, Real right, Real slope) {
  constexpr int most = 64;
  auto r = first_change(x, of, step, left, right);
  auto open = r.there;
  for (int changes = 0; changes < most && any(open); ++changes) {
    Real q0, d0, q1, d1;
    const auto look = [&](Real at, Real& q, Real& d) SALTUS_INLINE_LAMBDA {
      const auto point = point_at(of, step, at);
      quantity_along<E, Reduction>({point.t, point.y, slopes_at(x, step, at, point)}, x.constants, q, d);
    };
    look(r.before, q0, d0);
    look(r.after, q1, d1);
    const noise_at_corner<Real> noise(of.f.tol->rtol, of.s.h, abs(q0) + abs(q1), d0, d1, slope);
    open = open & !((abs(q1 - q0) > noise.value) | (abs(d1 - d0) > noise.slope));
    if (none(open)) break;
    const auto next = first_change(x, of, step, select(open, r.after, right), right);
    assign_where(open, r.before, next.before);
    assign_where(open, r.after, next.after);
    r.there = (r.there & !open) | (open & next.there);
    open = open & next.there;
  }
  return r;
}

/// The answers of the comparisons in outputs that depend on direction j.
template <class E, class Real>
SALTUS_FN noted_answers<Real> moving_answers_of_outputs(const instance<E, Real>& x, Real t, const vec<Real, E::n>& y,
                                                        int j) {
  using number = dual<Real>;
  noted_answers<Real> notes;
  vec<watched<number>, E::model_states> at;
  for (int i = 0; i < E::model_states; ++i) at[i] = {number(y[i], y[E::form::rate_index(i, j)]), &notes};
  E::form::visit_outputs(watched<number>(number(t), &notes), at, E::form::template lift_held<Real, 1>(x.constants, j));
  return notes;
}

/// Takes in a corner or a jump of the quantity. At a corner that is an extremum, l and r being its branches, l(t*, p) = r(t*, p), so
/// dt*/dp = (dr/dp - dl/dp) / (l' - r'), and the extremum has the derivative dl/dp + l' dt*/dp. At a jump both branches count if they lead to
/// it. The values of the branches do not show dt*/dp there, so a branch that is not constant in time has no derivative if t* moves.
template <class E, class Reduction, class Interpolant, class Real>
SALTUS_FN_COLD void take_rates_at_corner(instance<E, Real>& x, int item, const committed_step<E, Real>& of,
                                         const Interpolant& step, const corner_of_output<Real>& corner, Real sign,
                                         mask_of<Real> where) {
  using lifted = typename E::form::template lifted<Real>;
  const auto left = point_at(of, step, corner.before), right = point_at(of, step, corner.after);
  const auto branch_at = [&](Real at, const point_of_step<E, Real>& point) SALTUS_INLINE_LAMBDA {
    return lifted_quantity<E, Reduction>(x, lifted(point.t), point.y, slopes_at(x, step, at, point));
  };
  const auto l = branch_at(corner.before, left), r = branch_at(corner.after, right);
  const Real rise = sign * l.rate.value, fall = -(sign * r.rate.value);
  const noise_at_corner<Real> noise(of.f.tol->rtol, of.s.h, abs(l.value.value) + abs(r.value.value), rise, fall,
                                    Real(0.0));
  const auto jumps = abs(r.value.value - l.value.value) > noise.value;
  rates_of_time<E, Reduction, Real> of_time;
  const auto take = [&](const auto& q, mask_of<Real> which) SALTUS_INLINE_LAMBDA {
    if (any(which)) take_rates_of_extremum<E, Reduction>(x, item, q, of_time, sign, which, *of.f.tol, noise.value);
  };

  const Real both = rise + fall;
  auto top = l.value;
  each<E::directions>([&](int j) SALTUS_INLINE_LAMBDA {
    top.d[j] = (fall * l.value.d[j] + rise * r.value.d[j]) / both;
    if constexpr (has_time<Reduction>) of_time[j] = sign * (r.value.d[j] - l.value.d[j]) / both;
  });
  take(top, where & !jumps & (rise >= Real(0.0)) & (fall >= Real(0.0)));

  if (none(where & jumps)) return;
  auto before = l.value, after = r.value;
  for (int j = 0; j < E::directions; ++j) {
    const auto moves =
        differ(moving_answers_of_outputs(x, left.t, left.y, j), moving_answers_of_outputs(x, right.t, right.y, j));
    before.d[j] = select(moves & (rise != Real(0.0)), Real(E::form::unset), before.d[j]);
    after.d[j] = select(moves & (fall != Real(0.0)), Real(E::form::unset), after.d[j]);
    if constexpr (has_time<Reduction>) of_time[j] = select(moves, Real(E::form::unset), Real(0.0));
  }
  take(before, where & jumps & (rise >= Real(0.0)));
  take(after, where & jumps & (fall >= Real(0.0)));
}

/// The part of a stretch in a smooth piece of the quantity.
template <class E, class Reduction, class Interpolant, class Real>
SALTUS_FN void turn_rates_in_piece(instance<E, Real>& x, int item, const committed_step<E, Real>& of,
                                   const Interpolant& step, const stretch<Real>& p, Real sign, mask_of<Real> where) {
  turn_rates_within<E, Reduction>(x, item, of, step, p, sign, where);
  const auto twice = where & may_turn(sign, p) & !((sign * p.d0 >= Real(0.0)) & (sign * p.d1 < Real(0.0)));
  if (none(twice)) return;
  const Real part = bending_point(p);
  auto first = p, second = p;
  first.right = second.left = fma(p.right - p.left, part, p.left);
  first.width = part * p.width, second.width = p.width - first.width;
  look_within<Reduction>(x, step, first.right, first.q1, first.d1);
  second.q0 = first.q1, second.d0 = first.d1;
  turn_rates_within<E, Reduction>(x, item, of, step, first, sign, twice);
  turn_rates_within<E, Reduction>(x, item, of, step, second, sign, twice);
}

/// Takes in a committed step's part in the derivative of an extremum, in the pieces in which its value is looked for, divided at corners. A
/// piece whose slopes have one sign at both ends may contain a maximum and a minimum: it is divided where the cubic through its ends bends.
template <class E, class Reduction, class Real>
SALTUS_FN_COLD void turn_rates(instance<E, Real>& x, int item, const committed_step<E, Real>& of, Real sign,
                               mask_of<Real> where) {
  constexpr int pieces = looks_at_pieces<Reduction, E> ? 4 : 1;
  constexpr bool has_corners = may_have_corner<Reduction, E>;
  constexpr int most = has_corners ? 64 : 1;
  stretch<Real> p;
  quantity_on_step<Reduction, E, Real>{x, of.s}.at_ends(p);
  const auto turns = (sign * p.d0 >= Real(0.0)) & (sign * p.d1 < Real(0.0));
  if (pieces == 1 && !has_corners && none(where & (turns | may_turn(sign, p)))) return;
  const auto step = interpolate<typename E::Method>(of.f, of.s);
  const auto whole = p;
  for (int k = 1; k <= pieces; ++k) {
    const Real end(k * (1.0 / pieces));
    auto open = where;
    for (int part = 0; part < most && any(open); ++part) {
      corner_of_output<Real> corner{mask_of<Real>::all(false), end, end};
      if constexpr (has_corners)
        corner = first_corner<E, Reduction>(x, of, step, p.left, end, max(abs(whole.d0), abs(whole.d1)));
      p.right = corner.before;
      p.width = (p.right - p.left) * of.s.h;
      if (k == pieces) p.q1 = whole.q1, p.d1 = whole.d1;
      if (k < pieces || any(corner.there)) {
        Real q, d;
        look_within<Reduction>(x, step, p.right, q, d);
        const auto inside = corner.there | mask_of<Real>::all(k < pieces);
        p.q1 = select(inside, q, p.q1), p.d1 = select(inside, d, p.d1);
      }
      turn_rates_in_piece<E, Reduction>(x, item, of, step, p, sign, open);
      open = open & corner.there;
      p.left = p.right, p.q0 = p.q1, p.d0 = p.d1;
      if constexpr (has_corners)
        if (any(open)) {
          take_rates_at_corner<E, Reduction>(x, item, of, step, corner, sign, open);
          open = open & (corner.after < end);
          p.left = select(corner.there, corner.after, p.left);
          look_within<Reduction>(x, step, p.left, p.q0, p.d0);
        }
    }
  }
}

}  // namespace saltus
