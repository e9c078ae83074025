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
  using held = typename Functions::template held<Real>;
  /// The dense output of algebraic states of index 2 is of a lower order than that of the others.
  static constexpr bool projects_samples = highest_index == 2;

  /// An algebraic state has no rate: what it is solved from is its entry of f alone.
  template <class Value, class Real>
  SALTUS_FN static vec<Value, states> residual(Value t, const vec<Value, states>& y, const vec<Value, states>& dy,
                                               const held<Real>& c) {
    vec<Value, states> r;
    const auto f = Functions::rhs(t, y, c);
    each<states>([&](int i) SALTUS_INLINE_LAMBDA { r[i] = index(i) == 0 ? dy[i] - f[i] : -f[i]; });
    return r;
  }

  template <class System, class Real>
  SALTUS_FN static consistency<Real> initialise(const System& system, const Real& t, vec<Real, states>& y,
                                                vec<Real, states>& f, Real, mask_of<Real> where, int how) {
    if (how == abi::nearest) move_to_nearest(system, t, y, where);
    return consistent<search_for::start>(system, t, y, f, where);
  }

  template <class System, class Real>
  SALTUS_FN static consistency<Real> project(const System& system, Real t, vec<Real, states>& y,
                                             vec<Real, states>& rate, mask_of<Real> where) {
    return consistent<search_for::step>(system, t, y, rate, where);
  }

 private:
  template <search_for What, class System, class Real>
  SALTUS_FN static consistency<Real> consistent(const System& system, Real t, vec<Real, states>& y,
                                                vec<Real, states>& rate, mask_of<Real> where) {
    if constexpr (highest_index == 2) return make_consistent_2<What>(system, t, y, rate, where);
    else return make_consistent<What>(system, t, y, rate, where);
  }
};

}  // namespace saltus
