// The recurrences of truncated power series: the coefficient of order k > 0 of a function's result, from the coefficients up to k of its
// arguments and below k of the result.
//
// Recurrences: A. Griewank and A. Walther, "Evaluating Derivatives" (2nd ed. 2008), table 13.2; for functions that solve a linear
// differential equation with the argument, theorem of 13.2 there.
//
// Memory loads dominate, not arithmetic: a term of a sum takes two loads and one multiply-add. So a sum of even order also computes the
// known part of the sum of the next, odd order from the same numbers, and the run of the odd order adds the missing terms. For polynomials,
// as those of time, terms beyond their degree are left out.
#pragma once

#include "number/math.hpp"

namespace saltus {

namespace detail {
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

/// The sum of a(j, k) b_{k-j} over j = from .. k-last. The coefficients of order k are known for a if `last` is 0, and for b if `from` is 0
/// or `b_is_known`. Runs of even order store the known part of the sum of order k+1 in `rest`; the next run reads it.
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

/// The sum of a_j a_{k-j} over j = from .. k-from, likewise. `from` is 1 where a_k is not known.
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

/// The order of the coefficients to be found.
struct series_order {
  int k;
  bool more;         ///< the next order is found, too
  bool in_turn;      ///< orders are found in turn, each once: the sums of two orders are formed together
  double per_order;  ///< 1 / k
};

/// The coefficients of a number.
template <class Base>
struct coefficients_of {
  static constexpr int any_degree = 1 << 20;
  Base* c;
  int degree = any_degree;  ///< higher coefficients are known to be zero

  SALTUS_FN bool is_polynomial() const { return degree < any_degree; }
  SALTUS_FN Base operator()(int j, int) const { return c[j]; }
};

/// `n` are the numbers that a recurrence keeps: the part of the next order's sum that an even order has computed, and for some recurrences
/// a factor behind it.
template <class Base>
struct series_rules {
  using series = coefficients_of<Base>;

  SALTUS_FN static int larger(int a, int b) { return a < b ? b : a; }
  SALTUS_FN static int smaller(int a, int b) { return a < b ? a : b; }
  // A constant that is not exactly a double and enters further computation before it meets a coefficient: a double, or an enclosure if
  // rounding must be enclosed, as with intervals.
  SALTUS_FN static auto rounded(double x) {
    if constexpr (requires { Base::about(x); }) return Base::about(x);
    else return x;
  }
  SALTUS_FN static Base averaged(series_order o, Base sum) { return sum * Base(rounded(o.per_order)); }
  SALTUS_FN static Base times_order(series_order o, Base x) { return Base(static_cast<double>(o.k)) * x; }

  /// detail::sum_by_pairs: of factors a(j, k), zero for j > a.degree, and b.
  template <int from, int last, bool b_is_known, class A>
  SALTUS_FN static Base sum(series_order o, const A& a, series b, Base& rest) {
    if (a.degree < series::any_degree || b.is_polynomial() || !o.in_turn)
      return detail::convolution(a, b.c, o.k, larger(from, o.k - b.degree), smaller(o.k - last, a.degree));
    return detail::sum_by_pairs<from, last, b_is_known>(a, b.c, o.k, o.more, rest);
  }
  template <int from>
  SALTUS_FN static Base sum_of_squares(series_order o, series a, Base& rest) {
    if (!o.in_turn) return detail::convolution(a, a.c, o.k, from, o.k - from);
    return detail::square_by_pairs<from>(a.c, o.k, o.more, rest);
  }

  // Product and square hold for order 0, too.
  SALTUS_FN static Base product(series_order o, series a, series b, Base* n) { return sum<0, 0, true>(o, a, b, n[0]); }
  SALTUS_FN static Base square(series_order o, series a, Base* n) { return sum_of_squares<0>(o, a, n[0]); }
  /// r b = a; n[1] is 1 / b(t0).
  SALTUS_FN static Base quotient(series_order o, Base a, series b, series r, Base* n) {
    return (a - sum<0, 1, true>(o, r, b, n[0])) * n[1];
  }
  /// r^2 = a; n[1] is 1 / (2 r(t0)).
  SALTUS_FN static Base root(series_order o, Base a, series r, Base* n) {
    return (a - sum_of_squares<1>(o, r, n[0])) * n[1];
  }
  /// r' = s a', `slope` the coefficients of t a'.
  SALTUS_FN static Base along(series_order o, series slope, series s, Base* n) {
    return averaged(o, sum<1, 0, false>(o, slope, s, n[0]));
  }
  /// w r' = a'; n[1] is 1 / w(t0).
  SALTUS_FN static Base quadrature(series_order o, Base a, series w, series slope, Base* n) {
    return fma(Base(-rounded(o.per_order)), sum<1, 1, true>(o, slope, w, n[0]), a) * n[1];
  }
  /// (x^2 + y^2) r' = x y' - y x', w the sum of squares; n[1] is 1 / w(t0).
  template <class X, class Y>
  SALTUS_FN static Base angle(series_order o, const Y& y, const X& x, series w, series slope, Base* n) {
    Base all = -sum<1, 1, true>(o, slope, w, n[0]);
    for (int j = 1; j <= o.k; ++j)
      all = fma(Base(static_cast<double>(j)), fma(y(j), x(o.k - j), -(x(j) * y(o.k - j))), all);
    return averaged(o, all) * n[1];
  }
  /// The weighted factors of `power`; e is a double or a Base.
  template <class Exponent>
  struct weighted {
    Exponent e;
    const Base* c;
    int degree;
    SALTUS_FN Base operator()(int j, int of) const {
      return Base(e * Exponent(static_cast<double>(j)) + Exponent(static_cast<double>(j - of))) * c[j];
    }
  };
  /// a r' = e r a': the sum of (e j - (k - j)) a_j r_{k-j}, over k a_0; n[1] is 1 / a(t0).
  template <class A>
  SALTUS_FN static Base power(series_order o, const A& weighted_a, series r, Base* n) {
    return averaged(o, sum<1, 0, false>(o, weighted_a, r, n[0])) * n[1];
  }
};

}  // namespace saltus
