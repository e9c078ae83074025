// Local coordinates of a step: as many as there are degrees of freedom. Unitary coordinate partitioning (UCP) of S. L. Campbell, "A
// Numerical Integrator for Simulation of Unstructured Implicit Models", on the constraints F(t, y) = 0 of the structural analysis
// (docs/high_index.md) instead of those hidden in a derivative array.
//
// At the start of a step, with D = dF/dy scaled by the sizes S of the values and U = (U1 U2) orthogonal, U1 spanning the rows of D,
//
//     y = S (U1 z1 + U2 z2),   z1 = z1(t, z2) from F(t, y) = 0,   z2' = U2' S^-1 y'
//
// The method integrates z2. Explicit methods form the points of their stages by sums of y and y', and U2' S^-1 of such a sum is the same
// sum of z2 and z2'. So a method may continue in y if each of its points is then moved along S U1, which leaves z2 unchanged, until F = 0.
// The sum itself gives the first guess of z1, as accurate as the stage. U2 is never formed, and no coordinates are kept from one step to
// the next. `unitary` takes U1 by Gram and Schmidt, each row against those before it twice; `partitioned` chooses single values for z1, one
// after the other, each with the largest entry.
//
// F = 0 is solved by Newton's iteration with the matrix of the start of the step; lanes in which it converges slowly get a new matrix.
// F = 0 may have other branches. A point that would have to move further than the error of stages is rejected, and the step is repeated
// with a smaller size: so no step ends on another branch than it has begun on.
//
// For forms that have `constraints`, constraints_at, jacobian_of_constraints and follow; constraints_change_basis if their basis changes.
#pragma once

#include "abi/choices.hpp"
#include "form/consistent/consistency.hpp"
#include "linear/lu.hpp"

namespace saltus {

/// F, or a row of dF/dy for each constraint; `there`: 1 if the mode of a lane has the constraint, else 0.
template <class Value, class Real, int m>
struct constraint_values {
  vec<Value, m> of;
  vec<Real, m> there;
};

template <class Form, coordinates choice, class Real>
class local_coordinates {
 public:
  static constexpr int n = Form::states, m = Form::constraints;
  using state = vec<Real, n>;
  using columns = vec<vec<Real, m>, m>;

  /// The coordinates of a step from (t, y).
  template <class System>
  SALTUS_FN_COLD local_coordinates(const System& system, Real t, const state& y)
      : begin_(y), newton_(matrix_at_start(system, t, y)), lost_(newton_.singular) {}

  /// Moves y, the point of a stage at t, along U1 onto the constraints; `at_end` if it ends the step.
  template <bool at_end, class System>
  SALTUS_FN_COLD void settle(const System& system, Real t, state& y) {
    constexpr int most = 20;
    const Real small = at_end || System::steps_are_fixed
                           ? Real(rounding)
                           : max(Real(part_of_tolerance) * system.tol->rtol, Real(rounding));
    const Real room = room_of<at_end>(system, y);
    auto open = !lost_, fresh = mask_of<Real>::all(false);
    Real before = Real(1.0), moved = Real(0.0);
    for (int turn = 0; turn < most && any(open); ++turn) {
      if constexpr (changes_basis) refresh(system, t, y, open);
      const auto by = change_at(system, t, y);
      const Real size = size_of(by);
      moved = select(open, moved + size, moved);
      // Beyond the room, or NaN: another branch may be nearer than the right one.
      lost_ = lost_ | (open & !(moved <= room));
      open = open & !lost_;
      for (int i = 0; i < n; ++i) y[i] = select(open, y[i] + by[i], y[i]);
      // The remaining error is estimated from the ratio of the last two changes; some components may converge more slowly.
      const Real ratio = turn == 0 ? Real(1.0) : size / before;
      const auto no_better = fresh & (ratio > Real(0.5)) & (size <= Real(as_low_as_rounding));
      const Real left = size * (at_end ? max(ratio, Real(slow_ratio)) : ratio);
      open = open & !((size <= small) | (left <= small) | no_better);
      before = select(open, size, before);
      const auto slow = open & (ratio > Real(slow_ratio)) & mask_of<Real>::all(turn > 0);
      if (!changes_basis && any(slow)) refresh(system, t, y, slow);
      fresh = slow;
    }
    lost_ = lost_ | open;
    Form::follow(t, y, system.c, !lost_);
  }

  /// The lanes in which a point of the step is not on the branch of its start, or on none.
  SALTUS_FN mask_of<Real> lost() const { return lost_; }

 private:
  static constexpr double rounding = 8.0 * limits<scalar_of<Real>>::epsilon;
  static constexpr double as_low_as_rounding = 0x1p-6 * root_epsilon<scalar_of<Real>>;
  static constexpr double part_of_tolerance = 0.01;
  static constexpr double slow_ratio = 0.0625;
  /// True if the constraints of two points differ though they define the same set. A matrix then serves only its own point.
  static constexpr bool changes_basis = requires { Form::constraints_change_basis; };

  state begin_, size_;
  vec<state, m> along_;  ///< the columns of U1
  columns w_;            ///< D S U1 with its rows divided by their largest entries
  vec<Real, m> row_;     ///< factors of the rows
  lu<Real, m> newton_;
  mask_of<Real> lost_;

  using jacobian = constraint_values<state, Real, m>;

  /// D S with its rows scaled.
  template <class System>
  SALTUS_FN jacobian scaled_jacobian(const System& system, Real t, const state& y, vec<Real, m>& row) const {
    auto d = Form::jacobian_of_constraints(t, y, system.c);
    for (int r = 0; r < m; ++r) {
      Real largest = Real(0.0);
      for (int i = 0; i < n; ++i) {
        d.of[r][i] = d.of[r][i] * size_[i];
        largest = max(largest, abs(d.of[r][i])) + not_finite(d.of[r][i]);
      }
      row[r] = select(largest > Real(0.0), Real(1.0) / largest, Real(1.0));
      for (int i = 0; i < n; ++i) d.of[r][i] = d.of[r][i] * row[r];
    }
    return d;
  }
  SALTUS_FN matrix<Real, m> along_directions(const jacobian& d) const {
    matrix<Real, m> w;
    for (int r = 0; r < m; ++r)
      for (int k = 0; k < m; ++k) {
        Real sum = Real(0.0);
        for (int i = 0; i < n; ++i) sum = fma(d.of[r][i], along_[k][i], sum);
        w[r][k] = r == k ? select(d.there[r] > Real(0.0), sum, Real(1.0)) : sum;
      }
    return w;
  }
  template <class System>
  SALTUS_FN_COLD matrix<Real, m> matrix_at_start(const System& system, Real t, const state& y) {
    for (int i = 0; i < n; ++i) size_[i] = abs(y[i]) + system.floor(i);
    const auto d = scaled_jacobian(system, t, y, row_);
    if constexpr (choice == coordinates::unitary) orthogonal_directions(d);
    else chosen_directions(d);
    const auto w = along_directions(d);
    for (int r = 0; r < m; ++r)
      for (int k = 0; k < m; ++k) w_[r][k] = w[r][k];
    return w;
  }
  /// Renews the matrix at y in the lanes of `where`, whose iteration is slow with the old one.
  template <class System>
  SALTUS_FN_COLD void refresh(const System& system, Real t, const state& y, mask_of<Real> where) {
    vec<Real, m> row;
    auto w = along_directions(scaled_jacobian(system, t, y, row));
    for (int r = 0; r < m; ++r) {
      row_[r] = select(where, row[r], row_[r]);
      for (int k = 0; k < m; ++k) w[r][k] = w_[r][k] = select(where, w[r][k], w_[r][k]);
    }
    newton_ = lu<Real, m>(w);
  }

  SALTUS_FN void orthogonal_directions(const jacobian& d) {
    for (int r = 0; r < m; ++r) {
      state q = d.of[r];
      for (int turn = 0; turn < 2; ++turn)
        for (int l = 0; l < r; ++l) {
          Real part = Real(0.0);
          for (int i = 0; i < n; ++i) part = fma(along_[l][i], q[i], part);
          for (int i = 0; i < n; ++i) q[i] = fma(-part, along_[l][i], q[i]);
        }
      Real own = Real(0.0);
      for (int i = 0; i < n; ++i) own = fma(q[i], q[i], own);
      const Real inverse = select(own > Real(0.0), Real(1.0) / sqrt(own), Real(0.0));
      for (int i = 0; i < n; ++i) along_[r][i] = q[i] * inverse;
    }
  }
  /// By elimination: each row takes the value with its largest entry among those not yet taken.
  SALTUS_FN void chosen_directions(jacobian d) {
    for (int r = 0; r < m; ++r) {
      Real largest = Real(0.0), pivot = Real(1.0), of = Real(-1.0);
      for (int i = 0; i < n; ++i) {
        const auto larger = abs(d.of[r][i]) > largest;
        of = select(larger, Real(static_cast<double>(i)), of);
        pivot = select(larger, d.of[r][i], pivot);
        largest = select(larger, abs(d.of[r][i]), largest);
      }
      for (int i = 0; i < n; ++i) along_[r][i] = select(of == Real(static_cast<double>(i)), Real(1.0), Real(0.0));
      for (int l = r + 1; l < m; ++l) {
        Real entry = Real(0.0);
        for (int i = 0; i < n; ++i) entry = fma(d.of[l][i], along_[r][i], entry);
        const Real part = entry / pivot;
        for (int i = 0; i < n; ++i)
          d.of[l][i] = select(along_[r][i] > Real(0.0), Real(0.0), fma(-part, d.of[r][i], d.of[l][i]));
      }
    }
  }

  /// Newton's correction of y, along U1.
  template <class System>
  SALTUS_FN state change_at(const System& system, Real t, const state& y) const {
    auto f = Form::constraints_at(t, y, system.c).of;
    for (int r = 0; r < m; ++r) f[r] = -(f[r] * row_[r]);
    const auto z = newton_.solve(f);
    state by;
    for (int i = 0; i < n; ++i) {
      Real sum = Real(0.0);
      for (int r = 0; r < m; ++r) sum = fma(along_[r][i], z[r], sum);
      by[i] = size_[i] * sum;
    }
    return by;
  }
  SALTUS_FN Real size_of(const state& by) const {
    Real size = Real(0.0);
    for (int i = 0; i < n; ++i) size = max(size, abs(by[i]) / size_[i]) + not_finite(by[i]);
    return size;
  }
  /// How far a point may move: by less than half of the distance from the start of the step, since stages are off by less; and at the end
  /// of a step with error control, by a moderate multiple of the tolerance.
  template <bool at_end, class System>
  SALTUS_FN Real room_of(const System& system, const state& y) const {
    constexpr double part = 0.5, least = 4.0 * root_epsilon<scalar_of<Real>>, tolerances = 100.0;
    Real gone = Real(0.0);
    for (int i = 0; i < n; ++i) gone = max(gone, abs(y[i] - begin_[i]) / size_[i]);
    const Real far = max(Real(part) * gone, Real(least));
    if constexpr (at_end && !System::steps_are_fixed)
      return min(far, max(Real(tolerances) * system.tol->rtol, Real(least)));
    else return far;
  }
};

}  // namespace saltus
