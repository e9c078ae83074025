// jet<Base>: a number that is a truncated power series in time, c[0] + c[1] (t - t0) + c[2] (t - t0)^2 + ...
//
// The coefficients of a whole computation are found order by order: a model's function is run for order 0, then for order 1, and so
// on, and each run adds one coefficient to every number in it, from those of lower orders that earlier runs have left in its place.
// So p coefficients take O(p^2) operations for each of the model's. What a run does next must not depend on the order: models do
// not branch, and a `select` chooses by values at t0.
//
// Recurrences: A. Griewank and A. Walther, "Evaluating Derivatives" (2nd ed. 2008), table 13.2; for functions that solve a linear
// differential equation with the argument, theorem of 13.2 there.
//
// What such a computation waits for is its numbers, not its arithmetic: a term of a sum takes two of them and one multiply-add. So the
// sum of an even order makes that of the odd one behind it as well, as far as it is known by then, from the same numbers; the run of the
// odd order adds what is lacking. Of polynomials, as those of time are, the terms beyond their degree are left out.
#pragma once

#include "number/math.hpp"

namespace saltus {

/// Where the coefficients of a computation lie: `room` places of `length` coefficients each, and of `stride` numbers.
template <class Base>
struct jet_table {
  static constexpr int beside = 2;      ///< numbers of a place behind its coefficients
  static constexpr int remembered = 8;  ///< pairs of sine and cosine, of the latest arguments
  Base* numbers;
  int length;        ///< of each series: orders 0 .. length-1
  int room;          ///< places there are
  int used = 0;      ///< places taken by this run so far
  int order = 0;     ///< of the coefficients that this run finds
  int most = 0;      ///< places taken by any run
  double per_order;  ///< 1 / order

  SALTUS_FN static constexpr int size(int terms, int places) { return (terms + beside) * places; }

  /// @param at  [size(terms, places)]
  SALTUS_FN jet_table(Base* at, int terms, int places) : numbers(at), length(terms), room(places), per_order(0.0) {}

  /// Before a run that finds the coefficients of order k; the first `kept` places are those of its arguments. A run of an odd order
  /// follows one of the order before it, with the same coefficients.
  SALTUS_FN void begin(int k, int kept) {
    order = k;
    used = kept;
    pairs = 0;
    per_order = k > 0 ? 1.0 / k : 0.0;
  }
  SALTUS_FN bool overflowed() const { return most > room; }
  SALTUS_FN Base* place(int i) const { return numbers + i * (length + beside); }
  /// The next place of this run. Where there is none left the last one is taken again: `overflowed` tells.
  SALTUS_FN Base* take() {
    const int i = used++;
    if (used > most) most = used;
    return place(i < room ? i : room - 1);
  }

  /// Sine and cosine of an argument, or the hyperbolic ones (sense 1), that this run has made.
  struct pair {
    const Base* argument;
    double sense;
    Base *sine, *cosine;
  };
  bool in_turn = true;  ///< orders are run in turn, each once: sums of two are made together
  bool shares = true;   ///< they need not be made again
  SALTUS_FN const pair* known_pair(const Base* argument, double sense) const {
    for (int i = 0; shares && i < pairs && i < remembered; ++i)
      if (latest[i].argument == argument && latest[i].sense == sense) return &latest[i];
    return nullptr;
  }
  SALTUS_FN void remember(const pair& made) { latest[pairs++ % remembered] = made; }

 private:
  int pairs = 0;
  pair latest[remembered];
};

namespace detail {
// Parts of the recurrences, for the coefficients of order k.

/// Sum of a(j) b_{k-j} over j = from .. to.
template <class Base, class A>
SALTUS_FN Base convolution(const A& a, const Base* b, int k, int from, int to) {
  Base even = Base(0.0), odd = Base(0.0);
  int j = from;
  for (; j < to; j += 2) {
    even = fma(a(j, k), b[k - j], even);
    odd = fma(a(j + 1, k), b[k - j - 1], odd);
  }
  if (j == to) even = fma(a(j, k), b[k - j], even);
  return even + odd;
}

/// A sum of a(j, k) b_{k-j} over j = from .. k-last, of which the coefficients of order k are known of a, if last is 0, and of b, if
/// from is 0 or b_is_known. In runs of even order `rest` is given what is known of the sum of order k+1; it is asked for in the next.
template <int from, int last, bool b_is_known, class Base, class A>
SALTUS_FN Base sum_by_pairs(const A& a, const Base* b, int k, bool more, Base& rest) {
  const int to = k - last;
  if (k % 2 != 0) {
    Base sum = rest;
    if (to >= from) sum = fma(a(to, k), b[k - to], sum);
    if (!(from > 0 && b_is_known) && to > from) sum = fma(a(from, k), b[k - from], sum);
    return sum;
  }
  if (!more) return convolution(a, b, k, from, to);
  rest = Base(0.0);
  if (to < from) return Base(0.0);
  Base before = b[k - from];
  Base even = a(from, k) * before, odd = Base(0.0), next_even = Base(0.0), next_odd = Base(0.0);
  if constexpr (from > 0 && b_is_known) next_even = a(from, k + 1) * b[k + 1 - from];
  int j = from + 1;
  for (; j < to; j += 2) {
    const Base first = b[k - j], second = b[k - j - 1];
    odd = fma(a(j, k), first, odd);
    next_odd = fma(a(j, k + 1), before, next_odd);
    even = fma(a(j + 1, k), second, even);
    next_even = fma(a(j + 1, k + 1), first, next_even);
    before = second;
  }
  if (j == to) {
    odd = fma(a(j, k), b[k - j], odd);
    next_odd = fma(a(j, k + 1), before, next_odd);
  }
  rest = next_even + next_odd;
  return even + odd;
}

/// The sum of a_j a_{k-j} over j = from .. k-from, likewise. From 1 on, where a_k is not known.
template <int from, class Base>
SALTUS_FN Base square_by_pairs(const Base* a, int k, bool more, Base& rest) {
  if (k % 2 != 0) {
    const Base ends = k >= 2 * from + 1 ? a[from] * a[k - from] : Base(0.0);
    return fma(Base(2.0), ends, rest);
  }
  const int half = k / 2;
  if (half < from) {
    rest = Base(0.0);
    return Base(0.0);
  }
  Base sum = Base(0.0), next = Base(0.0);
  if (half > from) {
    Base before = a[k - from];
    sum = a[from] * before;
    for (int j = from + 1; j < half; ++j) {
      const Base here = a[j], other = a[k - j];
      sum = fma(here, other, sum);
      if (more) next = fma(here, before, next);
      before = other;
    }
    if (more) next = fma(a[half], before, next);
  }
  rest = next + next;
  return fma(a[half], a[half], sum + sum);
}
}  // namespace detail

template <class Base>
struct jet {
  using scalar = scalar_of<Base>;
  using mask_type = mask_of<Base>;
  using integer = typename real_traits<Base>::integer;
  static constexpr int lanes = real_traits<Base>::lanes;

  static constexpr int any_degree = 1 << 20;

  Base* c = nullptr;  ///< coefficients; null: a constant
  jet_table<Base>* table = nullptr;
  int degree = any_degree;  ///< those above are zero, as far as is known beforehand
  Base constant;

  jet() = default;
  // Member by member: as a whole, what was written in parts would be read in one piece, which waits until it has left the processor.
  SALTUS_FN jet(const jet& x) : c(x.c), table(x.table), degree(x.degree), constant(x.constant) {}
  SALTUS_FN jet& operator=(const jet& x) {
    c = x.c;
    table = x.table;
    degree = x.degree;
    constant = x.constant;
    return *this;
  }
  SALTUS_FN jet(double x) : constant(x) {}
  SALTUS_FN jet(Base x) : constant(x) {}
  /// A constant beside a series of duals: a parameter.
  SALTUS_FN jet(typename detail::inside<Base>::type x) : constant(Base(x)) {}
  SALTUS_FN jet(Base* coefficients, jet_table<Base>* in, int of_degree = any_degree)
      : c(coefficients), table(in), degree(of_degree) {}

  SALTUS_FN bool varies() const { return c != nullptr; }
  /// The value at t0.
  SALTUS_FN Base at_start() const { return varies() ? c[0] : constant; }
  SALTUS_FN Base coefficient(int k) const { return varies() ? c[k] : k == 0 ? constant : Base(0.0); }

  SALTUS_FN friend jet operator+(const jet& a, const jet& b) {
    if (!a.varies() && !b.varies()) return a.constant + b.constant;
    const jet r = next_to(a, b, larger(a.known_degree(), b.known_degree()));
    const int k = r.order();
    r.c[k] = a.coefficient(k) + b.coefficient(k);
    return r;
  }
  SALTUS_FN friend jet operator-(const jet& a, const jet& b) {
    if (!a.varies() && !b.varies()) return a.constant - b.constant;
    const jet r = next_to(a, b, larger(a.known_degree(), b.known_degree()));
    const int k = r.order();
    r.c[k] = a.coefficient(k) - b.coefficient(k);
    return r;
  }
  SALTUS_FN friend jet operator*(const jet& a, const jet& b) {
    if (!a.varies() && !b.varies()) return a.constant * b.constant;
    if (!a.varies()) return b.scaled(a.constant);
    if (!b.varies()) return a.scaled(b.constant);
    const jet r = next_to(a, b, smaller(a.degree + b.degree, any_degree));
    if (a.c == b.c && !a.is_polynomial()) r.c[r.order()] = r.template square<0>(a);
    else r.c[r.order()] = r.template sum<0, 0, true>(a.terms(), a.degree, b);
    return r;
  }
  /// From r b = a.
  SALTUS_FN friend jet operator/(const jet& a, const jet& b) {
    if (!a.varies() && !b.varies()) return a.constant / b.constant;
    if (!b.varies()) return a.divided(b.constant);
    const jet r = next_to(a, b, any_degree);
    if (const int k = r.order(); k == 0) {
      r.begin_with(a.at_start() / b.c[0]);
      r.spare() = Base(1.0) / b.c[0];
    } else {
      r.c[k] = (a.coefficient(k) - r.template sum<0, 1, true>(r.terms(), any_degree, b)) * r.spare();
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
    const jet r = next_to(a, b, larger(a.known_degree(), b.known_degree()));
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
    const jet r = a.beside();
    if (const int k = r.order(); k == 0) {
      r.begin_with(sqrt(a.c[0]));
      r.spare() = Base(0.5) / r.c[0];
    } else {
      r.c[k] = (a.c[k] - r.template square<1>(r)) * r.spare();
    }
    return r;
  }
  /// From r' = r a'.
  SALTUS_FN friend jet exp(const jet& a) {
    if (!a.varies()) return exp(a.constant);
    const jet r = a.beside(), slope = a.by_order();
    if (const int k = r.order(); k == 0) r.begin_with(exp(a.c[0]));
    else r.c[k] = r.averaged(r.template sum<1, 0, false>(slope.terms(), slope.degree, r));
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
    return log(a).scaled(Base(rounded(1.4426950408889634))).with_value(log2(a.c[0]));
  }
  SALTUS_FN friend jet log10(const jet& a) {
    if (!a.varies()) return log10(a.constant);
    return log(a).scaled(Base(rounded(0.4342944819032518))).with_value(log10(a.c[0]));
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
    return a.power(rounded(1.0 / 3.0), cbrt(a.c[0]));
  }
  SALTUS_FN friend jet hypot(const jet& x, const jet& y) {
    if (!x.varies() && !y.varies()) return hypot(x.constant, y.constant);
    return sqrt(x * x + y * y).with_value(hypot(x.at_start(), y.at_start()));
  }
  /// From (x^2 + y^2) r' = x y' - y x'.
  SALTUS_FN friend jet atan2(const jet& y, const jet& x) {
    if (!x.varies() && !y.varies()) return atan2(y.constant, x.constant);
    const jet w = x * x + y * y, r = w.beside(), slope = w.beside();
    const int k = r.order();
    if (k == 0) {
      r.begin_with(atan2(y.at_start(), x.at_start()));
      r.spare() = Base(1.0) / w.c[0];
      return r;
    }
    Base sum = -r.template sum<1, 1, true>(slope.terms(), any_degree, w);
    for (int j = 1; j <= k; ++j)
      sum = fma(Base(static_cast<double>(j)),
                fma(y.coefficient(j), x.coefficient(k - j), -(x.coefficient(j) * y.coefficient(k - j))), sum);
    r.c[k] = r.averaged(sum) * r.spare();
    slope.c[k] = Base(static_cast<double>(k)) * r.c[k];
    return r;
  }
  SALTUS_FN friend jet pow(const jet& a, double e) {
    if (!a.varies()) return pow(a.constant, e);
    if (e == 2.0) return a * a;
    const jet r = a.power(exact(e), pow(a.c[0], e));
    return is_small_power(e) ? a.small_power(Base(e), r) : r;
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
    const jet r = a.beside(a.is_polynomial() ? larger(a.degree - times, 0) : any_degree);
    const int k = a.order();
    double factor = 1.0;
    for (int i = 1; i <= times; ++i) factor *= k + i;
    r.c[k] = k + times < a.table->length ? Base(factor) * a.c[k + times] : Base(0.0);
    return r;
  }

 private:
  SALTUS_FN static int larger(int a, int b) { return a < b ? b : a; }
  SALTUS_FN static int smaller(int a, int b) { return a < b ? a : b; }
  SALTUS_FN int order() const { return table->order; }
  SALTUS_FN int known_degree() const { return varies() ? degree : 0; }
  SALTUS_FN bool is_polynomial() const { return degree < any_degree; }
  SALTUS_FN jet beside(int of_degree = any_degree) const { return {table->take(), table, of_degree}; }
  SALTUS_FN friend jet next_to(const jet& a, const jet& b, int of_degree) {
    return a.varies() ? a.beside(of_degree) : b.beside(of_degree);
  }
  // Behind the coefficients of a place: what an even order leaves of a sum for the next, and a number for its recurrence.
  SALTUS_FN Base& rest() const { return c[table->length]; }
  SALTUS_FN Base& spare() const { return c[table->length + 1]; }
  /// The coefficient of order 0, of a series whose others are found by a sum that has no terms yet.
  SALTUS_FN void begin_with(Base value) const {
    c[0] = value;
    rest() = Base(0.0);
  }
  SALTUS_FN auto terms() const {
    return [c = c](int j, int) SALTUS_INLINE_LAMBDA { return c[j]; };
  }
  /// detail::sum_by_pairs for a coefficient of this series: of factors a(j, k), zero for j > degree_of_a, and b.
  template <int from, int last, bool b_is_known, class A>
  SALTUS_FN Base sum(const A& a, int degree_of_a, const jet& b) const {
    const int k = order();
    if (degree_of_a < any_degree || b.is_polynomial() || !table->in_turn)
      return detail::convolution(a, b.c, k, larger(from, k - b.degree), smaller(k - last, degree_of_a));
    return detail::sum_by_pairs<from, last, b_is_known>(a, b.c, k, k + 1 < table->length, rest());
  }
  template <int from>
  SALTUS_FN Base square(const jet& a) const {
    if (!table->in_turn) return detail::convolution(a.terms(), a.c, order(), from, order() - from);
    return detail::square_by_pairs<from>(a.c, order(), order() + 1 < table->length, rest());
  }
  /// k c[k], the coefficients of t dx/dt.
  SALTUS_FN jet by_order() const {
    const jet r = beside(degree);
    const int k = order();
    r.c[k] = Base(static_cast<double>(k)) * c[k];
    return r;
  }
  SALTUS_FN Base averaged(Base sum) const { return sum * per_order(); }
  SALTUS_FN Base per_order() const { return Base(rounded(table->per_order)); }
  // A constant, and one that is no double, in which more is computed before it meets a coefficient: as a double, unless all that is
  // rounded counts, as with intervals.
  SALTUS_FN static auto exact(double x) {
    if constexpr (requires { Base::about(x); }) return Base(x);
    else return x;
  }
  SALTUS_FN static auto rounded(double x) {
    if constexpr (requires { Base::about(x); }) return Base::about(x);
    else return x;
  }
  /// The value at t0 is better known than the recurrence finds it.
  SALTUS_FN jet with_value(Base value) const {
    const jet r = beside(degree);
    const int k = order();
    r.c[k] = k == 0 ? value : c[k];
    return r;
  }
  SALTUS_FN jet scaled(Base by) const {
    const jet r = beside(degree);
    const int k = order();
    r.c[k] = by * c[k];
    return r;
  }
  SALTUS_FN jet divided(Base by) const {
    const jet r = beside(degree);
    const int k = order();
    r.c[k] = c[k] / by;
    return r;
  }
  /// r with w r' = a', where *this is a.
  SALTUS_FN jet quadrature(const jet& w, Base value) const {
    const jet r = beside(), slope = beside();
    if (const int k = order(); k == 0) {
      r.begin_with(value);
      r.spare() = Base(1.0) / w.c[0];
    } else {
      const Base sum = r.template sum<1, 1, true>(slope.terms(), any_degree, w);
      r.c[k] = fma(-per_order(), sum, c[k]) * r.spare();
      slope.c[k] = Base(static_cast<double>(k)) * r.c[k];
    }
    return r;
  }
  /// s' = r a', r' = sense s a': sine and cosine, or the hyperbolic ones. One of them; the other is asked for more often than not.
  SALTUS_FN jet pair(double sense, Base sine, Base cosine, bool wants_sine) const {
    if (const auto* known = table->known_pair(c, sense)) return {wants_sine ? known->sine : known->cosine, table};
    const jet s = beside(), r = beside(), slope = by_order();
    table->remember({c, sense, s.c, r.c});
    if (const int k = order(); k == 0) {
      s.begin_with(sine);
      r.begin_with(cosine);
    } else {
      s.c[k] = averaged(s.template sum<1, 0, false>(slope.terms(), slope.degree, r));
      r.c[k] = averaged(r.template sum<1, 0, false>(slope.terms(), slope.degree, s)) * Base(sense);
    }
    return wants_sine ? s : r;
  }
  /// r' = (1 + sense r^2) a'.
  SALTUS_FN jet riccati(double sense, Base value) const {
    const jet r = beside(), w = beside(), slope = by_order();
    const int k = order();
    if (k == 0) r.begin_with(value);
    else r.c[k] = averaged(r.template sum<1, 0, false>(slope.terms(), slope.degree, w));
    w.c[k] = Base(sense) * w.template square<0>(r);
    if (k == 0) w.c[0] = w.c[0] + Base(1.0);
    return r;
  }
  /// a^e from a r' = e r a': the sum of (e j - (k - j)) a_j r_{k-j}, over k a_0.
  template <class Exponent>
  SALTUS_FN jet power(Exponent e, Base value) const {
    const jet r = beside();
    if (const int k = order(); k == 0) {
      r.begin_with(value);
      r.spare() = Base(1.0) / c[0];
    } else {
      const auto a = [e, c = c](int j, int of) SALTUS_INLINE_LAMBDA {
        return Base(e * Exponent(static_cast<double>(j)) + Exponent(static_cast<double>(j - of))) * c[j];
      };
      r.c[k] = averaged(r.template sum<1, 0, false>(a, degree, r)) * r.spare();
    }
    return r;
  }
  template <class Exponent>
  SALTUS_FN static auto is_small_power(Exponent e) {
    return (e == Exponent(0.0)) | (e == Exponent(1.0)) | (e == Exponent(2.0)) | (e == Exponent(3.0)) |
           (e == Exponent(4.0));
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
