// jet<Base>: a truncated power series in time, c[0] + c[1] (t - t0) + c[2] (t - t0)^2 + ...
//
// The coefficients of a whole computation are found order by order. A model's function runs for order 0, then for order 1, and so on. Each
// run adds one coefficient to every number, from lower-order coefficients that earlier runs have left (number/series_rules.hpp). So p
// coefficients take O(p^2) operations for each of the model's. The sequence of operations must not depend on the order: models do not
// branch, and a `select` chooses by values at t0.
//
// Most numbers of a model are only added, subtracted and scaled. They need the current coefficient alone, which stays in a register. A
// number gets a row for all its coefficients when it becomes a factor or an argument.
#pragma once

#include "number/series_room.hpp"
#include "number/series_rules.hpp"

namespace saltus {

/// Memory of a computation: rows of `length` coefficients each, then single numbers.
template <class Base>
struct jet_table {
  static constexpr int remembered = 8;  ///< latest pairs of sine and cosine
  Base* coefficients;
  int length;                ///< of each series: orders 0 .. length-1
  Base *numbers, *end;       ///< the room for numbers; series and numbers are each followed by as much as one operation
                             ///< takes
  Base *next, *next_number;  ///< the next free row and number of this run
  int order = 0;             ///< order of the coefficients that this run finds
  double per_order = 0.0;    ///< 1 / order
  bool in_turn = true;       ///< orders run in turn, each once: the sums of two orders are formed together
  bool shares = true;  ///< results are reused, and work that no instance needs is skipped; false while room is counted

  SALTUS_FN static constexpr int size(int terms, series_room of) { return terms * (of.series + 1) + of.numbers + 2; }

  /// @param at  [size(terms, of)]
  SALTUS_FN jet_table(Base* at, int terms, series_room of)
      : coefficients(at), length(terms), numbers(at + terms * (of.series + 1)), end(numbers + of.numbers) {}

  /// Called before a run that finds the coefficients of order k; the first `given` rows are those of the run's arguments. A run of odd
  /// order follows the run of the order before it, with the same coefficients.
  SALTUS_FN void begin(int k, int given) {
    order = k;
    next = row(given);
    next_number = numbers;
    pairs = 0;
    per_order = k > 0 ? 1.0 / k : 0.0;
  }
  SALTUS_FN Base* row(int i) const { return coefficients + i * length; }
  /// The next row of this run. When the room is used up, all further requests get the spare row behind it, and `overflowed` is true.
  SALTUS_FN Base* take() {
    Base* const last = numbers - length;
    Base* const r = next < last ? next : last;
    next = r + length;
    return r;
  }
  SALTUS_FN Base* take_numbers(int count) {
    Base* const r = next_number < end ? next_number : end;
    next_number = r + count;
    return r;
  }
  /// True if the last run asked for more room than there is.
  SALTUS_FN bool overflowed() const { return next > numbers - length || next_number > end; }
  SALTUS_FN series_order now() const { return {order, order + 1 < length, in_turn, per_order}; }

  /// Sine and cosine (or, with sense 1, hyperbolic sine and cosine) that this run has computed of an argument.
  struct pair {
    const Base* argument;
    double sense;
    Base *sine, *cosine;
  };
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
/// A coefficient of a power that was found by products, which do not depend on the exponent: derivatives by an exponent e that has some are
/// those of the recurrence.
template <class Base>
SALTUS_FN Base with_exponent(const Base& by_products, const Base&, const Base&) {
  return by_products;
}
template <class Real, int N>
SALTUS_FN dual<Real, N> with_exponent(const dual<Real, N>& by_products, const dual<Real, N>& e,
                                      const dual<Real, N>& by_recurrence) {
  auto r = by_products;
  for (int i = 0; i < N; ++i) r.d[i] = select(e.d[i] == Real(0.0), r.d[i], by_recurrence.d[i]);
  return r;
}
}  // namespace detail

template <class Base>
struct jet;

/// Sine and cosine of one argument, found together.
template <class Base>
struct sine_and_cosine {
  jet<Base> sine, cosine;
};

template <class Base>
struct jet {
  using scalar = scalar_of<Base>;
  using mask_type = mask_of<Base>;
  using integer = typename real_traits<Base>::integer;
  using table_type = jet_table<Base>;
  using series = coefficients_of<Base>;
  using rules = series_rules<Base>;
  static constexpr int lanes = real_traits<Base>::lanes;
  static constexpr int any_degree = series::any_degree;

  Base value;                        ///< of a constant; else the coefficient that this run finds
  mutable Base* c = nullptr;         ///< all coefficients; null: no operation has needed them yet
  jet_table<Base>* table = nullptr;  ///< null: a constant
  int degree = 0;                    ///< higher coefficients are known to be zero

  jet() = default;
  // Member by member: a copy as a whole would read in one piece what was written in parts, and wait for these stores.
  SALTUS_FN jet(const jet& x) : value(x.value), c(x.c), table(x.table), degree(x.degree) {}
  SALTUS_FN jet& operator=(const jet& x) {
    value = x.value;
    c = x.c;
    table = x.table;
    degree = x.degree;
    return *this;
  }
  SALTUS_FN jet(Base x) : value(x), c(nullptr), table(nullptr), degree(0) {}
  SALTUS_FN jet(double x) : jet(Base(x)) {}
  /// A constant beside a series of duals: a parameter.
  SALTUS_FN jet(typename detail::inside<Base>::type x) : jet(Base(x)) {}
  /// Coefficients that are known up to the order of this run.
  SALTUS_FN jet(Base* coefficients, table_type* in, int of_degree = any_degree)
      : value(coefficients[in->order]), c(coefficients), table(in), degree(of_degree) {}

  /// The series in row i of the run to which `any`, which varies, belongs.
  SALTUS_FN static jet argument(const jet& any, int i) { return {any.table->row(i), any.table}; }

  SALTUS_FN bool varies() const { return table != nullptr; }
  /// The value at t0.
  SALTUS_FN Base at_start() const { return varies() ? all()[0] : value; }
  /// The coefficient of order k, which this run finds.
  SALTUS_FN Base coefficient(int k) const { return varies() || k == 0 ? value : Base(0.0); }

  SALTUS_FN friend jet operator+(const jet& a, const jet& b) {
    return each_by_itself(a, b, [](Base x, Base y) SALTUS_INLINE_LAMBDA { return x + y; });
  }
  SALTUS_FN friend jet operator-(const jet& a, const jet& b) {
    return each_by_itself(a, b, [](Base x, Base y) SALTUS_INLINE_LAMBDA { return x - y; });
  }
  SALTUS_FN friend jet operator*(const jet& a, const jet& b) {
    if (!a.varies()) return b.scaled(a.value);
    if (!b.varies()) return a.scaled(b.value);
    const series of_a = a.kept(), of_b = b.kept();
    Base* const n = a.table->take_numbers(1);
    const auto o = a.table->now();
    const int of_degree = rules::smaller(a.degree + b.degree, any_degree);
    if (of_a.c == of_b.c && !of_a.is_polynomial()) return {rules::square(o, of_a, n), a.table, of_degree};
    return {rules::product(o, of_a, of_b, n), a.table, of_degree};
  }
  SALTUS_FN friend jet operator/(const jet& a, const jet& b) {
    if (!b.varies()) return a.divided(b.value);
    const series of_b = b.kept(), r = b.another();
    Base* const n = b.table->take_numbers(2);
    const auto o = b.table->now();
    if (o.k == 0) {
      r.c[0] = a.value / b.value;
      begin_with(n, Base(1.0) / b.value);
    } else {
      r.c[o.k] = rules::quotient(o, a.coefficient(o.k), of_b, r, n);
    }
    return {r, b.table};
  }
  SALTUS_FN friend jet operator-(const jet& a) { return a.varies() ? a.scaled(Base(-1.0)) : jet(-a.value); }
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
    return each_by_itself(a, b, [&](Base x, Base y) SALTUS_INLINE_LAMBDA { return select(m, x, y); });
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

  SALTUS_FN friend jet sqrt(const jet& a) {
    if (!a.varies()) return sqrt(a.value);
    const series r = a.another();
    Base* const n = a.table->take_numbers(2);
    const auto o = a.table->now();
    if (o.k == 0) {
      r.c[0] = sqrt(a.value);
      begin_with(n, Base(0.5) / r.c[0]);
    } else {
      r.c[o.k] = rules::root(o, a.value, r, n);
    }
    return {r, a.table};
  }
  SALTUS_FN friend jet exp(const jet& a) {
    if (!a.varies()) return exp(a.value);
    const series r = a.another(), slope = a.by_order();
    Base* const n = a.table->take_numbers(1);
    const auto o = a.table->now();
    if (o.k == 0) {
      r.c[0] = exp(a.value);
      begin_with(n);
    } else {
      r.c[o.k] = rules::along(o, slope, r, n);
    }
    return {r, a.table};
  }
  SALTUS_FN friend jet expm1(const jet& a) {
    if (!a.varies()) return expm1(a.value);
    return exp(a).starting_with([&]() SALTUS_INLINE_LAMBDA { return expm1(a.value); });
  }
  SALTUS_FN friend jet log(const jet& a) {
    if (!a.varies()) return log(a.value);
    return a.quadrature(a, [&]() SALTUS_INLINE_LAMBDA { return log(a.value); });
  }
  SALTUS_FN friend jet log2(const jet& a) {
    if (!a.varies()) return log2(a.value);
    return log(a).scaled(Base(rules::rounded(1.4426950408889634))).starting_with([&]() SALTUS_INLINE_LAMBDA {
      return log2(a.value);
    });
  }
  SALTUS_FN friend jet log10(const jet& a) {
    if (!a.varies()) return log10(a.value);
    return log(a).scaled(Base(rules::rounded(0.4342944819032518))).starting_with([&]() SALTUS_INLINE_LAMBDA {
      return log10(a.value);
    });
  }
  SALTUS_FN friend jet sin(const jet& a) {
    if (!a.varies()) return sin(a.value);
    return a.circular_pair().sine;
  }
  SALTUS_FN friend jet cos(const jet& a) {
    if (!a.varies()) return cos(a.value);
    return a.circular_pair().cosine;
  }
  SALTUS_FN friend jet sinh(const jet& a) {
    if (!a.varies()) return sinh(a.value);
    return a.hyperbolic_pair().sine;
  }
  SALTUS_FN friend jet cosh(const jet& a) {
    if (!a.varies()) return cosh(a.value);
    return a.hyperbolic_pair().cosine;
  }
  SALTUS_FN friend jet tan(const jet& a) {
    if (!a.varies()) return tan(a.value);
    return a.riccati(1.0, [&]() SALTUS_INLINE_LAMBDA { return tan(a.value); });
  }
  SALTUS_FN friend jet tanh(const jet& a) {
    if (!a.varies()) return tanh(a.value);
    return a.riccati(-1.0, [&]() SALTUS_INLINE_LAMBDA { return tanh(a.value); });
  }
  SALTUS_FN friend jet asin(const jet& a) {
    if (!a.varies()) return asin(a.value);
    return a.quadrature(sqrt((jet(1.0) - a) * (jet(1.0) + a)), [&]() SALTUS_INLINE_LAMBDA { return asin(a.value); });
  }
  SALTUS_FN friend jet acos(const jet& a) {
    if (!a.varies()) return acos(a.value);
    return (-asin(a)).starting_with([&]() SALTUS_INLINE_LAMBDA { return acos(a.value); });
  }
  SALTUS_FN friend jet atan(const jet& a) {
    if (!a.varies()) return atan(a.value);
    return a.quadrature(jet(1.0) + a * a, [&]() SALTUS_INLINE_LAMBDA { return atan(a.value); });
  }
  SALTUS_FN friend jet cbrt(const jet& a) {
    if (!a.varies()) return cbrt(a.value);
    return a.power(rules::rounded(1.0 / 3.0), [&]() SALTUS_INLINE_LAMBDA { return cbrt(a.value); });
  }
  SALTUS_FN friend jet hypot(const jet& x, const jet& y) {
    if (!x.varies() && !y.varies()) return hypot(x.value, y.value);
    return sqrt(x * x + y * y).starting_with([&]() SALTUS_INLINE_LAMBDA { return hypot(x.at_start(), y.at_start()); });
  }
  SALTUS_FN friend jet atan2(const jet& y, const jet& x) {
    if (!x.varies() && !y.varies()) return atan2(y.value, x.value);
    const jet w = x * x + y * y;
    const series of_w = w.kept(), slope = w.another();
    const auto of_x = x.any_coefficients(), of_y = y.any_coefficients();
    Base* const n = w.table->take_numbers(2);
    const auto o = w.table->now();
    Base r;
    if (o.k == 0) {
      r = atan2(of_y(0), of_x(0));
      begin_with(n, Base(1.0) / w.value);
    } else {
      r = rules::angle(o, of_y, of_x, of_w, slope, n);
    }
    slope.c[o.k] = rules::times_order(o, r);
    return {r, w.table, any_degree};
  }
  SALTUS_FN friend jet pow(const jet& a, double e) {
    if (!a.varies()) return pow(a.value, e);
    if (e == 2.0) return a * a;
    const jet r = a.power(exact(e), [&]() SALTUS_INLINE_LAMBDA { return pow(a.value, e); });
    return is_small_power(e) ? a.small_power(Base(e), r) : r;
  }
  SALTUS_FN friend jet pow(const jet& a, Base e) {
    if (!a.varies()) return pow(a.value, e);
    const jet r = a.power(e, [&]() SALTUS_INLINE_LAMBDA { return pow(a.value, e); });
    // While room is counted, it must suffice for the exponents of all instances.
    return any(is_small_power(e)) || !a.table->shares ? a.small_power(e, r) : r;
  }
  // The number type inside a series of duals is a constant as well.
  using inner = typename detail::inside<Base>::type;
  SALTUS_FN friend jet pow(const jet& a, const inner& e) { return pow(a, Base(e)); }
  SALTUS_FN friend jet pow(const inner& a, const jet& e) { return pow(Base(a), e); }
  SALTUS_FN friend jet pow(double a, const jet& e) { return pow(Base(a), e); }
  SALTUS_FN friend jet pow(Base a, const jet& e) {
    if (!e.varies()) return pow(a, e.value);
    return exp(e.scaled(log(a))).starting_with([&]() SALTUS_INLINE_LAMBDA { return pow(a, e.value); });
  }
  SALTUS_FN friend jet pow(const jet& a, const jet& e) {
    if (!e.varies()) return pow(a, e.value);
    if (!a.varies()) return pow(a.value, e);
    return exp(e * log(a)).starting_with([&]() SALTUS_INLINE_LAMBDA { return pow(a.value, e.value); });
  }

  /// The `times`-th time derivative. A run of order k knows coefficients up to k, and those of the result up to k - `times`.
  SALTUS_FN friend jet derivative(const jet& a, int times) {
    if (!a.varies()) return times == 0 ? a : jet(0.0);
    const int k = a.table->order;
    double factor = 1.0;
    for (int i = 1; i <= times; ++i) factor *= k + i;
    return {k + times < a.table->length ? Base(factor) * a.kept().c[k + times] : Base(0.0), a.table,
            a.degree < any_degree ? rules::larger(a.degree - times, 0) : any_degree};
  }

 private:
  SALTUS_FN jet(Base coefficient, table_type* in, int of_degree)
      : value(coefficient), c(nullptr), table(in), degree(of_degree) {}
  SALTUS_FN jet(const series& of, table_type* in) : jet(of.c, in, of.degree) {}

  /// f of a and b, coefficient by coefficient.
  template <class Function>
  SALTUS_FN friend jet each_by_itself(const jet& a, const jet& b, const Function& f) {
    const auto in = a.varies() ? a.table : b.table;
    if (in == nullptr) return f(a.value, b.value);
    return {f(a.coefficient(in->order), b.coefficient(in->order)), in, rules::larger(a.degree, b.degree)};
  }

  /// All coefficients of this number, which are kept from now on, in this run and the others.
  SALTUS_FN Base* all() const {
    if (c == nullptr) {
      c = table->take();
      c[table->order] = value;
    }
    return c;
  }
  SALTUS_FN series kept() const { return {all(), degree}; }
  /// A series that is about to be found.
  SALTUS_FN series another(int of_degree = any_degree) const { return {table->take(), of_degree}; }
  /// k c[k], the coefficients of t dx/dt.
  SALTUS_FN series by_order() const {
    const series r = another(degree);
    r.c[table->order] = rules::times_order(table->now(), value);
    return r;
  }
  SALTUS_FN auto any_coefficients() const {
    return [c = varies() ? all() : nullptr, first = value](int j) SALTUS_INLINE_LAMBDA {
      return c ? c[j] : j == 0 ? first : Base(0.0);
    };
  }
  // The numbers that a recurrence keeps, at order 0: a sum without terms, and a factor.
  SALTUS_FN static void begin_with(Base* n) { n[0] = Base(0.0); }
  SALTUS_FN static void begin_with(Base* n, Base factor) {
    n[0] = Base(0.0);
    n[1] = factor;
  }
  // A constant as a double; as an interval if rounding must be enclosed.
  SALTUS_FN static auto exact(double x) {
    if constexpr (requires { Base::about(x); }) return Base(x);
    else return x;
  }
  /// Replaces the value at t0 by a more accurate one than the recurrence gives.
  template <class Value>
  SALTUS_FN jet starting_with(const Value& at_start) const {
    return {table->order == 0 ? at_start() : value, table, degree};
  }
  SALTUS_FN jet scaled(Base by) const { return {by * value, table, degree}; }
  SALTUS_FN jet divided(Base by) const { return {value / by, table, degree}; }
  /// r with w r' = a', where *this is a.
  template <class Value>
  SALTUS_FN jet quadrature(const jet& w, const Value& at_start) const {
    const series of_w = w.kept(), slope = another();
    Base* const n = table->take_numbers(2);
    const auto o = table->now();
    Base r;
    if (o.k == 0) {
      r = at_start();
      begin_with(n, Base(1.0) / w.value);
    } else {
      r = rules::quadrature(o, value, of_w, slope, n);
    }
    slope.c[o.k] = rules::times_order(o, r);
    return {r, table, any_degree};
  }
  /// s' = r a', r' = sense s a': sine and cosine, or the hyperbolic ones.
  template <class Sine, class Cosine>
  SALTUS_FN sine_and_cosine<Base> pair(double sense, const Sine& sine, const Cosine& cosine) const {
    if (const auto* known = table->known_pair(all(), sense))
      return {jet(known->sine, table), jet(known->cosine, table)};
    const series s = another(), r = another(), slope = by_order();
    Base* const n = table->take_numbers(2);
    const auto o = table->now();
    if (o.k == 0) {
      s.c[0] = sine();
      r.c[0] = cosine();
      begin_with(n, Base(0.0));
    } else {
      s.c[o.k] = rules::along(o, slope, r, n);
      r.c[o.k] = rules::along(o, slope, s, n + 1) * Base(sense);
    }
    table->remember({c, sense, s.c, r.c});
    return {jet(s, table), jet(r, table)};
  }
  SALTUS_FN sine_and_cosine<Base> circular_pair() const {
    return pair(
        -1.0, [&]() SALTUS_INLINE_LAMBDA { return sin(value); }, [&]() SALTUS_INLINE_LAMBDA { return cos(value); });
  }
  SALTUS_FN sine_and_cosine<Base> hyperbolic_pair() const {
    return pair(
        1.0, [&]() SALTUS_INLINE_LAMBDA { return sinh(value); }, [&]() SALTUS_INLINE_LAMBDA { return cosh(value); });
  }
  /// r' = w a', w = 1 + sense r^2.
  template <class Value>
  SALTUS_FN jet riccati(double sense, const Value& at_start) const {
    const series r = another(), w = another(), slope = by_order();
    Base* const n = table->take_numbers(2);
    const auto o = table->now();
    if (o.k == 0) {
      r.c[0] = at_start();
      begin_with(n);
    } else {
      r.c[o.k] = rules::along(o, slope, w, n);
    }
    w.c[o.k] = Base(sense) * rules::square(o, r, n + 1);
    if (o.k == 0) w.c[0] = w.c[0] + Base(1.0);
    return {r, table};
  }
  /// a^e from a r' = e r a'.
  template <class Exponent, class Value>
  SALTUS_FN jet power(Exponent e, const Value& at_start) const {
    const typename rules::template weighted<Exponent> a{e, all(), degree};
    const series r = another();
    Base* const n = table->take_numbers(2);
    const auto o = table->now();
    if (o.k == 0) {
      r.c[0] = at_start();
      begin_with(n, Base(1.0) / value);
    } else {
      r.c[o.k] = rules::power(o, a, r, n);
    }
    return {r, table};
  }
  template <class Exponent>
  SALTUS_FN static auto is_small_power(Exponent e) {
    return (e == Exponent(0.0)) | (e == Exponent(1.0)) | (e == Exponent(2.0)) | (e == Exponent(3.0)) |
           (e == Exponent(4.0));
  }
  /// a^e: products for e = 0, 1, 2, 3, 4, where a may be zero at t0; `otherwise` for all other e.
  SALTUS_FN jet small_power(Base e, const jet& otherwise) const {
    const jet square = *this * *this, cube = square * *this, fourth = square * square;
    Base best = otherwise.value;
    best = select(e == Base(4.0), fourth.value, best);
    best = select(e == Base(3.0), cube.value, best);
    best = select(e == Base(2.0), square.value, best);
    best = select(e == Base(1.0), value, best);
    best = table->order == 0 ? otherwise.value : select(e == Base(0.0), Base(0.0), best);
    return {detail::with_exponent(best, e, otherwise.value), table, any_degree};
  }
};

}  // namespace saltus
