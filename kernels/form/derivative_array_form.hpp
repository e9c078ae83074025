// 0 = f_i(t, x, x', x'', ...), of any order and index, as a field by its derivative array (form/derivative_array.hpp), for models whose
// structural analysis fails. An instance has all derivatives that occur in the equations; every step ends on the constraints of the array.
// Explicit methods only.
#pragma once

#include "form/consistent/by_array.hpp"
#include "form/local_coordinates.hpp"

namespace saltus {

template <class Functions>
struct derivative_array_form : Functions {
  using Functions::states;
  using Model = typename Functions::Model;
  using array = derivative_array<Functions>;
  using settling = settling_by_array<Functions>;
  template <class Real>
  using step_constants = typename Functions::template step_constants<Real>;

  /// The slopes are among the values.
  template <class Value, class Real>
  SALTUS_FN static void visit_equations(Value t, const vec<Value, states>& y, const vec<Value, states>&,
                                        const step_constants<Real>& c) {
    model_series<Functions>::visit(t, y, c);
  }

  static constexpr auto equations = saltus::equations::semi_explicit;
  static constexpr bool has_field = true;
  static constexpr int colours = states;
  SALTUS_FN static constexpr int colour(int j) { return j; }
  SALTUS_FN static constexpr bool entry(int, int) { return true; }

  template <class Real>
  SALTUS_FN static vec<Real, states> rhs(Real t, const vec<Real, states>& y, const step_constants<Real>& c) {
    return array::rates(t, y, c);
  }

  /// The same as in any_order_form, but for all constraints at once.
  template <class System, class Real>
  SALTUS_FN_COLD static consistency<Real> begin(const System& system, Real t, vec<Real, states>& y,
                                                const vec<Real, states>& given, mask_of<Real> where, int how) {
    const auto guess = y;
    for (int i = 0; i < states; ++i) y[i] = select(y[i] == y[i], y[i], Real(0.0));
    auto sizes = detail::sizes_of(system, y), free_alone = sizes;
    for (int i = 0; i < states; ++i) detail::weigh_start(guess[i], given[i], how, sizes[i], free_alone[i]);
    // Guesses that are consistent with each other stay. Otherwise each of them would move a little for the free values.
    auto with_guesses = y;
    const auto go_together = settling::from_guess(value_search{system, t, free_alone, where}, with_guesses).found;
    for (int i = 0; i < states; ++i) y[i] = select(go_together, with_guesses[i], y[i]);
    return settling::from_guess(value_search{system, t, sizes, where}, y);
  }

  template <class System, class Real>
  SALTUS_FN static consistency<Real> initialise(const System& system, const Real& t, vec<Real, states>& y,
                                                vec<Real, states>& f,
                                                const restart<derivative_array_form, Real>& start) {
    auto sizes = detail::sizes_of(system, y);
    auto stays = start.written;  // without the highest derivatives, which the equations determine
    for (int j = 0; j < array::unknowns; ++j) stays[array::layout::first(j) + array::layout::highest(j)] = Real(0.0);
    for (int i = 0; i < states; ++i) sizes[i] = select(stays[i] > Real(0.0), Real(0.0), sizes[i]);
    auto r = settling::from_guess(value_search{system, t, sizes, start.where}, y);
    detail::blame_written(r, array::unknowns, stays, start.where,
                          [](int) SALTUS_INLINE_LAMBDA { return mask_of<Real>::all(true); });
    f = rhs(t, y, system.c);
    return r;
  }

  template <class System, class Real>
  SALTUS_FN static consistency<Real> project(const System& system, Real t, vec<Real, states>& y, vec<Real, states>&,
                                             mask_of<Real> where) {
    return settling::near(system, t, y, where);
  }

  template <class Real>
  SALTUS_FN static consistency<Real> constraint_residual(Real t, const vec<Real, states>& y,
                                                         const step_constants<Real>& c) {
    return settling::residual_at(t, y, c);
  }

  // At every point Q gives another basis of the same constraints.
  static constexpr int constraints = array::constraints;
  static constexpr bool constraints_change_basis = true;
  template <class Real>
  SALTUS_FN static constraint_values<Real, Real, constraints> constraints_at(Real t, const vec<Real, states>& y,
                                                                             const step_constants<Real>& c) {
    return of_all<Real, Real>(array::solved(t, y, c),
                              [](const auto& at) SALTUS_INLINE_LAMBDA { return at.constraint; });
  }
  template <class Real>
  SALTUS_FN static constraint_values<vec<Real, states>, Real, constraints> jacobian_of_constraints(
      Real t, const vec<Real, states>& y, const step_constants<Real>& c) {
    return of_all<vec<Real, states>, Real>(array::solved(t, y, c),
                                           [](const auto& at) SALTUS_INLINE_LAMBDA { return at.by; });
  }
  /// No value follows from others.
  template <class Real>
  SALTUS_FN static void follow(Real, vec<Real, states>&, const step_constants<Real>&, mask_of<Real>) {}

  // If the rank of the array differs from the one that the host has found, the solution cannot be continued; nor can it beyond a point at
  // which the rank is lower.
  static constexpr auto where_branches_meet = status::singular;
  template <class Real>
  SALTUS_FN static mask_of<Real> changes_branch(const step_ends<Real, states>& ends, const step_constants<Real>& c,
                                                Real) {
    return array::on_other_branches(ends, c);
  }
  /// That of the array is `independence`.
  template <class Real>
  SALTUS_FN static detail::independence<Real> independence_of_constraints(Real, const vec<Real, states>&,
                                                                          const step_constants<Real>&) {
    return {};
  }
  template <class Real>
  SALTUS_FN static detail::independence<Real> independence(Real t, const vec<Real, states>& y,
                                                           const step_constants<Real>& c) {
    const auto at = array::solved(t, y, c);
    return {select(at.rest <= Real(array::template negligible<Real>), at.least, Real(0.0)), Real(-1.0)};
  }

 private:
  template <class Value, class Real, class Of>
  SALTUS_FN static constraint_values<Value, Real, constraints> of_all(const typename array::template solution<Real>& at,
                                                                      Of&& of) {
    constraint_values<Value, Real, constraints> r;
    r.of = of(at);
    for (int i = 0; i < constraints; ++i) r.there[i] = select(at.found, Real(1.0), Real(Functions::unset));
    return r;
  }
};

}  // namespace saltus
