// Certified detection: guards are enclosed by intervals over pieces of a step's dense output, until each armed guard is
//
//     excluded      it keeps to its side over the whole piece
//     isolated      it falls towards zero throughout the piece: it has at most one root, and its sign at the end decides
//     undetermined  neither, in a piece as narrow as rounding allows: counted, and judged by the sign at its end
//
// The enclosure contains the interpolant and every curve near it. The distance e(s) of such a curve is, component by component, at most the
// local error bound `delta` and grows from e(0) = 0, since the start is exact, at a rate of at most 4 delta per step. If a piece is
// undecided for all of these curves together, but not for the interpolant itself, a shorter step may help; this is reported (`shrink`).
//
// The result is certain for the guard as the model computes it, in any rounding. A guard must be continuous; it may have kinks.
#pragma once

#include "event/detect.hpp"
#include "number/interval.hpp"

namespace saltus {

// ---- the error ------------------------------------------------------------------------------------------------------

namespace detail {
/// The form of the model alone, without derivatives that are carried.
template <class E, bool = (E::directions > 0)>
struct find_form_of_model {
  using type = typename E::form;
};
template <class E>
struct find_form_of_model<E, true> {
  using type = typename E::form::model_form;
};
template <class E>
using form_of_model = typename find_form_of_model<E>::type;

template <class E, class Real>
SALTUS_FN auto field_of_model(const step_system<E, Real>& f, Real t, const vec<Real, E::n>& y) {
  if constexpr (E::directions > 0) return f.of_model()(t, E::form::model_part(y));
  else return f(t, y);
}
inline constexpr double defect_nodes[] = {0.2113248654051871, 0.7886751345948129};  ///< (1 -+ 1/sqrt(3)) / 2
}  // namespace detail

/// How far the solution may be from a step's dense output, component by component: the sum of the error estimate at its end and that of the
/// dense output between the ends. Implicit methods have both estimates. Explicit methods have the first; for the second, the defect h f(t,
/// y(s)) - y'(s) is evaluated where that of a cubic is largest, and the error of a cubic is at most a third of it. Defects that are only
/// rounding do not count, because they would not shrink with the step.
template <class E, class Real>
SALTUS_FN_COLD vec<Real, E::model_states> enclosed_error(const step_system<E, Real>& f,
                                                         const stages<typename E::Method, Real, E::n>& s,
                                                         const interpolant_of<E, Real>& interpolant) {
  auto delta = E::form::model_part(local_error(s));
  each<E::model_states>([&](int i) SALTUS_INLINE_LAMBDA { delta[i] = abs(delta[i]); });
  if constexpr (!E::Method::is_explicit) {
    each<E::model_states>([&](int i) SALTUS_INLINE_LAMBDA { delta[i] = delta[i] + abs(s.interpolant_error[i]); });
  } else {
    for (const double at : detail::defect_nodes) {
      const auto slope = interpolant.slope(Real(at));
      const auto true_slope = detail::field_of_model<E>(f, fma(Real(at), s.h, s.t), interpolant(Real(at)));
      each<E::model_states>(
          [&](int i) SALTUS_INLINE_LAMBDA { delta[i] = delta[i] + abs(fma(s.h, true_slope[i], -slope[i])); });
    }
  }
  each<E::model_states>([&](int i) SALTUS_INLINE_LAMBDA {
    const Real rounding =
        Real(64.0 * limits<typename E::T>::epsilon) * (abs(s.y[i]) + abs(s.y1[i]) + abs(s.h * s.f1()[i]));
    delta[i] = select(delta[i] > rounding, delta[i], Real(0.0));
  });
  return delta;
}

/// Number of evaluations for this.
template <class Method>
inline constexpr int evaluations_of_error = Method::is_explicit ? 2 : 0;

// ---- enclosures -----------------------------------------------------------------------------------------------------

/// Time, state and the state's time derivative over a piece of a step.
template <class E, class Real>
struct enclosed_piece {
  interval<Real> t;
  vec<interval<Real>, E::model_states> y, f;
};

/// One component of a dense output as a polynomial in u = s - middle.
template <class Real, int Terms>
struct taylor_polynomial {
  Real c[Terms + 1];
  Real size;  ///< sum of the magnitudes of the terms behind y0; a few epsilon times this bounds the rounding error

  template <class Interpolant>
  SALTUS_FN taylor_polynomial(const Interpolant& interpolant, int i, Real middle) {
    size = interpolant.expand(i, middle, c);
  }

  /// Range of the polynomial, or with Derivative = 1 of its slope, for |u| <= r: even powers are never negative.
  template <int Derivative>
  SALTUS_FN interval<Real> range(Real r, Real slack) const {
    Real lo = c[Derivative], hi = lo, power = r;
    for (int k = Derivative + 1; k <= Terms; ++k) {
      const Real term = Derivative == 0 ? c[k] * power : Real(static_cast<double>(k)) * c[k] * power;
      const bool is_odd = (k - Derivative) % 2 != 0;
      lo = lo - (is_odd ? abs(term) : max(-term, Real(0.0)));
      hi = hi + (is_odd ? abs(term) : max(term, Real(0.0)));
      power = power * r;
    }
    return detail::known(lo - slack, hi + slack);
  }
};

/// Encloses a step's dense output. In the calls, `doubt` is 1 in lanes whose enclosure includes delta, 0 elsewhere.
template <class E, class Real>
struct step_enclosure {
  using T = typename E::T;
  using interpolant_type = interpolant_of<E, Real>;
  const interpolant_type& interpolant;
  const vec<Real, E::model_states>& delta;

  static constexpr int terms = interpolant_type::terms;
  static constexpr double rounding = 2.0 * (terms + 2) * limits<T>::epsilon;  ///< of a nested form, relative to `size`

  /// The enclosure over [a, b].
  SALTUS_FN enclosed_piece<E, Real> operator()(Real a, Real b, Real doubt) const {
    const Real middle = Real(0.5) * (a + b);
    const Real r = max(b - middle, middle - a) * Real(1.0 + 4.0 * limits<T>::epsilon);
    const interval<Real> inverse = reciprocal(interval<Real>(interpolant.h));
    const Real off = doubt * min(Real(4.0) * b, Real(1.0));

    enclosed_piece<E, Real> piece;
    piece.t = time(a, b);
    each<E::model_states>([&](int i) SALTUS_INLINE_LAMBDA {
      const taylor_polynomial<Real, terms> y(interpolant, i, middle);
      const Real slack = Real(rounding) * (abs(interpolant.y0[i]) + y.size),
                 slope_slack = Real(terms * rounding) * y.size;
      piece.y[i] = y.template range<0>(r, fma(off, delta[i], slack));
      piece.f[i] = y.template range<1>(r, fma(Real(4.0) * doubt, delta[i], slope_slack)) * inverse;
    });
    return piece;
  }
  /// The enclosure at one point, without slopes.
  SALTUS_FN enclosed_piece<E, Real> operator()(Real s, Real doubt) const {
    const Real off = doubt * min(Real(4.0) * s, Real(1.0));
    const auto y = interpolant(s);

    enclosed_piece<E, Real> point;
    point.t = time(s, s);
    each<E::model_states>([&](int i) SALTUS_INLINE_LAMBDA {
      const Real slack = fma(off, delta[i], Real(rounding) * interpolant.size_of_terms(i));
      point.y[i] = detail::known(y[i] - slack, y[i] + slack);
    });
    return point;
  }

 private:
  SALTUS_FN interval<Real> time(Real a, Real b) const {
    return detail::outward_of_sum(fma(a, interpolant.h, interpolant.t), fma(b, interpolant.h, interpolant.t));
  }
};

namespace detail {

/// The quantities held through a step, as intervals.
template <class form, class Real>
SALTUS_FN typename form::template step_constants<interval<Real>> enclosed_constants(
    const typename form::template step_constants<Real>& c) {
  typename form::template step_constants<interval<Real>> r;
  each<form::params>([&](int i) SALTUS_INLINE_LAMBDA { r.p[i] = c.p[i]; });
  each<form::discretes>([&](int i) SALTUS_INLINE_LAMBDA { r.d[i] = c.d[i]; });
  each<form::guards>([&](int i) SALTUS_INLINE_LAMBDA { r.guard_values[i] = c.guard_values[i]; });
  each<form::piece_numbers>([&](int i) SALTUS_INLINE_LAMBDA { r.pieces[i] = c.pieces[i]; });
  form::each_memory(r, c, [](auto& to, const auto& from) SALTUS_INLINE_LAMBDA { to = from; });
  return r;
}

}  // namespace detail

/// The guards over pieces of a step and at points of it; time derivatives are per unit of time.
template <class E, class Real>
struct guard_enclosure {
  using form = detail::form_of_model<E>;
  using step_constants = typename form::template step_constants<Real>;
  step_enclosure<E, Real> step;
  const step_constants& c;

  SALTUS_FN_COLD typename form::template rated<interval<Real>, E::ng> over(Real a, Real b, Real doubt) const {
    const auto piece = step(a, b, doubt);
    return form::guards_along(piece.t, piece.y, piece.f, detail::enclosed_constants<form, Real>(c));
  }
  SALTUS_FN_COLD vec<interval<Real>, E::ng> at(Real s, Real doubt) const {
    const auto point = step(s, doubt);
    return form::guard_values(point.t, point.y, detail::enclosed_constants<form, Real>(c));
  }
};

// ---- judging pieces -------------------------------------------------------------------------------------------------

/// A guard relative to its side: positive on that side.
template <class Real>
SALTUS_FN interval<Real> seen_from(Real side, const interval<Real>& g) {
  return select(side > Real(0.0), g, -g);
}

/// True if g >= 0 throughout a piece of duration `width` that begins on the guard's side. The test uses the range of g, its values at both
/// ends and the range of its time derivative. A value at the end that must not be used is passed as unknown.
template <class Real>
SALTUS_FN mask_of<Real> is_excluded(const interval<Real>& range, const interval<Real>& rate,
                                    const interval<Real>& at_begin, const interval<Real>& at_end, Real width) {
  using of = limits<scalar_of<Real>>;
  const auto away = rate.lo >= Real(0.0);
  const auto holds = (at_begin.lo > Real(0.0)) & (at_end.lo > Real(0.0));
  // g falls from the start no faster than rate.lo, and rises to the end no faster than rate.hi. Where these two lines meet, g is at least
  // (rate.hi at_begin - rate.lo at_end + rate.lo rate.hi width) / (rate.hi - rate.lo).
  const Real above = fma(rate.hi, at_begin.lo, -rate.lo * at_end.lo) * Real(1.0 - 8.0 * of::epsilon);
  const Real below = fma(-rate.lo * rate.hi, width * Real(1.0 + 8.0 * of::epsilon), Real(8.0 * of::smallest));
  const auto falling = rate.hi <= Real(0.0);
  return (range.lo > Real(0.0)) | away | (holds & (falling | (above > below)));
}

/// The enclosures of the guards over a piece.
template <class E, class Real>
struct enclosed_guards {
  typename E::form::template rated<interval<Real>, E::ng> over;
  vec<interval<Real>, E::ng> at_begin, at_end;
  Real width;

  /// True if guard i keeps to its side.
  SALTUS_FN mask_of<Real> excludes(int i, Real side) const {
    return is_excluded(seen_from(side, over.value[i]), falls_by(i, side), seen_from(side, at_begin[i]),
                       seen_from(side, at_end[i]), width);
  }
  /// True if guard i, seen from its side, falls throughout the piece.
  SALTUS_FN mask_of<Real> falls(int i, Real side) const { return falls_by(i, side).hi <= Real(0.0); }
  /// True if guard i is on its other side throughout the piece.
  SALTUS_FN mask_of<Real> is_beyond(int i, Real side) const { return seen_from(side, over.value[i]).hi < Real(0.0); }

 private:
  SALTUS_FN interval<Real> falls_by(int i, Real side) const { return seen_from(side, over.rate[i]); }
};

/// The guards that may leave their side within a step, unless enclosures over the whole step, or over its two halves, exclude it.
template <class E, class Real>
SALTUS_FN suspected_guards<E, Real> suspect_enclosures(const instance<E, Real>& x,
                                                       const interpolant_of<E, Real>& interpolant,
                                                       const vec<Real, E::model_states>& delta) {
  const guard_enclosure<E, Real> enclose{{interpolant, delta}, x.constants};
  const Real begin(0.0), middle(0.5), end(1.0), all_of_delta(1.0);
  suspected_guards<E, Real> r{mask_of<Real>::all(false), {}};
  enclosed_guards<E, Real> whole;
  const auto judge = [&]() SALTUS_INLINE_LAMBDA {
    r.leaves = mask_of<Real>::all(false);
    each<E::ng>([&](int i) SALTUS_INLINE_LAMBDA {
      const Real g0 = x.constants.guard_values[i], side = side_of(g0);
      const auto excluded = whole.excludes(i, side);
      r.leaves = r.leaves | (armed<E>(i, g0) & !excluded);
      r.take(i, g0, [&]() SALTUS_INLINE_LAMBDA { return !(excluded | whole.falls(i, side)); });
    });
    return none(r.leaves | r.any_comes_back());
  };
  each<E::ng>([&](int i) SALTUS_INLINE_LAMBDA {
    whole.at_begin[i] = x.constants.guard_values[i];
    whole.at_end[i] = detail::not_a_number<Real>();
  });
  whole.over = enclose.over(begin, end, all_of_delta);
  whole.width = interpolant.h;
  if (judge()) return r;
  whole.at_end = enclose.at(end, all_of_delta);
  if (judge()) return r;

  const auto at_middle = enclose.at(middle, all_of_delta);
  const Real half = middle * interpolant.h;
  const enclosed_guards<E, Real> first{enclose.over(begin, middle, all_of_delta), whole.at_begin, at_middle, half};
  const enclosed_guards<E, Real> second{enclose.over(middle, end, all_of_delta), at_middle, whole.at_end, half};
  auto leaves = mask_of<Real>::all(false);
  each<E::ng>([&](int i) SALTUS_INLINE_LAMBDA {
    const Real g0 = x.constants.guard_values[i], side = side_of(g0);
    const auto stays = first.excludes(i, side), stays_on = second.excludes(i, side);
    leaves = leaves | (armed<E>(i, g0) & !(stays & stays_on));
    if (is_one_way<E>(i)) {
      const auto falls_on = second.falls(i, side);
      const auto once =
          (stays & (stays_on | falls_on)) | (first.falls(i, side) & (falls_on | second.is_beyond(i, side)));
      r.comes_back[i] = select(once, Real(0.0), r.comes_back[i]);
    }
  });
  r.leaves = r.leaves & leaves;
  return r;
}

// ---- the search -----------------------------------------------------------------------------------------------------

/// The result of `certify`.
template <class E, class Real>
struct certified_bracket {
  bracket<E, Real> found;
  Real undetermined;     ///< points judged by the computed sign
  mask_of<Real> shrink;  ///< some piece could be decided only for the interpolant itself
};

/// The position of the search in a lane.
template <class E, class Real>
struct certifying {
  Real a, width;  ///< all before a is decided; width of the next attempt
  Real doubt;     ///< 1 while enclosures include delta
  Real stuck;     ///< where consecutive undetermined pieces began; beyond the step if the last piece was determined
  vec<interval<Real>, E::ng> at_a;  ///< the guards at a
  mask_of<Real> open;
  mask_of<Real> gave_up_delta;  ///< at this point, enclosures no longer include delta
  mask_of<Real> failed;         ///< the last attempt was too wide
};

/// The judgement of a piece.
template <class E, class Real>
struct piece_judgement {
  mask_of<Real> decided;
  mask_of<Real> crosses;  ///< a guard has left its side at the end
  mask_of<Real> unsure;   ///< the sign of a guard there is needed and uncertain
  vec<Real, E::ng> side;  ///< of the guards that are not excluded, 0 for the others
};

/// Judges the piece [p.a, b].
template <class E, class Real>
SALTUS_FN piece_judgement<E, Real> judge_piece(const guard_enclosure<E, Real>& enclose, const certifying<E, Real>& p,
                                               const vec<Real, E::ng>& side, Real b,
                                               const vec<interval<Real>, E::ng>& at_b) {
  const auto over = enclose.over(p.a, b, p.doubt);
  const Real width = (b - p.a) * enclose.step.interpolant.h;
  const auto no = mask_of<Real>::all(false);
  piece_judgement<E, Real> v{mask_of<Real>::all(true), no, no, {}};
  each<E::ng>([&](int i) SALTUS_INLINE_LAMBDA {
    const auto rate = seen_from(side[i], over.rate[i]), end = seen_from(side[i], at_b[i]);
    const auto excluded =
        is_excluded(seen_from(side[i], over.value[i]), rate, seen_from(side[i], p.at_a[i]), end, width);
    const auto open = (side[i] != Real(0.0)) & !excluded;
    v.decided = v.decided & ((!open) | (rate.hi <= Real(0.0)));
    v.crosses = v.crosses | (open & (end.hi < Real(0.0)));
    v.unsure = v.unsure | (open & !(end.lo > Real(0.0)));
    v.side[i] = select(open, side[i], Real(0.0));
  });
  v.unsure = v.unsure & !v.crosses;
  return v;
}

/// Lanes in which a guard that is not excluded has left its side at b, by its computed sign; at the end of the step that is the sign of the
/// accepted point.
template <class E, class Real>
SALTUS_FN_COLD mask_of<Real> crossed_at(const guards_on_step<E, Real>& on_step, const vec<Real, E::ng>& side, Real b,
                                        const guards_at<E, Real>& end) {
  const auto here = on_step(b);
  const auto at_end = b >= Real(1.0);
  mask_of<Real> r = mask_of<Real>::all(false);
  each<E::ng>([&](int i) SALTUS_INLINE_LAMBDA {
    r = r | ((side[i] != Real(0.0)) & has_crossed(side[i], select(at_end, end.g.value[i], here.g.value[i]),
                                                  select(at_end, end.g.rate[i], here.g.rate[i])));
  });
  return r;
}

/// The decision of the march at a piece.
template <class Real>
struct march_step {
  mask_of<Real> decided;
  mask_of<Real> gives_up;      ///< the piece is repeated without delta
  mask_of<Real> undetermined;  ///< the piece is as narrow as rounding allows
  mask_of<Real> narrows;       ///< the piece is repeated at half its width
  mask_of<Real> freed;         ///< decided, and wider than the region of rounding
};
template <class E, class Real>
SALTUS_FN march_step<Real> march_over(const certifying<E, Real>& p, mask_of<Real> decided, Real tried, Real least) {
  constexpr double narrow = 0x1p-12;  // an undecided piece narrower than this is tried without delta
  // Consecutive undetermined pieces may grow with the range that they cover, because rounding hides the guard there.
  const Real floor_ = max(least, Real(0.125) * (p.a - p.stuck));
  const auto undecided = p.open & !decided;
  const auto at_floor = Real(0.5) * tried < floor_;
  march_step<Real> m;
  m.decided = p.open & decided;
  m.gives_up = undecided & (p.doubt > Real(0.0)) & (at_floor | (tried < Real(narrow)));
  m.undetermined = undecided & !m.gives_up & at_floor;
  m.narrows = undecided & !m.gives_up & !m.undetermined;
  m.freed = m.decided & (tried > Real(2.0) * floor_);
  return m;
}

/// Continues at `to` in the lanes of `passes`. Enclosures include delta from there on if `doubt` is 1.
template <class E, class Real>
SALTUS_FN void move_on(certifying<E, Real>& p, const guard_enclosure<E, Real>& enclose, mask_of<Real> passes, Real to,
                       const vec<interval<Real>, E::ng>& at_to, Real doubt) {
  assign_where(passes, p.a, to);
  each<E::ng>([&](int i) SALTUS_INLINE_LAMBDA { p.at_a[i] = select(passes, at_to[i], p.at_a[i]); });
  const auto changes = doubt != p.doubt;
  p.doubt = doubt;
  if (none(changes)) return;
  const auto again = enclose.at(p.a, p.doubt);
  each<E::ng>([&](int i) SALTUS_INLINE_LAMBDA { p.at_a[i] = select(changes, again[i], p.at_a[i]); });
}

/// Adds the result of a piece [p.a, b]: in the lanes of `finds`, the bracket.
template <class E, class Real>
SALTUS_FN void note_piece(certified_bracket<E, Real>& r, const certifying<E, Real>& p, const march_step<Real>& m,
                          mask_of<Real> finds, Real b) {
  r.found.found = r.found.found | finds;
  assign_where(finds, r.found.lo, p.a);
  assign_where(finds, r.found.hi, b);
  r.undetermined = r.undetermined + select(m.undetermined, Real(1.0), Real(0.0));
  r.shrink = r.shrink | (m.decided & p.gave_up_delta);
}

/// The first bracket between two points of a step, as `detect` finds it, or the certainty that there is none. `side` is +1 or -1 for every
/// armed guard, its side at `begin`, and 0 for the others; `end` is the end of the step.
///
/// The search marches from begin to end. It passes a decided piece and tries a wider one next; it repeats an undecided piece at half its
/// width.
template <class E, class Real>
SALTUS_FN_COLD certified_bracket<E, Real> certify(const guards_on_step<E, Real>& on_step,
                                                  const vec<Real, E::model_states>& delta, const vec<Real, E::ng>& side,
                                                  const guards_at<E, Real>& begin, const guards_at<E, Real>& end,
                                                  mask_of<Real> where) {
  using of = limits<typename E::T>;
  constexpr int turns = 4096;
  const auto no = mask_of<Real>::all(false);
  const auto& interpolant = on_step.interpolant;
  const guard_enclosure<E, Real> enclose{{interpolant, delta}, on_step.x.constants};
  // The smallest width of a piece: a few ulps of s, or of t.
  const Real least = max(Real(64.0 * of::epsilon),
                         Real(4.0 * of::epsilon) * (abs(interpolant.t) + abs(interpolant.h)) / abs(interpolant.h));
  mask_of<Real> has_delta = no;
  each<E::model_states>([&](int i) SALTUS_INLINE_LAMBDA { has_delta = has_delta | (delta[i] > Real(0.0)); });

  certified_bracket<E, Real> r{{no, begin.s, Real(1.0)}, Real(0.0), no};
  certifying<E, Real> p{begin.s, Real(1.0) - begin.s, select(has_delta, Real(1.0), Real(0.0)), Real(2.0), {}, where, no,
                        no};
  p.at_a = enclose.at(p.a, p.doubt);
  for (int turn = 0; turn < turns && any(p.open); ++turn) {
    const Real b = select(p.a + p.width < Real(1.0) - least, p.a + p.width, Real(1.0));
    const Real tried = b - p.a;
    const auto at_b = enclose.at(b, p.doubt);
    auto v = judge_piece(enclose, p, side, b, at_b);
    const auto m = march_over(p, v.decided, tried, least);
    const auto passes = m.decided | m.undetermined;
    if (any(passes & v.unsure)) v.crosses = v.crosses | (v.unsure & crossed_at(on_step, v.side, b, end));
    const auto finds = passes & v.crosses;
    note_piece(r, p, m, finds, b);
    p.stuck = select(m.freed, Real(2.0), select(m.undetermined, min(p.stuck, p.a), p.stuck));
    p.gave_up_delta = (p.gave_up_delta & !passes) | m.gives_up;
    // When wider pieces are decided again, enclosures include delta again.
    const Real doubt = select(m.gives_up, Real(0.0), select(m.freed & has_delta & !r.shrink, Real(1.0), p.doubt));
    p.width = select(m.narrows, Real(0.5) * tried, select(m.decided & !p.failed, tried + tried, tried));
    p.failed = m.narrows | m.gives_up;
    move_on(p, enclose, passes, b, at_b, doubt);
    assign_where(m.undetermined, p.width, max(p.width, Real(0.125) * (p.a - p.stuck)));
    p.open = p.open & !finds & (p.a < Real(1.0));
  }
  if (none(p.open)) return r;
  // The iterations are used up: the rest of the step is one undetermined piece.
  const auto finds = p.open & crossed_at(on_step, side, Real(1.0), end);
  r.undetermined = r.undetermined + select(p.open, Real(1.0), Real(0.0));
  r.found.found = r.found.found | finds;
  assign_where(finds, r.found.lo, p.a);
  return r;
}

}  // namespace saltus
