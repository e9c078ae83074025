// The few operations that control logic needs beyond arithmetic, over any Real, without libm: powers of two, a short log2 and exp2 for step
// sizes, finiteness. Plain double and float have the same names, so that a model's function may also be called with them.
#pragma once

#include "number/pack.hpp"

namespace saltus {

template <class Real>
struct real_traits {
  using scalar = typename Real::scalar;
  using mask = typename Real::mask_type;
  using integer = typename Real::integer;
  static constexpr int lanes = Real::lanes;
};
template <class Real>
using scalar_of = typename real_traits<Real>::scalar;
template <class Real>
using mask_of = typename real_traits<Real>::mask;

/// Constants of the arithmetic of T.
template <class T>
struct limits;
template <>
struct limits<double> {
  static constexpr double epsilon = 0x1p-52;
  static constexpr double smallest = 0x1p-1022;
  static constexpr double largest = 0x1.fffffffffffffp+1023;
  static constexpr int mantissa_bits = 52;
  static constexpr int64 bias = 1023;
};
template <>
struct limits<float> {
  static constexpr double epsilon = 0x1p-23;
  static constexpr double smallest = 0x1p-126;
  static constexpr double largest = 0x1.fffffep+127;
  static constexpr int mantissa_bits = 23;
  static constexpr int64 bias = 127;
};

/// SALTUS_COEFFICIENT(Real, w): Real(w) of a constant of type double. In device code a double literal takes two instructions at every use,
/// unless its low half is zero; in constant memory it is an operand of the arithmetic itself. The constant is not `const`: a compiler that
/// knows its value makes a literal of it again.
#if defined(__CUDA_ARCH__)
namespace detail {
template <double Value>
__constant__ double in_constant_memory = Value;

template <class Real, double Value>
SALTUS_FN Real coefficient() {
  if constexpr (sizeof(scalar_of<Real>) == sizeof(double)) return Real(in_constant_memory<Value>);
  else return Real(Value);
}
}  // namespace detail
#define SALTUS_COEFFICIENT(Real, value) ::saltus::detail::coefficient<Real, value>()
#else
#define SALTUS_COEFFICIENT(Real, value) Real(value)
#endif

/// Zero where x is finite, NaN where it is not: adds up over components without a branch.
template <class Real>
SALTUS_FN Real not_finite(Real x) {
  return x - x;  // NOLINT(misc-redundant-expression)
}

/// Whether all of several numbers are finite. On a device by the exponents alone, since the pipe of double precision has enough to do.
template <class Real>
struct finiteness {
#if defined(__CUDA_ARCH__)
  static constexpr bool wide = sizeof(scalar_of<Real>) == 8;
  int largest = 0;  // exponent, with the mantissa's first bits
  SALTUS_FN void add(Real x) {
    const int b = wide ? __double2hiint(static_cast<double>(x.v)) : __float_as_int(static_cast<float>(x.v));
    largest = max(largest, b & 0x7fffffff);
  }
  SALTUS_FN mask_of<Real> all() const { return {largest < (wide ? 0x7ff00000 : 0x7f800000)}; }
#else
  Real sum = Real(0.0);
  SALTUS_FN void add(Real x) { sum += not_finite(x); }
  SALTUS_FN mask_of<Real> all() const { return sum == Real(0.0); }
#endif
};

/// 2^n for an integer n within the exponent range.
template <class T, int W>
SALTUS_FN pack<T, W> power_of_two(pack<integer_of<T>, W> n) {
  using integer = pack<integer_of<T>, W>;
  return pack<T, W>::from_bits((n + integer(limits<T>::bias)).shift_left(limits<T>::mantissa_bits));
}

/// a/b to 7e-6 of itself, for normal b > 0: enough to judge an error. The bits of b subtracted from a constant are those of about 1/b, to
/// t = 5 %; two factors of 1/(1 - t) = (1 + t)(1 + t^2) ... do the rest. A division takes a device ten operations more.
template <class T, int W>
SALTUS_FN pack<T, W> rough_quotient(pack<T, W> a, pack<T, W> b) {
  using real = pack<T, W>;
  constexpr int64 inverting = sizeof(T) == 8 ? 0x7fde623822fc16e6ll : 0x7ef311c3ll;
  const real inverse = real::from_bits(typename real::integer(inverting) - bits(b));
  const real t = fma(-b, inverse, real(1.0)), first = a * inverse, two_terms = fma(first, t, first);
  return fma(two_terms, t * t, two_terms);
}

/// log2(x) of a positive normal number to about 1e-5: enough to choose a step size. Other arguments give garbage, but no trap.
template <class T, int W>
SALTUS_FN pack<T, W> rough_log2(pack<T, W> x) {
  using real = pack<T, W>;
  using integer = typename real::integer;
  constexpr int bits_ = limits<T>::mantissa_bits;
  const integer b = bits(x);
  const integer e = b.shift_right(bits_) - integer(limits<T>::bias);
  const integer one = integer(limits<T>::bias).shift_left(bits_);
  const real m = real::from_bits((b & integer((int64(1) << bits_) - 1)) | one);
  // log2(m) on [1, 2): u times a minimax polynomial of degree 5, exact at m = 1.
  const real u = m - real(1.0);
  real p = SALTUS_COEFFICIENT(real, -0.03538598);
  p = fma(p, u, SALTUS_COEFFICIENT(real, 0.14841102));
  p = fma(p, u, SALTUS_COEFFICIENT(real, -0.30512045));
  p = fma(p, u, SALTUS_COEFFICIENT(real, 0.4699201));
  p = fma(p, u, SALTUS_COEFFICIENT(real, -0.72051972));
  p = fma(p, u, SALTUS_COEFFICIENT(real, 1.4426848));
  return fma(p, u, real::from_integer(e));
}

/// 2^x to about 1e-7 relative, for |x| < 100.
template <class T, int W>
SALTUS_FN pack<T, W> rough_exp2(pack<T, W> x) {
  using real = pack<T, W>;
  using integer = typename real::integer;
  constexpr T shift = sizeof(T) == 8 ? T(0x1.8p52) : T(0x1.8p23);
  const real s = x + real(shift);  // the integer part now sits in the low bits
  const real f = x - (s - real(shift));
  const integer n = bits(s) - bits(real(shift));
  real p = SALTUS_COEFFICIENT(real, 0.001341);
  p = fma(p, f, SALTUS_COEFFICIENT(real, 0.00967604));
  p = fma(p, f, SALTUS_COEFFICIENT(real, 0.05550297));
  p = fma(p, f, SALTUS_COEFFICIENT(real, 0.24022107));
  p = fma(p, f, SALTUS_COEFFICIENT(real, 0.69314723));
  p = fma(p, f, real(1.0));
  return p * power_of_two<T, W>(n);
}

/// A selection between two literals, as models write it: select(at.above(switch), -1.0, 1.0).
template <class T, int W, class A, class B>
requires(is_number<A>&& is_number<B>) SALTUS_FN auto select(mask<T, W> m, A a, B b) {
  using real = typename detail::choose<sizeof(T) == 8, pack<double, W>, pack<float, W>>::type;
  return select(m, real(static_cast<double>(a)), real(static_cast<double>(b)));
}

SALTUS_FN double select(bool m, double a, double b) { return m ? a : b; }
SALTUS_FN float select(bool m, float a, float b) { return m ? a : b; }
SALTUS_FN bool any(bool m) { return m; }
SALTUS_FN bool all(bool m) { return m; }

}  // namespace saltus
