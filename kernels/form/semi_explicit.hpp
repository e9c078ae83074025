// dy/dt = f(t, y) where some of f are constraints, 0 = f_i(t, y), for algebraic states: all of index 1, or all of index 2
// (Hessenberg).
#pragma once

#include "abi/module.hpp"
#include "form/consistent/index_1.hpp"
#include "form/consistent/index_2.hpp"
#include "form/consistent/nearest.hpp"
#include "form/functions.hpp"

namespace saltus {

template <class Functions>
struct semi_explicit_form : Functions {
  using Functions::highest_index;
  using Functions::index;
  using Functions::states;
  template <class Real>
  using step_constants = typename Functions::template step_constants<Real>;
  /// The dense output of algebraic states of index 2 is of a lower order than that of the others.
  static constexpr bool projects_samples = highest_index == 2;

  static constexpr bool finds_rates = highest_index == 2;
  template <class System, class Value>
  SALTUS_FN static vec<Value, states> rates_at(const System& system, Value t, const vec<Value, states>& y,
                                               const vec<Value, states>&) requires(finds_rates) {
    return rates_of_index_2(system, t, y);
  }

  /// An algebraic state has no time derivative: its residual is its entry of f alone.
  template <class Value, class Real>
  SALTUS_FN static vec<Value, states> residual(Value t, const vec<Value, states>& y, const vec<Value, states>& dy,
                                               const step_constants<Real>& c) {
    vec<Value, states> r;
    const auto f = Functions::rhs(t, y, c);
    each<states>([&](int i) SALTUS_INLINE_LAMBDA { r[i] = index(i) == 0 ? dy[i] - f[i] : -f[i]; });
    return r;
  }

  template <class System, class Real>
  SALTUS_FN static consistency<Real> initialise(const System& system, const Real& t, vec<Real, states>& y,
                                                vec<Real, states>& f, const restart<semi_explicit_form, Real>& start) {
    if (start.how == abi::nearest) move_to_nearest(system, t, y, start.where);
    if constexpr (Functions::keeps_written)
      if (any(start.where & detail::has_written(start.written))) return consistent_but(system, t, y, f, start);
    return consistent<search_for::start>(system, t, y, f, start.where);
  }

  template <class System, class Real>
  SALTUS_FN static consistency<Real> project(const System& system, Real t, vec<Real, states>& y,
                                             vec<Real, states>& rate, mask_of<Real> where) {
    return consistent<search_for::step>(system, t, y, rate, where);
  }

  template <class System, class Real>
  SALTUS_FN static mask_of<Real> turns_within(const System& system, const solution_point<Real, states>& at,
                                              Real orientation,
                                              const vec<Real, states>& error) requires(highest_index == 1) {
    vec<Real, states> none;
    each<states>([&](int i) SALTUS_INLINE_LAMBDA { none[i] = Real(0.0); });
    return detail::determinant_turns(system, at, orientation, error, none);
  }
  template <class System, class Real>
  SALTUS_FN static mask_of<Real> is_next_to_singular(const System& system, const solution_point<Real, states>& at,
                                                     double nearby) requires(highest_index == 1) {
    return detail::is_next_to_singular(system, at, nearby);
  }

 private:
  /// The same where states that a transition has written stay.
  template <class System, class Real>
  SALTUS_FN_COLD static consistency<Real> consistent_but(const System& system, Real t, vec<Real, states>& y,
                                                         vec<Real, states>& rate,
                                                         const restart<semi_explicit_form, Real>& start) {
    const auto& written = start.written;
    const auto some = start.where & detail::has_written(written);
    const auto begun = y;
    auto to = y;
    const auto moved = detail::move_onto_constraints_but(system, t, to, written, some);
    const auto met = moved.found;
    // From there the rest of the search moves nothing that is written by more than rounding.
    for (int i = 0; i < states; ++i) y[i] = select(some & met, to[i], y[i]);
    auto c = consistent<search_for::start>(system, t, y, rate, start.where & (met | !some));
    for (int i = 0; i < states; ++i)
      y[i] = select(some & c.found & (written[i] > Real(0.0)) & mask_of<Real>::all(index(i) == 0), begun[i], y[i]);
    const auto lost = some & !met;
    c.of = select(lost, moved.of, c.of);
    detail::blame_written(c, states, written, lost,
                          [](int i) SALTUS_INLINE_LAMBDA { return mask_of<Real>::all(index(i) == 0); });
    return c;
  }
  template <search_for What, class System, class Real>
  SALTUS_FN static consistency<Real> consistent(const System& system, Real t, vec<Real, states>& y,
                                                vec<Real, states>& rate, mask_of<Real> where) {
    if constexpr (highest_index == 2) return make_consistent_2<What>(system, t, y, rate, where);
    else return make_consistent<What>(system, t, y, rate, where);
  }
};

}  // namespace saltus
