// A consistent point of equations of any order from their derivative array (form/derivative_array.hpp): the smallest change of the values
// that satisfies all of its constraints at once.
#pragma once

#include "form/consistent/start_sizes.hpp"
#include "form/derivative_array.hpp"
#include "form/independence.hpp"
#include "linear/least_change.hpp"

namespace saltus {

template <class Functions>
struct settling_by_array {
  using array = derivative_array<Functions>;
  using layout = typename array::layout;
  static constexpr int unknowns = array::unknowns, values = array::values, constraints = array::constraints;
  static_assert(constraints <= values,
                "more constraints than values: the array has not the rank that it was found to have");
  template <class Real>
  using step_constants = typename Functions::template step_constants<Real>;

  /// The sizes of values (detail::sizes_of), except that the highest derivatives, which the equations determine, move before all others.
  template <class Real>
  SALTUS_FN static vec<Real, values> with_followers(vec<Real, values> sizes) {
    constexpr double most = 0x1p25;  // above the scale of free values (detail::weigh_start)
    for (int j = 0; j < unknowns; ++j) {
      Real& size = sizes[layout::first(j) + layout::highest(j)];
      size = select(size > Real(0.0), max(size, Real(most)), size);
    }
    return sizes;
  }

  /// The change of the values; the residuals, the largest one relative to its terms, and the number of its equation (-1: a hidden
  /// constraint).
  template <class Real>
  struct change {
    vec<Real, values> by;
    vec<Real, constraints> constraint, terms;
    Real lacking, worst, residual_of_worst;
    mask_of<Real> regular;  ///< no constraint depends on others, or on fixed values alone
    mask_of<Real> found;    ///< w was found
    mask_of<Real> of_rank;  ///< the rank of the array is not higher than assumed
  };
  template <class System, class Real>
  SALTUS_FN_CALLED static change<Real> change_at(const System& system, Real t, const vec<Real, values>& y,
                                                 const vec<Real, values>& sizes, int count = constraints) {
    const auto at = count < constraints ? array::written(t, y, system.c) : array::solved(t, y, system.c);
    matrix<Real, values> d;
    vec<Real, values> b;
    change<Real> r;
    r.found = at.found;
    r.of_rank = at.rest <= Real(array::template negligible<Real>);
    r.constraint = at.constraint;
    r.lacking = r.residual_of_worst = Real(0.0);
    r.worst = Real(-1.0);
    for (int i = 0; i < constraints; ++i) {
      Real largest = Real(0.0), terms = Real(limits<scalar_of<Real>>::smallest);
      for (int j = 0; j < values; ++j) {
        terms = max(terms, abs(at.by[i][j]) * (abs(y[j]) + system.floor(j)));
        d[i][j] = at.by[i][j] * sizes[j];
        largest = max(largest, abs(d[i][j]));
      }
      const Real scale = select(largest > Real(0.0), Real(1.0) / largest, Real(1.0));
      for (int j = 0; j < values; ++j) d[i][j] = d[i][j] * scale;
      b[i] = -(at.constraint[i] * scale);
      r.terms[i] = terms;
      const Real lacks = abs(at.constraint[i]) / terms + not_finite(at.constraint[i]);
      const auto worse = !(lacks <= r.lacking);
      r.lacking = select(worse, lacks, r.lacking);
      r.worst = select(worse, Real(i < unknowns ? static_cast<double>(i) : -1.0), r.worst);
      r.residual_of_worst = select(worse, abs(at.constraint[i]), r.residual_of_worst);
    }
    const auto least = least_change<Real, values>(d, b, [count](int i) SALTUS_INLINE_LAMBDA { return i < count; });
    for (int j = 0; j < values; ++j) r.by[j] = sizes[j] * least.x[j];
    r.regular = least.dependent < Real(0.0);
    return r;
  }

  /// Starts from the end of a step, near the solution.
  template <class System, class Real>
  SALTUS_FN_COLD static consistency<Real> near(const System& system, Real t, vec<Real, values>& y,
                                               mask_of<Real> where) {
    constexpr int most = 6;
    constexpr double rounding = 64.0 * limits<scalar_of<Real>>::epsilon, much_less = 0x1p-6;
    constexpr double small = enough * root_epsilon<scalar_of<Real>>;
    const auto begun = y;
    const auto sizes = with_followers(detail::sizes_of(system, y));
    auto open = where, found = mask_of<Real>::all(false);
    Real last = Real(limits<scalar_of<Real>>::largest);
    SALTUS_ROLLED for (int turn = 0; turn < most && any(open); ++turn) {
      const auto to = change_at(system, t, y, sizes);
      const Real size = size_of(system, y, to.by);
      open = open & to.found & to.regular & (size < Real(limits<scalar_of<Real>>::largest));
      move(y, to.by, Real(1.0), open);
      // A change that shrinks fast shows a root; others may come ever closer to a point where constraints depend on each other.
      const auto proven = (size <= Real(rounding)) | (size <= Real(much_less) * last) | (last <= Real(small));
      const auto done = open & (size <= Real(small)) & proven;
      last = size;
      found = found | (done & to.of_rank);
      open = open & !done;
    }
    for (int i = 0; i < values; ++i) y[i] = select(found, y[i], begun[i]);
    return result(system, t, begun, y, found);
  }

  /// Starts from a guess: satisfies the equations as written first, then the hidden constraints as well.
  template <class System, class Real>
  SALTUS_FN_COLD static consistency<Real> from_guess(const value_search<System, Real, values>& search,
                                                     vec<Real, values>& y) {
    const auto& [system, t, sizes, where] = search;
    const auto begun = y;
    auto r = met_from_guess(search, y, unknowns);
    if (constraints > unknowns && any(r.found)) {
      const auto all = met_from_guess(value_search{system, t, with_followers(sizes), r.found}, y, constraints);
      r.residual = select(r.found, all.residual, r.residual);
      r.of = select(r.found, all.of, r.of);
      r.found = all.found;
    }
    const auto found = result(system, t, begun, y, r.found);
    r.residual = select(r.found, found.residual, r.residual);
    r.of = select(r.found, found.of, r.of);
    r.moved = found.moved;
    return r;
  }

  /// The largest residual of the equations as written, and its equation.
  template <class Real>
  SALTUS_FN_COLD static consistency<Real> residual_at(Real t, const vec<Real, values>& y,
                                                      const step_constants<Real>& fixed) {
    consistency<Real> r{mask_of<Real>::all(true), Real(0.0), Real(-1.0), Real(0.0)};
    const auto f = array::equations_at(t, y, fixed);
    for (int i = 0; i < unknowns; ++i) {
      const Real size = abs(f[i]) + not_finite(f[i]);
      const auto worse = !(size <= r.residual);
      r.residual = select(worse, size, r.residual);
      r.of = select(worse, Real(static_cast<double>(i)), r.of);
    }
    return r;
  }

 private:
  static constexpr double enough = 0x1p-4;  ///< a fraction of root_epsilon: the change that remains is about the square
                                            ///< of the last one

  /// Satisfies the first `count` constraints, by damped iteration. If it fails, it names the worst equation.
  template <class System, class Real>
  SALTUS_FN_CALLED static consistency<Real> met_from_guess(const value_search<System, Real, values>& search,
                                                           vec<Real, values>& y, int count) {
    const auto& [system, t, sizes, where] = search;
    constexpr int most = 100;
    constexpr double rounding = 64.0 * limits<scalar_of<Real>>::epsilon;
    constexpr double small = enough * root_epsilon<scalar_of<Real>>, least_share = 0x1p-20;
    auto open = where, found = mask_of<Real>::all(false);
    auto best = y, by = y;
    Real residual = Real(0.0), of = Real(-1.0);
    Real share = Real(1.0), lacking = Real(limits<scalar_of<Real>>::largest);
    vec<Real, unknowns + 1> first;  // sizes of the terms at the first point; residuals are compared relative to these
    auto begins = open;
    SALTUS_ROLLED for (int turn = 0; turn < most && any(open); ++turn) {
      const auto to = change_at(system, t, y, sizes, count);
      const auto sizes_now = lengths(to.constraint), terms_now = lengths(to.terms);
      Real lacks = Real(0.0);
      for (int i = 0; i <= unknowns; ++i) {
        first[i] = select(begins, max(terms_now[i], Real(limits<scalar_of<Real>>::smallest)),
                          turn == 0 ? Real(1.0) : first[i]);
        lacks = max(lacks, sizes_now[i] / first[i]) + not_finite(sizes_now[i]);
      }
      const Real size = size_of(system, y, to.by);
      // If the residual is smaller than before, go on from here. Otherwise try a shorter part of the last change.
      const auto less = begins | (lacks <= lacking * (Real(1.0) - Real(0.25) * share)) | (to.lacking <= Real(rounding));
      const auto better = open & to.found & (less | (size <= Real(small)));
      for (int i = 0; i < values; ++i) {
        best[i] = select(better, y[i], best[i]);
        by[i] = select(better, to.by[i], by[i]);
      }
      lacking = select(better, lacks, lacking);
      residual = select(better | mask_of<Real>::all(turn == 0), to.residual_of_worst, residual);
      of = select(better | mask_of<Real>::all(turn == 0), to.worst, of);
      share = select(better, turn == 0 ? Real(1.0) : min(share + share, Real(1.0)), Real(0.25) * share);
      y = best;
      const auto met = better & (share == Real(1.0)) & (to.regular | (to.lacking <= Real(small))) & to.of_rank;
      // A point that satisfies the equations already stays: a guard may be zero there, and a move by rounding would put it on an arbitrary
      // side.
      const auto there = open & met & (size <= Real(turn == 0 ? rounding : 0.0));
      found = found | there;
      open = open & !there;
      move(y, by, share, open);
      const auto done = open & met & (size <= Real(small));
      found = found | done;
      for (int i = 0; i < values; ++i) best[i] = select(done, y[i], best[i]);  // it stays while other lanes go on
      open = open & !done & (share >= Real(least_share)) & (better | mask_of<Real>::all(turn > 0));
      // Moves off a point at which the movable values have no effect on a constraint, such as a root at zero.
      begins = open & !to.regular & (to.lacking > Real(small)) & mask_of<Real>::all(turn == 0);
      for (int i = 0; i < values; ++i)
        y[i] = select(begins, fma(Real(0x1p-6), min(sizes[i], abs(y[i]) + Real(1.0)), y[i]), y[i]);
      open = open & !(better & !begins & !met & (share == Real(1.0)) & (size <= Real(small)));  // no value may move
    }
    for (int i = 0; i < values; ++i) y[i] = select(found | !where, y[i], best[i]);
    return {found, residual, of, Real(0.0)};
  }

  template <class System, class Real>
  SALTUS_FN static consistency<Real> result(const System& system, Real t, const vec<Real, values>& begun,
                                            const vec<Real, values>& y, mask_of<Real> found) {
    auto r = residual_at(t, y, system.c);
    r.found = found;
    detail::how_far(r, system, begun, y);
    return r;
  }
  /// The length of each equation's residual, and of that of all hidden constraints together, whose basis changes from point to point.
  template <class Real>
  SALTUS_FN static vec<Real, unknowns + 1> lengths(const vec<Real, constraints>& of) {
    vec<Real, unknowns + 1> r;
    r[unknowns] = Real(0.0);
    for (int i = 0; i < constraints; ++i) {
      if (i < unknowns) r[i] = abs(of[i]);
      else r[unknowns] = fma(of[i], of[i], r[unknowns]);
    }
    r[unknowns] = sqrt(r[unknowns]);
    return r;
  }
  /// The size of a change, relative to the size of each value.
  template <class System, class Real>
  SALTUS_FN static Real size_of(const System& system, const vec<Real, values>& y, const vec<Real, values>& by) {
    Real size = Real(0.0);
    for (int i = 0; i < values; ++i) size = max(size, abs(by[i]) / (abs(y[i]) + system.floor(i))) + not_finite(by[i]);
    return size;
  }
  template <class Real>
  SALTUS_FN static void move(vec<Real, values>& y, const vec<Real, values>& by, Real share, mask_of<Real> where) {
    for (int i = 0; i < values; ++i) y[i] = select(where, fma(share, by[i], y[i]), y[i]);
  }
};

}  // namespace saltus
