// jet<Base>: a number that is a truncated power series in time, c[0] + c[1] (t - t0) + c[2] (t - t0)^2 + ...
//
// The coefficients of a whole computation are found order by order: a model's function is run for order 0, then for order 1, and so
// on, and each run adds one coefficient to every number in it, from those of lower orders that earlier runs have left in its place.
// So p coefficients take O(p^2) operations for each of the model's. What a run does next must not depend on the order: models do
// not branch, and a `select` chooses by values at t0.
//
// Recurrences: A. Griewank and A. Walther, "Evaluating Derivatives" (2nd ed. 2008), table 13.2; for functions that solve a linear
// differential equation with the argument, theorem of 13.2 there. Sums are added up in two halves, by even and odd terms.
#pragma once

#include "number/math.hpp"

namespace saltus {

/// Where the coefficients of a computation lie: `room` places of `length` numbers each.
template <class Base>
struct jet_table {
  Base* numbers;
  int length;        ///< of each series: orders 0 .. length-1
  int room;          ///< places there are
  int used = 0;      ///< places taken by this run so far
  int order = 0;     ///< of the coefficients that this run finds
  int most = 0;      ///< places taken by any run
  double per_order;  ///< 1 / order

  SALTUS_FN jet_table(Base* at, int terms, int places) : numbers(at), length(terms), room(places), per_order(0.0) {}

  /// Before a run that finds the coefficients of order k; the first `kept` places are those of its arguments.
  SALTUS_FN void begin(int k, int kept) {
    order = k;
    used = kept;
    per_order = k > 0 ? 1.0 / k : 0.0;
  }
  SALTUS_FN bool overflowed() const { return most > room; }
  SALTUS_FN Base* place(int i) const { return numbers + i * length; }
  /// The next place of this run. Where there is none left the last one is taken again: `overflowed` tells.
  SALTUS_FN Base* take() {
    const int i = used++;
    if (used > most) most = used;
    return place(i < room ? i : room - 1);
  }
};

namespace detail {
// Parts of the recurrences, for the coefficients of order k.

/// Sum of a_j b_{k-j} over j = from .. to.
template <class Base>
SALTUS_FN Base convolution(const Base* a, const Base* b, int k, int from, int to) {
  Base even = Base(0.0), odd = Base(0.0);
  int j = from;
  for (; j < to; j += 2) {
    even = fma(a[j], b[k - j], even);
    odd = fma(a[j + 1], b[k - j - 1], odd);
  }
  if (j == to) even = fma(a[j], b[k - j], even);
  return even + odd;
}
/// Sum of a_j a_{k-j} over j = from .. k-from.
template <class Base>
SALTUS_FN Base square_of_series(const Base* a, int k, int from) {
  const Base half = convolution(a, a, k, from, (k - 1) >> 1);
  return k % 2 != 0 ? half + half : fma(a[k / 2], a[k / 2], half + half);
}
}  // namespace detail

template <class Base>
struct jet {
  using scalar = scalar_of<Base>;
  using mask_type = mask_of<Base>;
  using integer = typename real_traits<Base>::integer;
  static constexpr int lanes = real_traits<Base>::lanes;

  Base* c = nullptr;  ///< coefficients; null: a constant
  jet_table<Base>* table = nullptr;
  Base constant;

  jet() = default;
  SALTUS_FN jet(double x) : constant(x) {}
  SALTUS_FN jet(Base x) : constant(x) {}
  /// A constant beside a series of duals: a parameter.
  SALTUS_FN jet(typename detail::inside<Base>::type x) : constant(Base(x)) {}
  SALTUS_FN jet(Base* coefficients, jet_table<Base>* in) : c(coefficients), table(in) {}

  SALTUS_FN bool varies() const { return c != nullptr; }
  /// The value at t0.
  SALTUS_FN Base at_start() const { return varies() ? c[0] : constant; }
  SALTUS_FN Base coefficient(int k) const { return varies() ? c[k] : k == 0 ? constant : Base(0.0); }

  SALTUS_FN friend jet operator+(const jet& a, const jet& b) {
    if (!a.varies() && !b.varies()) return a.constant + b.constant;
    const jet r = next_to(a, b);
    const int k = r.order();
    r.c[k] = a.coefficient(k) + b.coefficient(k);
    return r;
  }
  SALTUS_FN friend jet operator-(const jet& a, const jet& b) {
    if (!a.varies() && !b.varies()) return a.constant - b.constant;
    const jet r = next_to(a, b);
    const int k = r.order();
    r.c[k] = a.coefficient(k) - b.coefficient(k);
    return r;
  }
  SALTUS_FN friend jet operator*(const jet& a, const jet& b) {
    if (!a.varies() && !b.varies()) return a.constant * b.constant;
    if (!a.varies()) return b.scaled(a.constant);
    if (!b.varies()) return a.scaled(b.constant);
    const jet r = next_to(a, b);
    const int k = r.order();
    r.c[k] = a.c == b.c ? detail::square_of_series(a.c, k, 0) : detail::convolution(a.c, b.c, k, 0, k);
    return r;
  }
  /// From r b = a.
  SALTUS_FN friend jet operator/(const jet& a, const jet& b) {
    if (!a.varies() && !b.varies()) return a.constant / b.constant;
    if (!b.varies()) return a.divided(b.constant);
    const jet r = next_to(a, b), inverse = r.beside();
    const int k = r.order();
    if (k == 0) {
      r.c[0] = a.at_start() / b.c[0];
      inverse.c[0] = Base(1.0) / b.c[0];
    } else {
      r.c[k] = (a.coefficient(k) - detail::convolution(r.c, b.c, k, 0, k - 1)) * inverse.c[0];
    }
    return r;
  }
  SALTUS_FN friend jet operator-(const jet& a) { return a.varies() ? a.scaled(Base(-1.0)) : jet(-a.constant); }
  SALTUS_FN friend jet operator+(const jet& a) { return a; }
  SALTUS_FN jet& operator+=(const jet& b) { return *this = *this + b; }
  SALTUS_FN jet& operator-=(const jet& b) { return *this = *this - b; }
  SALTUS_FN jet& operator*=(const jet& b) { return *this = *this * b; }
  SALTUS_FN jet& operator/=(const jet& b) { return *this = *this / b; }

  SALTUS_FN friend mask_type operator<(const jet& a, const jet& b) { return a.at_start() < b.at_start(); }
  SALTUS_FN friend mask_type operator<=(const jet& a, const jet& b) { return a.at_start() <= b.at_start(); }
  SALTUS_FN friend mask_type operator>(const jet& a, const jet& b) { return a.at_start() > b.at_start(); }
  SALTUS_FN friend mask_type operator>=(const jet& a, const jet& b) { return a.at_start() >= b.at_start(); }
  SALTUS_FN friend mask_type operator==(const jet& a, const jet& b) { return a.at_start() == b.at_start(); }
  SALTUS_FN friend mask_type operator!=(const jet& a, const jet& b) { return a.at_start() != b.at_start(); }

  SALTUS_FN friend jet fma(const jet& a, const jet& b, const jet& c) { return a * b + c; }
  SALTUS_FN friend jet select(mask_type m, const jet& a, const jet& b) {
    if (!a.varies() && !b.varies()) return select(m, a.constant, b.constant);
    const jet r = next_to(a, b);
    const int k = r.order();
    r.c[k] = select(m, a.coefficient(k), b.coefficient(k));
    return r;
  }
  SALTUS_FN friend jet min(const jet& a, const jet& b) { return select(b < a, b, a); }
  SALTUS_FN friend jet max(const jet& a, const jet& b) { return select(a < b, b, a); }
  SALTUS_FN friend jet abs(const jet& a) { return select(a < jet(0.0), -a, a); }
  /// |a| with the sign that b has at t0.
  SALTUS_FN friend jet copysign(const jet& a, const jet& b) {
    return a * jet(copysign(Base(1.0), a.at_start()) * copysign(Base(1.0), b.at_start()));
  }
  SALTUS_FN friend jet sign(const jet& a) { return sign(a.at_start()); }
  SALTUS_FN friend jet floor(const jet& a) { return floor(a.at_start()); }
  SALTUS_FN friend jet ceil(const jet& a) { return ceil(a.at_start()); }
  SALTUS_FN friend jet round(const jet& a) { return round(a.at_start()); }

  /// From r^2 = a.
  SALTUS_FN friend jet sqrt(const jet& a) {
    if (!a.varies()) return sqrt(a.constant);
    const jet r = a.beside(), inverse = a.beside();
    const int k = a.order();
    if (k == 0) {
      r.c[0] = sqrt(a.c[0]);
      inverse.c[0] = Base(0.5) / r.c[0];
    } else {
      r.c[k] = (a.c[k] - detail::square_of_series(r.c, k, 1)) * inverse.c[0];
    }
    return r;
  }
  /// From r' = r a'.
  SALTUS_FN friend jet exp(const jet& a) {
    if (!a.varies()) return exp(a.constant);
    const jet r = a.beside(), slope = a.by_order();
    const int k = a.order();
    r.c[k] = k == 0 ? exp(a.c[0]) : a.averaged(detail::convolution(slope.c, r.c, k, 1, k));
    return r;
  }
  SALTUS_FN friend jet expm1(const jet& a) {
    if (!a.varies()) return expm1(a.constant);
    return exp(a).with_value(expm1(a.c[0]));
  }
  /// From a r' = a'.
  SALTUS_FN friend jet log(const jet& a) {
    if (!a.varies()) return log(a.constant);
    return a.quadrature(a, log(a.c[0]));
  }
  SALTUS_FN friend jet log2(const jet& a) {
    if (!a.varies()) return log2(a.constant);
    return log(a).scaled(Base(1.4426950408889634)).with_value(log2(a.c[0]));
  }
  SALTUS_FN friend jet log10(const jet& a) {
    if (!a.varies()) return log10(a.constant);
    return log(a).scaled(Base(0.4342944819032518)).with_value(log10(a.c[0]));
  }
  SALTUS_FN friend jet sin(const jet& a) {
    if (!a.varies()) return sin(a.constant);
    return a.pair(-1.0, sin(a.c[0]), cos(a.c[0]), true);
  }
  SALTUS_FN friend jet cos(const jet& a) {
    if (!a.varies()) return cos(a.constant);
    return a.pair(-1.0, sin(a.c[0]), cos(a.c[0]), false);
  }
  SALTUS_FN friend jet sinh(const jet& a) {
    if (!a.varies()) return sinh(a.constant);
    return a.pair(1.0, sinh(a.c[0]), cosh(a.c[0]), true);
  }
  SALTUS_FN friend jet cosh(const jet& a) {
    if (!a.varies()) return cosh(a.constant);
    return a.pair(1.0, sinh(a.c[0]), cosh(a.c[0]), false);
  }
  SALTUS_FN friend jet tan(const jet& a) {
    if (!a.varies()) return tan(a.constant);
    return a.riccati(1.0, tan(a.c[0]));
  }
  SALTUS_FN friend jet tanh(const jet& a) {
    if (!a.varies()) return tanh(a.constant);
    return a.riccati(-1.0, tanh(a.c[0]));
  }
  SALTUS_FN friend jet asin(const jet& a) {
    if (!a.varies()) return asin(a.constant);
    return a.quadrature(sqrt((jet(1.0) - a) * (jet(1.0) + a)), asin(a.c[0]));
  }
  SALTUS_FN friend jet acos(const jet& a) {
    if (!a.varies()) return acos(a.constant);
    return (-asin(a)).with_value(acos(a.c[0]));
  }
  SALTUS_FN friend jet atan(const jet& a) {
    if (!a.varies()) return atan(a.constant);
    return a.quadrature(jet(1.0) + a * a, atan(a.c[0]));
  }
  SALTUS_FN friend jet cbrt(const jet& a) {
    if (!a.varies()) return cbrt(a.constant);
    return a.power(Base(1.0 / 3.0), cbrt(a.c[0]));
  }
  SALTUS_FN friend jet hypot(const jet& x, const jet& y) {
    if (!x.varies() && !y.varies()) return hypot(x.constant, y.constant);
    return sqrt(x * x + y * y).with_value(hypot(x.at_start(), y.at_start()));
  }
  /// From (x^2 + y^2) r' = x y' - y x'.
  SALTUS_FN friend jet atan2(const jet& y, const jet& x) {
    if (!x.varies() && !y.varies()) return atan2(y.constant, x.constant);
    const jet w = x * x + y * y, inverse = w.beside(), r = w.beside(), slope = w.beside();
    const int k = r.order();
    if (k == 0) {
      r.c[0] = atan2(y.at_start(), x.at_start());
      inverse.c[0] = Base(1.0) / w.c[0];
      return r;
    }
    Base sum = -detail::convolution(slope.c, w.c, k, 1, k - 1);
    for (int j = 1; j <= k; ++j)
      sum = fma(Base(static_cast<double>(j)),
                fma(y.coefficient(j), x.coefficient(k - j), -(x.coefficient(j) * y.coefficient(k - j))), sum);
    r.c[k] = r.averaged(sum) * inverse.c[0];
    slope.c[k] = Base(static_cast<double>(k)) * r.c[k];
    return r;
  }
  SALTUS_FN friend jet pow(const jet& a, double e) {
    if (!a.varies()) return pow(a.constant, e);
    if (e == 2.0) return a * a;
    return pow(a, Base(e));
  }
  SALTUS_FN friend jet pow(const jet& a, Base e) {
    if (!a.varies()) return pow(a.constant, e);
    const jet r = a.power(e, pow(a.c[0], e));
    return any(is_small_power(e)) ? a.small_power(e, r) : r;
  }
  SALTUS_FN friend jet pow(double a, const jet& e) { return pow(Base(a), e); }
  SALTUS_FN friend jet pow(Base a, const jet& e) {
    if (!e.varies()) return pow(a, e.constant);
    return exp(e.scaled(log(a))).with_value(pow(a, e.c[0]));
  }
  SALTUS_FN friend jet pow(const jet& a, const jet& e) {
    if (!e.varies()) return pow(a, e.constant);
    if (!a.varies()) return pow(a.constant, e);
    return exp(e * log(a)).with_value(pow(a.c[0], e.c[0]));
  }

  /// Its k-th time derivative: coefficients are known up to `order` of the run, less k of the result.
  SALTUS_FN friend jet derivative(const jet& a, int times) {
    if (!a.varies()) return times == 0 ? a : jet(0.0);
    const jet r = a.beside();
    const int k = a.order();
    double factor = 1.0;
    for (int i = 1; i <= times; ++i) factor *= k + i;
    r.c[k] = k + times < a.table->length ? Base(factor) * a.c[k + times] : Base(0.0);
    return r;
  }

 private:
  SALTUS_FN int order() const { return table->order; }
  SALTUS_FN jet beside() const { return {table->take(), table}; }
  SALTUS_FN friend jet next_to(const jet& a, const jet& b) { return a.varies() ? a.beside() : b.beside(); }
  /// k c[k], the coefficients of t dx/dt.
  SALTUS_FN jet by_order() const {
    const jet r = beside();
    const int k = order();
    r.c[k] = Base(static_cast<double>(k)) * c[k];
    return r;
  }
  SALTUS_FN Base averaged(Base sum) const { return sum * Base(table->per_order); }
  /// The value at t0 is better known than the recurrence finds it.
  SALTUS_FN jet with_value(Base value) const {
    const jet r = beside();
    const int k = order();
    r.c[k] = k == 0 ? value : c[k];
    return r;
  }
  SALTUS_FN jet scaled(Base by) const {
    const jet r = beside();
    const int k = order();
    r.c[k] = by * c[k];
    return r;
  }
  SALTUS_FN jet divided(Base by) const {
    const jet r = beside();
    const int k = order();
    r.c[k] = c[k] / by;
    return r;
  }
  /// r with w r' = a', where *this is a.
  SALTUS_FN jet quadrature(const jet& w, Base value) const {
    const jet r = beside(), slope = beside(), inverse = beside();
    const int k = order();
    if (k == 0) {
      r.c[0] = value;
      inverse.c[0] = Base(1.0) / w.c[0];
    } else {
      r.c[k] = fma(Base(-table->per_order), detail::convolution(slope.c, w.c, k, 1, k - 1), c[k]) * inverse.c[0];
      slope.c[k] = Base(static_cast<double>(k)) * r.c[k];
    }
    return r;
  }
  /// s' = r a', r' = sense s a': sine and cosine, or the hyperbolic ones; one of them.
  SALTUS_FN jet pair(double sense, Base sine, Base cosine, bool wants_sine) const {
    const jet s = beside(), r = beside(), slope = by_order();
    const int k = order();
    if (k == 0) {
      s.c[0] = sine;
      r.c[0] = cosine;
    } else {
      s.c[k] = averaged(detail::convolution(slope.c, r.c, k, 1, k));
      r.c[k] = averaged(detail::convolution(slope.c, s.c, k, 1, k)) * Base(sense);
    }
    return wants_sine ? s : r;
  }
  /// r' = (1 + sense r^2) a'.
  SALTUS_FN jet riccati(double sense, Base value) const {
    const jet r = beside(), w = beside(), slope = by_order();
    const int k = order();
    r.c[k] = k == 0 ? value : averaged(detail::convolution(slope.c, w.c, k, 1, k));
    w.c[k] = Base(sense) * detail::square_of_series(r.c, k, 0);
    if (k == 0) w.c[0] = w.c[0] + Base(1.0);
    return r;
  }
  /// a^e from a r' = e r a'.
  SALTUS_FN jet power(Base e, Base value) const {
    const jet r = beside(), inverse = beside(), slope_of_a = by_order(), slope = beside();
    const int k = order();
    if (k == 0) {
      r.c[0] = value;
      inverse.c[0] = Base(1.0) / c[0];
    } else {
      const Base by_a = detail::convolution(slope_of_a.c, r.c, k, 1, k);
      const Base by_r = detail::convolution(slope.c, c, k, 1, k - 1);
      r.c[k] = averaged(fma(e, by_a, -by_r)) * inverse.c[0];
      slope.c[k] = Base(static_cast<double>(k)) * r.c[k];
    }
    return r;
  }
  SALTUS_FN static mask_type is_small_power(Base e) {
    return (e == Base(0.0)) | (e == Base(1.0)) | (e == Base(2.0)) | (e == Base(3.0)) | (e == Base(4.0));
  }
  /// a^e, which is `otherwise` but where e is 0, 1, 2, 3 or 4: there a may be zero.
  SALTUS_FN jet small_power(Base e, const jet& otherwise) const {
    const jet square = *this * *this, cube = square * *this, fourth = square * square, r = beside();
    const int k = order();
    Base best = otherwise.c[k];
    best = select(e == Base(4.0), fourth.c[k], best);
    best = select(e == Base(3.0), cube.c[k], best);
    best = select(e == Base(2.0), square.c[k], best);
    best = select(e == Base(1.0), c[k], best);
    r.c[k] = k == 0 ? otherwise.c[0] : select(e == Base(0.0), Base(0.0), best);
    return r;
  }
};

}  // namespace saltus
