// Elementary functions over pack<T, W> (T = double, float) and dual<Real, N>, written out in + - * / sqrt fma and bit
// operations. Each is one straight line of code without a library call, a table or a branch on a value, so that a lane
// of any width, a scalar run and a GPU thread hold the same bits; this needs contraction off (-ffp-contract=off,
// --fmad=false) and the default, IEEE division of nvcc and NVRTC. docs/numerics.md lists the errors measured.
//
// Conventions of C99 Annex F hold for zeros, infinities and NaN (which NaN is not promised). Results that underflow
// are rounded to subnormal numbers or zero. Argument reductions follow W. J. Cody and W. Waite, Software Manual for the
// Elementary Functions (1980); the error-free sum and product are those of T. J. Dekker, Numer. Math. 18 (1971).
// Polynomials are minimax (Remez) fits of our own with each coefficient rounded to T; "error 2^-n" is relative to the
// function they serve, without rounding, on the interval given, for double / float.
#pragma once

#include "number/dual.hpp"

namespace saltus {

namespace detail {

template <class T>
inline constexpr bool wide = sizeof(T) == 8;

/// Added to |x| < 2^51 (2^22) and subtracted again, rounds x to the nearest even integer and leaves it in the low bits.
template <class T>
inline constexpr double rounder = wide<T> ? 0x1.8p52 : 0x1.8p23;

template <class Real>
SALTUS_FN Real infinity() {
  using integer = typename Real::integer;
  return Real::from_bits(integer(wide<typename Real::scalar> ? 0x7ffll << 52 : 0xffll << 23));
}
template <class Real>
SALTUS_FN Real not_a_number() {
  using integer = typename Real::integer;
  return Real::from_bits(integer(wide<typename Real::scalar> ? 0xfffll << 51 : 0x1ffll << 22));
}

/// leading x^n + ... + last: two Horner chains in x^2 side by side, half the latency of one.
template <class Real, class... C>
SALTUS_FN Real polynomial(Real x, double leading, double second, C... rest) {
  const Real xx = x * x;
  Real p(leading), q(second);
  auto add = [&](double c) SALTUS_INLINE_LAMBDA {
    const Real next = fma(p, xx, Real(c));
    p = q;
    q = next;
  };
  (add(rest), ...);
  return fma(p, x, q);
}

/// A number as the unevaluated sum hi + lo.
template <class Real>
struct two {
  Real hi, lo;
};
/// hi + lo = a + b exactly, where |a| >= |b|, a = 0, or a is a multiple of the last bit of b.
template <class Real>
SALTUS_FN two<Real> fast_two_sum(Real a, Real b) {
  const Real s = a + b;
  return {s, b - (s - a)};
}
/// hi + lo = a + b exactly (D. E. Knuth).
template <class Real>
SALTUS_FN two<Real> two_sum(Real a, Real b) {
  const Real s = a + b;
  const Real t = s - a;
  return {s, (a - (s - t)) + (b - t)};
}
/// hi + lo = a b exactly (where lo does not underflow).
template <class Real>
SALTUS_FN two<Real> two_product(Real a, Real b) {
  const Real p = a * b;
  return {p, fma(a, b, -p)};
}
/// hi + lo = n / d to about twice the digits, with one division.
template <class Real>
SALTUS_FN two<Real> quotient(two<Real> n, two<Real> d) {
  const Real inverse = Real(1.0) / d.hi;
  const Real q = n.hi * inverse;
  return {q, (fma(-q, d.lo, fma(-q, d.hi, n.hi)) + n.lo) * inverse};
}

/// |x| rounded to the nearest integer, ties to even.
template <class T, int W>
SALTUS_FN pack<T, W> nearest(pack<T, W> ax) {
  using real = pack<T, W>;
  const real whole(wide<T> ? 0x1p52 : 0x1p23);  // from here on every number is an integer
  return select(ax < whole, (ax + whole) - whole, ax);
}

/// (e^r - 1 - r - r^2/2) / r^3 for |r| <= ln(2)/2; error in e^r 2^-57.3 / 2^-27.9.
template <class T, int W>
SALTUS_FN pack<T, W> exp_rest(pack<T, W> r) {
  if constexpr (wide<T>)
    return polynomial(r, 0x1.ad2242437fd3bp-26, 0x1.289fb94974df5p-22, 0x1.71df5471ecc8fp-19, 0x1.a019ab02323e2p-16,
                      0x1.a01a011c439f9p-13, 0x1.6c16c17ccfa08p-10, 0x1.11111111288bap-7, 0x1.55555555531e4p-5,
                      0x1.5555555555501p-3);
  else return polynomial(r, 0x1.6b6fb4p-10, 0x1.122fdp-7, 0x1.555688p-5, 0x1.5554a2p-3);
}

/// hi + lo = n ln(2) + r + c with |r| <= ln(2)/2, the rounding error c of r, and `tail` = e^(r+c) - 1 - r; the low bits
/// of `shifted` hold n + `offset`. Cody and Waite with ln(2) in two parts; the first fma is exact.
template <class T, int W>
struct exp_reduced {
  using real = pack<T, W>;
  real r, tail, shifted;

  SALTUS_FN exp_reduced(real hi, real lo, double offset) {
    shifted = fma(hi, real(0x1.71547652b82fep+0), real(rounder<T> + offset));
    const real n = shifted - real(rounder<T> + offset);
    const real a = fma(n, real(wide<T> ? -0x1.62e42fefa39efp-1 : -0x1.62e43p-1), hi);
    const real b = fma(n, real(wide<T> ? -0x1.abc9e3b39803fp-56 : 0x1.05c61p-29), lo);
    r = a + b;
    const real c = (a - r) + b;
    const real z = r * r;
    tail = fma(r * z, exp_rest(r), fma(z, real(0.5), fma(c, r, c)));
  }
};

/// e^(hi + lo) for |lo| of the order of the last bit of hi.
template <class T, int W>
SALTUS_FN pack<T, W> exp_sum(pack<T, W> hi, pack<T, W> lo) {
  using real = pack<T, W>;
  using integer = typename real::integer;
  // Beyond these bounds the result has overflowed, or underflowed to zero; a NaN passes through min and max.
  const real x = max(min(hi, real(wide<T> ? 710.0 : 89.0)), real(wide<T> ? -746.0 : -104.5));
  constexpr double bias = static_cast<double>(2 * limits<T>::bias);
  const exp_reduced<T, W> e(x, select(x == hi, lo, real(0.0)), bias);
  const two<real> sum = fast_two_sum(real(1.0), e.r);
  // 2^n in two factors, so that one rounding leads to subnormal results.
  const integer n2 = bits(e.shifted);  // n plus twice the bias
  const integer n1 = n2.shift_right(1);
  return (sum.hi + (sum.lo + e.tail)) * real::from_bits(n1.shift_left(limits<T>::mantissa_bits)) *
         real::from_bits((n2 - n1).shift_left(limits<T>::mantissa_bits));
}

/// (e^x - 1) / 4 as hi + lo: a quarter, because e^x may exceed the largest number where sinh(x) does not. Constant from
/// x = 710.6 (89.45) on, where its double has overflowed, and below -40 (-20), where it has rounded to -1/4.
template <class T, int W>
SALTUS_FN two<pack<T, W>> expm1_quarter(pack<T, W> x) {
  using real = pack<T, W>;
  x = max(min(x, real(wide<T> ? 710.6 : 89.45)), real(wide<T> ? -40.0 : -20.0));
  const exp_reduced<T, W> e(x, real(0.0), static_cast<double>(limits<T>::bias - 2));
  const real scale = real::from_bits(bits(e.shifted).shift_left(limits<T>::mantissa_bits));  // 2^n / 4
  const real a = scale - real(0.25);
  const real b = fma(scale, e.r, a);
  return fast_two_sum(b, fma(scale, e.tail, fma(scale, e.r, a - b)));
}

/// x = m 2^k with m in [sqrt(1/2), sqrt(2)), for finite x > 0; f = m - 1 is exact.
template <class T, int W>
struct binary {
  using real = pack<T, W>;
  using integer = typename real::integer;
  real m, k;

  SALTUS_FN explicit binary(real x) {
    constexpr int width = limits<T>::mantissa_bits;
    constexpr double lift = width + 2;  // scaling by 2^lift makes a subnormal number normal
    const auto tiny = x < real(limits<T>::smallest);
    const real normal = select(tiny, x * real(wide<T> ? 0x1p54 : 0x1p25), x);
    const integer b = bits(normal) & integer(~real::sign_bit);
    const integer e = (b - bits(real(0x1.6a09e667f3bcdp-1))).shift_right(width);
    m = real::from_bits(b - e.shift_left(width));
    k = real::from_bits(e + bits(real(rounder<T>))) - select(tiny, real(rounder<T> + lift), real(rounder<T>));
  }
};

/// log(1 + f) = f - this, for 1 + f in [sqrt(1/2), sqrt(2)). The arrangement of fdlibm's e_log.c: with s = f / (2 + f),
/// log(1 + f) = 2 atanh(s) = f - f^2/2 + s (f^2/2 + s^2 P(s^2)), |s| <= .1716; error 2^-59.5 / 2^-30.2.
/// `extra` is subtracted as well.
template <class T, int W>
SALTUS_FN pack<T, W> log_defect(pack<T, W> f, pack<T, W> extra) {
  using real = pack<T, W>;
  const real s = f / (real(2.0) + f);
  const real z = s * s;
  real p;
  if constexpr (wide<T>)
    p = polynomial(z, 0x1.2f11802e51c5ap-3, 0x1.39a09579dc5d5p-3, 0x1.746649b023abcp-3, 0x1.c71c51d7cccccp-3,
                   0x1.249249422a477p-2, 0x1.999999997f9f8p-2, 0x1.5555555555593p-1);
  else p = polynomial(z, 0x1.31e13ap-2, 0x1.995ed2p-2, 0x1.55557ap-1);
  const real half_square = real(0.5) * f * f;
  return half_square - fma(s, fma(z, p, half_square), extra);
}

/// Special cases of a logarithm: -inf at 0, NaN below, inf at inf, NaN for NaN.
template <class T, int W>
SALTUS_FN pack<T, W> log_at(pack<T, W> x, pack<T, W> computed) {
  using real = pack<T, W>;
  const real above = select(x < infinity<real>(), computed, x);
  const real below = select(x == real(0.0), -infinity<real>(), not_a_number<real>());
  return select(x > real(0.0), above, below);
}

/// log(x) / log(base) for log(2) / log(base) = `unit` and 1 / log(base) = `scale`, both as hi + lo; unit.hi is so short
/// that k * unit.hi is exact.
template <class T, int W>
SALTUS_FN pack<T, W> log_to_base(pack<T, W> x, two<double> unit, two<double> scale) {
  using real = pack<T, W>;
  const binary<T, W> b(x);
  const real f = b.m - real(1.0);
  const real defect = log_defect(f, real(0.0));
  const two<real> p = two_product(f, real(scale.hi));
  const two<real> sum = fast_two_sum(b.k * real(unit.hi), p.hi);
  const real low = fma(b.k, real(unit.lo), fma(f, real(scale.lo), p.lo));
  return log_at(x, sum.hi + (sum.lo + fma(defect, real(-scale.hi), low)));
}

/// log(x) as hi + lo, to about 2^-65 (2^-36) of itself: the atanh series with its first two terms in double length;
/// log(m) = 2 s + s^3 (2/3 + s^2 P(s^2)), error 2^-66.3 / 2^-36.8. For x >= 0; lo means nothing where hi is not finite.
template <class T, int W>
SALTUS_FN two<pack<T, W>> log_two(pack<T, W> x) {
  using real = pack<T, W>;
  const binary<T, W> b(x);
  const real f = b.m - real(1.0);
  const two<real> s = quotient<real>({f, real(0.0)}, fast_two_sum(real(1.0), b.m));
  two<real> z = two_product(s.hi, s.hi);
  z.lo = fma(s.hi + s.hi, s.lo, z.lo);
  real p;
  if constexpr (wide<T>)
    p = polynomial(z.hi, 0x1.0e45e28ad6ebep-3, 0x1.0f7f94c79fdaep-3, 0x1.3b1eef8255c12p-3, 0x1.745ce9d12d3adp-3,
                   0x1.c71c722d98085p-3, 0x1.2492492457b51p-2, 0x1.9999999999b31p-2);
  else p = polynomial(z.hi, 0x1.dfa264p-3, 0x1.24527cp-2, 0x1.999ap-2);
  two<real> t = fast_two_sum(real(wide<T> ? 0x1.5555555555555p-1 : 0x1.555556p-1), z.hi * p);
  t.lo += real(wide<T> ? 0x1.5555555555555p-55 : -0x1.555556p-26);
  two<real> u = two_product(s.hi, z.hi);
  u.lo += fma(s.hi, z.lo, s.lo * z.hi);
  two<real> v = two_product(u.hi, t.hi);
  v.lo += fma(u.hi, t.lo, u.lo * t.hi);
  // k ln(2), whose high part is exact, + 2 s + v, in falling size.
  const two<real> a = fast_two_sum(b.k * real(wide<T> ? 0x1.62e42fefa38p-1 : 0x1.62e4p-1), s.hi + s.hi);
  const two<real> c = fast_two_sum(a.hi, v.hi);
  const real low = fma(b.k, real(wide<T> ? 0x1.ef35793c7673p-45 : 0x1.7f7d1cp-20), s.lo + s.lo) + v.lo;
  const two<real> sum = fast_two_sum(c.hi, (a.lo + c.lo) + low);
  const real hi = select(x < infinity<real>(), sum.hi, x);
  return {select(x == real(0.0), -infinity<real>(), hi), sum.lo};
}

/// x = n pi/2 + r + tail for 0 <= x <= limit, |r| <= pi/4 (and a little); n is in the low bits of `turns`. Cody and
/// Waite with pi/2 in three parts of T: the first fma is exact, the second product is kept with its rounding error, and
/// the third reaches 2^-163 (2^-76), so that r + tail is right to twice the digits of T except next to multiples of
/// pi/2, and to those of T there.
template <class T, int W>
struct angle {
  using real = pack<T, W>;
  /// Beyond this limit the error of n would take r out of the interval of the polynomials.
  static constexpr double limit = wide<T> ? 0x1p40 : 0x1p17;
  real r, tail, turns;

  SALTUS_FN explicit angle(real x) {
    turns = fma(x, real(0x1.45f306dc9c883p-1), real(rounder<T>));
    const real n = turns - real(rounder<T>);
    const real a = fma(n, real(wide<T> ? -0x1.921fb54442d18p+0 : -0x1.921fb6p+0), x);
    const two<real> p = two_product(n, real(wide<T> ? -0x1.1a62633145c07p-54 : 0x1.777a5cp-25));
    const two<real> s = fast_two_sum(a, p.hi);  // exact: a is a multiple of 2^-53 (2^-24), or n = 0
    const real c = fma(n, real(wide<T> ? 0x1.f1976b7ed8fbcp-110 : 0x1.ee59dap-50), s.lo + p.lo);
    r = s.hi + c;
    tail = (s.hi - r) + c;
  }
  /// Bit `bit` of n, moved to the sign bit (other bits are left over).
  SALTUS_FN typename real::integer to_sign(int bit) const {
    return bits(turns).shift_left(static_cast<int>(8 * sizeof(T)) - 1 - bit);
  }
  SALTUS_FN typename real::mask_type is_odd() const {
    using integer = typename real::integer;
    return (bits(turns) & integer(1)) != integer(0);
  }
  /// sin(r + tail); |r| <= .7875 (.793), error 2^-57.9 / 2^-27.9.
  SALTUS_FN two<real> sine() const {
    const real z = r * r;
    real p;
    if constexpr (wide<T>)
      p = polynomial(z, 0x1.5d88f3ee5a668p-33, -0x1.ae5e447ff8afap-26, 0x1.71de354df5bfep-19, -0x1.a01a019be3265p-13,
                     0x1.111111110f716p-7, -0x1.5555555555548p-3);
    else p = polynomial(z, -0x1.991696p-13, 0x1.1106bcp-7, -0x1.555544p-3);
    return fast_two_sum(r, fma(r * z, p, fma(z * real(-0.5), tail, tail)));
  }
  /// cos(r + tail), as fdlibm's k_cos.c keeps the rounding error of 1 - r^2/2; error 2^-64.1 / 2^-33.1.
  SALTUS_FN two<real> cosine() const {
    const real z = r * r;
    real p;
    if constexpr (wide<T>)
      p = polynomial(z, -0x1.8fa3c93f39ef7p-37, 0x1.1ee9d79bbeadbp-29, -0x1.27e4f7ed090ecp-22, 0x1.a01a019c8b2f0p-16,
                     -0x1.6c16c16c15003p-10, 0x1.555555555554bp-5);
    else p = polynomial(z, 0x1.99e0eep-16, -0x1.6c0c1ap-10, 0x1.55554ap-5);
    const two<real> w = fast_two_sum(real(1.0), z * real(-0.5));
    return fast_two_sum(w.hi, fma(z * z, p, fma(-r, tail, w.lo)));
  }
};

/// NaN where |x| is beyond the range of the argument reduction.
template <class T, int W>
SALTUS_FN pack<T, W> in_range(pack<T, W> ax, pack<T, W> y) {
  using real = pack<T, W>;
  return select(ax <= real(angle<T, W>::limit), y, not_a_number<real>());
}

/// asin(s) - s for 0 <= s <= 1/2, z = s^2; error in asin 2^-55.8 / 2^-27.6.
template <class T, int W>
SALTUS_FN pack<T, W> asin_tail(pack<T, W> s, pack<T, W> z) {
  if constexpr (wide<T>)
    return s * z *
           polynomial(z, 0x1.0601eb809961dp-5, -0x1.0b89113e89a19p-6, 0x1.410ee1f20f954p-6, 0x1.aa2df0e911e52p-8,
                      0x1.8ef3d901f96ddp-7, 0x1.c6f637e103731p-7, 0x1.1c6c44a1f6b4ep-6, 0x1.6e89ed9982e87p-6,
                      0x1.f1c72c80e6111p-6, 0x1.6db6db4198793p-5, 0x1.333333336fe26p-4, 0x1.5555555555384p-3);
  else return s * z * polynomial(z, 0x1.59dd6cp-5, 0x1.8ba48ep-6, 0x1.748b78p-5, 0x1.330162p-4, 0x1.5555cap-3);
}

/// base + a + b where base is 0, pi/4, pi/2 or pi: the rest of pi and the rounding error of base + a are added to b.
template <class T, int W>
SALTUS_FN pack<T, W> from_base(pack<T, W> base, pack<T, W> a, pack<T, W> b) {
  using real = pack<T, W>;
  // pi/2 - T(pi/2), relative to pi/2
  const real rest(wide<T> ? 0x1.678afae35cdd1p-55 : -0x1.de12cap-26);
  const two<real> sum = fast_two_sum(base, a);
  return sum.hi + (sum.lo + fma(base, rest, b));
}

/// The angle in [0, pi/2] of the point (x, y), x, y >= 0, not both 0. Cephes' reduction: y/x > tan(3 pi/8) turns by
/// pi/2, y/x > tan(pi/8) by pi/4; what is left, |t| <= tan(pi/8), has error 2^-59.5 / 2^-30.4.
template <class T, int W>
SALTUS_FN pack<T, W> first_quadrant(pack<T, W> y, pack<T, W> x) {
  using real = pack<T, W>;
  const auto high = y > x * real(2.414213562373095);
  const auto mid = y > x * real(0.41421356237309503);
  const real n = select(high, -x, select(mid, y - x, y));
  const real d = select(high, y, select(mid, y + x, x));
  const real base = select(high, real(1.5707963267948966), select(mid, real(0.7853981633974483), real(0.0)));
  const real t = n / d;
  const real z = t * t;
  real p;
  if constexpr (wide<T>)
    p = polynomial(z, -0x1.2568bdd343b25p-6, 0x1.37d5e6840b9a2p-5, -0x1.9cd33c0e85f01p-5, 0x1.df0f7de31bbfep-5,
                   -0x1.10ebbd4596805p-4, 0x1.3b1119acfca62p-4, -0x1.745cf8e622345p-4, 0x1.c71c70e66faa5p-4,
                   -0x1.24924922ae571p-3, 0x1.9999999995889p-3, -0x1.555555555553dp-2);
  else p = polynomial(z, -0x1.f2ec02p-5, 0x1.b22650p-4, -0x1.23b9ccp-3, 0x1.9991e4p-3, -0x1.55554ap-2);
  return from_base(base, t, t * z * p);
}

}  // namespace detail

/// The nearest integer, ties to even.
template <class T, int W>
SALTUS_FN pack<T, W> round(pack<T, W> x) {
  return copysign(detail::nearest(abs(x)), x);
}
/// The largest integer not above x.
template <class T, int W>
SALTUS_FN pack<T, W> floor(pack<T, W> x) {
  const pack<T, W> r = round(x);
  return select(r > x, r - pack<T, W>(1.0), r);
}
/// The smallest integer not below x.
template <class T, int W>
SALTUS_FN pack<T, W> ceil(pack<T, W> x) {
  return -floor(-x);
}

/// e^x.
template <class T, int W>
SALTUS_FN pack<T, W> exp(pack<T, W> x) {
  return detail::exp_sum(x, pack<T, W>(0.0));
}
/// e^x - 1 without cancellation near 0.
template <class T, int W>
SALTUS_FN pack<T, W> expm1(pack<T, W> x) {
  return copysign(detail::expm1_quarter(x).hi * pack<T, W>(4.0), x);
}
/// (e^x - e^-x) / 2 = (q + q / (q + 1)) / 2 with q = e^x - 1.
template <class T, int W>
SALTUS_FN pack<T, W> sinh(pack<T, W> x) {
  using real = pack<T, W>;
  const detail::two<real> q = detail::expm1_quarter(abs(x));
  return copysign(real(2.0) * (q.hi + (q.hi / fma(q.hi, real(4.0), real(1.0)) + q.lo)), x);
}
/// (e^x + e^-x) / 2.
template <class T, int W>
SALTUS_FN pack<T, W> cosh(pack<T, W> x) {
  using real = pack<T, W>;
  const detail::two<real> q = detail::expm1_quarter(abs(x));
  const real e = q.hi + real(0.25);
  return real(2.0) * (e + real(0.0625) / e);
}
/// sinh(x) / cosh(x) = q / (q + 2) with q = e^2x - 1.
template <class T, int W>
SALTUS_FN pack<T, W> tanh(pack<T, W> x) {
  using real = pack<T, W>;
  const real a = abs(x);
  // The bound is where tanh has rounded to 1.
  const detail::two<real> q = detail::expm1_quarter(min(a + a, real(detail::wide<T> ? 44.0 : 24.0)));
  detail::two<real> d = detail::two_sum(q.hi, real(0.5));
  d.lo += q.lo;
  const detail::two<real> y = detail::quotient(q, d);
  return copysign(y.hi + y.lo, x);
}

/// The natural logarithm; -inf at 0, NaN below.
template <class T, int W>
SALTUS_FN pack<T, W> log(pack<T, W> x) {
  using real = pack<T, W>;
  constexpr double high = detail::wide<T> ? 0x1.62e42fefa38p-1 : 0x1.62e4p-1;  // short: k * high is exact
  constexpr double low = detail::wide<T> ? 0x1.ef35793c7673p-45 : 0x1.7f7d1cp-20;

  const detail::binary<T, W> b(x);
  const real f = b.m - real(1.0);
  const detail::two<real> sum = detail::fast_two_sum(b.k * real(high), f);
  return detail::log_at(x, sum.hi + (sum.lo - detail::log_defect(f, b.k * real(low))));
}
/// The logarithm to base 2; exact at powers of 2.
template <class T, int W>
SALTUS_FN pack<T, W> log2(pack<T, W> x) {
  if constexpr (detail::wide<T>)
    return detail::log_to_base(x, {1.0, 0.0}, {0x1.71547652b82fep+0, 0x1.777d0ffda0d24p-56});
  else return detail::log_to_base(x, {1.0, 0.0}, {0x1.715476p+0, 0x1.4ae0cp-26});
}
/// The logarithm to base 10; exact at powers of 10.
template <class T, int W>
SALTUS_FN pack<T, W> log10(pack<T, W> x) {
  if constexpr (detail::wide<T>)
    return detail::log_to_base(x, {0x1.34413509f78p-2, 0x1.fef311f12b358p-46},
                               {0x1.bcb7b1526e50ep-2, 0x1.95355baaafad3p-57});
  else return detail::log_to_base(x, {0x1.344p-2, 0x1.3509f8p-18}, {0x1.bcb7b2p-2, -0x1.5b235ep-27});
}

/// x^y = e^(y log x), the logarithm and the product in double length; NaN for x < 0 unless y is an integer.
template <class T, int W>
SALTUS_FN pack<T, W> pow(pack<T, W> x, pack<T, W> y) {
  using real = pack<T, W>;
  using integer = typename real::integer;
  const real ax = abs(x);
  const real ay = abs(y);

  const detail::two<real> l = detail::log_two(ax);
  // 1^y and x^0 are 1 for every y and x, also for inf and NaN.
  const auto one = (y == real(0.0)) | (ax == real(1.0));
  const real hi = select(one, real(0.0), y * l.hi);
  const real lo = select(one, real(0.0), fma(y, l.lo, fma(y, l.hi, -hi)));
  const real r = detail::exp_sum(hi, lo);

  const real half = ay * real(0.5);
  const auto integral = detail::nearest(ay) == ay;
  const auto odd = integral & (detail::nearest(half) != half);
  const auto negative = (x < real(0.0)) & (x > -detail::infinity<real>());
  const real flipped = real::from_bits(bits(r) ^ (bits(x) & integer(real::sign_bit)));
  return select(negative & !integral, detail::not_a_number<real>(), select(odd, flipped, r));
}
namespace detail {
/// x, except at -0 and -infinity, where it is 0 and infinity: pow(x, 1/2) differs from the root of x there (C99, F.9.4.4).
template <class T, int W>
SALTUS_FN pack<T, W> base_of_half_powers(pack<T, W> x) {
  using real = pack<T, W>;
  return select(x == -infinity<real>(), infinity<real>(), x + real(0.0));
}
}  // namespace detail

/// x^y for an exponent that is the same in every lane: products if y is a small integer, and a root for +-1/2 and +-3/2.
template <class T, int W>
SALTUS_FN pack<T, W> pow(pack<T, W> x, double y) {
  using real = pack<T, W>;
  if (y == 0.0) return real(1.0);
  if (y == 1.0) return x;
  if (y == 2.0) return x * x;
  if (y == 3.0) return x * x * x;
  if (y == 4.0) return (x * x) * (x * x);
  if (y == -1.0) return real(1.0) / x;
  if (y == -2.0) {
    const real r = real(1.0) / x;  // before squaring: x * x may overflow where x^-2 does not underflow
    return r * r;
  }
  if (y == 0.5 || y == 1.5 || y == -0.5 || y == -1.5) {
    const real base = detail::base_of_half_powers(x);
    if (y == 0.5) return sqrt(base);
    if (y == 1.5) return base * sqrt(base);
    if (y == -0.5) return real(1.0) / sqrt(base);
    const real r = real(1.0) / base;  // before the root: base^3/2 may overflow where x^-3/2 does not underflow
    return r * sqrt(r);
  }
  return pow(x, real(y));
}
template <class T, int W>
SALTUS_FN pack<T, W> pow(double x, pack<T, W> y) {
  return pow(pack<T, W>(x), y);
}
/// An enumerator is a name, not a number: pow(x, at[exponent]), not pow(x, exponent).
template <class Number, class Enum>
requires(__is_enum(Enum)) void pow(const Number& x, Enum y) = delete;

/// The sine of x in radians; NaN for |x| > 2^40 (float: 2^17), where the argument reduction ends.
template <class T, int W>
SALTUS_FN pack<T, W> sin(pack<T, W> x) {
  using real = pack<T, W>;
  using integer = typename real::integer;
  const real ax = abs(x);
  const detail::angle<T, W> a(ax);
  const real y = select(a.is_odd(), a.cosine().hi, a.sine().hi);
  return detail::in_range(ax, real::from_bits(bits(y) ^ ((a.to_sign(1) ^ bits(x)) & integer(real::sign_bit))));
}
/// The cosine of x in radians; range as for sin.
template <class T, int W>
SALTUS_FN pack<T, W> cos(pack<T, W> x) {
  using real = pack<T, W>;
  using integer = typename real::integer;
  const real ax = abs(x);
  const detail::angle<T, W> a(ax);
  const real y = select(a.is_odd(), a.sine().hi, a.cosine().hi);
  return detail::in_range(ax, real::from_bits(bits(y) ^ ((a.to_sign(1) ^ a.to_sign(0)) & integer(real::sign_bit))));
}
/// The tangent of x in radians; range as for sin.
template <class T, int W>
SALTUS_FN pack<T, W> tan(pack<T, W> x) {
  using real = pack<T, W>;
  using integer = typename real::integer;
  const real ax = abs(x);
  const detail::angle<T, W> a(ax);
  const detail::two<real> s = a.sine();
  const detail::two<real> c = a.cosine();
  const auto odd = a.is_odd();
  const detail::two<real> y = detail::quotient<real>({select(odd, c.hi, s.hi), select(odd, c.lo, s.lo)},
                                                     {select(odd, s.hi, c.hi), select(odd, s.lo, c.lo)});
  const integer sign = (a.to_sign(0) ^ bits(x)) & integer(real::sign_bit);
  return detail::in_range(ax, real::from_bits(bits(y.hi + y.lo) ^ sign));
}

/// The angle in [-pi/2, pi/2] whose sine is x; NaN for |x| > 1. For |x| > 1/2, pi/2 - 2 asin(sqrt((1 - |x|) / 2)).
template <class T, int W>
SALTUS_FN pack<T, W> asin(pack<T, W> x) {
  using real = pack<T, W>;
  const real ax = abs(x);
  const auto large = ax > real(0.5);
  const real z = select(large, fma(ax, real(-0.5), real(0.5)), ax * ax);
  const real s = select(large, sqrt(z), ax);
  const real turn = select(large, real(-2.0), real(1.0));
  const real base = select(large, real(1.5707963267948966), real(0.0));
  return copysign(detail::from_base(base, turn * s, turn * detail::asin_tail(s, z)), x);
}
/// The angle in [0, pi] whose cosine is x; NaN for |x| > 1.
template <class T, int W>
SALTUS_FN pack<T, W> acos(pack<T, W> x) {
  using real = pack<T, W>;
  const real ax = abs(x);
  const auto large = ax > real(0.5);
  const real z = select(large, fma(ax, real(-0.5), real(0.5)), ax * ax);
  const real s = select(large, sqrt(z), ax);
  const real turn = copysign(select(large, real(2.0), real(1.0)), select(large, x, -x));
  const real base = select(large, select(x < real(0.0), real(3.141592653589793), real(0.0)), real(1.5707963267948966));
  return detail::from_base(base, turn * s, turn * detail::asin_tail(s, z));
}
/// The angle in [-pi/2, pi/2] whose tangent is x.
template <class T, int W>
SALTUS_FN pack<T, W> atan(pack<T, W> x) {
  return copysign(detail::first_quadrant(abs(x), pack<T, W>(1.0)), x);
}
/// The angle in [-pi, pi] of the point (x, y).
template <class T, int W>
SALTUS_FN pack<T, W> atan2(pack<T, W> y, pack<T, W> x) {
  using real = pack<T, W>;
  using integer = typename real::integer;
  constexpr double up = detail::wide<T> ? 0x1p110 : 0x1p50;
  // Scaled away from the ends of the range, where y + x would overflow and the bounds tan(pi/8) x lose digits. Equal coordinates, zeros and
  // infinities among them, are replaced by 0 / 1 or 1 / 1.
  const real ax = abs(x);
  const real ay = abs(y);
  const auto equal = ax == ay;
  const real big = max(ax, ay);
  const real scale = select(big > real(limits<T>::largest / 8), real(0.25),
                            select(big < real(limits<T>::smallest * up), real(up), real(1.0)));
  const real px = select(equal, real(1.0), ax * scale);
  const real py = select(equal, select(ay > real(0.0), real(1.0), real(0.0)), ay * scale);
  const real a = detail::first_quadrant(py, px);
  // T(pi) and its error.
  const real flipped = real(3.141592653589793) - (a - real(detail::wide<T> ? 0x1.1a62633145c07p-53 : -0x1.777a5cp-24));
  return copysign(select(bits(x) < integer(0), flipped, a), y);
}

/// sqrt(x^2 + y^2) without overflow or underflow on the way; inf where x or y is.
template <class T, int W>
SALTUS_FN pack<T, W> hypot(pack<T, W> x, pack<T, W> y) {
  using real = pack<T, W>;
  constexpr double far = detail::wide<T> ? 0x1p500 : 0x1p60;
  constexpr double by = detail::wide<T> ? 0x1p600 : 0x1p80;
  const real ax = abs(x);
  const real ay = abs(y);
  const real big = max(ax, ay);
  const auto small = big < real(1 / far);
  const auto large = big > real(far);
  const real scale = select(small, real(by), select(large, real(1 / by), real(1.0)));
  const real back = select(small, real(1 / by), select(large, real(by), real(1.0)));
  const real a = ax * scale;
  const real b = ay * scale;
  const auto infinite = (ax == detail::infinity<real>()) | (ay == detail::infinity<real>());
  return select(infinite, detail::infinity<real>(), sqrt(fma(a, a, b * b)) * back);
}

/// The real cube root. A first guess of x^(-1/3) by a third of the bits (as in W. Kahan's and fdlibm's cube roots), two
/// steps of the series of (1 - h)^(-1/3) with h = 1 - x y^3, and one exact correction of x y^2.
template <class T, int W>
SALTUS_FN pack<T, W> cbrt(pack<T, W> x) {
  using real = pack<T, W>;
  constexpr int drop = detail::wide<T> ? 32 : 8;               // low bits that the guess ignores
  constexpr double whole = detail::wide<T> ? 0x1p52 : 0x1p23;  // added to an integer, it leaves the integer in its low
                                                               // bits
  constexpr double guess = detail::wide<T> ? 0x553eeb00 : 0x54a1f5;

  const real ax = abs(x);
  const auto tiny = ax < real(detail::wide<T> ? 0x1p-700 : 0x1p-60);
  const real a = select(tiny, ax * real(detail::wide<T> ? 0x1p600 : 0x1p60), ax);
  const real top = real::from_bits(bits(a).shift_right(drop) | bits(real(whole))) - real(whole);
  real y = real::from_bits(bits(fma(top, real(-1.0 / 3.0), real(whole + guess))).shift_left(drop));
  real h = fma(-(a * y), y * y, real(1.0));
  y = fma(y * h, detail::polynomial(h, 91.0 / 729, 35.0 / 243, 14.0 / 81, 2.0 / 9, 1.0 / 3), y);
  h = fma(-(a * y), y * y, real(1.0));
  y = fma(y * h, fma(h, real(2.0 / 9), real(1.0 / 3)), y);
  const real yy = y * y;
  const real t = a * yy;
  const detail::two<real> tt = detail::two_product(t, t);
  const real d = fma(-tt.lo, t, fma(-tt.hi, t, a));
  const real back = select(tiny, real(detail::wide<T> ? 0x1p-200 : 0x1p-20), real(1.0));
  const real r = fma(d, yy * real(1.0 / 3.0), t) * back;
  return copysign(select(ax < detail::infinity<real>(), r, ax), x);
}

// Derivatives. Every function of one argument is its value, its derivative and `chain`.

template <class Real, int N>
SALTUS_FN dual<Real, N> round(const dual<Real, N>& a) {
  return dual<Real, N>(round(a.value));
}
template <class Real, int N>
SALTUS_FN dual<Real, N> floor(const dual<Real, N>& a) {
  return dual<Real, N>(floor(a.value));
}
template <class Real, int N>
SALTUS_FN dual<Real, N> ceil(const dual<Real, N>& a) {
  return dual<Real, N>(ceil(a.value));
}
template <class Real, int N>
SALTUS_FN dual<Real, N> exp(const dual<Real, N>& a) {
  const Real y = exp(a.value);
  return chain(y, y, a);
}
template <class Real, int N>
SALTUS_FN dual<Real, N> expm1(const dual<Real, N>& a) {
  return chain(expm1(a.value), exp(a.value), a);
}
template <class Real, int N>
SALTUS_FN dual<Real, N> sinh(const dual<Real, N>& a) {
  return chain(sinh(a.value), cosh(a.value), a);
}
template <class Real, int N>
SALTUS_FN dual<Real, N> cosh(const dual<Real, N>& a) {
  return chain(cosh(a.value), sinh(a.value), a);
}
template <class Real, int N>
SALTUS_FN dual<Real, N> tanh(const dual<Real, N>& a) {
  const Real y = tanh(a.value);
  return chain(y, (Real(1.0) - y) * (Real(1.0) + y), a);
}
template <class Real, int N>
SALTUS_FN dual<Real, N> log(const dual<Real, N>& a) {
  return chain(log(a.value), Real(1.0) / a.value, a);
}
template <class Real, int N>
SALTUS_FN dual<Real, N> log2(const dual<Real, N>& a) {
  return chain(log2(a.value), Real(1.4426950408889634) / a.value, a);
}
template <class Real, int N>
SALTUS_FN dual<Real, N> log10(const dual<Real, N>& a) {
  return chain(log10(a.value), Real(0.4342944819032518) / a.value, a);
}
template <class Real, int N>
SALTUS_FN dual<Real, N> sin(const dual<Real, N>& a) {
  return chain(sin(a.value), cos(a.value), a);
}
template <class Real, int N>
SALTUS_FN dual<Real, N> cos(const dual<Real, N>& a) {
  return chain(cos(a.value), -sin(a.value), a);
}
template <class Real, int N>
SALTUS_FN dual<Real, N> tan(const dual<Real, N>& a) {
  const Real y = tan(a.value);
  return chain(y, fma(y, y, Real(1.0)), a);
}
template <class Real, int N>
SALTUS_FN dual<Real, N> asin(const dual<Real, N>& a) {
  return chain(asin(a.value), Real(1.0) / sqrt((Real(1.0) - a.value) * (Real(1.0) + a.value)), a);
}
template <class Real, int N>
SALTUS_FN dual<Real, N> acos(const dual<Real, N>& a) {
  return chain(acos(a.value), Real(-1.0) / sqrt((Real(1.0) - a.value) * (Real(1.0) + a.value)), a);
}
template <class Real, int N>
SALTUS_FN dual<Real, N> atan(const dual<Real, N>& a) {
  return chain(atan(a.value), Real(1.0) / fma(a.value, a.value, Real(1.0)), a);
}
template <class Real, int N>
SALTUS_FN dual<Real, N> cbrt(const dual<Real, N>& a) {
  const Real y = cbrt(a.value);
  return chain(y, Real(1.0) / (Real(3.0) * y * y), a);
}

template <class Real, int N>
SALTUS_FN dual<Real, N> atan2(const dual<Real, N>& y, const dual<Real, N>& x) {
  const Real scale = Real(1.0) / fma(x.value, x.value, y.value * y.value);
  dual<Real, N> r(atan2(y.value, x.value));
  for (int i = 0; i < N; ++i) r.d[i] = fma(x.value, y.d[i], -(y.value * x.d[i])) * scale;
  return r;
}
template <class Real, int N>
SALTUS_FN dual<Real, N> hypot(const dual<Real, N>& x, const dual<Real, N>& y) {
  dual<Real, N> r(hypot(x.value, y.value));
  for (int i = 0; i < N; ++i) r.d[i] = fma(x.value, x.d[i], y.value * y.d[i]) / r.value;
  return r;
}
/// |a| with the sign of b, which is taken as constant.
template <class Real, int N>
SALTUS_FN dual<Real, N> copysign(const dual<Real, N>& a, const dual<Real, N>& b) {
  const Real value = copysign(a.value, b.value);
  return chain(value, copysign(Real(1.0), value) * copysign(Real(1.0), a.value), a);
}

namespace detail {
/// d(x^y)/dx = y x^(y-1), also where that is 0 times infinity.
template <class Real>
SALTUS_FN Real power_derivative(Real x, Real y) {
  return select(y == Real(0.0), Real(0.0), y * pow(x, y - Real(1.0)));
}
/// d(x^y)/dy = x^y log(x), which is 0 where x^y is.
template <class Real>
SALTUS_FN Real exponent_derivative(Real x, Real power) {
  return select(power == Real(0.0), Real(0.0), power * log(x));
}
}  // namespace detail

template <class Real, int N>
SALTUS_FN dual<Real, N> pow(const dual<Real, N>& x, double y) {
  if (y == 0.0) return dual<Real, N>(1.0);
  return chain(pow(x.value, y), Real(y) * pow(x.value, y - 1.0), x);
}
template <class Real, int N>
SALTUS_FN dual<Real, N> pow(const dual<Real, N>& x, Real y) {
  return chain(pow(x.value, y), detail::power_derivative(x.value, y), x);
}
template <class Real, int N>
SALTUS_FN dual<Real, N> pow(Real x, const dual<Real, N>& y) {
  const Real power = pow(x, y.value);
  return chain(power, detail::exponent_derivative(x, power), y);
}
template <class Real, int N>
SALTUS_FN dual<Real, N> pow(double x, const dual<Real, N>& y) {
  return pow(Real(x), y);
}
/// Where x < 0 the derivative along y is NaN; it does not matter if the exponent is constant (y.d = 0).
template <class Real, int N>
SALTUS_FN dual<Real, N> pow(const dual<Real, N>& x, const dual<Real, N>& y) {
  const Real along_x = detail::power_derivative(x.value, y.value);
  dual<Real, N> r(pow(x.value, y.value));
  const Real along_y = detail::exponent_derivative(x.value, r.value);
  for (int i = 0; i < N; ++i) r.d[i] = fma(along_x, x.d[i], select(y.d[i] == Real(0.0), Real(0.0), along_y * y.d[i]));
  return r;
}

// One of two arguments is a constant, or a Real beside a dual.

namespace detail {
template <class Number>
SALTUS_FN void accepts(Number) {}
/// An argument of type B converts to A: a literal to a pack, a pack to a dual.
template <class A, class B>
concept stands_for = requires(B b) {
  typename A::scalar;
  accepts<A>(b);
}
&&!requires(A a) { accepts<B>(a); };
}  // namespace detail

template <class A, class B>
requires detail::stands_for<A, B> SALTUS_FN A atan2(const A& y, B x) { return atan2(y, A(x)); }
template <class A, class B>
requires detail::stands_for<A, B> SALTUS_FN A atan2(B y, const A& x) { return atan2(A(y), x); }
template <class A, class B>
requires detail::stands_for<A, B> SALTUS_FN A hypot(const A& x, B y) { return hypot(x, A(y)); }
template <class A, class B>
requires detail::stands_for<A, B> SALTUS_FN A hypot(B x, const A& y) { return hypot(A(x), y); }
template <class A, class B>
requires detail::stands_for<A, B> SALTUS_FN A copysign(const A& x, B y) { return copysign(x, A(y)); }
template <class A, class B>
requires detail::stands_for<A, B> SALTUS_FN A copysign(B x, const A& y) { return copysign(A(x), y); }

}  // namespace saltus
