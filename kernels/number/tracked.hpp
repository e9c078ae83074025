// tracked<Trace>: a value together with a trace of its operands. A model's functions run over it once and show the structure of its
// equations: on which inputs each result depends (number/dependence.hpp), or how it is computed from them (number/orders.hpp).
// Host side only.
//
// A default-constructed Trace is that of a constant. A Trace has
//
//     sum(a, b), product(a, b), quotient(a, b), function(a), function(a, b)    traces of results
//     piecewise(a), piecewise(a, b)                                            of functions with jumps or corners; without
//                                                                              them, those have the trace of a function
//     choice(condition, a, b)                                                  trace of a selection
//     condition, compared(answer, relation, a, b)                              the answer of a comparison: it[0] is a bool
//     input(i)                                                                 trace of input i
#pragma once

#include "number/expression.hpp"
#include "number/math.hpp"

namespace saltus {

template <class Trace>
struct tracked {
  using Real = pack<double, 1>;
  using scalar = double;
  using mask_type = typename Trace::condition;
  using integer = typename real_traits<Real>::integer;
  static constexpr int lanes = 1;

  Real value;
  Trace trace;

  tracked() = default;
  tracked(double x) : value(x) {}
  tracked(Real x) : value(x) {}
  tracked(Real x, const Trace& of) : value(x), trace(of) {}
  /// A bare name would count as a whole number, which is not meant.
  template <class Enum>
  requires(__is_enum(Enum)) tracked(Enum)
  = delete;
  /// Input i.
  static tracked input(int i, double x) { return {Real(x), Trace::input(i)}; }

  /// The trace of a function with jumps or corners.
  template <class... Of>
  static Trace piecewise(const Of&... a) {
    if constexpr (requires { Trace::piecewise(a...); }) return Trace::piecewise(a...);
    else return Trace::function(a...);
  }

#define SALTUS_OF_ONE(name) \
  friend tracked name(const tracked& a) { return {name(a.value), Trace::function(a.trace)}; }
#define SALTUS_OF_TWO(name)                                             \
  friend tracked name(const tracked& a, const tracked& b) {             \
    return {name(a.value, b.value), Trace::function(a.trace, b.trace)}; \
  }
#define SALTUS_PIECEWISE_OF_ONE(name) \
  friend tracked name(const tracked& a) { return {name(a.value), piecewise(a.trace)}; }
#define SALTUS_PIECEWISE_OF_TWO(name)                             \
  friend tracked name(const tracked& a, const tracked& b) {       \
    return {name(a.value, b.value), piecewise(a.trace, b.trace)}; \
  }
#include "number/functions.def"
  friend tracked abs(const tracked& a) { return {abs(a.value), piecewise(a.trace)}; }
  friend tracked min(const tracked& a, const tracked& b) {
    return {min(a.value, b.value), piecewise(a.trace, b.trace)};
  }
  friend tracked max(const tracked& a, const tracked& b) {
    return {max(a.value, b.value), piecewise(a.trace, b.trace)};
  }

#define SALTUS_INFIX(op, name)                                     \
  friend tracked operator op(const tracked& a, const tracked& b) { \
    return {a.value op b.value, Trace::name(a.trace, b.trace)};    \
  }                                                                \
  tracked& operator op##=(const tracked& b) { return *this = *this op b; }
  SALTUS_INFIX(+, sum)
  SALTUS_INFIX(-, sum)
  SALTUS_INFIX(*, product)
  SALTUS_INFIX(/, quotient)
#undef SALTUS_INFIX
  friend tracked operator-(const tracked& a) { return {-a.value, a.trace}; }
  friend tracked operator+(const tracked& a) { return a; }
  friend tracked fma(const tracked& a, const tracked& b, const tracked& c) {
    return {fma(a.value, b.value, c.value), Trace::sum(Trace::product(a.trace, b.trace), c.trace)};
  }

#define SALTUS_COMPARISON(op, name)                                   \
  friend mask_type operator op(const tracked& a, const tracked& b) {  \
    return Trace::compared(a.value op b.value, relation::name, a, b); \
  }
  SALTUS_COMPARISON(<, less)
  SALTUS_COMPARISON(<=, less_equal)
  SALTUS_COMPARISON(>, greater)
  SALTUS_COMPARISON(>=, greater_equal)
  SALTUS_COMPARISON(==, equal)
  SALTUS_COMPARISON(!=, unequal)
#undef SALTUS_COMPARISON

  friend tracked select(mask_type m, const tracked& a, const tracked& b) {
    return {m[0] ? a.value : b.value, Trace::choice(m, a.trace, b.trace)};
  }
};

}  // namespace saltus
