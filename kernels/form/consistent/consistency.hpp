// Consistent states of a system with constraints (DAE): at the start, after every event, and at the end of every step. Common parts of the
// searches for them. Systems are those of linear/system.hpp.
#pragma once

#include "linear/jacobian.hpp"

namespace saltus {

/// The result of a search for a consistent state.
template <class Real>
struct consistency {
  mask_of<Real> found;
  Real residual;  ///< the largest |residual| of a constraint
  Real of;        ///< the number of its equation; -1: there is none
  Real moved;     ///< largest change of a state, squared, in units of its tolerance
  /// The sign of the determinant of the matrix that determines the unknowns from the constraints, hidden ones included, times its smallest
  /// pivot.
  Real orientation = Real(0.0);
};

/// The starting point of a search: a guess, from which it is damped and makes many attempts; or the end of a step, which is close to the
/// solution.
enum class search_for { start, step };

/// The square root of the rounding of T: after an increment of this size the next one is within rounding.
template <class T>
inline constexpr double root_epsilon = sizeof(T) == 8 ? 0x1p-26 : 0x1p-11;

namespace detail {

/// The unknowns of the search and their equations. For a semi-explicit system these are the algebraic states and the constraints; for
/// others there are as many unknowns as states, some of which are time derivatives.
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
  /// The state that belongs to unknown k, and to equation k.
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

/// If the states that a transition has written leave no freedom, an equation counts as met up to this residual, relative to its terms.
template <class Real>
inline constexpr double as_good_as_met = 0x1p-4 * root_epsilon<scalar_of<Real>>;

/// Names a state that a transition has written if the equations leave it no freedom: the first written state i with concerns(i), else the
/// first written one. Its number follows the `names` numbers of residuals.
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

/// Measures the largest change of y.
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
