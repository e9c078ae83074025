// Tracks the side of zero of a problem's guard, for solvers that leave events to their user.
#pragma once

#include "problems.hpp"

namespace peers {

template <class Problem>
class side {
 public:
  /// The side at the start; a guard that is zero there takes the side to which a short step leads.
  template <class Real>
  void start(const double* p, const Real* m, Real t, const Real* y) {
    Real g = Problem::guard(p, m, t, y);
    if (g == 0) {
      Real at[Problem::n], dy[Problem::n];
      Problem::rhs(p, m, t, y, dy);
      for (int i = 0; i < Problem::n; ++i) at[i] = y[i] + Real(1e-6) * dy[i];
      g = Problem::guard(p, m, t + Real(1e-6), at);
    }
    above_ = g >= 0;
  }
  /// True if g has passed zero; zero itself counts as passed.
  template <class Real>
  bool left(Real g) const {
    return above_ ? g <= 0 : g >= 0;
  }
  bool above() const { return above_; }
  /// The side after an event: a falling guard starts above again, a guard with both directions has changed sides.
  void after_event() { above_ = Problem::direction != 0 || !above_; }

 private:
  bool above_ = true;
};

}  // namespace peers
