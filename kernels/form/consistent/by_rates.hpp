// Consistent states if time derivatives are unknowns, too: for forms with a mass matrix and for those with a residual.
#pragma once

#include "form/consistent/index_1.hpp"
#include "form/consistent/mixed.hpp"
#include "form/functions.hpp"

namespace saltus {

template <class Functions>
struct solved_for_rates : Functions {
  using Functions::states;
  using kinds = typename Functions::kinds;

  static constexpr bool finds_rates = kinds::mass_is_singular;
  template <class System, class Value>
  SALTUS_FN static vec<Value, states> rates_at(const System& system, Value t, const vec<Value, states>& y,
                                               const vec<Value, states>& guess) requires(finds_rates) {
    return rates_of_mixed(system, t, y, guess);
  }

  template <class System, class Real>
  SALTUS_FN static consistency<Real> initialise(const System& system, const Real& t, vec<Real, states>& y,
                                                vec<Real, states>& f, const restart<solved_for_rates, Real>& start) {
    if constexpr (kinds::mass_is_singular) return settle_mixed(system, t, y, f, start);
    else return make_consistent<search_for::start>(system, t, y, f, start.where);
  }

  template <class System, class Real>
  SALTUS_FN static consistency<Real> project(const System& system, Real t, vec<Real, states>& y,
                                             vec<Real, states>& rate,
                                             mask_of<Real> where) requires(Functions::highest_index > 0) {
    return make_consistent<search_for::step>(system, t, y, rate, where);
  }

  template <class System, class Real>
  SALTUS_FN static mask_of<Real> turns_within(const System& system, const solution_point<Real, states>& at,
                                              Real orientation, const vec<Real, states>& error) {
    vec<Real, states> none;
    each<states>([&](int i) SALTUS_INLINE_LAMBDA { none[i] = Real(0.0); });
    return detail::determinant_turns(system, at, orientation, error, none);
  }
  template <class System, class Real>
  SALTUS_FN static mask_of<Real> is_next_to_singular(const System& system, const solution_point<Real, states>& at,
                                                     double nearby) {
    return detail::is_next_to_singular(system, at, nearby);
  }
};

}  // namespace saltus
