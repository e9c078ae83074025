// dependent<N>: a number that records on which of N inputs it depends. A model's functions are run over it once, and leave behind
// the structure of their equations: which of them has which unknown. Host side only.
//
// What is recorded is what is there for some values of the inputs: both sides of a selection count, and 0.0 * x depends on x. A
// condition does not count: it chooses between values, and no derivative goes through it. floor, sign and their like pass on what
// they are given, although their derivatives are zero.
#pragma once

#include "number/math.hpp"

namespace saltus {

/// A set of whole numbers from 0 to N-1.
template <int N>
struct input_set {
  static constexpr int words = (N + 63) / 64;
  uint64 bits[words > 0 ? words : 1] = {};

  bool has(int i) const { return (bits[i / 64] >> (i % 64) & 1) != 0; }
  void insert(int i) { bits[i / 64] |= uint64(1) << (i % 64); }
  friend input_set operator|(input_set a, const input_set& b) {
    for (int i = 0; i < words; ++i) a.bits[i] |= b.bits[i];
    return a;
  }
};

template <int N>
struct dependent {
  using Real = pack<double, 1>;
  using scalar = double;
  using mask_type = mask_of<Real>;
  using integer = typename real_traits<Real>::integer;
  static constexpr int lanes = 1;

  Real value;
  input_set<N> on;

  dependent() = default;
  dependent(double x) : value(x) {}
  dependent(Real x) : value(x) {}
  dependent(Real x, const input_set<N>& of) : value(x), on(of) {}
  /// Input i.
  static dependent input(int i, double x) {
    dependent r(x);
    r.on.insert(i);
    return r;
  }

#define SALTUS_OF_ONE(name) \
  friend dependent name(const dependent& a) { return {name(a.value), a.on}; }
#define SALTUS_OF_TWO(name) \
  friend dependent name(const dependent& a, const dependent& b) { return {name(a.value, b.value), a.on | b.on}; }
#define SALTUS_INFIX(op)                                                                                             \
  friend dependent operator op(const dependent& a, const dependent& b) { return {a.value op b.value, a.on | b.on}; } \
  dependent& operator op##=(const dependent& b) { return *this = *this op b; }
#define SALTUS_COMPARISON(op) \
  friend mask_type operator op(const dependent& a, const dependent& b) { return a.value op b.value; }

  SALTUS_INFIX(+)
  SALTUS_INFIX(-)
  SALTUS_INFIX(*)
  SALTUS_INFIX(/)
  SALTUS_COMPARISON(<)
  SALTUS_COMPARISON(<=)
  SALTUS_COMPARISON(>)
  SALTUS_COMPARISON(>=)
  SALTUS_COMPARISON(==)
  SALTUS_COMPARISON(!=)
  friend dependent operator-(const dependent& a) { return {-a.value, a.on}; }
  friend dependent operator+(const dependent& a) { return a; }

  SALTUS_OF_ONE(sqrt)
  SALTUS_OF_ONE(cbrt)
  SALTUS_OF_ONE(exp)
  SALTUS_OF_ONE(expm1)
  SALTUS_OF_ONE(log)
  SALTUS_OF_ONE(log2)
  SALTUS_OF_ONE(log10)
  SALTUS_OF_ONE(sin)
  SALTUS_OF_ONE(cos)
  SALTUS_OF_ONE(tan)
  SALTUS_OF_ONE(asin)
  SALTUS_OF_ONE(acos)
  SALTUS_OF_ONE(atan)
  SALTUS_OF_ONE(sinh)
  SALTUS_OF_ONE(cosh)
  SALTUS_OF_ONE(tanh)
  SALTUS_OF_ONE(floor)
  SALTUS_OF_ONE(ceil)
  SALTUS_OF_ONE(round)
  SALTUS_OF_ONE(sign)
  SALTUS_OF_ONE(abs)
  SALTUS_OF_TWO(pow)
  SALTUS_OF_TWO(atan2)
  SALTUS_OF_TWO(hypot)
  SALTUS_OF_TWO(copysign)
  SALTUS_OF_TWO(min)
  SALTUS_OF_TWO(max)

#undef SALTUS_OF_ONE
#undef SALTUS_OF_TWO
#undef SALTUS_INFIX
#undef SALTUS_COMPARISON

  friend dependent select(mask_type m, const dependent& a, const dependent& b) {
    return {select(m, a.value, b.value), a.on | b.on};
  }
  friend dependent fma(const dependent& a, const dependent& b, const dependent& c) {
    return {fma(a.value, b.value, c.value), a.on | b.on | c.on};
  }
};

}  // namespace saltus
