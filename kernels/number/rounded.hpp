// rounded<Real>: a number and a bound on its rounding error, carried through the same model function (running error analysis, J. H.
// Wilkinson 1963; N. J. Higham, Accuracy and Stability of Numerical Algorithms, 3.3). To first order, each operation propagates the errors
// of its arguments by its derivatives and adds an ulp of its own result.
//
// A guard near its root is a difference of terms that are not small. The bound tells below which value its digits mean nothing.
#pragma once

#include "number/math.hpp"

namespace saltus {

template <class Real>
struct rounded {
  using scalar = scalar_of<Real>;
  using mask_type = mask_of<Real>;
  using integer = typename real_traits<Real>::integer;
  static constexpr int lanes = real_traits<Real>::lanes;

  Real value;
  Real error;  ///< not negative

  rounded() = default;
  SALTUS_FN rounded(double x) : value(x), error(0.0) {}
  SALTUS_FN rounded(Real x) : value(x), error(0.0) {}
  SALTUS_FN rounded(Real x, Real off_by) : value(x), error(off_by) {}
  /// A number that is known to an ulp.
  SALTUS_FN static rounded to_an_ulp(Real x) { return {x, ulp(x)}; }
  template <class Number>
  requires(lanes == 1 && is_number<Number> && !is_same<Number, double> && !is_same<Number, float>) SALTUS_FN explicit
  operator Number() const {
    return static_cast<Number>(value);
  }

  SALTUS_FN friend rounded operator+(const rounded& a, const rounded& b) {
    return done(a.value + b.value, a.error + b.error);
  }
  SALTUS_FN friend rounded operator-(const rounded& a, const rounded& b) {
    return done(a.value - b.value, a.error + b.error);
  }
  SALTUS_FN friend rounded operator*(const rounded& a, const rounded& b) {
    return done(a.value * b.value, fma(abs(a.value), b.error, abs(b.value) * a.error));
  }
  SALTUS_FN friend rounded operator/(const rounded& a, const rounded& b) {
    const Real value = a.value / b.value;
    return done(value, grown(Real(1.0) / b.value, fma(abs(value), b.error, a.error)));
  }
  SALTUS_FN friend rounded fma(const rounded& a, const rounded& b, const rounded& c) {
    return done(fma(a.value, b.value, c.value), fma(abs(a.value), b.error, fma(abs(b.value), a.error, c.error)));
  }
  SALTUS_FN friend rounded operator-(const rounded& a) { return {-a.value, a.error}; }
  SALTUS_FN friend rounded operator+(const rounded& a) { return a; }
  SALTUS_FN rounded& operator+=(const rounded& b) { return *this = *this + b; }
  SALTUS_FN rounded& operator-=(const rounded& b) { return *this = *this - b; }
  SALTUS_FN rounded& operator*=(const rounded& b) { return *this = *this * b; }
  SALTUS_FN rounded& operator/=(const rounded& b) { return *this = *this / b; }

#define SALTUS_OF_ONE(name)                              \
  SALTUS_FN friend rounded name(const rounded& a) {      \
    const auto r = name(dual<Real>(a.value, Real(1.0))); \
    return done(r.value, grown(r.d[0], a.error));        \
  }
#define SALTUS_OF_TWO(name)                                                \
  SALTUS_FN friend rounded name(const rounded& a, const rounded& b) {      \
    dual<Real, 2> x(a.value), y(b.value);                                  \
    x.d[0] = y.d[1] = Real(1.0);                                           \
    const auto r = name(x, y);                                             \
    return done(r.value, grown(r.d[0], a.error) + grown(r.d[1], b.error)); \
  }
#include "number/functions.def"
  SALTUS_FN friend rounded abs(const rounded& a) { return {abs(a.value), a.error}; }
  SALTUS_FN friend rounded min(const rounded& a, const rounded& b) { return select(b.value < a.value, b, a); }
  SALTUS_FN friend rounded max(const rounded& a, const rounded& b) { return select(a.value < b.value, b, a); }

#define SALTUS_COMPARISON(op) \
  SALTUS_FN friend mask_type operator op(const rounded& a, const rounded& b) { return a.value op b.value; }
  SALTUS_COMPARISON(<)
  SALTUS_COMPARISON(<=)
  SALTUS_COMPARISON(>)
  SALTUS_COMPARISON(>=)
  SALTUS_COMPARISON(==)
  SALTUS_COMPARISON(!=)
#undef SALTUS_COMPARISON
  SALTUS_FN friend rounded select(mask_type m, const rounded& a, const rounded& b) {
    return {select(m, a.value, b.value), select(m, a.error, b.error)};
  }

 private:
  SALTUS_FN static Real ulp(Real x) { return Real(limits<scalar>::epsilon) * abs(x); }
  SALTUS_FN static rounded done(Real value, Real error) { return {value, error + ulp(value)}; }
  /// An exact argument contributes nothing, even where the derivative is infinite.
  SALTUS_FN static Real grown(Real derivative, Real error) {
    return select(error > Real(0.0), abs(derivative) * error, Real(0.0));
  }
};

}  // namespace saltus
