// Consistent states where rates are unknowns, too: of forms with a mass matrix and of those with a residual.
#pragma once

#include "form/consistent/index_1.hpp"
#include "form/consistent/mixed.hpp"
#include "form/functions.hpp"

namespace saltus {

template <class Functions>
struct solved_for_rates : Functions {
  using Functions::states;
  using kinds = typename Functions::kinds;

  template <class System, class Real>
  SALTUS_FN static consistency<Real> initialise(const System& system, const Real& t, vec<Real, states>& y,
                                                vec<Real, states>& f, Real span, mask_of<Real> where, int,
                                                const written_states<solved_for_rates, Real>& written) {
    if constexpr (kinds::mass_is_singular) return settle_mixed(system, t, y, f, span, where, written);
    else return make_consistent<search_for::start>(system, t, y, f, where);
  }

  template <class System, class Real>
  SALTUS_FN static consistency<Real> project(const System& system, Real t, vec<Real, states>& y,
                                             vec<Real, states>& rate, mask_of<Real> where) {
    return make_consistent<search_for::step>(system, t, y, rate, where);
  }
};

}  // namespace saltus
