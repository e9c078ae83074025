// taped<Real>: a value and the place of its operation on a tape. A model's functions run over it once; swept backward, the tape then
// gives the derivatives of one result with respect to all inputs (reverse mode; A. Griewank and A. Walther, Evaluating Derivatives, 2nd ed.
// 2008). The derivatives of functions are those of number/math.hpp for dual numbers. Host memory, so CPUs alone.
#pragma once

#include "number/math.hpp"

namespace saltus {

/// Derivatives that need no memory.
struct plus_one {};
struct minus_one {};

/// The operations of an evaluation, each with at most two operands before it, and the derivatives of their results by the operands.
template <class Real>
class tape {
 public:
  tape() = default;
  ~tape() {
    delete[] operations_;
    delete[] derivatives_;
    delete[] adjoints_;
  }
  tape(const tape&) = delete;
  tape& operator=(const tape&) = delete;

  int size() const { return size_; }
  /// Forgets the operations from number `size` on. Their adjoints must be zero again, as a sweep leaves them: only an input clears its own.
  void rewind(int size) {
    if (size < size_) kept_ = operations_[size].derivatives;
    size_ = size;
  }
  /// The number of a new input.
  int append() {
    if (size_ == capacity_) grow();
    operations_[size_] = {-1, -1, kept_};
    adjoints_[size_] = Real(0.0);
    return size_++;
  }
  /// The number of a new operation. Its adjoint is zero already.
  template <class ByA>
  SALTUS_FN int append(int a, const ByA& by_a) {
    if (size_ == capacity_) grow();
    const int first = kept_;
    operations_[size_] = {keep(a, by_a), -1, first};
    return size_++;
  }
  template <class ByA, class ByB>
  SALTUS_FN int append(int a, const ByA& by_a, int b, const ByB& by_b) {
    if (size_ == capacity_) grow();
    const int first = kept_, code_a = keep(a, by_a), code_b = keep(b, by_b);
    operations_[size_] = {code_a, code_b, first};
    return size_++;
  }
  /// The derivative of the result by operation i.
  Real& adjoint(int i) { return adjoints_[i]; }
  /// Hands the adjoints of the operations from `size` - 1 down to `first` on to their operands, after which they are zero; those of inputs
  /// stay. `Careful`: an adjoint of zero hands on zero even where the derivative is infinite, since what a selection leaves out does not
  /// matter. Finite numbers have the same bits either way, and the careless way takes less time.
  template <bool Careful>
  void sweep(int size, int first) {
    Real* const adjoints = adjoints_;
    const Real* by = derivatives_ + (size < size_ ? operations_[size].derivatives : kept_);
    for (const operation *one = operations_ + size - 1, *const end = operations_ + first; one >= end; --one) {
      if (one->a < 0) continue;
      Real& own = adjoints[one - operations_];
      const Real adjoint = own;
      own = Real(0.0);
      if (one->b >= 0) hand_on<Careful>(adjoints[one->b >> 2], one->b & 3, adjoint, by);
      hand_on<Careful>(adjoints[one->a >> 2], one->a & 3, adjoint, by);
    }
  }

 private:
  /// Operands are numbers times 4 plus the kind of derivative: 0 is kept, 1 is 1, 2 is -1. A negative one is none.
  struct operation {
    int a, b, derivatives;
  };

  SALTUS_FN int keep(int operand, const Real& by) {
    derivatives_[kept_++] = by;
    return 4 * operand;
  }
  SALTUS_FN int keep(int operand, plus_one) { return 4 * operand + 1; }
  SALTUS_FN int keep(int operand, minus_one) { return 4 * operand + 2; }

  template <bool Careful>
  SALTUS_FN static void hand_on(Real& to, int kind, const Real& adjoint, const Real*& by) {
    if (kind == 0) {
      --by;
      to = fma(adjoint, Careful ? select(adjoint == Real(0.0), Real(0.0), *by) : *by, to);
    } else if (kind == 1) {
      to += adjoint;
    } else {
      to -= adjoint;
    }
  }

  __attribute__((noinline, cold)) void grow() {
    const int capacity = capacity_ == 0 ? 1024 : 2 * capacity_;
    enlarge(operations_, capacity);
    enlarge(adjoints_, capacity);
    enlarge(derivatives_, 2 * capacity);
    for (int i = size_; i < capacity; ++i) adjoints_[i] = Real(0.0);
    capacity_ = capacity;
  }
  template <class T>
  void enlarge(T*& all, int capacity) const {
    T* const larger = new T[static_cast<decltype(sizeof 0)>(capacity)];
    for (int i = 0; i < capacity / 2 && capacity_ > 0; ++i) larger[i] = all[i];
    delete[] all;
    all = larger;
  }

  operation* operations_ = nullptr;
  Real *derivatives_ = nullptr, *adjoints_ = nullptr;
  int size_ = 0, kept_ = 0, capacity_ = 0;
};

template <class Real>
struct taped {
  using scalar = scalar_of<Real>;
  using mask_type = mask_of<Real>;
  using integer = typename real_traits<Real>::integer;
  static constexpr int lanes = real_traits<Real>::lanes;

  Real value;
  tape<Real>* on = nullptr;  ///< null: a constant
  int at = -1;               ///< the number of its operation

  taped() = default;
  SALTUS_FN taped(double x) : value(x) {}
  SALTUS_FN taped(Real x) : value(x) {}
  SALTUS_FN taped(Real x, tape<Real>* where, int number) : value(x), on(where), at(number) {}
  /// An input, by which derivatives are taken.
  static taped input(tape<Real>& where, Real x) { return {x, &where, where.append()}; }
  /// The derivative of the result by this number; a constant has none.
  Real& adjoint() const { return on->adjoint(at); }

  /// Conversion of one lane to a whole number, which has no derivative, as of dual numbers.
  template <class Number>
  requires(lanes == 1 && is_number<Number> && !is_same<Number, double> && !is_same<Number, float>) SALTUS_FN explicit
  operator Number() const {
    return static_cast<Number>(value);
  }
  /// The number itself, for what has no derivative: counts of random draws.
  SALTUS_FN friend Real& plain_value(taped& x) { return x.value; }

  /// f(value) and its `derivative` there: the chain rule for every function of one argument.
  template <class By>
  SALTUS_FN static taped chain(Real value, const By& derivative, const taped& a) {
    if (a.on == nullptr) return taped(value);
    return {value, a.on, a.on->append(a.at, derivative)};
  }
  /// The chain rule for two arguments.
  template <class ByA, class ByB>
  SALTUS_FN static taped chain(Real value, const ByA& by_a, const taped& a, const ByB& by_b, const taped& b) {
    if (a.on == nullptr) return chain(value, by_b, b);
    if (b.on == nullptr) return chain(value, by_a, a);
    return {value, a.on, a.on->append(a.at, by_a, b.at, by_b)};
  }

  SALTUS_FN friend taped operator+(const taped& a, const taped& b) {
    return chain(a.value + b.value, plus_one(), a, plus_one(), b);
  }
  SALTUS_FN friend taped operator-(const taped& a, const taped& b) {
    return chain(a.value - b.value, plus_one(), a, minus_one(), b);
  }
  SALTUS_FN friend taped operator*(const taped& a, const taped& b) {
    return chain(a.value * b.value, b.value, a, a.value, b);
  }
  SALTUS_FN friend taped operator/(const taped& a, const taped& b) {
    const Real value = a.value / b.value;
    if (a.on == nullptr && b.on == nullptr) return taped(value);
    const Real inverse = Real(1.0) / b.value;
    return chain(value, inverse, a, -value * inverse, b);
  }
  SALTUS_FN friend taped operator-(const taped& a) { return chain(-a.value, minus_one(), a); }
  SALTUS_FN friend taped operator+(const taped& a) { return a; }
  SALTUS_FN taped& operator+=(const taped& b) { return *this = *this + b; }
  SALTUS_FN taped& operator-=(const taped& b) { return *this = *this - b; }
  SALTUS_FN taped& operator*=(const taped& b) { return *this = *this * b; }
  SALTUS_FN taped& operator/=(const taped& b) { return *this = *this / b; }

  SALTUS_FN friend mask_type operator<(const taped& a, const taped& b) { return a.value < b.value; }
  SALTUS_FN friend mask_type operator<=(const taped& a, const taped& b) { return a.value <= b.value; }
  SALTUS_FN friend mask_type operator>(const taped& a, const taped& b) { return a.value > b.value; }
  SALTUS_FN friend mask_type operator>=(const taped& a, const taped& b) { return a.value >= b.value; }
  SALTUS_FN friend mask_type operator==(const taped& a, const taped& b) { return a.value == b.value; }
  SALTUS_FN friend mask_type operator!=(const taped& a, const taped& b) { return a.value != b.value; }

  SALTUS_FN friend taped select(mask_type m, const taped& a, const taped& b) {
    const Real one(1.0), zero(0.0);
    return chain(select(m, a.value, b.value), select(m, one, zero), a, select(m, zero, one), b);
  }
  SALTUS_FN friend taped fma(const taped& a, const taped& b, const taped& c) {
    const Real value = fma(a.value, b.value, c.value);
    if (c.on == nullptr) return chain(value, b.value, a, a.value, b);
    if (b.on == nullptr) return chain(value, b.value, a, plus_one(), c);
    if (a.on == nullptr) return chain(value, a.value, b, plus_one(), c);
    return chain(value, plus_one(), a * b, plus_one(), c);
  }
  SALTUS_FN friend taped min(const taped& a, const taped& b) { return select(b.value < a.value, b, a); }
  SALTUS_FN friend taped max(const taped& a, const taped& b) { return select(a.value < b.value, b, a); }

#define SALTUS_OF_ONE(name)                              \
  SALTUS_FN friend taped name(const taped& a) {          \
    if (a.on == nullptr) return taped(name(a.value));    \
    const auto r = name(dual<Real>(a.value, Real(1.0))); \
    return chain(r.value, r.d[0], a);                    \
  }
#define SALTUS_OF_TWO(name)                                                \
  SALTUS_FN friend taped name(const taped& a, const taped& b) {            \
    if (a.on == nullptr && b.on == nullptr) return name(a.value, b.value); \
    dual<Real, 2> x(a.value), y(b.value);                                  \
    x.d[0] = Real(a.on == nullptr ? 0.0 : 1.0);                            \
    y.d[1] = Real(b.on == nullptr ? 0.0 : 1.0);                            \
    const auto r = name(x, y);                                             \
    return chain(r.value, r.d[0], a, r.d[1], b);                           \
  }
#include "number/functions.def"
  SALTUS_FN friend taped abs(const taped& a) {
    if (a.on == nullptr) return taped(abs(a.value));
    const auto r = abs(dual<Real>(a.value, Real(1.0)));
    return chain(r.value, r.d[0], a);
  }
  /// A constant exponent has functions of its own, which are exact where there are few factors.
  SALTUS_FN friend taped pow(const taped& a, double exponent) {
    const auto r = pow(dual<Real>(a.value, Real(1.0)), exponent);
    return chain(r.value, r.d[0], a);
  }
};

}  // namespace saltus
