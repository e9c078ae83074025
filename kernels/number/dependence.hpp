// dependent<N>: a number that records on which of N inputs it depends. A model's functions run over it once and show which unknowns each
// result has. Host side only.
//
// The record holds for all values of the inputs: both sides of a selection count, and 0.0 * x depends on x. A condition does not count,
// because it only chooses between values and carries no derivative. floor, sign and the like pass on the inputs of their argument, although
// their derivatives are zero.
#pragma once

#include "number/recorded_branches.hpp"
#include "number/tracked.hpp"

namespace saltus {

/// A set of whole numbers from 0 to N-1; as a trace, the set of inputs that a number depends on.
template <int N>
struct input_set {
  using condition = recorded_answer;
  static constexpr int words = (N + 63) / 64;
  uint64 bits[words > 0 ? words : 1] = {};

  bool has(int i) const { return (bits[i / 64] >> (i % 64) & 1) != 0; }
  void insert(int i) { bits[i / 64] |= uint64(1) << (i % 64); }
  friend input_set operator|(input_set a, const input_set& b) {
    for (int i = 0; i < words; ++i) a.bits[i] |= b.bits[i];
    return a;
  }

  static input_set input(int i) {
    input_set r;
    r.insert(i);
    return r;
  }
  static input_set sum(const input_set& a, const input_set& b) { return a | b; }
  static input_set product(const input_set& a, const input_set& b) { return a | b; }
  static input_set quotient(const input_set& a, const input_set& b) { return a | b; }
  static input_set function(const input_set& a) { return a; }
  static input_set function(const input_set& a, const input_set& b) { return a | b; }
  static input_set choice(condition, const input_set& a, const input_set& b) { return a | b; }
  template <class Number>
  static condition compared(bool answer, relation, const Number&, const Number&) {
    return answer;
  }
};

template <int N>
using dependent = tracked<input_set<N>>;

}  // namespace saltus
