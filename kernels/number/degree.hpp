// graded: a number that records how smooth it is in t and the states. A model's functions run over it once (model/describe.hpp). Host side
// only.
//
// The record holds for all values of the arguments: both sides of a selection count, and so does a condition that may change within a step.
#pragma once

#include "number/recorded_branches.hpp"
#include "number/smoothness.hpp"
#include "number/tracked.hpp"

namespace saltus {

/// The answer of a comparison. It is no `bool`, so that the model can branch on it by any, all and none alone.
struct answer_of_degree {
  bool answer = false;
  bool varies = false;  ///< it may change within a step

  answer_of_degree() = default;
  answer_of_degree(bool is, bool may_vary = false) : answer(is), varies(may_vary) {}
  static answer_of_degree all(bool value) { return value; }
  bool operator[](int) const { return answer; }

  friend answer_of_degree operator&(answer_of_degree a, answer_of_degree b) {
    return {a.answer && b.answer, a.varies || b.varies};
  }
  friend answer_of_degree operator|(answer_of_degree a, answer_of_degree b) {
    return {a.answer || b.answer, a.varies || b.varies};
  }
  friend answer_of_degree operator^(answer_of_degree a, answer_of_degree b) {
    return {a.answer != b.answer, a.varies || b.varies};
  }
  friend answer_of_degree operator!(answer_of_degree a) { return {!a.answer, a.varies}; }
  friend answer_of_degree operator&&(answer_of_degree a, answer_of_degree b) { return a & b; }
  friend answer_of_degree operator||(answer_of_degree a, answer_of_degree b) { return a | b; }
  friend bool any(answer_of_degree a) { return any_recorded(a.answer); }
  friend bool all(answer_of_degree a) { return all_recorded(a.answer); }
  friend bool none(answer_of_degree a) { return !any_recorded(a.answer); }
};

struct degree {
  using condition = answer_of_degree;
  smoothness of = smoothness::held;

  bool varies() const { return of != smoothness::held; }
  static degree input(int) { return {smoothness::linear}; }
  static degree sum(degree a, degree b) { return {a.of > b.of ? a.of : b.of}; }
  static degree product(degree a, degree b) { return a.varies() && b.varies() ? function(a, b) : sum(a, b); }
  static degree quotient(degree a, degree b) { return b.varies() ? function(a, b) : a; }
  static degree function(degree a) { return a.of == smoothness::linear ? degree{smoothness::smooth} : a; }
  static degree function(degree a, degree b) { return function(sum(a, b)); }
  static degree piecewise(degree a) { return a.varies() ? degree{smoothness::piecewise} : a; }
  static degree piecewise(degree a, degree b) { return piecewise(sum(a, b)); }
  static degree choice(condition m, degree a, degree b) { return m.varies ? degree{smoothness::piecewise} : sum(a, b); }
  template <class Number>
  static condition compared(bool answer, relation, const Number& a, const Number& b) {
    return {answer, a.trace.varies() || b.trace.varies()};
  }
};

using graded = tracked<degree>;

/// The k-th time derivative, k >= 0, for `at.d(x, k)` of a model. Its value is not known. Types that convert to `graded` do not take part.
template <class Number>
requires(is_same<Number, graded>) Number derivative(const Number& x, int k) {
  return k == 0 ? x : graded(graded::Real(0.0), degree::function(x.trace));
}

/// A selection between two literals, as models write it: select(at.above(switch), -1.0, 1.0).
inline graded select(answer_of_degree m, double a, double b) { return select(m, graded(a), graded(b)); }

}  // namespace saltus
