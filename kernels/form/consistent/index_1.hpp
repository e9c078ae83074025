// Index 1: Newton for the algebraic states and the rates of the differential ones, with the differential states held
// (Brown, Hindmarsh, Petzold, SIAM J. Sci. Comput. 19 (1998) 1495).
#pragma once

#include "form/consistent/search.hpp"

namespace saltus {

namespace detail {

/// The equations and their derivatives by the unknowns.
template <class Real, int m>
struct algebraic_equations {
  vec<Real, m> r;
  matrix<Real, m> by;
};

template <class System, class Real, int n>
SALTUS_FN_COLD auto algebraic_equations_at(const System& system, Real t, const vec<Real, n>& y,
                                           const vec<Real, n>& rate) {
  using part = algebraic_part<System, n>;
  constexpr int m = part::count;
  constexpr int width = sweeps<m>::width;
  using Value = dual<Real, width>;
  algebraic_equations<Real, m> e;
  each_sweep<m>([&](int first) SALTUS_INLINE_LAMBDA {
    vec<Value, n> at, along;
    each<n>([&](int i) SALTUS_INLINE_LAMBDA {
      at[i] = Value(y[i]);
      along[i] = Value(rate[i]);
    });
    each<m>([&](int k) SALTUS_INLINE_LAMBDA {
      const int i = part::state(k);
      if (part::is_rate(k)) along[i] = seeded<width>(rate[i], k, first, Real(1.0));
      else at[i] = seeded<width>(y[i], k, first, Real(1.0));
    });
    const auto r = part::equations_at(system, Value(t), at, along);
    each<m>([&](int k) SALTUS_INLINE_LAMBDA {
      e.r[k] = r[k].value;
      static_for<width>([&](auto d) SALTUS_INLINE_LAMBDA {
        if (first + d < m) e.by[k][first + d] = r[k].d[d];
      });
    });
  });
  return e;
}

/// The largest residual among the equations that are constraints: those no rate appears in.
template <class System, class Real, int n>
SALTUS_FN_COLD void measure(consistency<Real>& c, const System& system, Real t, const vec<Real, n>& y,
                            const vec<Real, n>& rate, const matrix<Real, algebraic_part<System, n>::count>& by) {
  using part = algebraic_part<System, n>;
  const auto r = part::equations_at(system, t, y, rate);
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

/// What the unknowns are measured in: algebraic states, or if there is none the rates.
template <class System, class Real, int n, int m>
SALTUS_FN vec<Real, m> scales_of(const System& system, const vec<Real, n>& y, const vec<Real, n>& rate,
                                 const vec<Real, m>& change) {
  using part = algebraic_part<System, n>;
  vec<Real, m> scale;
  each<m>([&](int k) SALTUS_INLINE_LAMBDA {
    const int i = part::state(k);
    const Real size = part::is_rate(k) ? abs(rate[i]) + abs(change[k]) + Real(limits<scalar_of<Real>>::smallest)
                                       : abs(y[i]) + system.floor(i);
    const bool counts = !part::is_rate(k) || System::highest_index == 0;
    scale[k] = counts ? Real(1.0) / size : Real(0.0);
  });
  return scale;
}
/// How large unknowns would be if the terms of their equations did not cancel: they are known to the rounding of that. Sizes
/// of terms as in linear_system, times |B^-1|, with B the derivatives by the unknowns.
template <class System, class Real, int n>
SALTUS_FN_COLD auto sizes_uncancelled(const System& system, Real t, vec<Real, n> y, vec<Real, n> rate,
                                      vec<Real, algebraic_part<System, n>::count> r,
                                      lu<Real, algebraic_part<System, n>::count> solver) {
  using part = algebraic_part<System, n>;
  constexpr int m = part::count;
  vec<Real, n> along, terms, left;
  each<n>([&](int i) SALTUS_INLINE_LAMBDA {
    along[i] = part::reduced ? Real(0.0) : rate[i];
    terms[i] = abs(along[i]);
    left[i] = Real(0.0);
  });
  each<m>([&](int k) SALTUS_INLINE_LAMBDA { left[part::state(k)] = part::reduced ? -r[k] : r[k]; });
  const auto size = linear_system<System, Real, n>(system, t, y, rate).size_of_terms(left, y, along, terms);
  vec<Real, m> whole;
  each<m>([&](int k) SALTUS_INLINE_LAMBDA { whole[k] = Real(0.0); });
  for (int k = 0; k < m; ++k) {
    vec<Real, m> one;
    each<m>([&](int j) SALTUS_INLINE_LAMBDA { one[j] = j == k ? size[part::state(k)] : Real(0.0); });
    const auto by_one = solver.solve(one);
    each<m>([&](int j) SALTUS_INLINE_LAMBDA { whole[j] = whole[j] + abs(by_one[j]); });
  }
  return whole;
}
/// The scales of unknowns that are but rounding of terms that cancel are those of the terms.
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
/// Unknowns less a part of an increment.
template <class System, class Real, int n, int m>
SALTUS_FN void move_unknowns(vec<Real, n>& y, vec<Real, n>& rate, const vec<Real, m>& change, Real part_of_it) {
  using part = algebraic_part<System, n>;
  each<m>([&](int k) SALTUS_INLINE_LAMBDA {
    const int i = part::state(k);
    if (part::is_rate(k)) rate[i] = fma(-part_of_it, change[k], rate[i]);
    else y[i] = fma(-part_of_it, change[k], y[i]);
  });
}

/// The rates of algebraic states, at a consistent point: constraints stay met, 0 = d/dt F(t, y, rate). What is solved is
/// solved for the rates of rates as well, which are not needed.
template <search_for What, class System, class Real, int n>
SALTUS_FN_COLD void rates_of_algebraic_states(const System& system, Real t, const vec<Real, n>& y, vec<Real, n>& rate,
                                              const matrix<Real, algebraic_part<System, n>::count>& by,
                                              mask_of<Real> where) {
  using part = algebraic_part<System, n>;
  using Value = dual<Real>;
  if constexpr (System::highest_index == 1) {
    if constexpr (part::reduced && What == search_for::start) {
      const auto f = system.rhs(t, y);
      each<n>([&](int i) SALTUS_INLINE_LAMBDA {
        if (System::index(i) == 0) rate[i] = select(where, f[i], rate[i]);
      });
    }
    vec<Value, n> at, along;
    each<n>([&](int i) SALTUS_INLINE_LAMBDA {
      at[i] = System::index(i) == 0 ? Value(y[i], rate[i]) : Value(y[i]);
      along[i] = Value(rate[i]);
    });
    const auto r = part::equations_at(system, Value(t, Real(1.0)), at, along);
    vec<Real, part::count> right;
    each<part::count>([&](int k) SALTUS_INLINE_LAMBDA { right[k] = -r[k].d[0]; });
    const auto solution = lu<Real, part::count>(by).solve(right);
    each<part::count>([&](int k) SALTUS_INLINE_LAMBDA {
      const int i = part::state(k);
      if (!part::is_rate(k)) rate[i] = select(where, solution[k], rate[i]);
    });
  }
}

}  // namespace detail

/// Index 1. Moves the algebraic states of y, and the rates of all, in the lanes of `where`. At the start increments are
/// damped until they shrink, measured with the same matrix and on the same scales (natural monotonicity; Deuflhard).
template <search_for What, class System, class Real, int n>
SALTUS_FN_APART consistency<Real> make_consistent(const System& system, Real t, vec<Real, n>& y, vec<Real, n>& rate,
                                                  mask_of<Real> where) {
  using part = detail::algebraic_part<System, n>;
  using T = scalar_of<Real>;
  constexpr int m = part::count;
  constexpr bool damped = What == search_for::start;
  constexpr int most = damped ? 80 : 6;
  constexpr double enough = damped ? 64.0 * limits<T>::epsilon : root_epsilon<T>;  // it leaves about its square
  const auto begun = y;
  consistency<Real> c{mask_of<Real>::all(false), Real(0.0), Real(-1.0), Real(0.0)};
  mask_of<Real> open = where;
  Real damping = Real(1.0), last = Real(1.0);
  matrix<Real, m> by{};
  for (int iteration = 0; iteration < most && any(open); ++iteration) {
    const auto e = detail::algebraic_equations_at(system, t, y, rate);
    const lu<Real, m> solver(e.by);
    for (int k = 0; k < m; ++k)
      for (int j = 0; j < m; ++j) by[k][j] = select(open, e.by[k][j], by[k][j]);
    const auto change = solver.solve(e.r);
    auto scale = detail::scales_of(system, y, rate, change);
    Real size = detail::largest_in(change, scale);
    // What does not shrink may be rounding, and is measured as such: of two increments in full, and at the start below.
    const auto as_rounding = [&](mask_of<Real> stuck) SALTUS_INLINE_LAMBDA {
      detail::widen(scale, detail::sizes_uncancelled(system, t, y, rate, e.r, solver), stuck);
      size = detail::largest_in(change, scale);
    };
    const auto stuck = open & (size > Real(enough)) & (size >= Real(0.5) * last) & (damping >= Real(1.0));
    if (iteration > 0 && any(stuck)) as_rounding(stuck);
    auto y1 = y, rate1 = rate;
    Real part_of_change = damping;
    auto good = mask_of<Real>::all(true);
    detail::move_unknowns<System>(y1, rate1, change, damped ? part_of_change : Real(1.0));
    if constexpr (damped) {
      // Lanes whose increment would not shrink try a quarter of it.
      for (int attempts = 0; attempts < 20; ++attempts) {
        const auto next = solver.solve(part::equations_at(system, t, y1, rate1));
        const auto shrinks = [&]() SALTUS_INLINE_LAMBDA {
          return (detail::largest_in(next, scale) < size) | (size <= Real(root_epsilon<T>));
        };
        good = shrinks();
        if (all(good | !open)) break;
        if (attempts == 0) {
          as_rounding(!good);
          good = shrinks();
        }
        part_of_change = select(good, part_of_change, Real(0.25) * part_of_change);
        y1 = y;
        rate1 = rate;
        detail::move_unknowns<System>(y1, rate1, change, part_of_change);
      }
    }
    const auto on = open & good & (size < Real(limits<T>::largest));
    damping = select(on, min(Real(2.0) * part_of_change, Real(1.0)), damping);
    each<n>([&](int i) SALTUS_INLINE_LAMBDA {
      y[i] = select(on, y1[i], y[i]);
      rate[i] = select(on, rate1[i], rate[i]);
    });
    // Where the matrix is nearly singular rounding keeps increments from shrinking: two small ones in a row must do.
    const auto stalls = (size <= Real(root_epsilon<T>)) & (last <= Real(root_epsilon<T>));
    const auto done = on & ((size <= Real(enough)) | stalls) & (part_of_change == Real(1.0));
    last = select(on, size, last);
    c.found = c.found | done;
    open = on & !done;
  }
  each<n>([&](int i) SALTUS_INLINE_LAMBDA { y[i] = select(c.found, y[i], begun[i]); });
  detail::measure(c, system, t, y, rate, by);
  detail::how_far(c, system, begun, y);
  detail::rates_of_algebraic_states<What>(system, t, y, rate, by, where);
  return c;
}

}  // namespace saltus
