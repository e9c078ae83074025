// The memory of a collocation method: the dense output of the last accepted step. Continued, it is where Newton's iteration begins.
#pragma once

#include "method/dense_output.hpp"

namespace saltus::methods {

template <class Method, class Real, int n>
struct collocation_past {
  static constexpr int terms = 3 + Method::dense_rows;
  Real h;  ///< length of the last step; 0 if there is none
  vec<Real, n> term[terms];

  template <class A, class B, class F>
  SALTUS_FN static constexpr void each(A& a, B& b, F&& body) {
    body(a.h, b.h);
    for (int j = 0; j < terms; ++j)
      saltus::each<n>([&](int i) SALTUS_INLINE_LAMBDA { body(a.term[j][i], b.term[j][i]); });
  }
  SALTUS_FN void forget(mask_of<Real> where) { h = select(where, Real(0.0), h); }
  template <class Stages>
  SALTUS_FN void remember(const Stages& s, mask_of<Real> where) {
    const auto q = saltus::detail::hermite(s);
    h = select(where, s.h, h);
    saltus::each<n>([&](int i) SALTUS_INLINE_LAMBDA {
      for (int j = 0; j < 3; ++j) term[j][i] = select(where, q.term[j][i], term[j][i]);
      for (int j = 3; j < terms; ++j) term[j][i] = select(where, s.extra[j - 3][i], term[j][i]);
    });
  }
  /// The change of state i from the end of the last step to a time `later` after it, in steps of that length.
  SALTUS_FN Real change(int i, Real later) const {
    const Real s = Real(1.0) + later;
    Real sum = term[terms - 1][i];
    static_for<terms - 1>([&](auto back) SALTUS_INLINE_LAMBDA {
      constexpr int j = terms - 2 - back;
      sum = fma(j % 2 == 0 ? -later : s, sum, term[j][i]);
    });
    return fma(s, sum, -term[0][i]);
  }
};

}  // namespace saltus::methods
