// Consistent states of a system with constraints (DAE): at the start, after every event, and at the end of every step. What all
// searches for them share. Systems are those of linear/system.hpp.
#pragma once

#include "linear/jacobian.hpp"

namespace saltus {

/// What became of a search for a consistent state.
template <class Real>
struct consistency {
  mask_of<Real> found;
  Real residual;  ///< the largest |residual| of a constraint
  Real of;        ///< the number of its equation; -1: there is none
  Real moved;     ///< how far the states had to go, in units of what counts, squared
  /// The sign of the determinant by which the constraints, with what is hidden in them, have their solution, times its least pivot.
  Real orientation = Real(0.0);
};

/// How a consistent state is looked for: from a guess, damped and with many attempts; or from what a step has left,
/// which is near already.
enum class search_for { start, step };

/// The root of the rounding of T: an increment so small leaves one within rounding.
template <class T>
inline constexpr double root_epsilon = sizeof(T) == 8 ? 0x1p-26 : 0x1p-11;

namespace detail {

/// What is solved for, and the equations that it is solved from: for a semi-explicit system the algebraic states and the
/// constraints; for others as many unknowns as there are states, some of which are rates.
template <class System, int n>
struct algebraic_part {
  static constexpr bool reduced = System::kind == equations::semi_explicit;
  static constexpr int count = [] {
    int sum = 0;
    for (int i = 0; i < n; ++i) sum += System::index(i) > 0 ? 1 : 0;
    return reduced ? sum : n;
  }();
  struct table {
    int of[count > 0 ? count : 1];
  };
  static constexpr table states = [] {
    table r{};
    int k = 0;
    for (int i = 0; i < n; ++i)
      if (!reduced || System::index(i) > 0) r.of[k++] = i;
    return r;
  }();
  /// The state of unknown k, and the equation k.
  SALTUS_FN static constexpr int state(int k) { return states.of[k]; }
  SALTUS_FN static constexpr bool is_rate(int k) { return System::index(states.of[k]) == 0; }

  template <class Value>
  SALTUS_FN static vec<Value, count> equations_at(const System& system, Value t, const vec<Value, n>& y,
                                                  const vec<Value, n>& rate) {
    vec<Value, count> r;
    if constexpr (reduced) {
      const auto f = system.rhs(t, y);
      each<count>([&](int k) SALTUS_INLINE_LAMBDA { r[k] = f[state(k)]; });
    } else {
      r = system.residual(t, y, rate);
    }
    return r;
  }
};

/// What is left of an equation, over the size of its terms, where what a transition has written leaves no more to move: it is met.
template <class Real>
inline constexpr double as_good_as_met = 0x1p-4 * root_epsilon<scalar_of<Real>>;

/// Names a state that a transition has written, where the equations leave it no room: behind the `names` that residuals have, the first
/// written one of those that concerns(i) says.
template <class Real, int n, class Concerns>
SALTUS_FN void blame_written(consistency<Real>& c, int names, const vec<Real, n>& written, mask_of<Real> where,
                             Concerns&& concerns) {
  Real any_of = Real(-1.0), of = Real(-1.0);
  for (int i = n - 1; i >= 0; --i) {
    const auto is = written[i] > Real(0.0);
    any_of = select(is, Real(static_cast<double>(names + i)), any_of);
    of = select(is & concerns(i), Real(static_cast<double>(names + i)), of);
  }
  of = select(of < Real(0.0), any_of, of);
  c.of = select(where & !c.found & (of >= Real(0.0)), of, c.of);
}
/// The lanes in which a transition has written anything.
template <class Real, int n>
SALTUS_FN mask_of<Real> has_written(const vec<Real, n>& written) {
  auto r = mask_of<Real>::all(false);
  for (int i = 0; i < n; ++i) r = r | (written[i] > Real(0.0));
  return r;
}

/// How far y is from where it was.
template <class System, class Real, int n>
SALTUS_FN void how_far(consistency<Real>& c, const System& system, const vec<Real, n>& from, const vec<Real, n>& y) {
  const auto weight = system.weight(from);
  each<n>([&](int i) SALTUS_INLINE_LAMBDA {
    const Real way = (y[i] - from[i]) * weight[i];
    c.moved = max(c.moved, way * way) + not_finite(way);
  });
}

}  // namespace detail

}  // namespace saltus
