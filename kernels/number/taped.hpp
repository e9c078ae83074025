// taped<Real>: a value and the place of its operation on a tape. A model's functions run over it once; swept backward, the tape then
// gives the derivatives of one result with respect to all inputs (reverse mode; A. Griewank and A. Walther, Evaluating Derivatives, 2nd ed.
// 2008). The derivatives of functions are those of number/math.hpp for dual numbers. Host memory, so CPUs alone.
#pragma once

#include "number/math.hpp"

namespace saltus {

/// The operations of an evaluation, each with at most two operands before it, and the derivatives of the result by them.
template <class Real>
class tape {
 public:
  tape() = default;
  ~tape() {
    delete[] operations_;
    delete[] adjoints_;
  }
  tape(const tape&) = delete;
  tape& operator=(const tape&) = delete;

  int size() const { return size_; }
  /// Forgets the operations from number `size` on.
  void rewind(int size) { size_ = size; }
  /// The number of a new operation; an operand -1 is a constant.
  int append(int a, const Real& by_a, int b = -1, const Real& by_b = Real(0.0)) {
    if (size_ == capacity_) grow();
    operations_[size_] = {by_a, by_b, a, b};
    adjoints_[size_] = Real(0.0);
    return size_++;
  }
  /// The derivative of the result by operation i.
  Real& adjoint(int i) { return adjoints_[i]; }
  /// Hands the adjoints of the operations from `size` - 1 down to `first` on to their operands. An adjoint of zero hands on zero, even where
  /// the derivative is infinite: a function that a selection has left out does not matter.
  void sweep(int size, int first) {
    for (int i = size - 1; i >= first; --i) {
      const operation& one = operations_[i];
      const Real adjoint = adjoints_[i];
      const auto none = adjoint == Real(0.0);
      const auto hand_on = [&](int to, const Real& by) SALTUS_INLINE_LAMBDA {
        if (to >= 0) adjoints_[to] = fma(adjoint, select(none, Real(0.0), by), adjoints_[to]);
      };
      hand_on(one.a, one.by_a);
      hand_on(one.b, one.by_b);
    }
  }

 private:
  struct operation {
    Real by_a, by_b;
    int a, b;
  };

  __attribute__((noinline, cold)) void grow() {
    const int capacity = capacity_ == 0 ? 1024 : 2 * capacity_;
    enlarge(operations_, capacity);
    enlarge(adjoints_, capacity);
    capacity_ = capacity;
  }

  template <class T>
  void enlarge(T*& all, int capacity) const {
    T* const larger = new T[static_cast<decltype(sizeof 0)>(capacity)];
    for (int i = 0; i < size_; ++i) larger[i] = all[i];
    delete[] all;
    all = larger;
  }

  operation* operations_ = nullptr;
  Real* adjoints_ = nullptr;
  int size_ = 0, capacity_ = 0;
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
  static taped input(tape<Real>& where, Real x) { return {x, &where, where.append(-1, Real(0.0))}; }
  /// The derivative of the result by this number; a constant has none.
  Real& adjoint() const { return on->adjoint(at); }

  /// f(value) and its `derivative` there: the chain rule for every function of one argument.
  SALTUS_FN friend taped chain(Real value, Real derivative, const taped& a) {
    if (a.on == nullptr) return taped(value);
    return {value, a.on, a.on->append(a.at, derivative)};
  }
  /// The chain rule for two arguments.
  SALTUS_FN friend taped chain(Real value, Real by_a, const taped& a, Real by_b, const taped& b) {
    if (a.on == nullptr) return chain(value, by_b, b);
    if (b.on == nullptr) return chain(value, by_a, a);
    return {value, a.on, a.on->append(a.at, by_a, b.at, by_b)};
  }

  SALTUS_FN friend taped operator+(const taped& a, const taped& b) {
    return chain(a.value + b.value, Real(1.0), a, Real(1.0), b);
  }
  SALTUS_FN friend taped operator-(const taped& a, const taped& b) {
    return chain(a.value - b.value, Real(1.0), a, Real(-1.0), b);
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
  SALTUS_FN friend taped operator-(const taped& a) { return chain(-a.value, Real(-1.0), a); }
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
    if (b.on == nullptr) return chain(value, b.value, a, Real(1.0), c);
    if (a.on == nullptr) return chain(value, a.value, b, Real(1.0), c);
    return chain(value, Real(1.0), a * b, Real(1.0), c);
  }
  SALTUS_FN friend taped min(const taped& a, const taped& b) { return select(b.value < a.value, b, a); }
  SALTUS_FN friend taped max(const taped& a, const taped& b) { return select(a.value < b.value, b, a); }

#define SALTUS_OF_ONE(name)                               \
  SALTUS_FN friend taped name(const taped& a) {     \
    if (a.on == nullptr) return taped(name(a.value));  \
    const auto r = name(dual<Real>(a.value, Real(1.0)));  \
    return chain(r.value, r.d[0], a);                     \
  }
#define SALTUS_OF_TWO(name)                                               \
  SALTUS_FN friend taped name(const taped& a, const taped& b) {  \
    if (a.on == nullptr && b.on == nullptr) return name(a.value, b.value); \
    dual<Real, 2> x(a.value), y(b.value);                                 \
    x.d[0] = Real(a.on == nullptr ? 0.0 : 1.0);                           \
    y.d[1] = Real(b.on == nullptr ? 0.0 : 1.0);                           \
    const auto r = name(x, y);                                            \
    return chain(r.value, r.d[0], a, r.d[1], b);                          \
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
