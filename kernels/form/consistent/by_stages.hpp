// A consistent point of equations of any order, stage by stage (form/equation_series.hpp): the smallest change of x_j^(k + d_j) that
// satisfies f_i^(k + c_i) = 0, with the results of earlier stages fixed. So positions are found first, then consistent velocities, then
// accelerations. Values that an event has left continuous stay where they are.
#pragma once

#include "form/consistent/consistency.hpp"
#include "form/consistent/continuation.hpp"
#include "form/consistent/start_sizes.hpp"
#include "form/equation_series.hpp"
#include "form/independence.hpp"
#include "linear/ldl.hpp"

namespace saltus {

template <class Functions, int set>
struct settling {
  using series = equation_series<Functions, set>;
  using layout = typename series::layout;
  static constexpr int unknowns = series::unknowns, values = series::values;
  template <class Real>
  using step_constants = typename Functions::template step_constants<Real>;

  /// The change of a stage's values; the residuals, the largest one relative to its terms, and the number of its equation.
  template <class Real>
  struct stage_change {
    vec<Real, unknowns> by;
    vec<Real, unknowns> terms;  ///< the size of an equation's terms
    Real lacking, worst, residual_of_worst, dependent;
  };
  template <class Real>
  SALTUS_FN_COLD static stage_change<Real> change_of(int k, matrix<Real, unknowns> j, const vec<Real, unknowns>& f,
                                                     const vec<Real, values>& y, const vec<Real, values>& sizes) {
    vec<Real, unknowns> width, b;
    stage_change<Real> r;
    r.lacking = r.residual_of_worst = Real(0.0);
    r.worst = Real(-1.0);
    for (int l = 0; l < unknowns; ++l)
      width[l] = k + series::d(l) >= 0 ? sizes[layout::first(l) + k + series::d(l)] : Real(0.0);
    for (int i = 0; i < unknowns; ++i) {
      Real largest = Real(0.0), terms = Real(0.0);
      if (k + series::c(i) >= 0)
        for (int l = 0; l < unknowns; ++l) {
          if (k + series::d(l) < 0) {
            j[i][l] = Real(0.0);  // not a value of this stage
            continue;
          }
          const Real size = abs(y[layout::first(l) + k + series::d(l)]);
          terms = max(terms, abs(j[i][l]) * max(size, width[l]));
          j[i][l] = j[i][l] * width[l];
          largest = max(largest, abs(j[i][l]));
        }
      const Real scale = select(largest > Real(0.0), Real(1.0) / largest, Real(1.0));
      for (int l = 0; l < unknowns; ++l) j[i][l] = j[i][l] * scale;
      b[i] = -(f[i] * scale);
      terms = max(terms, Real(limits<scalar_of<Real>>::smallest));
      r.terms[i] = terms;
      if (k + series::c(i) >= 0) {
        const Real size = abs(f[i]) / terms + not_finite(f[i]);
        const auto worse = !(size <= r.lacking);
        r.lacking = select(worse, size, r.lacking);
        r.worst = select(worse, Real(static_cast<double>(i)), r.worst);
        r.residual_of_worst = select(worse, abs(f[i]), r.residual_of_worst);
      }
    }
    const auto change =
        least_change<Real, unknowns>(j, b, [&](int i) SALTUS_INLINE_LAMBDA { return k + series::c(i) >= 0; });
    for (int l = 0; l < unknowns; ++l) r.by[l] = width[l] * change.x[l];
    r.dependent = change.dependent;
    return r;
  }

  /// A point that the solution may have passed, as far back as the values for which `counts` holds are large.
  template <class Real, class Counts>
  SALTUS_FN_COLD static vec<Real, values> earlier_point(Real t, const vec<Real, values>& y,
                                                        const step_constants<Real>& fixed, Counts&& counts) {
    auto before = y;
    const auto f = series::rates(t, y, fixed);
    Real speed = Real(0.0);
    for (int i = 0; i < values; ++i)
      if (counts(i)) speed = max(speed, abs(f[i]) / (abs(y[i]) + Real(1.0))) + not_finite(f[i]);
    const Real back = select((speed > Real(0.0)) & (speed == speed), Real(-1.0) / speed, Real(0.0));
    for (int i = 0; i < values; ++i)
      if (counts(i)) before[i] = select(f[i] == f[i], fma(back, f[i], y[i]), y[i]);
    return before;
  }

  /// How far each equation, differentiated c_i times, is from depending on others; the smallest of these and its equation. Each row of J is
  /// measured relative to its size at an earlier point of the solution, as far back as values are large: the row may have been larger
  /// there.
  template <class Real>
  SALTUS_FN_COLD static detail::independence<Real> independence_at(Real t, const vec<Real, values>& y,
                                                                   const step_constants<Real>& fixed) {
    auto j = series::jacobian(t, y, fixed);
    const auto was = series::jacobian(t, earlier_point(t, y, fixed, [](int) { return true; }), fixed);
    vec<Real, unknowns> nothing,
        width;  // scales that give columns equal norms: highest derivatives grow near a singularity
    for (int l = 0; l < unknowns; ++l) {
      Real largest = Real(0.0);
      for (int i = 0; i < unknowns; ++i) largest = max(largest, max(abs(j[i][l]), abs(was[i][l])));
      width[l] = select(largest > Real(0.0), Real(1.0) / largest, Real(1.0));
    }
    for (int i = 0; i < unknowns; ++i) {
      nothing[i] = Real(0.0);
      Real largest = Real(0.0);
      for (int l = 0; l < unknowns; ++l) {
        j[i][l] = j[i][l] * width[l];
        largest = max(largest, max(abs(j[i][l]), abs(was[i][l]) * width[l]));
      }
      const Real scale = select(largest > Real(0.0), Real(1.0) / largest, Real(1.0));
      for (int l = 0; l < unknowns; ++l) j[i][l] = j[i][l] * scale;
    }
    const auto all = least_change<Real, unknowns>(j, nothing, [](int) SALTUS_INLINE_LAMBDA { return true; });
    return {all.least, all.of};
  }

  /// The equations that are differentiated, and so constrain values: those with c_i > 0, the largest c_i first.
  static constexpr int gradients = [] {
    int sum = 0;
    for (int i = 0; i < unknowns; ++i) sum += series::c(i) > 0 ? 1 : 0;
    return sum;
  }();
  SALTUS_FN static constexpr int gradient(int k) {
    for (int c = series::most_c; c > 0; --c)
      for (int i = 0; i < unknowns; ++i)
        if (series::c(i) == c && k-- == 0) return i;
    return 0;
  }
  /// True for values on which the gradients may depend.
  SALTUS_FN static constexpr bool occurs_in_gradients(int value) {
    for (int e = 0; e < series::entries; ++e) {
      const auto at = series::entry(e);
      const int l = value - layout::first(at.column);
      if (series::c(at.row) > 0 && 0 <= l && l <= series::d(at.column) - series::c(at.row)) return true;
    }
    return false;
  }
  template <class Real>
  using gradient_rows = vec<vec<Real, unknowns>, gradients>;
  /// Their rows of J at the end of a step (`here`) and at its beginning, with the columns scaled alike.
  template <class Real>
  struct gradients_of_two {
    gradient_rows<Real> here, there;
    SALTUS_FN_COLD gradients_of_two(const step_ends<Real, values>& of, const step_constants<Real>& fixed) {
      const auto j = series::jacobian(of.t1, of.y1, fixed), was = series::jacobian(of.t0, of.y0, fixed);
      for (int l = 0; l < unknowns; ++l) {
        Real largest = Real(0.0);
        for (int k = 0; k < gradients; ++k)
          largest = max(largest, max(abs(j[gradient(k)][l]), abs(was[gradient(k)][l])));
        const Real width = select(largest > Real(0.0), Real(1.0) / largest, Real(1.0));
        for (int k = 0; k < gradients; ++k) {
          here[k][l] = j[gradient(k)][l] * width;
          there[k][l] = was[gradient(k)][l] * width;
        }
      }
    }
  };
  template <class Real>
  SALTUS_FN static Real product(const vec<Real, unknowns>& a, const vec<Real, unknowns>& b) {
    Real sum = Real(0.0);
    for (int l = 0; l < unknowns; ++l) sum = fma(a[l], b[l], sum);
    return sum;
  }
  /// The lanes in which two points are not known to lie on one branch: form/branches.hpp, with the rows of J as gradients. Where gradients
  /// are as dependent as the tolerance blurs them, a solution may go on along any branch.
  template <class Real>
  SALTUS_FN_COLD static mask_of<Real> on_other_branches(const step_ends<Real, values>& ends,
                                                        const step_constants<Real>& fixed, Real rtol) {
    constexpr double some = 16.0;
    const Real blurred = Real(some * some) * (rtol * rtol);
    const gradients_of_two<Real> of(ends, fixed);
    matrix<Real, gradients> a;
    for (int k = 0; k < gradients; ++k)
      for (int l = 0; l < gradients; ++l) a[k][l] = product(of.here[k], of.there[l]);
    const ldu<Real, gradients> f(a);
    auto r = mask_of<Real>::all(false);
    for (int k = 0; k < gradients; ++k) r = r | !(f.d[k] > blurred);
    return r;
  }
  /// The least independence of a gradient from those before it, squared, relative to its length here or at an earlier point, if larger there.
  template <class Real>
  SALTUS_FN_COLD static detail::independence<Real> independence_of_constraints(Real t, const vec<Real, values>& y,
                                                                               const step_constants<Real>& fixed) {
    const gradients_of_two<Real> of({t, earlier_point(t, y, fixed, occurs_in_gradients), t, y}, fixed);
    matrix<Real, gradients> a;
    for (int k = 0; k < gradients; ++k)
      for (int l = 0; l <= k; ++l) a[k][l] = product(of.here[k], of.here[l]);
    const ldl<Real, gradients> f(a);
    detail::independence<Real> r;
    for (int k = 0; k < gradients; ++k) {
      const Real whole = max(a[k][k], product(of.there[k], of.there[k]));
      const Real part = select(whole > Real(0.0), f.d[k] / whole, Real(0.0));
      const auto less = part < r.least;  // after a pivot of zero the others are NaN
      r.of = select(less, Real(static_cast<double>(gradient(k))), r.of);
      r.least = select(less, part, r.least);
    }
    return r;
  }

  /// The size of a change of the values of stage k, relative to the size of each.
  template <class System, class Real>
  SALTUS_FN static Real size_of(const System& system, int k, const vec<Real, values>& y,
                                const vec<Real, unknowns>& by) {
    Real size = Real(0.0);
    for (int l = 0; l < unknowns; ++l) {
      if (k + series::d(l) < 0) continue;
      const int i = layout::first(l) + k + series::d(l);
      size = max(size, abs(by[l]) / (abs(y[i]) + system.floor(i))) + not_finite(by[l]);
    }
    return size;
  }
  template <class Real>
  SALTUS_FN static void move(int k, vec<Real, values>& y, const vec<Real, unknowns>& by, Real share,
                             mask_of<Real> where) {
    for (int l = 0; l < unknowns; ++l) {
      if (k + series::d(l) < 0) continue;
      const int i = layout::first(l) + k + series::d(l);
      y[i] = select(where, fma(share, by[l], y[i]), y[i]);
    }
  }

  /// The lanes in which value i, a derivative of an unknown, may occur in equation `of` or in its derivatives.
  template <class Real>
  SALTUS_FN static mask_of<Real> concerns(Real of, int i) {
    auto r = mask_of<Real>::all(false);
    for (int e = 0; e < series::entries; ++e)
      if (const int j = series::entry(e).column; layout::first(j) <= i && i <= layout::first(j) + layout::highest(j))
        r = r | (of == Real(static_cast<double>(series::entry(e).row)));
    return r;
  }

  static constexpr double enough = 0x1p-4;  ///< a fraction of root_epsilon: the change that remains is about the square
                                            ///< of the last one
  static constexpr double rounding_of_steps = 8.0;  ///< times epsilon: what a change from the end of a step may be

  /// Moves all stages once, with one J, in the lanes of `where`. Values that have moved once and satisfy their equations to rounding stay:
  /// the highest derivatives may be far more sensitive.
  template <class Real>
  struct whole_move {
    Real size;
    mask_of<Real> regular;
  };
  template <class System, class Real>
  SALTUS_FN static whole_move<Real> move_stages(const value_search<System, Real, values>& search, vec<Real, values>& y,
                                                const matrix<Real, unknowns>& j, bool first) {
    const auto& [system, t, sizes, where] = search;
    whole_move<Real> r{Real(0.0), mask_of<Real>::all(true)};
    for (int k = -series::most_c; k <= 0; ++k) {
      const auto f = series::residual_of_stage(k, t, y, system.c);
      auto change = change_of(k, j, f, y, sizes);
      const auto is_off = first ? mask_of<Real>::all(true)
                                : !(change.lacking <= Real(rounding_of_steps * limits<scalar_of<Real>>::epsilon));
      for (int l = 0; l < unknowns; ++l) change.by[l] = select(is_off, change.by[l], Real(0.0));
      r.size = max(r.size, size_of(system, k, y, change.by));
      move(k, y, change.by, Real(1.0), where);
      r.regular = r.regular & (change.dependent < Real(0.0));
    }
    return r;
  }

  /// The lanes in which the iteration has converged at y, after a move of the size `last` with the matrix j, as in `detail::has_converged`.
  template <class System, class Real>
  SALTUS_FN_COLD static mask_of<Real> has_converged(const value_search<System, Real, values>& search,
                                                    const vec<Real, values>& y, const matrix<Real, unknowns>& j,
                                                    Real last, Real orientation) {
    constexpr double rounding = rounding_of_steps * limits<scalar_of<Real>>::epsilon, much_less = 0x1p-6,
                     several = 16.0;
    auto next = y;
    const auto size = move_stages(search, next, j, false).size;
    const auto good = (size <= Real(rounding)) | (size < Real(much_less) * last);
    if (all(good | !search.where)) return good;
    auto turns = mask_of<Real>::all(false);
    for (int side = -1; side <= 1; side += 2) {
      auto there = y;
      for (int i = 0; i < values; ++i) there[i] = fma(Real(side * several), next[i] - y[i], y[i]);
      turns =
          turns | !(lu<Real, unknowns>(series::jacobian(search.t, there, search.system.c)).orientation() * orientation >
                    Real(0.0));
    }
    return good | !turns;
  }

  /// Starts from the end of a step, near the solution: one J serves all stages.
  template <class System, class Real>
  SALTUS_FN_COLD static consistency<Real> near(const System& system, Real t, vec<Real, values>& y,
                                               mask_of<Real> where) {
    constexpr int most = 6;
    constexpr double rounding = rounding_of_steps * limits<scalar_of<Real>>::epsilon, much_less = 0x1p-6;
    constexpr double small = enough * root_epsilon<scalar_of<Real>>;
    const auto begun = y;
    const auto sizes = detail::sizes_of(system, y);
    const value_search search{system, t, sizes, where};
    auto open = where, found = mask_of<Real>::all(false);
    Real orientation = Real(0.0), last = Real(0.0);
    for (int turn = 0; turn < most && any(open); ++turn) {
      const auto j = series::jacobian(t, y, system.c);
      orientation = select(open, lu<Real, unknowns>(j).orientation(), orientation);
      const auto [size, regular] = move_stages(search.in(open), y, j, turn == 0);
      open = open & regular & (size < Real(limits<scalar_of<Real>>::largest));
      const auto done = open & (size <= Real(small));
      // A change that shrinks fast shows a root; others may come ever closer to a point where J is singular, which the step has then reached.
      const auto unproven = done & (size > Real(rounding)) & !(size < Real(much_less) * last);
      if (any(unproven)) {
        const auto converged = has_converged(search.in(unproven), y, j, size, orientation);
        orientation = select(unproven & !converged, -orientation, orientation);
      }
      last = size;
      found = found | done;
      open = open & !done;
    }
    if constexpr (series::more_stages > 0) series::complete(t, y, system.c, found);
    for (int i = 0; i < values; ++i) y[i] = select(found, y[i], begun[i]);
    auto r = result(system, t, begun, y, found);
    r.orientation = orientation;
    return r;
  }

  /// Starts from a guess, by damped Newton iteration in each stage; if `persistent`, also by continuation. If a stage fails, it names its
  /// worst equation.
  template <class System, class Real>
  SALTUS_FN_COLD static consistency<Real> from_guess(const value_search<System, Real, values>& search,
                                                     vec<Real, values>& y, bool persistent) {
    const System& system = search.system;
    const Real t = search.t;
    const auto begun = y;
    auto found = search.where;
    Real residual = Real(0.0), of = Real(-1.0);
    for (int k = -series::most_c; k <= 0; ++k) {
      const auto guess = y;
      auto solved = solve_stage(search.in(found), k, y);
      if (persistent && any(found & !solved.found) && continue_stage(search, k, guess, y))
        solved.found = mask_of<Real>::all(true);
      const auto lost = found & !solved.found;
      residual = select(lost, solved.residual, residual);
      of = select(lost, solved.of, of);
      found = found & solved.found;
    }
    if constexpr (series::more_stages > 0) series::complete(t, y, system.c, found);
    auto r = result(system, t, begun, y, found);
    r.orientation = lu<Real, unknowns>(series::jacobian(t, y, system.c)).orientation();
    r.residual = select(search.where & !found, residual, r.residual);
    r.of = select(search.where & !found, of, r.of);
    return r;
  }

  /// The largest residual of the equations as written, and its equation.
  template <class Real>
  SALTUS_FN_COLD static consistency<Real> residual_at(Real t, const vec<Real, values>& y,
                                                      const step_constants<Real>& fixed) {
    consistency<Real> r{mask_of<Real>::all(true), Real(0.0), Real(-1.0), Real(0.0)};
    typename series::template run<Real, series::highest + 1> equations(t, y);
    for (int j = 0; j < unknowns; ++j)
      for (int l = 0; l <= layout::highest(j); ++l)
        equations.x[j].c[l] = y[layout::first(j) + l] * Real(1.0 / detail::rising(0, l));
    const auto f = equations.at_order(0, fixed);
    for (int i = 0; i < unknowns; ++i) {
      const Real size = abs(f[i]) + not_finite(f[i]);
      const auto worse = !(size <= r.residual);
      r.residual = select(worse, size, r.residual);
      r.of = select(worse, Real(static_cast<double>(i)), r.of);
    }
    return r;
  }

 private:
  template <class System, class Real>
  SALTUS_FN static consistency<Real> result(const System& system, Real t, const vec<Real, values>& begun,
                                            const vec<Real, values>& y, mask_of<Real> found) {
    auto r = residual_at(t, y, system.c);
    r.found = found;
    detail::how_far(r, system, begun, y);
    return r;
  }

  /// One stage from a guess; `found` are the lanes in which it was solved.
  template <class System, class Real>
  SALTUS_FN_COLD static consistency<Real> solve_stage(const value_search<System, Real, values>& search, int k,
                                                      vec<Real, values>& y) {
    const auto& [system, t, sizes, where] = search;
    constexpr int most = 60;
    constexpr double rounding = 64.0 * limits<scalar_of<Real>>::epsilon;
    constexpr double small = enough * root_epsilon<scalar_of<Real>>, least_share = 0x1p-20;
    auto open = where, found = mask_of<Real>::all(false);
    auto best = y;
    vec<Real, unknowns> by;
    for (int l = 0; l < unknowns; ++l) by[l] = Real(0.0);
    consistency<Real> r{found, Real(0.0), Real(-1.0), Real(0.0)};
    // Residuals are compared relative to the terms at the first point: the terms at later points may grow with the residual.
    vec<Real, unknowns> first;
    Real share = Real(1.0), lacking = Real(limits<scalar_of<Real>>::largest);
    auto begins = open;
    for (int turn = 0; turn < most && any(open); ++turn) {
      const auto f = series::residual_of_stage(k, t, y, system.c);
      const auto change = change_of(k, series::jacobian(t, y, system.c), f, y, sizes);
      // If the residual is smaller than before, go on from here. Otherwise try a shorter part of the last change.
      const Real size = size_of(system, k, y, change.by);
      for (int i = 0; i < unknowns; ++i) first[i] = select(begins, change.terms[i], turn == 0 ? Real(1.0) : first[i]);
      const Real lacks = lacking_over(k, f, first);
      const auto less =
          begins | (lacks <= lacking * (Real(1.0) - Real(0.25) * share)) | (change.lacking <= Real(rounding));
      const auto better = open & (less | (size <= Real(small)));
      for (int i = 0; i < values; ++i) best[i] = select(better, y[i], best[i]);
      for (int l = 0; l < unknowns; ++l) by[l] = select(better, change.by[l], by[l]);
      lacking = select(better, lacks, lacking);
      r.residual = select(better, change.residual_of_worst, r.residual);
      r.of = select(better, change.worst, r.of);
      share = select(better, turn == 0 ? Real(1.0) : min(share + share, Real(1.0)), Real(0.25) * share);
      y = best;
      const auto met = better & (share == Real(1.0)) & is_met(k, change, small);
      // A point that satisfies the equations already stays: a guard may be zero there, and a move by rounding would put it on an arbitrary
      // side.
      const auto there = open & met & (size <= Real(turn == 0 ? rounding : 0.0));
      found = found | there;
      open = open & !there;
      move(k, y, by, share, open);
      const auto done = open & met & (size <= Real(small));
      found = found | done;
      for (int i = 0; i < values; ++i) best[i] = select(done, y[i], best[i]);  // it stays while other lanes go on
      open = open & !done & (share >= Real(least_share)) & (better | mask_of<Real>::all(turn > 0));
      begins = open & (change.dependent >= Real(0.0)) & (change.lacking > Real(small)) & mask_of<Real>::all(turn == 0);
      nudge(k, y, sizes, begins);
    }
    for (int i = 0; i < values; ++i) y[i] = select(found | !where, y[i], best[i]);
    r.found = found;
    return r;
  }
  /// Tries continuation on a stage that damped iteration has not solved, for a single instance. Returns true if it is solved.
  template <class System, class Real>
  SALTUS_FN_COLD static bool continue_stage(const value_search<System, Real, values>& search, int k,
                                            vec<Real, values> guess, vec<Real, values>& y) {
#if !defined(__CUDACC__) && !defined(__CUDACC_RTC__)
    if constexpr (real_traits<Real>::lanes == 1) {
      const auto all = mask_of<Real>::all(true);
      const auto is_solution = [&](vec<Real, values>& at) { return any(solve_stage(search.in(all), k, at).found); };
      const auto lacking = y;
      for (int begun = 0; begun < 2; ++begun) {
        if (begun == 1) nudge(k, guess, search.sizes, all);  // off a point at which the equations depend on each other
        const continuation<series, Real> newton(k, search.t, guess, search.sizes, search.system.c, homotopy::newton);
        const continuation<series, Real> linear(k, search.t, guess, search.sizes, search.system.c, homotopy::linear);
        if (newton.follow(1.0, y, is_solution) || newton.follow(-1.0, y, is_solution) ||
            linear.follow(1.0, y, is_solution))
          return true;
      }
      y = lacking;
    }
#endif
    return false;
  }
  template <class Real>
  SALTUS_FN static Real lacking_over(int k, const vec<Real, unknowns>& f, const vec<Real, unknowns>& terms) {
    Real r = Real(0.0);
    for (int i = 0; i < unknowns; ++i)
      if (k + series::c(i) >= 0) r = max(r, abs(f[i]) / terms[i]) + not_finite(f[i]);
    return r;
  }
  /// Moves off a point at which the movable values have no effect on an equation, such as a root at zero.
  template <class Real>
  SALTUS_FN static void nudge(int k, vec<Real, values>& y, const vec<Real, values>& sizes, mask_of<Real> where) {
    constexpr double part = 0x1p-6;
    for (int l = 0; l < unknowns; ++l) {
      if (k + series::d(l) < 0) continue;
      const int i = layout::first(l) + k + series::d(l);
      y[i] = select(where, fma(Real(part), min(sizes[i], abs(y[i]) + Real(1.0)), y[i]), y[i]);
    }
  }
  /// True if no equation remains unsatisfied because it depends on others or on fixed values alone. In the last stage, which determines all
  /// values, no equation may depend on others.
  template <class Real>
  SALTUS_FN static mask_of<Real> is_met(int k, const stage_change<Real>& change, double small) {
    const auto regular = change.dependent < Real(0.0);
    return k < 0 ? regular | (change.lacking <= Real(small)) : regular;
  }
};

}  // namespace saltus
