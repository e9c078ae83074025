// The compound pendulum of the built-in problem without Compere's stabilisation on the level of accelerations: each step keeps the
// multipliers of its beginning. The end of a step is projected as he printed it, because the projection in the metric of kinetic energy
// would undo nearly all of the effect of the wrong multipliers.
#include "compound_pendulum_printed.hpp"

template <class Functions>
struct frozen_form : printed_form<Functions> {
  using base = printed_form<Functions>;
  using bodies = typename base::system_of_bodies;
  static constexpr int n = base::states, m = base::constraints;

  template <class Real>
  struct step_constants : base::template step_constants<Real> {
    saltus::vec<Real, m> multiplier;
  };
  template <class A, class B, class F>
  SALTUS_FN static constexpr void each_memory(A& a, B& b, F&& body) {
    for (int k = 0; k < m; ++k) body(a.multiplier[k], b.multiplier[k]);
  }
  template <class Real>
  SALTUS_FN static void remember(step_constants<Real>& c, Real t, const saltus::vec<Real, n>& y,
                                 const saltus::vec<Real, n>&, saltus::mask_of<Real> where) {
    const auto at = base::point_at(t, y, c);
    for (int k = 0; k < m; ++k) c.multiplier[k] = select(where, motion_of(at).multiplier[k], c.multiplier[k]);
  }

  template <class Value, class Real>
  SALTUS_FN static saltus::vec<Value, n> rhs(Value t, const saltus::vec<Value, n>& y, const step_constants<Real>& c) {
    const auto at = base::point_at(t, y, c);
    const auto rows = bodies::rows_at(at);
    const typename bodies::template inertia<Value> inertia(at, rows);
    saltus::vec<Value, m> lambda;
    for (int k = 0; k < m; ++k) lambda[k] = Value(c.multiplier[k]);
    const auto a = inertia.mass.backward(inertia.force(lambda, inertia.mass.forward(bodies::force(at))));
    const auto rate = bodies::rates(at);
    saltus::vec<Value, n> f;
    for (int i = 0; i < n; ++i) f[i] = i < base::coordinates ? rate[i] : a[i - base::coordinates];
    return f;
  }
};

struct frozen_multipliers : compound_pendulum_printed {
  template <class Functions>
  using form = frozen_form<Functions>;
};
