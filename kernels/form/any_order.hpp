// 0 = f_i(t, x, x', x'', ...), of any order and index, as a field: an instance has the values x_j, .., x_j^(d_j), d_j the offsets of the
// structural analysis, and their time derivative follows from the equations differentiated c_i + 1 times. Every step ends on the
// equations and on all of their derivatives that values of an instance occur in. Any explicit method may integrate it; a method that
// finds the solution's series does so from the equations themselves.
#pragma once

#include "form/consistent/by_stages.hpp"

namespace saltus {

template <class Functions>
struct any_order_form : Functions {
  using Functions::states;
  using Model = typename Functions::Model;
  using series = equation_series<Functions>;
  template <class Real>
  using held = typename Functions::template held<Real>;

  static constexpr auto equations = saltus::equations::plain;  ///< what is left of them
  static constexpr bool has_field = true;
  static constexpr bool has_constraints = true;
  static constexpr bool moves_states = true;
  static constexpr bool has_series = true;
  static constexpr bool weighs_start = true;
  static constexpr bool settles_modes = true;

  SALTUS_FN static constexpr int index(int) { return 0; }
  static constexpr int colours = states;
  SALTUS_FN static constexpr int colour(int j) { return j; }
  SALTUS_FN static constexpr bool entry(int, int) { return true; }

  template <class Real>
  SALTUS_FN static vec<Real, states> rhs(Real t, const vec<Real, states>& y, const held<Real>& c) {
    return series::rates(t, y, c);
  }

  template <class Value, class Real>
  SALTUS_FN static vec<Value, states> residual(Value t, const vec<Value, states>& y, const vec<Value, states>& dy,
                                               const held<Real>& c) {
    const auto f = rhs(t, y, c);
    vec<Value, states> r;
    each<states>([&](int i) SALTUS_INLINE_LAMBDA { r[i] = dy[i] - f[i]; });
    return r;
  }

  /// The coefficients of the solution's series through (t, y).
  template <int order, class Real>
  SALTUS_FN static void find_coefficients(Real t, const vec<Real, states>& y, const held<Real>& c,
                                          vec<Real, states> (&coefficient)[order]) {
    series::find_coefficients(t, y, c, coefficient);
  }

  /// Of the start: what is given stays, guesses move, what is neither (NaN) begins at zero and moves most.
  template <class System, class Real>
  SALTUS_FN_COLD static consistency<Real> begin(const System& system, Real t, vec<Real, states>& y,
                                                const vec<Real, states>& given, mask_of<Real> where) {
    constexpr double free_over_guess = 0x1p20;
    const auto guess = y;
    for (int i = 0; i < states; ++i) y[i] = select(y[i] == y[i], y[i], Real(0.0));
    auto may = settling<Functions>::equal_mobility(system, y);
    for (int j = 0; j < series::unknowns; ++j)
      for (int l = 0; l < series::d(j); ++l) {  // the highest derivatives all follow
        const int i = series::layout::place(j) + l;
        const auto is_free = !(guess[i] == guess[i]), is_given = given[i] == given[i];
        may[i] = select(is_given, Real(0.0), select(is_free, Real(free_over_guess) * max(may[i], Real(1.0)), may[i]));
      }
    return settling<Functions>::from_guess(system, t, y, may, where);
  }

  template <class System, class Real>
  SALTUS_FN static consistency<Real> initialise(const System& system, const Real& t, vec<Real, states>& y,
                                                vec<Real, states>& f, Real, mask_of<Real> where, int) {
    const auto may = settling<Functions>::equal_mobility(system, y);
    auto r = settling<Functions>::from_guess(system, t, y, may, where);
    f = rhs(t, y, system.c);
    return r;
  }

  template <class System, class Real>
  SALTUS_FN static consistency<Real> project(const System& system, Real t, vec<Real, states>& y, vec<Real, states>&,
                                             mask_of<Real> where) {
    return settling<Functions>::near(system, t, y, where);
  }

  template <class Real>
  SALTUS_FN static consistency<Real> constraint_residual(Real t, const vec<Real, states>& y, const held<Real>& c) {
    return settling<Functions>::residual_at(t, y, c);
  }
};

}  // namespace saltus
