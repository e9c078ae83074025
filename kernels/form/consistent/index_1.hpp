// Index 1: Newton for the algebraic states and the time derivatives of the differential ones, with the differential states held (Brown,
// Hindmarsh, Petzold, SIAM J. Sci. Comput. 19 (1998) 1495).
#pragma once

#include "form/consistent/consistency.hpp"
#include "number/solution_point.hpp"

namespace saltus {

namespace detail {

/// The equations and their derivatives with respect to the unknowns.
template <class Real, int m>
struct algebraic_equations {
  vec<Real, m> r;
  matrix<Real, m> by;
};

template <class System, class Real, int n>
SALTUS_FN_COLD auto algebraic_equations_at(const System& system, const solution_point<Real, n>& here) {
  using part = algebraic_part<System, n>;
  constexpr int m = part::count;
  constexpr int width = sweeps<m>::width;
  using Value = dual<Real, width>;
  algebraic_equations<Real, m> e;
  each_sweep<m>([&](int first) SALTUS_INLINE_LAMBDA {
    vec<Value, n> at, along;
    each<n>([&](int i) SALTUS_INLINE_LAMBDA {
      at[i] = Value(here.y[i]);
      along[i] = Value(here.rate[i]);
    });
    each<m>([&](int k) SALTUS_INLINE_LAMBDA {
      const int i = part::state(k);
      if (part::is_rate(k)) along[i] = seeded<width>(here.rate[i], k, first, Real(1.0));
      else at[i] = seeded<width>(here.y[i], k, first, Real(1.0));
    });
    const auto r = part::equations_at(system, Value(here.t), at, along);
    each<m>([&](int k) SALTUS_INLINE_LAMBDA {
      e.r[k] = r[k].value;
      static_for<width>([&](auto d) SALTUS_INLINE_LAMBDA {
        if (first + d < m) e.by[k][first + d] = r[k].d[d];
      });
    });
  });
  return e;
}

/// The largest residual of a constraint. Constraints are the equations in which no time derivative occurs.
template <class System, class Real, int n>
SALTUS_FN_COLD void measure(consistency<Real>& c, const vec<Real, algebraic_part<System, n>::count>& r,
                            const matrix<Real, algebraic_part<System, n>::count>& by) {
  using part = algebraic_part<System, n>;
  c.residual = Real(0.0);
  c.of = Real(-1.0);
  each<part::count>([&](int k) SALTUS_INLINE_LAMBDA {
    auto constrains = mask_of<Real>::all(true);
    if constexpr (!part::reduced)
      each<part::count>([&](int j) SALTUS_INLINE_LAMBDA {
        if (part::is_rate(j)) constrains = constrains & (by[k][j] == Real(0.0));
      });
    const Real size = abs(r[k]);
    const auto worse = constrains & !(size <= c.residual);
    c.residual = select(worse, size, c.residual);
    c.of = select(worse, Real(static_cast<double>(part::state(k))), c.of);
  });
}

/// The scales of the unknowns: those of algebraic states, or, without any, of time derivatives.
template <class System, class Real, int n, int m>
SALTUS_FN vec<Real, m> scales_of(const System& system, const solution_point<Real, n>& at, const vec<Real, m>& change) {
  using part = algebraic_part<System, n>;
  vec<Real, m> scale;
  each<m>([&](int k) SALTUS_INLINE_LAMBDA {
    const int i = part::state(k);
    const Real size = part::is_rate(k) ? abs(at.rate[i]) + abs(change[k]) + Real(limits<scalar_of<Real>>::smallest)
                                       : abs(at.y[i]) + system.floor(i);
    const bool counts = !part::is_rate(k) || System::highest_index == 0;
    scale[k] = counts ? Real(1.0) / size : Real(0.0);
  });
  return scale;
}
/// The sizes of the terms of the equations, whose residuals are r, as in linear_system.
template <class System, class Real, int n>
SALTUS_FN_COLD auto sizes_of_equations(const System& system, const solution_point<Real, n>& at,
                                       const vec<Real, algebraic_part<System, n>::count>& r) {
  using part = algebraic_part<System, n>;
  vec<Real, n> along, terms, left;
  each<n>([&](int i) SALTUS_INLINE_LAMBDA {
    along[i] = part::reduced ? Real(0.0) : at.rate[i];
    terms[i] = abs(along[i]);
    left[i] = Real(0.0);
  });
  each<part::count>([&](int k) SALTUS_INLINE_LAMBDA { left[part::state(k)] = part::reduced ? -r[k] : r[k]; });
  const auto size = linear_system<System, Real, n>(system, at.t, at.y, at.rate).size_of_terms(left, at.y, along, terms);
  vec<Real, part::count> sizes;
  each<part::count>([&](int k) SALTUS_INLINE_LAMBDA { sizes[k] = size[part::state(k)]; });
  return sizes;
}
/// The sizes that the unknowns would have if the terms of their equations did not cancel; rounding of these sizes limits the accuracy of the
/// unknowns. They are |B^-1| times the sizes of the terms, with B the derivatives by the unknowns.
template <class System, class Real, int n>
SALTUS_FN_COLD auto sizes_uncancelled(const System& system, const solution_point<Real, n>& at,
                                      vec<Real, algebraic_part<System, n>::count> r,
                                      lu<Real, algebraic_part<System, n>::count> solver) {
  constexpr int m = algebraic_part<System, n>::count;
  const auto size = sizes_of_equations(system, at, r);
  vec<Real, m> whole;
  each<m>([&](int k) SALTUS_INLINE_LAMBDA { whole[k] = Real(0.0); });
  for (int k = 0; k < m; ++k) {
    vec<Real, m> one;
    each<m>([&](int j) SALTUS_INLINE_LAMBDA { one[j] = j == k ? size[k] : Real(0.0); });
    const auto by_one = solver.solve(one);
    each<m>([&](int j) SALTUS_INLINE_LAMBDA { whole[j] = whole[j] + abs(by_one[j]); });
  }
  return whole;
}
/// Replaces the scales of unknowns that are only rounding of cancelling terms by the scales of these terms.
template <class Real, int m>
SALTUS_FN void widen(vec<Real, m>& scale, const vec<Real, m>& size, mask_of<Real> where) {
  each<m>([&](int k) SALTUS_INLINE_LAMBDA {
    scale[k] = select(where & (size[k] * scale[k] > Real(1.0)), Real(1.0) / size[k], scale[k]);
  });
}
template <class Real, int m>
SALTUS_FN Real largest_in(const vec<Real, m>& change, const vec<Real, m>& scale) {
  Real r = Real(0.0);
  each<m>([&](int k) SALTUS_INLINE_LAMBDA { r = max(r, abs(change[k]) * scale[k]) + not_finite(change[k]); });
  return r;
}
/// Subtracts a part of an increment from the unknowns.
template <class System, class Real, int n, int m>
SALTUS_FN void move_unknowns(vec<Real, n>& y, vec<Real, n>& rate, const vec<Real, m>& change, Real part_of_it) {
  using part = algebraic_part<System, n>;
  each<m>([&](int k) SALTUS_INLINE_LAMBDA {
    const int i = part::state(k);
    if (part::is_rate(k)) rate[i] = fma(-part_of_it, change[k], rate[i]);
    else y[i] = fma(-part_of_it, change[k], y[i]);
  });
}

/// One Newton increment at (t, y, rate), and its size relative to the scales.
template <class System, class Real, int n>
struct newton_increment {
  static constexpr int m = algebraic_part<System, n>::count;
  algebraic_equations<Real, m> equations;
  lu<Real, m> solver;
  vec<Real, m> change, scale;
  Real size;

  SALTUS_FN newton_increment(const System& system, const solution_point<Real, n>& at)
      : equations(algebraic_equations_at(system, at)), solver(equations.by) {
    change = solver.solve(equations.r);
    scale = scales_of(system, at, change);
    size = largest_in(change, scale);
  }
  /// Increments that do not shrink may be rounding; in the lanes of `stuck` they are measured relative to it.
  SALTUS_FN void measure_as_rounding(const System& system, const solution_point<Real, n>& at, mask_of<Real> stuck) {
    widen(scale, sizes_uncancelled(system, at, equations.r, solver), stuck);
    size = largest_in(change, scale);
  }
};

/// The point after an increment, the part of the increment taken, and whether the next increment is smaller.
template <class Real, int n>
struct moved_point {
  vec<Real, n> y, rate;
  Real part;
  mask_of<Real> good;
};

/// Takes an increment, at first the part `p.part` of it. Lanes of `open` whose next increment would not be smaller try a quarter of that
/// part, repeatedly.
template <class System, class Real, int n>
SALTUS_FN void take_damped(moved_point<Real, n>& p, newton_increment<System, Real, n>& step, const System& system,
                           const solution_point<Real, n>& at, mask_of<Real> open) {
  using part = algebraic_part<System, n>;
  for (int attempts = 0; attempts < 20; ++attempts) {
    const auto next = step.solver.solve(part::equations_at(system, at.t, p.y, p.rate));
    const auto shrinks = [&]() SALTUS_INLINE_LAMBDA {
      return (largest_in(next, step.scale) < step.size) | (step.size <= Real(root_epsilon<scalar_of<Real>>));
    };
    p.good = shrinks();
    if (all(p.good | !open)) break;
    if (attempts == 0) {
      step.measure_as_rounding(system, at, !p.good);
      p.good = shrinks();
    }
    p.part = select(p.good, p.part, Real(0.25) * p.part);
    p.y = at.y;
    p.rate = at.rate;
    move_unknowns<System>(p.y, p.rate, step.change, p.part);
  }
}

/// The lanes in which the determinant of the derivatives by the unknowns has another sign than `orientation`, or none, at the point plus or
/// minus the changes.
template <class System, class Real, int n>
SALTUS_FN_COLD mask_of<Real> determinant_turns(const System& system, const solution_point<Real, n>& at,
                                               Real orientation, const vec<Real, n>& by, const vec<Real, n>& rate_by) {
  auto turns = mask_of<Real>::all(false);
  for (int side = -1; side <= 1; side += 2) {
    const Real sign(static_cast<double>(side));
    auto to = at.y, rate_there = at.rate;
    each<n>([&](int i) SALTUS_INLINE_LAMBDA {
      to[i] = fma(sign, by[i], to[i]);
      rate_there[i] = fma(sign, rate_by[i], rate_there[i]);
    });
    const lu<Real, algebraic_part<System, n>::count> there(
        algebraic_equations_at(system, solution_point{at.t, to, rate_there}).by);
    turns = turns | !(there.orientation() * orientation > Real(0.0));
  }
  return turns;
}
template <class System, class Real, int n>
SALTUS_FN_COLD mask_of<Real> determinant_turns(const System& system, const solution_point<Real, n>& at,
                                               Real orientation,
                                               const vec<Real, algebraic_part<System, n>::count>& change, Real part) {
  vec<Real, n> by, rate_by;
  each<n>([&](int i) SALTUS_INLINE_LAMBDA { by[i] = rate_by[i] = Real(0.0); });
  move_unknowns<System>(by, rate_by, change, part);
  return determinant_turns(system, at, orientation, by, rate_by);
}

/// The lanes in which Newton's iteration has converged, with the residuals r after an increment of the size `last`. Next to a double root
/// each increment is half of the previous one, and the next one by the same matrix is a quarter of it (the limit of Kantorovich's theorem).
/// There a small increment does not show that a root is near, so the next one must be much smaller. Increments that are only rounding do not
/// shrink either; for them it suffices that the determinant keeps its sign over several increments.
template <class System, class Real, int n>
SALTUS_FN mask_of<Real> has_converged(const System& system, const solution_point<Real, n>& at,
                                      const vec<Real, algebraic_part<System, n>::count>& r,
                                      const lu<Real, algebraic_part<System, n>::count>& solver, Real last,
                                      mask_of<Real> where) {
  using part = algebraic_part<System, n>;
  constexpr double rounding = 64.0 * limits<scalar_of<Real>>::epsilon, much_less = 0x1p-6, several = 16.0;
  const auto next = solver.solve(r);
  auto good = largest_in(next, scales_of(system, at, next)) < Real(much_less) * last;
  if (all(good | !where)) return good;
  auto small = mask_of<Real>::all(true);
  each<part::count>([&](int k) SALTUS_INLINE_LAMBDA {
    const int i = part::state(k);
    small = small & (abs(next[k]) <= Real(rounding) * abs(part::is_rate(k) ? at.rate[i] : at.y[i]));
  });
  good = good | small;
  if (all(good | !where)) return good;
  return good | !determinant_turns(system, at, solver.orientation(), next, Real(several));
}

/// The lanes in which the matrix is singular nearby: its determinant changes its sign if the algebraic states change by the fraction `nearby`
/// in the direction that the equations determine least. Without algebraic states, the states change along their time derivatives instead,
/// which grow near a singularity.
template <class System, class Real, int n>
SALTUS_FN_COLD mask_of<Real> is_next_to_singular(const System& system, const solution_point<Real, n>& at,
                                                 double nearby) {
  using part = algebraic_part<System, n>;
  const auto here = algebraic_equations_at(system, at);
  const lu<Real, part::count> solver(here.by);
  if constexpr (System::highest_index == 0) {
    Real whole = Real(0.0);
    vec<Real, n> by, none;
    each<n>([&](int i) SALTUS_INLINE_LAMBDA {
      whole = max(whole, abs(at.rate[i]) / (abs(at.y[i]) + system.floor(i)));
      none[i] = Real(0.0);
    });
    each<n>([&](int i) SALTUS_INLINE_LAMBDA { by[i] = at.rate[i] * (Real(nearby) / whole); });
    return determinant_turns(system, at, solver.orientation(), by, none);
  } else {
    const auto change = solver.solve(sizes_of_equations(system, at, here.r));
    const Real whole = largest_in(change, scales_of(system, at, change));
    return determinant_turns(system, at, solver.orientation(), change, Real(nearby) / whole);
  }
}

/// The time derivatives of algebraic states, at a consistent point: constraints stay met, 0 = d/dt F(t, y, rate). These equations also give
/// the second time derivatives of the other states, which are not needed.
template <search_for What, class System, class Real, int n>
SALTUS_FN_COLD vec<Real, n> rates_of_algebraic_states(const System& system, const solution_point<Real, n>& here,
                                                      const lu<Real, algebraic_part<System, n>::count>& solver,
                                                      mask_of<Real> where) {
  using part = algebraic_part<System, n>;
  using Value = dual<Real>;
  auto rate = here.rate;
  if constexpr (part::reduced && What == search_for::start) {
    const auto f = system.rhs(here.t, here.y);
    each<n>([&](int i) SALTUS_INLINE_LAMBDA {
      if (System::index(i) == 0) rate[i] = select(where, f[i], rate[i]);
    });
  }
  vec<Value, n> at, along;
  each<n>([&](int i) SALTUS_INLINE_LAMBDA {
    at[i] = System::index(i) == 0 ? Value(here.y[i], rate[i]) : Value(here.y[i]);
    along[i] = Value(rate[i]);
  });
  const auto r = part::equations_at(system, Value(here.t, Real(1.0)), at, along);
  vec<Real, part::count> right;
  each<part::count>([&](int k) SALTUS_INLINE_LAMBDA { right[k] = -r[k].d[0]; });
  const auto solution = solver.solve(right);
  each<part::count>([&](int k) SALTUS_INLINE_LAMBDA {
    const int i = part::state(k);
    if (!part::is_rate(k)) rate[i] = select(where, solution[k], rate[i]);
  });
  return rate;
}

}  // namespace detail

/// Index 1. Moves the algebraic states of y, and all time derivatives, in the lanes of `where`. At the start increments are damped until
/// they shrink, measured with the same matrix and on the same scales (natural monotonicity; Deuflhard).
template <search_for What, class System, class Real, int n>
SALTUS_FN_APART consistency<Real> make_consistent(const System& system, Real t, vec<Real, n>& y, vec<Real, n>& rate,
                                                  mask_of<Real> where) {
  using part = detail::algebraic_part<System, n>;
  using T = scalar_of<Real>;
  constexpr int m = part::count;
  constexpr bool damped = What == search_for::start;
  constexpr int most = damped ? 80 : 6;
  constexpr double enough = damped ? 64.0 * limits<T>::epsilon : root_epsilon<T>;  // the next increment is about its
                                                                                   // square
  const auto begun = y;
  const solution_point at{t, y, rate};  // it moves
  consistency<Real> c{mask_of<Real>::all(false), Real(0.0), Real(-1.0), Real(0.0)};
  mask_of<Real> open = where;
  Real damping = Real(1.0), last = Real(1.0);
  matrix<Real, m> by{};
  for (int iteration = 0; iteration < most && any(open); ++iteration) {
    detail::newton_increment<System, Real, n> step(system, at);
    for (int k = 0; k < m; ++k)
      for (int j = 0; j < m; ++j) by[k][j] = select(open, step.equations.by[k][j], by[k][j]);
    c.orientation = select(open, step.solver.orientation(), c.orientation);
    const auto stuck = open & (step.size > Real(enough)) & (step.size >= Real(0.5) * last) & (damping >= Real(1.0));
    if (iteration > 0 && any(stuck)) step.measure_as_rounding(system, at, stuck);
    detail::moved_point<Real, n> to{y, rate, damping, mask_of<Real>::all(true)};
    detail::move_unknowns<System>(to.y, to.rate, step.change, damped ? to.part : Real(1.0));
    if constexpr (damped) detail::take_damped(to, step, system, at, open);
    const auto on = open & to.good & (step.size < Real(limits<T>::largest));
    damping = select(on, min(Real(2.0) * to.part, Real(1.0)), damping);
    each<n>([&](int i) SALTUS_INLINE_LAMBDA {
      y[i] = select(on, to.y[i], y[i]);
      rate[i] = select(on, to.rate[i], rate[i]);
    });
    // With a nearly singular matrix, rounding keeps increments from shrinking: two consecutive small ones suffice.
    const auto stalls = (step.size <= Real(root_epsilon<T>)) & (last <= Real(root_epsilon<T>));
    const auto done = on & ((step.size <= Real(enough)) | stalls) & (to.part == Real(1.0));
    last = select(on, step.size, last);
    c.found = c.found | done;
    open = on & !done;
  }
  const lu<Real, m> solver(by);
  const auto left = part::equations_at(system, t, y, rate);
  if constexpr (!damped) c.found = c.found & detail::has_converged(system, at, left, solver, last, c.found);
  detail::measure<System, Real, n>(c, left, by);
  each<n>([&](int i) SALTUS_INLINE_LAMBDA { y[i] = select(c.found, y[i], begun[i]); });
  detail::how_far(c, system, begun, y);
  if constexpr (System::highest_index == 1) rate = detail::rates_of_algebraic_states<What>(system, at, solver, where);
  return c;
}

}  // namespace saltus
