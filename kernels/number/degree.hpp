// graded: a number that records its degree in t and the states. A model's guards run over it once and show which of them are linear
// (model/describe.hpp). Host side only.
//
// The degree holds for all values of the arguments: both sides of a selection count, and so does a condition that may change within a step.
#pragma once

#include "number/tracked.hpp"

namespace saltus {

/// True if a model has branched on a condition: the other branch is then not recorded.
inline bool has_branched = false;

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
  friend bool any(answer_of_degree a) { return a.branched_on(); }
  friend bool all(answer_of_degree a) { return a.branched_on(); }
  friend bool none(answer_of_degree a) { return !a.branched_on(); }

 private:
  bool branched_on() const {
    has_branched = true;
    return answer;
  }
};

/// 0: held through a step; 1: linear; 2: anything else.
struct degree {
  using condition = answer_of_degree;
  int of = 0;

  static degree input(int) { return {1}; }
  static degree sum(degree a, degree b) { return {a.of > b.of ? a.of : b.of}; }
  static degree product(degree a, degree b) { return a.of > 0 && b.of > 0 ? degree{2} : sum(a, b); }
  static degree quotient(degree a, degree b) { return b.of > 0 ? degree{2} : a; }
  static degree function(degree a) { return {a.of > 0 ? 2 : 0}; }
  static degree function(degree a, degree b) { return function(sum(a, b)); }
  static degree choice(condition m, degree a, degree b) { return m.varies ? degree{2} : sum(a, b); }
  template <class Number>
  static condition compared(bool answer, relation, const Number& a, const Number& b) {
    return {answer, a.trace.of > 0 || b.trace.of > 0};
  }
};

using graded = tracked<degree>;

/// A selection between two literals, as models write it: select(at.above(switch), -1.0, 1.0).
inline graded select(answer_of_degree m, double a, double b) { return select(m, graded(a), graded(b)); }

}  // namespace saltus
