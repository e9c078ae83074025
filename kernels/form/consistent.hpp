// Consistent states of a system with constraints (DAE): at the start, after every event, and at the end of every step.
//
// Index 1: Newton for the algebraic states and the rates of the differential ones, with the differential states held
// (Brown, Hindmarsh, Petzold, SIAM J. Sci. Comput. 19 (1998) 1495); or, on request, first the nearest point that meets the
// constraints, all states free.
// Index 2 (0 = g(t, y), dy = f(t, y, z)): y is projected onto the constraints along df/dz, and z follows from their rate,
// 0 = dg/dt + dg/dy f(t, y, z).
// A singular mass matrix in whose rows rates are mixed: steps of implicit Euler over an instant; their slope is the rate.
//
// Systems are those of linear/jacobian.hpp.
#pragma once

#include "linear/jacobian.hpp"

namespace saltus {

/// What became of a search for a consistent state.
template <class Real>
struct consistency {
  mask_of<Real> found;
  Real residual;  ///< the largest |residual| of a constraint
  Real of;        ///< the number of its equation; -1: there is none
  Real moved;     ///< how far the states had to go, in units of what counts, squared
};

/// How a consistent state is looked for: from a guess, damped and with many tries; or from what a step has left, which is
/// near already.
enum class search_for { start, step };

/// The root of the rounding of T: an increment so small leaves one within rounding.
template <class T>
inline constexpr double root_epsilon = sizeof(T) == 8 ? 0x1p-26 : 0x1p-11;

namespace detail {

/// What is solved for, and the equations that it is solved from: for a semi-explicit system the algebraic states and the
/// constraints; for others as many unknowns as there are states, some of which are rates.
template <class System, int n>
struct algebraic_part {
  static constexpr bool reduced = System::kind == equations::semi_explicit;
  static constexpr int count = [] {
    int sum = 0;
    for (int i = 0; i < n; ++i) sum += System::index(i) > 0 ? 1 : 0;
    return reduced ? sum : n;
  }();
  struct table {
    int of[count > 0 ? count : 1];
  };
  static constexpr table states = [] {
    table r{};
    int k = 0;
    for (int i = 0; i < n; ++i)
      if (!reduced || System::index(i) > 0) r.of[k++] = i;
    return r;
  }();
  /// The state of unknown k, and the equation k.
  SALTUS_FN static constexpr int state(int k) { return states.of[k]; }
  SALTUS_FN static constexpr bool is_rate(int k) { return System::index(states.of[k]) == 0; }

  template <class Value>
  SALTUS_FN static vec<Value, count> equations_at(const System& system, Value t, const vec<Value, n>& y,
                                                  const vec<Value, n>& rate) {
    vec<Value, count> r;
    if constexpr (reduced) {
      const auto f = system.rhs(t, y);
      each<count>([&](int k) SALTUS_INLINE_LAMBDA { r[k] = f[state(k)]; });
    } else {
      r = system.residual(t, y, rate);
    }
    return r;
  }
};

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
SALTUS_FN vec<Real, m> units_of(const System& system, const vec<Real, n>& y, const vec<Real, n>& rate,
                                const vec<Real, m>& change) {
  using part = algebraic_part<System, n>;
  vec<Real, m> unit;
  each<m>([&](int k) SALTUS_INLINE_LAMBDA {
    const int i = part::state(k);
    const Real size = part::is_rate(k) ? abs(rate[i]) + abs(change[k]) + Real(limits<scalar_of<Real>>::smallest)
                                       : abs(y[i]) + system.floor(i);
    const bool counts = !part::is_rate(k) || System::highest_index == 0;
    unit[k] = counts ? Real(1.0) / size : Real(0.0);
  });
  return unit;
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
/// The units of unknowns that are but rounding of terms that cancel are those of the terms.
template <class Real, int m>
SALTUS_FN void widen(vec<Real, m>& unit, const vec<Real, m>& size, mask_of<Real> where) {
  each<m>([&](int k) SALTUS_INLINE_LAMBDA {
    unit[k] = select(where & (size[k] * unit[k] > Real(1.0)), Real(1.0) / size[k], unit[k]);
  });
}
template <class Real, int m>
SALTUS_FN Real largest_in(const vec<Real, m>& change, const vec<Real, m>& unit) {
  Real r = Real(0.0);
  each<m>([&](int k) SALTUS_INLINE_LAMBDA { r = max(r, abs(change[k]) * unit[k]) + not_finite(change[k]); });
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

/// How far y is from where it was.
template <class System, class Real, int n>
SALTUS_FN void how_far(consistency<Real>& c, const System& system, const vec<Real, n>& from, const vec<Real, n>& y) {
  const auto weight = system.weight(from);
  each<n>([&](int i) SALTUS_INLINE_LAMBDA {
    const Real way = (y[i] - from[i]) * weight[i];
    c.moved = max(c.moved, way * way) + not_finite(way);
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
/// damped until they shrink, measured with the same matrix and in the same units (natural monotonicity; Deuflhard).
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
  for (int turn = 0; turn < most && any(open); ++turn) {
    const auto e = detail::algebraic_equations_at(system, t, y, rate);
    const lu<Real, m> solver(e.by);
    for (int k = 0; k < m; ++k)
      for (int j = 0; j < m; ++j) by[k][j] = select(open, e.by[k][j], by[k][j]);
    const auto change = solver.solve(e.r);
    auto unit = detail::units_of(system, y, rate, change);
    Real size = detail::largest_in(change, unit);
    // What does not shrink may be rounding, and is measured as such: of two increments in full, and at the start below.
    const auto as_rounding = [&](mask_of<Real> stuck) SALTUS_INLINE_LAMBDA {
      detail::widen(unit, detail::sizes_uncancelled(system, t, y, rate, e.r, solver), stuck);
      size = detail::largest_in(change, unit);
    };
    const auto stuck = open & (size > Real(enough)) & (size >= Real(0.5) * last) & (damping >= Real(1.0));
    if (turn > 0 && any(stuck)) as_rounding(stuck);
    auto y1 = y, rate1 = rate;
    Real part_of_change = damping;
    auto good = mask_of<Real>::all(true);
    detail::move_unknowns<System>(y1, rate1, change, damped ? part_of_change : Real(1.0));
    if constexpr (damped) {
      // Lanes whose increment would not shrink try a quarter of it.
      for (int tries = 0; tries < 20; ++tries) {
        const auto next = solver.solve(part::equations_at(system, t, y1, rate1));
        const auto shrinks = [&]() SALTUS_INLINE_LAMBDA {
          return (detail::largest_in(next, unit) < size) | (size <= Real(root_epsilon<T>));
        };
        good = shrinks();
        if (all(good | !open)) break;
        if (tries == 0) {
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

namespace detail {

/// The largest |residual| of a constraint of index 2.
template <class Real, int m>
SALTUS_FN void largest_of(consistency<Real>& c, const vec<Real, m>& g, int (*state)(int)) {
  c.residual = Real(0.0);
  c.of = Real(-1.0);
  each<m>([&](int k) SALTUS_INLINE_LAMBDA {
    const auto worse = !(abs(g[k]) <= c.residual);
    c.residual = select(worse, abs(g[k]), c.residual);
    c.of = select(worse, Real(static_cast<double>(state(k))), c.of);
  });
}

/// y + sum over k of direction k, as duals with those derivatives; time likewise along `dt`.
template <int width, class Real, int n>
SALTUS_FN vec<dual<Real, width>, n> along_all(const vec<Real, n>& y, const vec<Real, n> (&direction)[width]) {
  vec<dual<Real, width>, n> r;
  each<n>([&](int i) SALTUS_INLINE_LAMBDA {
    r[i] = dual<Real, width>(y[i]);
    for (int k = 0; k < width; ++k) r[i].d[k] = direction[k][i];
  });
  return r;
}

/// df/dz, a direction for every algebraic state z; and f itself.
template <int m, class System, class Real, int n>
SALTUS_FN vec<Real, n> by_algebraic(const System& system, Real t, const vec<Real, n>& y, vec<Real, n>* direction) {
  using part = algebraic_part<System, n>;
  using Value = dual<Real, m>;
  vec<Value, n> at;
  each<n>([&](int i) SALTUS_INLINE_LAMBDA { at[i] = Value(y[i]); });
  each<m>([&](int k) SALTUS_INLINE_LAMBDA { at[part::state(k)].d[k] = Real(1.0); });
  const auto f = system.rhs(Value(t), at);
  vec<Real, n> value;
  each<n>([&](int i) SALTUS_INLINE_LAMBDA {
    const bool differential = System::index(i) == 0;
    value[i] = differential ? f[i].value : Real(0.0);
    for (int k = 0; k < m; ++k) direction[k][i] = differential ? f[i].d[k] : Real(0.0);
  });
  return value;
}

}  // namespace detail

/// Index 2. Moves all states of y in the lanes of `where`: onto the constraints, and the algebraic ones to where the
/// constraints stay met. `rate` becomes f; that of an algebraic state is left at zero.
template <search_for What, class System, class Real, int n>
SALTUS_FN_APART consistency<Real> make_consistent_2(const System& system, Real t, vec<Real, n>& y, vec<Real, n>& rate,
                                                    mask_of<Real> where) {
  using part = detail::algebraic_part<System, n>;
  constexpr int m = part::count;
  constexpr int most = What == search_for::start ? 40 : 6;
  using T = scalar_of<Real>;
  constexpr double enough = What == search_for::start ? 64.0 * limits<T>::epsilon : root_epsilon<T>;
  const auto begun = y;
  consistency<Real> c{mask_of<Real>::all(false), Real(0.0), Real(-1.0), Real(0.0)};
  vec<Real, n> direction[m + 1];
  // onto the constraints, along df/dz
  detail::by_algebraic<m>(system, t, y, direction);
  mask_of<Real> open = where;
  for (int turn = 0; turn < most && any(open); ++turn) {
    vec<Real, n> only[m];
    for (int k = 0; k < m; ++k) only[k] = direction[k];
    const auto g = part::equations_at(system, dual<Real, m>(t), detail::along_all(y, only), {});
    vec<Real, m> r;
    matrix<Real, m> by;
    each<m>([&](int k) SALTUS_INLINE_LAMBDA {
      r[k] = g[k].value;
      for (int l = 0; l < m; ++l) by[k][l] = g[k].d[l];
    });
    const auto along = lu<Real, m>(by).solve(r);
    Real size = Real(0.0);
    each<n>([&](int i) SALTUS_INLINE_LAMBDA {
      Real step = Real(0.0);
      for (int k = 0; k < m; ++k) step = fma(along[k], direction[k][i], step);
      size = max(size, abs(step) / (abs(y[i]) + system.floor(i))) + not_finite(step);
      y[i] = select(open, y[i] - step, y[i]);
    });
    open = open & !(size <= Real(enough));
  }
  c.found = where & !open;
  // z from the rate of the constraints
  open = c.found;
  for (int turn = 0; turn < most && any(open); ++turn) {
    const auto f = detail::by_algebraic<m>(system, t, y, direction);
    direction[m] = f;
    dual<Real, m + 1> time(t);
    time.d[m] = Real(1.0);
    const auto g = part::equations_at(system, time, detail::along_all(y, direction), {});
    vec<Real, m> r;
    matrix<Real, m> by;
    each<m>([&](int k) SALTUS_INLINE_LAMBDA {
      r[k] = g[k].d[m];
      for (int l = 0; l < m; ++l) by[k][l] = g[k].d[l];
    });
    const auto change = lu<Real, m>(by).solve(r);
    Real size = Real(0.0);
    each<m>([&](int k) SALTUS_INLINE_LAMBDA {
      const int i = part::state(k);
      size = max(size, abs(change[k]) / (abs(y[i]) + system.floor(i))) + not_finite(change[k]);
      y[i] = select(open, y[i] - change[k], y[i]);
    });
    each<n>([&](int i) SALTUS_INLINE_LAMBDA { rate[i] = select(open, f[i], rate[i]); });
    open = open & !(size <= Real(enough));
  }
  c.found = c.found & !open;
  each<n>([&](int i) SALTUS_INLINE_LAMBDA { y[i] = select(c.found, y[i], begun[i]); });
  detail::largest_of<Real, m>(c, part::equations_at(system, t, y, rate), &part::state);
  detail::how_far(c, system, begun, y);
  return c;
}

/// Moves y to the nearest point, in units of the states' own sizes, that meets the constraints of a semi-explicit system: all
/// states free. Where y0 is and the constraints are linear about y, that is y0 - S C'(C S C')^-1 (g + C (y0 - y)).
template <class System, class Real, int n>
SALTUS_FN_COLD void move_to_nearest(const System& system, Real t, vec<Real, n>& y, mask_of<Real> where) {
  using part = detail::algebraic_part<System, n>;
  constexpr int m = part::count;
  constexpr int most = 200;  // it converges like the curvature times the distance
  const auto y0 = y;
  mask_of<Real> open = where;
  Real damping = Real(1.0), last = Real(limits<scalar_of<Real>>::largest);
  vec<Real, n> s;
  each<n>([&](int i) SALTUS_INLINE_LAMBDA {
    s[i] = abs(y0[i]) + system.floor(i);
    s[i] = s[i] * s[i];
  });
  for (int turn = 0; turn < most && any(open); ++turn) {
    const auto l = linearise(system, t, y);
    vec<Real, m> right;
    matrix<Real, m> by;
    each<m>([&](int k) SALTUS_INLINE_LAMBDA {
      right[k] = l.f[part::state(k)];
      for (int i = 0; i < n; ++i) right[k] = fma(l.dy[part::state(k)][i], y0[i] - y[i], right[k]);
      each<m>([&](int j) SALTUS_INLINE_LAMBDA {
        Real sum = Real(0.0);
        for (int i = 0; i < n; ++i) sum = fma(l.dy[part::state(k)][i] * s[i], l.dy[part::state(j)][i], sum);
        by[k][j] = sum;
      });
    });
    const auto along = lu<Real, m>(by).solve(right);
    Real size = Real(0.0);
    vec<Real, n> way;
    each<n>([&](int i) SALTUS_INLINE_LAMBDA {
      Real next = y0[i];
      for (int k = 0; k < m; ++k) next = fma(-along[k] * s[i], l.dy[part::state(k)][i], next);
      way[i] = next - y[i];
      size = max(size, abs(way[i]) / (abs(y[i]) + Real(1e-6) * system.floor(i))) + not_finite(next);
    });
    // Far from strongly curved constraints it would swing ever wider.
    damping = select(size < Real(0.9) * last, damping, max(Real(0.5) * damping, Real(1.0 / 256)));
    last = size;
    each<n>([&](int i) SALTUS_INLINE_LAMBDA { y[i] = select(open, fma(damping, way[i], y[i]), y[i]); });
    open = open & (size > Real(64.0 * limits<scalar_of<Real>>::epsilon)) & (size < Real(0x1p100));
  }
}

/// One step of implicit Euler over `instant`: increments of y, and whether they were found.
template <class System, class Real, int n>
SALTUS_FN_COLD mask_of<Real> euler_step(const System& system, Real t, const vec<Real, n>& y, Real instant,
                                        vec<Real, n>& z, mask_of<Real> where) {
  using T = scalar_of<Real>;
  const Real shift = Real(1.0) / instant, end = t + instant;
  mask_of<Real> open = where;
  Real last = Real(0.0);
  vec<Real, n> nowhere;
  each<n>([&](int i) SALTUS_INLINE_LAMBDA { z[i] = nowhere[i] = Real(0.0); });
  for (int turn = 0; turn < 30 && any(open); ++turn) {
    vec<Real, n> point, slope, terms;
    each<n>([&](int i) SALTUS_INLINE_LAMBDA {
      point[i] = y[i] + z[i];
      slope[i] = z[i] * shift;
      terms[i] = abs(slope[i]);
    });
    const linear_system<System, Real, n> lin(system, end, point, nowhere);
    const auto r = system.residual(end, point, slope);
    const auto change = lu<Real, n>(lin.shifted(shift)).solve(r);
    Real size = Real(0.0);
    each<n>([&](int i) SALTUS_INLINE_LAMBDA {
      size = max(size, abs(change[i]) / (abs(point[i]) + system.floor(i))) + not_finite(change[i]);
      z[i] = select(open, z[i] - change[i], z[i]);
    });
    auto done = size <= Real(4096.0 * limits<T>::epsilon);
    const auto stuck = open & !done & (size >= Real(0.5) * last);
    if (turn > 0 && any(stuck)) done = done | (stuck & is_rounding(r, lin.size_of_terms(r, point, slope, terms)));
    open = open & !done;
    last = size;
  }
  return where & !open;
}

/// A singular mass matrix in whose rows rates are mixed. Steps of implicit Euler, each over an instant in which nothing
/// happens: the first meets the constraints, and what follows shows how to go back to t. Rows that add up to a constraint
/// add up the rounding of a step's slopes too: as long as steps differ, another one takes away what the last has left of
/// it. One more, over a time in which states change by a part of themselves that rounding does not hide, shows the rates.
template <class System, class Real, int n>
SALTUS_FN_COLD consistency<Real> settle_mixed(const System& system, Real t, vec<Real, n>& y, vec<Real, n>& rate,
                                              Real span, mask_of<Real> where) {
  using T = scalar_of<Real>;
  constexpr double change = root_epsilon<T> * 0x1p12;
  const auto begun = y;
  const Real instant = max(Real(4096.0 * limits<T>::epsilon) * span, Real(256.0 * limits<T>::epsilon) * abs(t));
  consistency<Real> c{where, Real(0.0), Real(-1.0), Real(0.0)};
  vec<Real, n> z, next;
  each<n>([&](int i) SALTUS_INLINE_LAMBDA { z[i] = Real(0.0); });
  mask_of<Real> open = where;
  Real steps = Real(0.0);
  for (int turn = 0; turn < 6 && any(open); ++turn) {
    c.found = c.found & (euler_step(system, fma(steps, instant, t), y, instant, next, open) | !open);
    Real apart = Real(0.0);
    each<n>([&](int i) SALTUS_INLINE_LAMBDA {
      apart = max(apart, abs(next[i] - z[i]) / (abs(y[i]) + system.floor(i)));
      z[i] = select(open, next[i], z[i]);
      y[i] = select(open, y[i] + next[i], y[i]);
    });
    steps = select(open, steps + Real(1.0), steps);
    if (turn > 0) open = open & !(apart <= Real(16.0 * limits<T>::epsilon));
  }
  Real fastest = Real(0.0);  // relative change in an instant
  each<n>([&](int i) SALTUS_INLINE_LAMBDA {
    y[i] = select(where, fma(-steps, z[i], y[i]), y[i]);
    fastest = max(fastest, abs(z[i]) / (abs(y[i]) + system.floor(i)));
  });
  const Real longer = max(
      instant, min(instant * (Real(change) / max(fastest, Real(limits<T>::epsilon))), Real(root_epsilon<T>) * span));
  c.found = c.found & euler_step(system, t, y, longer, z, where);
  each<n>([&](int i) SALTUS_INLINE_LAMBDA { rate[i] = select(where, z[i] / longer, rate[i]); });
  detail::how_far(c, system, begun, y);
  return c;
}

}  // namespace saltus
