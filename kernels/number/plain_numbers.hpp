// The functions of a model over plain numbers, beside those over packs: sqrt(2.0), min(i, 3), select(i == 0, 1.0, 0.0). A model finds them
// without a prefix (saltus.hpp); they return the number that every lane of a pack would hold.
//
// All are templates, so the functions of <math.h>, where a model includes it, and those of a device are preferred. Their last bits may
// differ, except those of sqrt, fma, floor, ceil and round.
#pragma once

#include "number/math.hpp"

namespace saltus::plain {

/// A pack of one lane.
template <class Number>
SALTUS_FN pack<double, 1> one_of(Number x) {
  return pack<double, 1>(static_cast<double>(x));
}

#define SALTUS_OF_ONE(name) \
  template <class A>        \
  requires is_number<A> SALTUS_FN double name(A x) { return name(one_of(x)).v; }
#define SALTUS_OF_TWO(name)   \
  template <class A, class B> \
  requires(is_number<A> && is_number<B>) SALTUS_FN double name(A x, B y) { return name(one_of(x), one_of(y)).v; }

#include "number/functions.def"

template <class A, class B, class C>
requires(is_number<A>&& is_number<B>&& is_number<C>) SALTUS_FN double fma(A x, B y, C z) {
  return fma(one_of(x), one_of(y), one_of(z)).v;
}

// Integers stay integers, since indices are computed from them.
template <class A>
requires is_number<A> SALTUS_FN A abs(A x) { return x < A(0) ? A(-x) : x == A(0) ? A(0) : x; }
template <class A, class B>
requires(is_number<A>&& is_number<B>) SALTUS_FN auto min(A a, B b) { return b < a ? b : a; }
template <class A, class B>
requires(is_number<A>&& is_number<B>) SALTUS_FN auto max(A a, B b) { return a < b ? b : a; }

/// One answer for all instances: from a loop's index, or at an event.
template <class Answer, class A, class B>
requires(is_same<Answer, bool>) SALTUS_FN auto select(Answer m, const A& a, const B& b) {
  if constexpr (is_number<A> && !is_number<B>) return m ? B(static_cast<double>(a)) : b;
  else if constexpr (is_number<B> && !is_number<A>) return m ? a : A(static_cast<double>(b));
  else return m ? a : b;
}

}  // namespace saltus::plain
