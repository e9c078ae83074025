// interval<Real>: two numbers that enclose the true one, carried through a model's functions like a single number. The result encloses
// every value that the function takes on the interval, in exact arithmetic and in that of Real.
//
// Directed roundings are not used: every bound is rounded to nearest and moved outward. For an operation that is rounded once it moves by
// one part in 2^52 (float: 2^23) and the smallest normal number; for an elementary function, whose error is below two units in the last
// place (docs/numerics.md), by four such parts.
//
// Unknown - a NaN, or a value that may be one - is an interval with NaN for both bounds. Every result of it is unknown, and no comparison
// with it is certain. A bound may be infinite: 1 / [-1, 1] is [-inf, inf].
//
// A dual<interval<Real>> encloses the derivatives as well. At a kink it encloses those of both sides; at a jump the derivative is unknown.
#pragma once

#include "number/math.hpp"

namespace saltus {

template <class Real>
struct interval;

/// The answer of a comparison: true for all numbers in the intervals (certain), or for some (possible).
template <class Real>
struct interval_mask {
  using plain = mask_of<Real>;
  plain certain, possible;

  interval_mask() = default;
  SALTUS_FN interval_mask(plain m) : certain(m), possible(m) {}
  SALTUS_FN interval_mask(plain certainly, plain possibly) : certain(certainly), possible(possibly) {}
  SALTUS_FN static interval_mask all(bool on) { return plain::all(on); }

  /// True if the condition may hold in a lane.
  SALTUS_FN friend bool any(const interval_mask& a) { return any(a.possible); }
  SALTUS_FN friend interval_mask operator&(const interval_mask& a, const interval_mask& b) {
    return {a.certain & b.certain, a.possible & b.possible};
  }
  SALTUS_FN friend interval_mask operator|(const interval_mask& a, const interval_mask& b) {
    return {a.certain | b.certain, a.possible | b.possible};
  }
  SALTUS_FN friend interval_mask operator!(const interval_mask& a) { return {!a.possible, !a.certain}; }
  SALTUS_FN friend interval_mask operator&&(const interval_mask& a, const interval_mask& b) { return a & b; }
  SALTUS_FN friend interval_mask operator||(const interval_mask& a, const interval_mask& b) { return a | b; }
  SALTUS_FN friend interval_mask operator^(const interval_mask& a, const interval_mask& b) {
    return (a & (!b)) | ((!a) & b);
  }
  /// a where m is certain, b where m is impossible, else the hull of both.
  SALTUS_FN friend interval<Real> select(const interval_mask& m, const interval<Real>& a, const interval<Real>& b) {
    return select(m.certain, a, select(m.possible, hull(a, b), b));
  }
};

/// True if possible in any lane.
template <class Real>
SALTUS_FN bool any(const interval_mask<Real>& a) {
  return any(a.possible);
}
template <class Real>
SALTUS_FN bool none(const interval_mask<Real>& a) {
  return none(a.possible);
}

namespace detail {

/// [lo, hi], or unknown where either is NaN.
template <class Real>
SALTUS_FN interval<Real> known(Real lo, Real hi) {
  const auto ok = lo <= hi;
  return {select(ok, lo, not_a_number<Real>()), select(ok, hi, not_a_number<Real>())};
}
/// x, or unknown where m is false.
template <class Real>
SALTUS_FN interval<Real> known_where(mask_of<Real> m, const interval<Real>& x) {
  return {select(m, x.lo, not_a_number<Real>()), select(m, x.hi, not_a_number<Real>())};
}
/// Moves bounds outward that were rounded once to nearest and did not underflow.
template <class Real>
SALTUS_FN interval<Real> outward_of_sum(Real lo, Real hi) {
  const Real part(limits<scalar_of<Real>>::epsilon);
  return known(fma(abs(lo), -part, lo), fma(abs(hi), part, hi));
}
/// Moves bounds outward that are wrong by less than `units` parts of epsilon, or have underflowed.
template <class Real>
SALTUS_FN interval<Real> outward(Real lo, Real hi, double units = 1.0) {
  using of = limits<scalar_of<Real>>;
  const Real part(units * of::epsilon), least(of::smallest);
  return known(fma(abs(lo), -part, lo) - least, fma(abs(hi), part, hi) + least);
}
/// The same for two values in any order; unknown where either is NaN.
template <class Real>
SALTUS_FN interval<Real> outward_of_both(Real a, Real b, double units) {
  return known_where((a == a) & (b == b), outward(min(a, b), max(a, b), units));
}
/// A constant that is not a double.
template <class Real>
SALTUS_FN interval<Real> about(double x) {
  return outward(Real(x), Real(x));
}
/// The error of an elementary function, with room to spare, in parts of epsilon.
inline constexpr double elementary = 4.0;

/// Keeps rounding from moving bounds out of a function's range. Unknown remains unknown.
template <class Real>
SALTUS_FN interval<Real> at_least(double least, const interval<Real>& x) {
  return {max(x.lo, Real(least)), max(x.hi, Real(least))};
}
template <class Real>
SALTUS_FN interval<Real> at_most(double most, const interval<Real>& x) {
  return {min(x.lo, Real(most)), min(x.hi, Real(most))};
}
/// True where the value may be neither infinite nor NaN.
template <class Real>
SALTUS_FN mask_of<Real> is_bounded(const interval<Real>& x) {
  return (x.lo > -infinity<Real>()) & (x.hi < infinity<Real>());
}
template <class Real>
SALTUS_FN mask_of<Real> holds_zero(const interval<Real>& x) {
  return (x.lo <= Real(0.0)) & (x.hi >= Real(0.0));
}

}  // namespace detail

template <class Real>
struct interval {
  using scalar = scalar_of<Real>;
  using mask_type = interval_mask<Real>;
  using integer = typename real_traits<Real>::integer;
  static constexpr int lanes = real_traits<Real>::lanes;

  Real lo, hi;

  interval() = default;
  SALTUS_FN interval(double x) : lo(x), hi(x) {}
  SALTUS_FN interval(Real x) : lo(x), hi(x) {}
  SALTUS_FN interval(Real from, Real to) : lo(from), hi(to) {}
  /// The constant whose nearest double is x.
  SALTUS_FN static interval about(double x) { return detail::about<Real>(x); }

  SALTUS_FN friend interval operator+(const interval& a, const interval& b) {
    return detail::outward_of_sum(a.lo + b.lo, a.hi + b.hi);
  }
  SALTUS_FN friend interval operator-(const interval& a, const interval& b) {
    return detail::outward_of_sum(a.lo - b.hi, a.hi - b.lo);
  }
  /// One object times itself is a square: x * x is not negative.
  SALTUS_FN friend interval operator*(const interval& a, const interval& b) {
    if (&a == &b) return square(a);
    const Real p = a.lo * b.lo, q = a.lo * b.hi, r = a.hi * b.lo, s = a.hi * b.hi;
    // In a row: min and max keep their first argument if the second is a NaN, here 0 times infinity. That is right, since 0 times another
    // bound is among the rest. If the first is a NaN, the product is unknown.
    return detail::outward(min(min(min(p, q), r), s), max(max(max(p, q), r), s));
  }
  SALTUS_FN friend interval square(const interval& a) {
    const interval m = abs(a);
    return detail::at_least(0.0, detail::outward(m.lo * m.lo, m.hi * m.hi));
  }
  SALTUS_FN friend interval reciprocal(const interval& a) {
    const auto pole = detail::holds_zero(a);
    const interval r = detail::outward(Real(1.0) / a.hi, Real(1.0) / a.lo);
    return {select(pole, -detail::infinity<Real>(), r.lo), select(pole, detail::infinity<Real>(), r.hi)};
  }
  /// Division by an interval that holds 0 gives any number, or unknown if it may be 0 / 0.
  SALTUS_FN friend interval operator/(const interval& a, const interval& b) {
    return detail::known_where(!(detail::holds_zero(a) & detail::holds_zero(b)), a * reciprocal(b));
  }
  SALTUS_FN friend interval operator-(const interval& a) { return {-a.hi, -a.lo}; }
  SALTUS_FN friend interval operator+(const interval& a) { return a; }

  SALTUS_FN interval& operator+=(const interval& b) { return *this = *this + b; }
  SALTUS_FN interval& operator-=(const interval& b) { return *this = *this - b; }
  SALTUS_FN interval& operator*=(const interval& b) { return *this = *this * b; }
  SALTUS_FN interval& operator/=(const interval& b) { return *this = *this / b; }

  SALTUS_FN friend mask_type operator<(const interval& a, const interval& b) { return {a.hi < b.lo, !(a.lo >= b.hi)}; }
  SALTUS_FN friend mask_type operator<=(const interval& a, const interval& b) { return {a.hi <= b.lo, !(a.lo > b.hi)}; }
  SALTUS_FN friend mask_type operator>(const interval& a, const interval& b) { return b < a; }
  SALTUS_FN friend mask_type operator>=(const interval& a, const interval& b) { return b <= a; }
  SALTUS_FN friend mask_type operator==(const interval& a, const interval& b) {
    return {(a.lo == b.hi) & (a.hi == b.lo), !((a.hi < b.lo) | (b.hi < a.lo))};
  }
  SALTUS_FN friend mask_type operator!=(const interval& a, const interval& b) { return !(a == b); }

  SALTUS_FN friend interval select(mask_of<Real> m, const interval& a, const interval& b) {
    return {select(m, a.lo, b.lo), select(m, a.hi, b.hi)};
  }
  /// The smallest interval that holds both.
  SALTUS_FN friend interval hull(const interval& a, const interval& b) {
    return both_known(a, b, {min(a.lo, b.lo), max(a.hi, b.hi)});
  }
  SALTUS_FN friend interval min(const interval& a, const interval& b) {
    return both_known(a, b, {min(a.lo, b.lo), min(a.hi, b.hi)});
  }
  SALTUS_FN friend interval max(const interval& a, const interval& b) {
    return both_known(a, b, {max(a.lo, b.lo), max(a.hi, b.hi)});
  }
  SALTUS_FN friend interval fma(const interval& a, const interval& b, const interval& c) {
    if (&a == &b) return square(a) + c;
    const Real lo =
        min(min(min(fma(a.lo, b.lo, c.lo), fma(a.lo, b.hi, c.lo)), fma(a.hi, b.lo, c.lo)), fma(a.hi, b.hi, c.lo));
    const Real hi =
        max(max(max(fma(a.lo, b.lo, c.hi), fma(a.lo, b.hi, c.hi)), fma(a.hi, b.lo, c.hi)), fma(a.hi, b.hi, c.hi));
    return detail::outward(lo, hi);
  }
  /// Unknown where part of the interval is negative.
  SALTUS_FN friend interval sqrt(const interval& a) {
    return detail::at_least(0.0, detail::outward(sqrt(a.lo), sqrt(a.hi)));
  }
  SALTUS_FN friend interval abs(const interval& a) { return {max(max(a.lo, -a.hi), Real(0.0)), max(-a.lo, a.hi)}; }
  SALTUS_FN friend interval sign(const interval& a) { return {sign(a.lo), sign(a.hi)}; }
  /// |a| with the sign of b, which at 0 may be either.
  SALTUS_FN friend interval copysign(const interval& a, const interval& b) {
    const interval m = abs(a);
    const interval r{select(b.lo > Real(0.0), m.lo, -m.hi), select(b.hi < Real(0.0), -m.lo, m.hi)};
    return both_known(a, b, r);
  }

 private:
  SALTUS_FN static interval both_known(const interval& a, const interval& b, const interval& x) {
    return detail::known_where((a.lo == a.lo) & (b.lo == b.lo), x);
  }
};

// ---- functions of one argument --------------------------------------------------------------------------------------
//
// Each holds the function of Real at least twice: not inlined, so that a model compiles in seconds.

// Monotone functions: bounds are the values at the ends.
#define SALTUS_MONOTONE(name, at_lo, at_hi)                                   \
  template <class Real>                                                       \
  SALTUS_FN_COLD interval<Real> name(const interval<Real>& x) {               \
    return detail::outward(name(x.at_lo), name(x.at_hi), detail::elementary); \
  }
SALTUS_MONOTONE(sinh, lo, hi)
SALTUS_MONOTONE(log, lo, hi)
SALTUS_MONOTONE(log2, lo, hi)
SALTUS_MONOTONE(log10, lo, hi)
SALTUS_MONOTONE(asin, lo, hi)
SALTUS_MONOTONE(acos, hi, lo)
SALTUS_MONOTONE(atan, lo, hi)
SALTUS_MONOTONE(cbrt, lo, hi)
#undef SALTUS_MONOTONE

// Steps: exact.
#define SALTUS_STEPS(name)                                 \
  template <class Real>                                    \
  SALTUS_FN interval<Real> name(const interval<Real>& x) { \
    return {name(x.lo), name(x.hi)};                       \
  }
SALTUS_STEPS(floor)
SALTUS_STEPS(ceil)
SALTUS_STEPS(round)
#undef SALTUS_STEPS

template <class Real>
SALTUS_FN_COLD interval<Real> exp(const interval<Real>& x) {
  return detail::at_least(0.0, detail::outward(exp(x.lo), exp(x.hi), detail::elementary));
}
template <class Real>
SALTUS_FN_COLD interval<Real> expm1(const interval<Real>& x) {
  return detail::at_least(-1.0, detail::outward(expm1(x.lo), expm1(x.hi), detail::elementary));
}
template <class Real>
SALTUS_FN_COLD interval<Real> tanh(const interval<Real>& x) {
  return detail::at_least(-1.0, detail::at_most(1.0, detail::outward(tanh(x.lo), tanh(x.hi), detail::elementary)));
}
template <class Real>
SALTUS_FN_COLD interval<Real> cosh(const interval<Real>& x) {
  const interval<Real> m = abs(x);
  return detail::at_least(1.0, detail::outward(cosh(m.lo), cosh(m.hi), detail::elementary));
}

namespace detail {

inline constexpr double pi = 3.141592653589793;

/// True if x holds period * (k + phase) for a whole number k, or comes near one.
template <class Real>
SALTUS_FN mask_of<Real> holds_multiple(const interval<Real>& x, double period, double phase) {
  const Real from = fma(x.lo, Real(1.0 / period), Real(-phase)), to = fma(x.hi, Real(1.0 / period), Real(-phase));
  const Real slack(8.0 * limits<scalar_of<Real>>::epsilon);
  return floor(fma(slack, abs(to) + Real(1.0), to)) >= fma(-slack, abs(from) + Real(1.0), from);
}

/// The range of a sine or cosine, from its values at the ends, its minima at 2 pi (k + lowest) and its maxima half a
/// period on.
template <class Real>
SALTUS_FN interval<Real> wave(const interval<Real>& x, Real at_lo, Real at_hi, double lowest) {
  const interval<Real> ends = at_least(-1.0, at_most(1.0, outward_of_both(at_lo, at_hi, elementary)));
  const auto valid = ends.lo == ends.lo;
  return {select(valid & holds_multiple(x, 2.0 * pi, lowest), Real(-1.0), ends.lo),
          select(valid & holds_multiple(x, 2.0 * pi, lowest + 0.5), Real(1.0), ends.hi)};
}

}  // namespace detail

template <class Real>
SALTUS_FN_COLD interval<Real> sin(const interval<Real>& x) {
  return detail::wave(x, sin(x.lo), sin(x.hi), -0.25);
}
template <class Real>
SALTUS_FN_COLD interval<Real> cos(const interval<Real>& x) {
  return detail::wave(x, cos(x.lo), cos(x.hi), 0.5);
}
template <class Real>
SALTUS_FN_COLD interval<Real> tan(const interval<Real>& x) {
  const interval<Real> ends = detail::outward_of_both(tan(x.lo), tan(x.hi), detail::elementary);
  const auto pole = detail::holds_multiple(x, detail::pi, 0.5) & (ends.lo == ends.lo);
  return {select(pole, -detail::infinity<Real>(), ends.lo), select(pole, detail::infinity<Real>(), ends.hi)};
}

// ---- functions of two arguments -------------------------------------------------------------------------------------

template <class Real>
SALTUS_FN_COLD interval<Real> hypot(const interval<Real>& x, const interval<Real>& y) {
  const interval<Real> a = abs(x), b = abs(y);
  return detail::known_where(
      (a.lo == a.lo) & (b.lo == b.lo),
      detail::at_least(0.0, detail::outward(hypot(a.lo, b.lo), hypot(a.hi, b.hi), detail::elementary)));
}

namespace detail {

/// The smallest and the largest of four, moved outward; unknown where one is NaN.
template <class Real>
SALTUS_FN interval<Real> outward_of_corners(Real p, Real q, Real r, Real s) {
  return known_where((p == p) & (q == q) & (r == r) & (s == s),
                     outward(min(min(p, q), min(r, s)), max(max(p, q), max(r, s)), elementary));
}
/// True where the box holds a point of the negative x axis, at which the angle of (x, y) jumps by a turn.
template <class Real>
SALTUS_FN mask_of<Real> holds_cut(const interval<Real>& y, const interval<Real>& x) {
  return holds_zero(y) & (x.lo < Real(0.0));
}

}  // namespace detail

/// The angle is monotone along each side of a box; on the negative x axis it may be anything.
template <class Real>
SALTUS_FN_COLD interval<Real> atan2(const interval<Real>& y, const interval<Real>& x) {
  const auto corners =
      detail::outward_of_corners(atan2(y.lo, x.lo), atan2(y.lo, x.hi), atan2(y.hi, x.lo), atan2(y.hi, x.hi));
  const auto all_round = detail::holds_cut(y, x) & (x.hi == x.hi);
  const Real half_turn(3.1415926535897936);  // the double above pi; as a float it is above pi too
  return {select(all_round, -half_turn, corners.lo), select(all_round, half_turn, corners.hi)};
}

/// x^y for an exponent that is a plain number: monotone on either side of x = 0; unknown for x < 0 unless y is whole.
template <class Real>
SALTUS_FN_COLD interval<Real> pow(const interval<Real>& x, const Real& y) {
  const Real at_lo = pow(x.lo, y), at_hi = pow(x.hi, y);
  const auto ends = detail::outward_of_both(at_lo, at_hi, detail::elementary);
  const Real half = Real(0.5) * y;
  const auto even = round(half) == half;
  const auto inside = detail::holds_zero(x) & (ends.lo == ends.lo);
  const auto bottom = inside & even & (y > Real(0.0));
  const auto pole = inside & (y < Real(0.0));
  const auto falls = pole & !even & (x.lo < Real(0.0));
  const Real floor_ = select(bottom | (x.lo >= Real(0.0)), max(ends.lo, Real(0.0)), ends.lo);
  return {select(bottom, Real(0.0), select(falls, -detail::infinity<Real>(), floor_)),
          select(pole, detail::infinity<Real>(), ends.hi)};
}

/// x^y for exponents that vary: monotone in both arguments where x >= 0; unknown where x < 0.
template <class Real>
SALTUS_FN interval<Real> pow(const interval<Real>& x, const interval<Real>& y) {
  const interval<Real> lowest = pow(x, y.lo), highest = pow(x, y.hi);
  return select(y.lo == y.hi, lowest, detail::known_where(x.lo >= Real(0.0), hull(lowest, highest)));
}
template <class Real>
SALTUS_FN interval<Real> pow(const interval<Real>& x, double y) {
  if (y == 0.0) return 1.0;
  if (y == 1.0) return x;
  if (y == 2.0) return square(x);
  if (y == 4.0) return square(square(x));
  if (y == -1.0) return reciprocal(x);
  if (y == 3.0) return detail::outward(x.lo * x.lo * x.lo, x.hi * x.hi * x.hi, detail::elementary);
  return pow(x, Real(y));
}
template <class Real>
SALTUS_FN interval<Real> pow(const Real& x, const interval<Real>& y) {
  return pow(interval<Real>(x), y);
}
template <class Real>
SALTUS_FN interval<Real> pow(double x, const interval<Real>& y) {
  return pow(interval<Real>(x), y);
}

// ---- values with derivatives ----------------------------------------------------------------------------------------

/// Differs from other duals in three ways. Parameters, of type Real, mix with it. Where a value may jump, its derivatives are unknown, so
/// that no conclusion is drawn from them. Where the branch of min, max or select is undecided, the result encloses both branches: the
/// derivatives on both sides of a kink.
template <class R, int N>
struct dual<interval<R>, N> {
  using Real = interval<R>;
  using scalar = scalar_of<R>;
  using mask_type = interval_mask<R>;
  using integer = typename real_traits<R>::integer;
  static constexpr int lanes = real_traits<R>::lanes;

  Real value;
  Real d[N];

  dual() = default;
  SALTUS_FN dual(double x) : dual(Real(x)) {}
  SALTUS_FN dual(R x) : dual(Real(x)) {}
  SALTUS_FN dual(Real x) : value(x) {
    for (int i = 0; i < N; ++i) d[i] = Real(0.0);
  }
  SALTUS_FN dual(Real x, Real dx) requires(N == 1) : value(x) { d[0] = dx; }

  /// a with unknown derivatives where m is false.
  SALTUS_FN friend dual smooth_where(mask_of<R> m, const dual& a) {
    dual r(a.value);
    for (int i = 0; i < N; ++i) r.d[i] = detail::known_where(m, a.d[i]);
    return r;
  }
  /// The chain rule. A value without bounds may jump from one end of the numbers to the other.
  SALTUS_FN friend dual chain(const Real& value, const Real& derivative, const dual& a) {
    dual r(value);
    for (int i = 0; i < N; ++i) r.d[i] = derivative * a.d[i];
    return smooth_where(detail::is_bounded(value), r);
  }

  SALTUS_FN friend dual operator+(const dual& a, const dual& b) {
    dual r(a.value + b.value);
    for (int i = 0; i < N; ++i) r.d[i] = a.d[i] + b.d[i];
    return r;
  }
  SALTUS_FN friend dual operator-(const dual& a, const dual& b) {
    dual r(a.value - b.value);
    for (int i = 0; i < N; ++i) r.d[i] = a.d[i] - b.d[i];
    return r;
  }
  SALTUS_FN friend dual operator*(const dual& a, const dual& b) {
    dual r(a.value * b.value);
    for (int i = 0; i < N; ++i) r.d[i] = fma(a.d[i], b.value, a.value * b.d[i]);
    return r;
  }
  SALTUS_FN friend dual operator/(const dual& a, const dual& b) {
    const Real inverse = reciprocal(b.value);
    dual r(a.value / b.value);
    for (int i = 0; i < N; ++i) r.d[i] = fma(-r.value, b.d[i], a.d[i]) * inverse;
    return smooth_where(detail::is_bounded(r.value), r);
  }
  SALTUS_FN friend dual operator-(const dual& a) {
    dual r(-a.value);
    for (int i = 0; i < N; ++i) r.d[i] = -a.d[i];
    return r;
  }
  SALTUS_FN friend dual operator+(const dual& a) { return a; }

  SALTUS_FN dual& operator+=(const dual& b) { return *this = *this + b; }
  SALTUS_FN dual& operator-=(const dual& b) { return *this = *this - b; }
  SALTUS_FN dual& operator*=(const dual& b) { return *this = *this * b; }
  SALTUS_FN dual& operator/=(const dual& b) { return *this = *this / b; }

  SALTUS_FN friend mask_type operator<(const dual& a, const dual& b) { return a.value < b.value; }
  SALTUS_FN friend mask_type operator<=(const dual& a, const dual& b) { return a.value <= b.value; }
  SALTUS_FN friend mask_type operator>(const dual& a, const dual& b) { return a.value > b.value; }
  SALTUS_FN friend mask_type operator>=(const dual& a, const dual& b) { return a.value >= b.value; }
  SALTUS_FN friend mask_type operator==(const dual& a, const dual& b) { return a.value == b.value; }
  SALTUS_FN friend mask_type operator!=(const dual& a, const dual& b) { return a.value != b.value; }

  /// If m is undecided and the branches have no value in common, the result jumps.
  SALTUS_FN friend dual select(const mask_type& m, const dual& a, const dual& b) {
    const auto meets = (a.value.lo <= b.value.hi) & (b.value.lo <= a.value.hi);
    dual r(select(m, a.value, b.value));
    for (int i = 0; i < N; ++i) r.d[i] = select(m, a.d[i], b.d[i]);
    return smooth_where(m.certain | !m.possible | meets, r);
  }
  SALTUS_FN friend dual fma(const dual& a, const dual& b, const dual& c) {
    dual r(fma(a.value, b.value, c.value));
    for (int i = 0; i < N; ++i) r.d[i] = fma(a.d[i], b.value, fma(a.value, b.d[i], c.d[i]));
    return r;
  }
  SALTUS_FN friend dual sqrt(const dual& a) {
    const Real root = sqrt(a.value);
    return chain(root, Real(0.5) / root, a);
  }
  SALTUS_FN friend dual abs(const dual& a) {
    return chain(abs(a.value), select(a.value < Real(0.0), Real(-1.0), Real(1.0)), a);
  }
  SALTUS_FN friend dual sign(const dual& a) { return steps(sign(a.value)); }
  SALTUS_FN friend dual min(const dual& a, const dual& b) {
    dual r(min(a.value, b.value));
    for (int i = 0; i < N; ++i) r.d[i] = select(b.value < a.value, b.d[i], a.d[i]);
    return r;
  }
  SALTUS_FN friend dual max(const dual& a, const dual& b) {
    dual r(max(a.value, b.value));
    for (int i = 0; i < N; ++i) r.d[i] = select(a.value < b.value, b.d[i], a.d[i]);
    return r;
  }

  /// The value of a step function: constant, or it jumps.
  SALTUS_FN static dual steps(const Real& value) { return smooth_where(value.lo == value.hi, dual(value)); }
};

template <class R, int N>
SALTUS_FN dual<interval<R>, N> floor(const dual<interval<R>, N>& a) {
  return dual<interval<R>, N>::steps(floor(a.value));
}
template <class R, int N>
SALTUS_FN dual<interval<R>, N> ceil(const dual<interval<R>, N>& a) {
  return dual<interval<R>, N>::steps(ceil(a.value));
}
template <class R, int N>
SALTUS_FN dual<interval<R>, N> round(const dual<interval<R>, N>& a) {
  return dual<interval<R>, N>::steps(round(a.value));
}
template <class R, int N>
SALTUS_FN dual<interval<R>, N> log2(const dual<interval<R>, N>& a) {
  return chain(log2(a.value), detail::about<R>(1.4426950408889634) / a.value, a);
}
template <class R, int N>
SALTUS_FN dual<interval<R>, N> log10(const dual<interval<R>, N>& a) {
  return chain(log10(a.value), detail::about<R>(0.4342944819032518) / a.value, a);
}
/// |a| with the sign of b; jumps where b changes sign, unless a is 0 there.
template <class R, int N>
SALTUS_FN dual<interval<R>, N> copysign(const dual<interval<R>, N>& a, const dual<interval<R>, N>& b) {
  const auto up = b.value.lo > R(0.0), down = b.value.hi < R(0.0);
  const interval<R> derivative =
      select(down, interval<R>(-1.0), interval<R>(1.0)) * select(a.value < 0.0, interval<R>(-1.0), interval<R>(1.0));
  return smooth_where(up | down, chain(copysign(a.value, b.value), derivative, a));
}
template <class R, int N>
SALTUS_FN dual<interval<R>, N> atan2(const dual<interval<R>, N>& y, const dual<interval<R>, N>& x) {
  const interval<R> scale = reciprocal(square(x.value) + square(y.value));
  dual<interval<R>, N> r(atan2(y.value, x.value));
  for (int i = 0; i < N; ++i) r.d[i] = fma(x.value, y.d[i], -(y.value * x.d[i])) * scale;
  return smooth_where(!detail::holds_cut(y.value, x.value), r);
}
/// The direction (x, y) / hypot has components of at most 1, also where both are 0.
template <class R, int N>
SALTUS_FN dual<interval<R>, N> hypot(const dual<interval<R>, N>& x, const dual<interval<R>, N>& y) {
  dual<interval<R>, N> r(hypot(x.value, y.value));
  const auto along = [&](const interval<R>& a) SALTUS_INLINE_LAMBDA {
    const auto part = select(detail::holds_zero(r.value), interval<R>(R(-1.0), R(1.0)), a / r.value);
    return detail::at_least(-1.0, detail::at_most(1.0, part));
  };
  const auto along_x = along(x.value), along_y = along(y.value);
  for (int i = 0; i < N; ++i) r.d[i] = fma(along_x, x.d[i], along_y * y.d[i]);
  return r;
}

namespace detail {

/// d(x^y)/dx = y x^(y-1). Rounding y - 1 by at most epsilon / 4 changes the power by that part of the largest logarithm of a number.
template <class R>
SALTUS_FN interval<R> power_derivative_enclosed(const interval<R>& x, const R& y) {
  constexpr double off = 1024.0 * limits<scalar_of<R>>::epsilon;
  const R less = y - R(1.0);
  const auto exact = two_sum(y, R(-1.0)).lo == R(0.0);
  const interval<R> spread(select(exact, R(1.0), R(1.0 - off)), select(exact, R(1.0), R(1.0 + off)));
  return select(y == R(0.0), interval<R>(0.0), interval<R>(y) * (pow(x, less) * spread));
}
template <class R>
SALTUS_FN interval<R> power_derivative_enclosed(const interval<R>& x, const interval<R>& y) {
  return select(y.lo == y.hi, power_derivative_enclosed(x, y.lo), y * pow(x, y - interval<R>(1.0)));
}

}  // namespace detail

template <class R, int N>
SALTUS_FN dual<interval<R>, N> pow(const dual<interval<R>, N>& x, const R& y) {
  return chain(pow(x.value, y), detail::power_derivative_enclosed(x.value, y), x);
}
template <class R, int N>
SALTUS_FN dual<interval<R>, N> pow(const dual<interval<R>, N>& x, const interval<R>& y) {
  return chain(pow(x.value, y), detail::power_derivative_enclosed(x.value, y), x);
}
template <class R, int N>
SALTUS_FN dual<interval<R>, N> pow(const dual<interval<R>, N>& x, double y) {
  // Small whole numbers: two powers that are products.
  if (y == 1.0 || y == 2.0 || y == 3.0 || y == 4.0 || y == -1.0)
    return chain(pow(x.value, y), interval<R>(y) * pow(x.value, y - 1.0), x);
  return chain(pow(x.value, y), detail::power_derivative_enclosed(x.value, R(y)), x);
}
template <class R, int N>
SALTUS_FN dual<interval<R>, N> pow(const interval<R>& x, const dual<interval<R>, N>& y) {
  const interval<R> power = pow(x, y.value);
  return chain(power, detail::exponent_derivative(x, power), y);
}
template <class R, int N>
SALTUS_FN dual<interval<R>, N> pow(const R& x, const dual<interval<R>, N>& y) {
  return pow(interval<R>(x), y);
}
template <class R, int N>
SALTUS_FN dual<interval<R>, N> pow(double x, const dual<interval<R>, N>& y) {
  return pow(interval<R>(x), y);
}
template <class R, int N>
SALTUS_FN dual<interval<R>, N> pow(const dual<interval<R>, N>& x, const dual<interval<R>, N>& y) {
  const interval<R> along_x = detail::power_derivative_enclosed(x.value, y.value);
  dual<interval<R>, N> r(pow(x.value, y.value));
  const interval<R> along_y = detail::exponent_derivative(x.value, r.value);
  for (int i = 0; i < N; ++i)
    r.d[i] = fma(along_x, x.d[i], select(y.d[i] == interval<R>(0.0), interval<R>(0.0), along_y * y.d[i]));
  return smooth_where(detail::is_bounded(r.value), r);
}

}  // namespace saltus
