// Detection in full: on the dense output of one step, the earliest interval in which an armed guard leaves its side.
//
// The step is divided into pieces until each guard, seen from its side, stays there in a piece, or never rises after it has fallen, so that it
// has at most one root: by the coefficients of the cubic through the ends of the piece, with allowance for how far the guard was off the cubic
// of the undivided piece. Where neither is certain in the
// narrowest pieces, a guard may show a dip: by its slopes at the ends of the piece, or by a minimum of its cubic inside, before a crossing or
// between two points on its own side. Such a dip is followed to its bottom, so that two roots, and the first of three, are found too. The
// result is a bracket [lo, hi]: no guard has left its side at lo, one has at hi.
#pragma once

#include "event/quick.hpp"
#include "event/sides.hpp"

namespace saltus {

/// Guards at one point s in [0, 1] of a step, with their derivatives by s.
template <class E, class Real>
struct guards_at {
  Real s;
  with_rate<vec<Real, E::ng>> g;
};

template <class E, class Real>
struct bracket {
  mask_of<Real> found;
  Real lo, hi;
  Real guess = Real(-1.0);  ///< of the root, if it lies within
};

/// The guards' sides at the start of the step: +1 or -1, and 0 for a guard that is not armed.
template <class E, class Real>
SALTUS_FN vec<Real, E::ng> armed_sides(const instance<E, Real>& x) {
  vec<Real, E::ng> side;
  each<E::ng>([&](int i) SALTUS_INLINE_LAMBDA {
    const Real g = x.constants.guard_values[i];
    side[i] = select(armed<E>(i, g), side_of(g), Real(0.0));
  });
  return side;
}

/// The sides of the guards that are across at a point, reversed; 0 for the others.
template <class E, class Real>
SALTUS_FN vec<Real, E::ng> sides_beyond(const vec<Real, E::ng>& side, const with_rate<vec<Real, E::ng>>& g) {
  vec<Real, E::ng> beyond;
  each<E::ng>([&](int i) SALTUS_INLINE_LAMBDA {
    beyond[i] = select(has_crossed(side[i], g.value[i], g.rate[i]), -side[i], Real(0.0));
  });
  return beyond;
}

/// Lanes in which any armed guard has left its side.
template <class E, class Real>
SALTUS_FN mask_of<Real> any_crossed(const vec<Real, E::ng>& side, const with_rate<vec<Real, E::ng>>& g) {
  mask_of<Real> r = mask_of<Real>::all(false);
  each<E::ng>([&](int i) SALTUS_INLINE_LAMBDA {
    r = r | (has_crossed(side[i], g.value[i], g.rate[i]) & (side[i] != Real(0.0)));
  });
  return r;
}

/// Evaluates the guards on a step's dense output.
template <class E, class Real>
struct guards_on_step {
  static_assert(is_interpolant<interpolant_of<E, Real>, Real>,
                "this is no dense output: method/dense_output.hpp says what one is");
  const instance<E, Real>& x;
  const interpolant_of<E, Real>& interpolant;
  const Real inverse = Real(1.0) / interpolant.h;

  SALTUS_FN_COLD guards_at<E, Real> operator()(Real s) const {
    auto f = interpolant.slope(s);
    each<E::n>([&](int i) SALTUS_INLINE_LAMBDA { f[i] = f[i] * inverse; });
    guards_at<E, Real> r{s,
                         E::form::guards_along(fma(s, interpolant.h, interpolant.t), interpolant(s), f, x.constants)};
    each<E::ng>([&](int i) SALTUS_INLINE_LAMBDA { r.g.rate[i] = r.g.rate[i] * interpolant.h; });
    return r;
  }
};

/// The cubic Hermite polynomial of values g0, g1 and slopes r0, r1 on [0, 1]: its minimum and its point of inflection.
template <class Real>
struct cubic_shape {
  mask_of<Real> has_minimum;  ///< anywhere
  Real minimum, inflection;
  mask_of<Real> minimum_first;  ///< the minimum lies to the left of the inflection

  SALTUS_FN cubic_shape(Real g0, Real r0, Real g1, Real r1) {
    // g(s) = g0 + r0 s + b s^2 + a s^3; the root is computed in the form without cancellation.
    const Real rise = g1 - g0;
    const Real a = (r0 + r1) - (rise + rise), b = Real(3.0) * rise - (r0 + r0 + r1);
    const Real under = b * b - Real(3.0) * a * r0;
    const Real root = sqrt(max(under, Real(0.0)));
    has_minimum = under > Real(0.0);
    minimum = select(b > Real(0.0), -r0 / (b + root), (root - b) / (Real(3.0) * a));
    inflection = -b / (Real(3.0) * a);
    minimum_first = a < Real(0.0);
  }
};

template <class Real>
SALTUS_FN mask_of<Real> is_inside(Real s) {
  return (s > Real(0.0)) & (s < Real(1.0));
}

/// Follows guard i to the bottom of its dip between a, where it falls, and b, where it rises. Each attempt goes to the minimum of the cubic
/// through both, every third one to the middle. Returns the point, if any, at which the guard has left its side.
template <class E, class Real>
SALTUS_FN_COLD bracket<E, Real> probe_dip(const guards_on_step<E, Real>& on_step, const vec<Real, E::ng>& side, int i,
                                          const guards_at<E, Real>& a, const guards_at<E, Real>& b,
                                          mask_of<Real> where) {
  Real left = a.s, g_left = side[i] * a.g.value[i], slope_left = side[i] * a.g.rate[i];
  Real right = b.s, g_right = side[i] * b.g.value[i], slope_right = side[i] * b.g.rate[i];
  bracket<E, Real> r{mask_of<Real>::all(false), a.s, b.s};
  mask_of<Real> open = where;
  for (int attempts = 0; attempts < 15 && any(open); ++attempts) {
    const Real width = right - left;
    const auto cubic = cubic_shape<Real>(g_left, width * slope_left, g_right, width * slope_right);
    const auto good = is_inside(cubic.minimum) & mask_of<Real>::all(attempts % 3 != 2);
    const Real at = fma(width, select(good, cubic.minimum, Real(0.5)), left);
    const auto here = on_step(at);
    const Real g = side[i] * here.g.value[i], slope = side[i] * here.g.rate[i];
    const auto below = open & (g < Real(0.0));
    r.found = r.found | below;
    assign_where(below, r.hi, at);
    const auto falls = open & (slope < Real(0.0)), rises = open & !(slope < Real(0.0));
    assign_where(falls, left, at);
    assign_where(falls, g_left, g);
    assign_where(falls, slope_left, slope);
    assign_where(rises, right, at);
    assign_where(rises, g_right, g);
    assign_where(rises, slope_right, slope);
    // The guard cannot fall by more than the steeper slope times the width: stop if that is not enough, or if the width is rounding.
    const Real reach = max(-slope_left, slope_right) * (right - left);
    open = open & !below & (g <= reach) & (right - left > Real(4.0 * limits<typename E::T>::epsilon));
  }
  return r;
}

/// m ? a : b, lane by lane.
template <class E, class Real>
SALTUS_FN guards_at<E, Real> select(mask_of<Real> m, const guards_at<E, Real>& a, const guards_at<E, Real>& b) {
  guards_at<E, Real> r;
  r.s = select(m, a.s, b.s);
  each<E::ng>([&](int i) SALTUS_INLINE_LAMBDA {
    r.g.value[i] = select(m, a.g.value[i], b.g.value[i]);
    r.g.rate[i] = select(m, a.g.rate[i], b.g.rate[i]);
  });
  return r;
}

/// A guess of the first root between `a`, where no guard has left its side, and `b`. The straight lines between the guards' values choose
/// the guard. Its root is that of the parabola through both values and the slope at `b`, after a step of Newton's method on the cubic.
/// A guard that does not fall at `a` may have another root there, and rounding decide its sign: near `a` a guess counts only if parabola
/// and cubic agree on it.
template <class E, class Real>
SALTUS_FN Real guess_root(const vec<Real, E::ng>& side, const guards_at<E, Real>& a, const guards_at<E, Real>& b) {
  constexpr double near = 1.0 / 8, nearest = 0x1p-10, agreed = 1.0 / 8;
  const Real width = b.s - a.s;
  Real g0 = Real(1.0), r0 = Real(0.0), g1 = Real(0.0), r1 = Real(0.0);
  each<E::ng>([&](int i) SALTUS_INLINE_LAMBDA {
    const Real from = side[i] * a.g.value[i], to = side[i] * b.g.value[i];
    const auto first = (to <= Real(0.0)) & (from * (g0 - g1) <= g0 * (from - to)) & (side[i] != Real(0.0));
    g0 = select(first, from, g0);
    g1 = select(first, to, g1);
    r0 = select(first, side[i] * width * a.g.rate[i], r0);
    r1 = select(first, side[i] * width * b.g.rate[i], r1);
  });
  // g(u) = g1 - r1 u + c u^2 + d u^2 (1 - u) at the part u of the width before b
  const Real c = (g0 - g1) + r1, d = (r0 - r1) + (c + c);
  const Real u = -(g1 + g1) / (sqrt(max(r1 * r1 - Real(4.0) * c * g1, Real(0.0))) - r1);
  const Real value = fma(u, fma(u, fma(d, Real(1.0) - u, c), -r1), g1);
  const Real slope = fma(u, fma(d, fma(Real(-3.0), u, Real(2.0)), c + c), -r1);
  const Real correction = value / slope, root = u - correction, behind = Real(1.0) - root;
  const auto is_safe = (r0 < Real(0.0)) | (behind > Real(near)) |
                       ((behind > Real(nearest)) & (abs(correction) <= Real(agreed) * behind));
  return select(is_safe, fma(-root, width, b.s), Real(-1.0));
}

/// A guard on a piece of a step by its values and changes at both ends, seen from its side. In the middle it may be off the cubic through
/// the ends, which changes the middle Bernstein coefficient of the piece as a quartic by up to `off`.
template <class Real>
struct guard_on_piece {
  Real g0, r0, g1, r1, off;

  /// The coefficients of the piece are positive.
  SALTUS_FN mask_of<Real> stays() const {
    const Real first = fma(Real(1.0 / 3.0), r0, g0), last = fma(Real(-1.0 / 3.0), r1, g1);
    return (min(min(first, last), g1) >= Real(0.0)) & (first + last >= off + off) &
           ((g1 > Real(0.0)) | !(r1 < Real(0.0)));
  }
  /// Those of its derivative do not become positive after they were negative: it falls, or rises and then falls.
  SALTUS_FN mask_of<Real> turns_down_at_most() const {
    const Real zero(0.0), twice_middle = Real(2.0) * (Real(3.0) * (g1 - g0) - (r0 + r1)), wide = Real(12.0) * off;
    const Real second = r0 + twice_middle, third = twice_middle + r1;  // times three
    const Real later = max(third + wide, r1), latest = max(second + wide, later);
    return !(((r0 < zero) & (latest > zero)) | ((second < wide) & (later > zero)) | ((third < wide) & (r1 > zero)));
  }
};

/// The piece of a step that is being searched, and how far the guards may be off their cubics there.
template <class E, class Real>
struct searched_piece {
  guards_at<E, Real> a, b, next;  ///< its ends, and a known point behind it
  vec<Real, E::ng> off;
  Real pieces = Real(0.5);  ///< of twice its width, in what is searched

  SALTUS_FN searched_piece(const guards_at<E, Real>& begin, const guards_at<E, Real>& end)
      : a(begin), b(end), next(end) {}
  SALTUS_FN Real width() const { return b.s - a.s; }
  SALTUS_FN Real middle() const { return fma(Real(0.5), width(), a.s); }
  SALTUS_FN guard_on_piece<Real> guard(int i, Real side) const {
    const Real pace = side * width();
    return {side * a.g.value[i], pace * a.g.rate[i], side * b.g.value[i], pace * b.g.rate[i], off[i]};
  }
  /// Goes on with its first half, up to `middle`, where it is known by now how far the guards are off the cubics of the whole.
  SALTUS_FN void divide(const guards_at<E, Real>& middle, mask_of<Real> where) {
    const Real half = Real(0.5) * width();
    each<E::ng>([&](int i) SALTUS_INLINE_LAMBDA {
      assign_where(
          where, off[i],
          halves_of_guard<Real>({a.g.value[i], half * a.g.rate[i]}, {middle.g.value[i], half * middle.g.rate[i]},
                                {b.g.value[i], half * b.g.rate[i]})
              .off);
    });
    next = select<E, Real>(where, b, next);
    b = select<E, Real>(where, middle, b);
    assign_where(where, pieces, pieces + pieces);
  }
  /// Goes on behind it: up to the known point, up to the end, or, in the lanes returned, up to `further`, which is to be evaluated.
  SALTUS_FN mask_of<Real> advance(mask_of<Real> where, const guards_at<E, Real>& end, Real& further) {
    const Real last = width(), place = b.s * pieces;
    const auto known = next.s > b.s, doubles = floor(place) == place;
    further = b.s + select(doubles, last + last, last);
    const auto is_new = where & !known & (further < end.s - Real(0.25) * last), grows = where & !known & doubles;
    each<E::ng>([&](int i) SALTUS_INLINE_LAMBDA { assign_where(grows, off[i], Real(16.0) * off[i]); });
    assign_where(grows, pieces, Real(0.5) * pieces);
    a = select<E, Real>(where, b, a);
    b = select<E, Real>(where, select<E, Real>(known, next, end), b);
    return is_new;
  }
};

/// Looks for a dip of guard i over a piece, where the cubic through its ends leaves one possible. `keep_first(lanes, s)` is told the points at
/// which the guard has left its side.
template <class E, class Real, class KeepFirst>
SALTUS_FN_COLD void look_for_dip(const guards_on_step<E, Real>& on_step, const vec<Real, E::ng>& side, int i,
                                 const searched_piece<E, Real>& piece, mask_of<Real> where,
                                 const KeepFirst& keep_first) {
  const auto& [g0, r0, g1, r1, off] = piece.guard(i, side[i]);
  const auto crossed = has_crossed(side[i], piece.b.g.value[i], piece.b.g.rate[i]);
  const auto plain = where & !crossed & (r0 < Real(0.0)) & (r1 > Real(0.0));
  // A dip that the slopes at the ends do not show: before a crossing, or beside a maximum of the guard.
  const auto cubic = cubic_shape<Real>(g0, r0, g1, r1);
  const auto hidden = where & !plain & cubic.has_minimum & is_inside(cubic.minimum) & is_inside(cubic.inflection);
  if (none(plain | hidden)) return;
  guards_at<E, Real> from = piece.a, to = piece.b;
  if (any(hidden)) {
    const auto between = on_step(select(hidden, fma(piece.width(), cubic.inflection, from.s), from.s));
    keep_first(hidden & (side[i] * between.g.value[i] < Real(0.0)), between.s);
    from = select<E, Real>(hidden & !cubic.minimum_first, between, from);
    to = select<E, Real>(hidden & cubic.minimum_first, between, to);
  }
  const auto falls_and_rises = (side[i] * from.g.rate[i] < Real(0.0)) & (side[i] * to.g.rate[i] > Real(0.0));
  const auto bottom = probe_dip<E, Real>(on_step, side, i, from, to, (plain | hidden) & falls_and_rises);
  keep_first(bottom.found, bottom.hi);
}

/// The first bracket between two points of a step that `attempt` found suspect: `begin`, where no guard has left its side (the start of the
/// step, or a crossing that was passed silently), and its end. A piece in which each guard stays on its side, or turns down at most, is settled;
/// others are divided, down to the narrowest.
template <class E, class Real>
SALTUS_FN_COLD bracket<E, Real> detect(instance<E, Real>& x, const guards_on_step<E, Real>& on_step,
                                       const vec<Real, E::ng>& side, const guards_at<E, Real>& begin,
                                       const guards_at<E, Real>& end, mask_of<Real> where) {
  constexpr double narrowest = 1.0 / 32;
  constexpr int most = 256;
  bracket<E, Real> r{mask_of<Real>::all(false), Real(0.0), Real(1.0)};
  searched_piece<E, Real> piece(begin, end);
  const auto keep_first = [&](mask_of<Real> m, Real s) SALTUS_INLINE_LAMBDA {
    assign_where(m, r.hi, select(r.found, min(r.hi, s), s));
    r.found = r.found | m;
  };
  auto open = where & (end.s > begin.s);
  piece.divide(on_step(piece.middle()), open);
  for (int pieces = 0; pieces < most && any(open); ++pieces) {
    auto doubtful = mask_of<Real>::all(false);
    const auto judge = [&](int i) SALTUS_INLINE_LAMBDA {
      const auto guard = piece.guard(i, side[i]);
      doubtful = doubtful | ((side[i] != Real(0.0)) & !(guard.stays() | guard.turns_down_at_most()));
    };
    if constexpr (E::is_quick) each<E::ng>(judge);  // so short that it is not worth a loop
    else
      for (int i = 0; i < E::ng; ++i) judge(i);
    auto divides = open & doubtful;
    seldom(x, divides, [&]() SALTUS_INLINE_LAMBDA {
      divides = divides & (piece.width() > Real(narrowest));
      const auto narrow = open & doubtful & !divides;
      for (int i = 0; i < E::ng && any(narrow); ++i)
        look_for_dip<E, Real>(on_step, side, i, piece, narrow & (side[i] != Real(0.0)), keep_first);
    });
    if constexpr (E::is_quick) open = open & !doubtful;
    keep_first(open & !divides & any_crossed<E, Real>(side, piece.b.g), piece.b.s);
    assign_where(open & r.found, r.lo, piece.a.s);
    open = open & !r.found & (divides | (piece.b.s < end.s));
    if (none(open)) break;
    divides = divides & open;
    const Real middle = piece.middle();
    Real further;
    const auto is_new = piece.advance(open & !divides, end, further);
    if (any(divides | is_new)) {
      const auto found = on_step(select(divides, middle, further));
      piece.divide(found, divides);
      piece.b = select<E, Real>(is_new, found, piece.b);
    }
  }
  r.guess = guess_root<E, Real>(side, piece.a, piece.b);
  return r;
}

}  // namespace saltus
