// The projection onto constraints as M. D. Compere printed it (dissertation, UT Austin 2001, 3.27), for q' = v and constraints that always
// hold: two passes of x - F [Phi; S], F = J' (J J')^-1 at the beginning of the pass, without the mass matrix and with the nonholonomic
// constraints among those of positions.
#pragma once

#include "form/mechanical.hpp"

template <class Functions>
struct printed_form : saltus::mechanical_form<Functions> {
  using base = saltus::mechanical_form<Functions>;
  using bodies = typename base::system_of_bodies;
  static constexpr int n = base::states, m = base::constraints, velocities = base::velocities;

  static void changes_branch() = delete;  // he has no test for dead points

  template <class System, class Real>
  SALTUS_FN static saltus::consistency<Real> project(const System& system, Real t, saltus::vec<Real, n>& y,
                                                     saltus::vec<Real, n>&, saltus::mask_of<Real> where) {
    const auto begun = y;
    for (int pass = 0; pass < 2; ++pass) y = nearer(base::point_at(t, y, system.c));
    for (int i = 0; i < n; ++i) y[i] = select(where, y[i], begun[i]);
    auto c = base::constraint_residual(t, y, system.c);
    c.found = where & (c.residual < saltus::limits<saltus::scalar_of<Real>>::largest);
    saltus::detail::how_far(c, system, begun, y);
    return c;
  }

 private:
  template <class Real>
  SALTUS_FN static saltus::vec<Real, n> nearer(const saltus::point<typename Functions::Model, Real, Real>& at) {
    const auto r = bodies::rows_at(at);
    auto y = at.y;
    saltus::matrix<Real, m> a;
    for (int k = 0; k < m; ++k)
      for (int l = 0; l <= k; ++l) {
        a[k][l] = r.by[k][0] * r.by[l][0];
        for (int j = 1; j < velocities; ++j) a[k][l] = fma(r.by[k][j], r.by[l][j], a[k][l]);
      }
    const saltus::ldl<Real, m> f(a);
    for (int level = 0; level < 2; ++level) {
      const bool of_position = level == 0;
      const auto s = bodies::levels_at(bodies::moved(at, at.t, y));
      saltus::vec<Real, m> left;
      for (int k = 0; k < m; ++k)
        left[k] = of_position && bodies::is_holonomic(k) ? s.position[k] : bodies::deviation(s, k);
      const auto d = r.force(f.solve(left));
      for (int j = 0; j < velocities; ++j) {
        Real& moved = y[of_position ? j : base::coordinates + j];
        moved = moved - d[j];
      }
    }
    return y;
  }
};
