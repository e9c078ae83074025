// dual<Real, N>: a value and its N directional derivatives, carried through the same model function (forward mode).
// With N = 1, t' = 1 and y' = f it gives dg/dt along the solution, which is all that event detection needs.
#pragma once

#include "number/real.hpp"

namespace saltus {

template <class Real, int N>
struct dual;

namespace detail {
struct nothing_inside {};
/// The number type inside a dual: for a dual<Real, N> it is Real.
template <class Real>
struct inside {
  using type = nothing_inside;
};
template <class Real, int N>
struct inside<dual<Real, N>> {
  using type = Real;
};
/// The number inside a number with derivatives.
template <class Value>
SALTUS_FN auto value_alone(const Value& x) {
  if constexpr (requires { x.value; }) return value_alone(x.value);
  else return x;
}

/// True if Constant is a number type two or more levels inside Real.
template <class Real, class Constant>
inline constexpr bool is_deep_inside = false;
template <class Real, int N, int M, class Constant>
inline constexpr bool is_deep_inside<dual<dual<Real, N>, M>, Constant> =
    is_same<Real, Constant> || is_deep_inside<dual<Real, N>, Constant>;
}  // namespace detail

template <class Real, int N = 1>
struct dual {
  using scalar = scalar_of<Real>;
  using mask_type = mask_of<Real>;
  using integer = typename real_traits<Real>::integer;
  static constexpr int lanes = real_traits<Real>::lanes;
  static constexpr int directions = N;

  Real value;
  Real d[N];

  dual() = default;
  // Member by member: a compiler keeps an object in memory if it sees a block to be copied.
  SALTUS_FN dual(const dual& from) : value(from.value) {
    for (int i = 0; i < N; ++i) d[i] = from.d[i];
  }
  SALTUS_FN dual& operator=(const dual& from) {
    value = from.value;
    for (int i = 0; i < N; ++i) d[i] = from.d[i];
    return *this;
  }
  SALTUS_FN dual(double x) : value(x) {
    for (int i = 0; i < N; ++i) d[i] = Real(0.0);
  }
  SALTUS_FN dual(Real x) : value(x) {
    for (int i = 0; i < N; ++i) d[i] = Real(0.0);
  }
  /// A constant beside a dual of duals: a parameter in a second derivative.
  SALTUS_FN dual(typename detail::inside<Real>::type x) : dual(Real(x)) {}
  template <class Constant>
  requires(detail::is_deep_inside<Real, Constant>) SALTUS_FN dual(const Constant& x) : dual(Real(x)) {}
  SALTUS_FN dual(Real x, Real dx) requires(N == 1) : value(x) { d[0] = dx; }

  /// Conversion of one lane to a whole number, which has no derivative: int(now[gear]). A conversion to a real number would lose the
  /// derivative and is not offered.
  template <class Number>
  requires(lanes == 1 && is_number<Number> && !is_same<Number, double> && !is_same<Number, float>) SALTUS_FN explicit
  operator Number() const {
    return static_cast<Number>(value);
  }

  /// f(value) and its `derivative` there: the chain rule for every function of one argument.
  SALTUS_FN friend dual chain(Real value, Real derivative, const dual& a) {
    dual r(value);
    for (int i = 0; i < N; ++i) r.d[i] = derivative * a.d[i];
    return r;
  }

  /// a with another value and the same derivatives.
  SALTUS_FN friend dual shifted(const dual& a, Real value) {
    dual r = a;
    r.value = value;
    return r;
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
    const Real inverse = Real(1.0) / b.value;
    dual r(a.value / b.value);
    for (int i = 0; i < N; ++i) r.d[i] = fma(-r.value, b.d[i], a.d[i]) * inverse;
    return r;
  }

  // Operations with a constant: its derivatives are zero and cost nothing.
  SALTUS_FN friend dual operator+(const dual& a, const Real& b) { return shifted(a, a.value + b); }
  SALTUS_FN friend dual operator+(const Real& a, const dual& b) { return shifted(b, a + b.value); }
  SALTUS_FN friend dual operator-(const dual& a, const Real& b) { return shifted(a, a.value - b); }
  SALTUS_FN friend dual operator-(const Real& a, const dual& b) { return chain(a - b.value, Real(-1.0), b); }
  SALTUS_FN friend dual operator*(const dual& a, const Real& b) { return chain(a.value * b, b, a); }
  SALTUS_FN friend dual operator*(const Real& a, const dual& b) { return chain(a * b.value, a, b); }
  SALTUS_FN friend dual operator/(const dual& a, const Real& b) { return chain(a.value / b, Real(1.0) / b, a); }
  // The number type inside a dual of duals is a constant as well.
  using inner = typename detail::inside<Real>::type;
  SALTUS_FN friend dual operator+(const dual& a, const inner& b) { return a + Real(b); }
  SALTUS_FN friend dual operator+(const inner& a, const dual& b) { return Real(a) + b; }
  SALTUS_FN friend dual operator-(const dual& a, const inner& b) { return a - Real(b); }
  SALTUS_FN friend dual operator-(const inner& a, const dual& b) { return Real(a) - b; }
  SALTUS_FN friend dual operator*(const dual& a, const inner& b) { return a * Real(b); }
  SALTUS_FN friend dual operator*(const inner& a, const dual& b) { return Real(a) * b; }
  SALTUS_FN friend dual operator/(const dual& a, const inner& b) { return a / Real(b); }
#define SALTUS_WITH_CONSTANT(op)                                                                          \
  template <class Constant>                                                                               \
  requires(detail::is_deep_inside<Real, Constant>) SALTUS_FN friend dual operator op(const dual& a,       \
                                                                                     const Constant& b) { \
    return a op Real(b);                                                                                  \
  }                                                                                                       \
  template <class Constant>                                                                               \
  requires(detail::is_deep_inside<Real, Constant>) SALTUS_FN friend dual operator op(const Constant& a,   \
                                                                                     const dual& b) {     \
    return Real(a) op b;                                                                                  \
  }
  SALTUS_WITH_CONSTANT(+)
  SALTUS_WITH_CONSTANT(-)
  SALTUS_WITH_CONSTANT(*)
  SALTUS_WITH_CONSTANT(/)
#undef SALTUS_WITH_CONSTANT
  SALTUS_FN friend dual operator+(const dual& a, double b) { return a + Real(b); }
  SALTUS_FN friend dual operator+(double a, const dual& b) { return Real(a) + b; }
  SALTUS_FN friend dual operator-(const dual& a, double b) { return a - Real(b); }
  SALTUS_FN friend dual operator-(double a, const dual& b) { return Real(a) - b; }
  SALTUS_FN friend dual operator*(const dual& a, double b) { return a * Real(b); }
  SALTUS_FN friend dual operator*(double a, const dual& b) { return Real(a) * b; }
  SALTUS_FN friend dual operator/(const dual& a, double b) { return a / Real(b); }

  SALTUS_FN friend dual operator-(const dual& a) { return chain(-a.value, Real(-1.0), a); }
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

  SALTUS_FN friend dual select(mask_type m, const dual& a, const dual& b) {
    dual r(select(m, a.value, b.value));
    for (int i = 0; i < N; ++i) r.d[i] = select(m, a.d[i], b.d[i]);
    return r;
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
  SALTUS_FN friend dual sign(const dual& a) { return dual(sign(a.value)); }
  SALTUS_FN friend dual min(const dual& a, const dual& b) { return select(b.value < a.value, b, a); }
  SALTUS_FN friend dual max(const dual& a, const dual& b) { return select(a.value < b.value, b, a); }
};

}  // namespace saltus
