// Impacts in a mechanical system, at an event: velocities jump by M (v+ - v-) = J' p. The impulses p are those of the contacts that
// collide and of all constraints that are on.
//
// A contact is a holonomic constraint whose Phi >= 0 is a gap. With u = d Phi/dt and Newton's restitution e
//
//     one contact:            u+ = -e u-,   J v+ = J v- for the constraints that are on
//     several, one by one:    the same, for one after another
//     several, all at once:   0 <= p  and  0 <= u+ + e u-,  one of the two zero for each contact;  J v+ = J v- for others
//
// The last is a linear complementarity problem w = A p + q with A = J M^-1 J' symmetric and positive semidefinite. It is solved by
// principal pivoting after Dantzig and Cottle (R. W. Cottle, J.-S. Pang, R. E. Stone, The Linear Complementarity Problem, 1992,
// section 4.3). For one contact after another, its impulse is raised until its w is zero; the others stay complementary and change
// sides where they must. The contacts with an impulse always form an independent set, so more contacts than a body needs are no
// difficulty (D. Baraff, SIGGRAPH 1994, 23). Ordinary code for one instance.
#pragma once

#include "linear/complementarity.hpp"
#include "model/mechanics.hpp"

namespace saltus {

/// The constraints of one instance, on or off, as impulses need them. `Real` is a pack of one.
template <class Model, class Real>
class impulses_at {
  using bodies = mechanics<Model>;
  static constexpr int velocities = bodies::velocities;
  static constexpr double epsilon = limits<scalar_of<Real>>::epsilon;
  static constexpr double dependent = 0x1p12 * epsilon;
  static constexpr int max_pivots = 64;  ///< per contact

 public:
  static constexpr int n = bodies::constraints;
  using by_constraint = vec<Real, n>;
  using by_velocity = vec<Real, velocities>;
  struct set {
    bool has[n > 0 ? n : 1] = {};
  };

  typename bodies::template rows<Real> rows;
  set on;

  SALTUS_FN explicit impulses_at(const point<Model, Real, Real>& at) : rows(bodies::all_rows_at(at)), m_(at, rows) {
    for (int k = 0; k < n; ++k) {
      on.has[k] = bool(bodies::is_on(at, k));
      for (int l = 0; l <= k; ++l) {
        Real sum = Real(0.0);
        for (int j = 0; j < velocities; ++j) sum = fma(m_.reduced[k][j] * m_.mass.over_d[j], m_.reduced[l][j], sum);
        response_[k][l] = response_[l][k] = sum;
      }
    }
  }

  /// Finds impulses in `closed` that change the velocity of each constraint there by `change`. Returns false if these constraints depend on
  /// each other.
  SALTUS_FN bool solve(const set& closed, const by_constraint& change, by_constraint& p) const {
    matrix<Real, n> a;
    by_constraint b;
    for (int k = 0; k < n; ++k) {
      for (int l = 0; l <= k; ++l)
        a[k][l] = closed.has[k] && closed.has[l] ? response_[k][l] : Real(k == l ? 1.0 : 0.0);
      b[k] = closed.has[k] ? change[k] : Real(0.0);
    }
    const ldl<Real, n> factor(a);
    for (int k = 0; k < n; ++k)
      if (closed.has[k] && !(factor.d[k] > Real(dependent) * response_[k][k])) return false;
    p = factor.solve(b);
    return true;
  }

  /// Finds the impulses of contacts that collide at once. Returns false if there are none: the matrix has a NaN, or constraints that are
  /// always on admit none. `undecided` receives true if the impulses have no derivative.
  SALTUS_FN bool complementary(const point<Model, Real, Real>& at, const set& contacts, Real restitution,
                               by_constraint& p, bool& undecided) const {
    set closed = on;
    by_constraint w;
    for (int k = 0; k < n; ++k) {
      if (contacts.has[k]) closed.has[k] = false;
      w[k] = contacts.has[k] ? (Real(1.0) + restitution) * rows.velocity[k] : Real(0.0);
      p[k] = Real(0.0);
    }
    for (int d = 0; d < n; ++d)
      if (contacts.has[d] && !drive(d, contacts, closed, w, p)) return false;
    if constexpr (is_dual<Real>) {
      const Real least = rounding(at);
      for (int k = 0; k < n; ++k) {
        if (!contacts.has[k]) continue;
        Real terms = abs(rows.velocity[k]);
        for (int l = 0; l < n; ++l) terms = max(terms, abs(response_[k][l] * p[l]));
        undecided = undecided || is_undecided(p[k] * response_[k][k], w[k], terms, least);
      }
    }
    return true;
  }

  /// J M^-1 J': the change of the velocity of constraint k per unit of impulse at constraint l, with no other impulse.
  SALTUS_FN const Real& response(int k, int l) const { return response_[k][l]; }

  /// M^-1 J' p.
  SALTUS_FN by_velocity jump(const by_constraint& p) const {
    by_velocity none;
    for (int j = 0; j < velocities; ++j) none[j] = Real(0.0);
    return m_.mass.backward(m_.force(p, none));
  }

  /// The rounding of velocities of constraints, sums of J v.
  SALTUS_FN Real rounding(const point<Model, Real, Real>& at) const {
    by_velocity terms;
    for (int j = 0; j < velocities; ++j) {
      Real most = Real(0.0);
      for (int k = 0; k < n; ++k) most = max(most, abs(rows.by[k][j]));
      terms[j] = most * at.y[bodies::coordinates + j];
    }
    return rounding_among(terms, velocities);
  }
  /// A few ulps of the position of constraint k, or of its velocity.
  SALTUS_FN Real rounding(int k, const point<Model, Real, Real>& at, bool of_position) const {
    Real size = Real(0.0), largest = Real(0.0);
    for (int i = 0; i < bodies::coordinates; ++i) largest = max(largest, abs(at.y[i]));
    for (int j = 0; j < velocities; ++j) {
      Real each = abs(at.y[bodies::coordinates + j]);
      if (of_position) each = bodies::has_kinematics ? largest : abs(at.y[j]);
      size = fma(abs(rows.by[k][j]), each, size);
    }
    return Real(64.0 * epsilon) * size;
  }

 private:
  typename bodies::template inertia<Real> m_;
  Real response_[n > 0 ? n : 1][n > 0 ? n : 1];  ///< J M^-1 J'

  /// Raises the impulse of contact d until its w is no longer negative; the contacts before it stay complementary.
  SALTUS_FN bool drive(int d, const set& contacts, set& closed, by_constraint& w, by_constraint& p) const {
    const Real least = Real(-64.0 * epsilon) * abs(w[d]);
    for (int pivots = 0; !(w[d] >= least); ++pivots) {
      if (pivots == max_pivots) return false;
      by_constraint against, z, dw;  // per unit of impulse at d: of the closed constraints; of all w
      for (int k = 0; k < n; ++k) against[k] = -response_[k][d];
      if (!solve(closed, against, z)) return false;
      z[d] = Real(1.0);
      for (int k = 0; k < n; ++k) {
        dw[k] = Real(0.0);
        for (int l = 0; l < n; ++l) dw[k] = fma(response_[k][l], z[l], dw[k]);
      }
      Real step = Real(limits<scalar_of<Real>>::largest);
      int stop = -1;
      const auto meets = [&](int k, Real at) SALTUS_INLINE_LAMBDA {
        at = max(at, Real(0.0));
        if (at < step) step = at, stop = k;
      };
      if (dw[d] > Real(dependent) * response_[d][d]) meets(d, -w[d] / dw[d]);
      for (int k = 0; k < d; ++k) {
        if (!contacts.has[k]) continue;
        if (closed.has[k] && z[k] < Real(0.0)) meets(k, -p[k] / z[k]);
        if (!closed.has[k] && dw[k] < Real(-dependent) * sqrt(response_[k][k] * response_[d][d]))
          meets(k, -w[k] / dw[k]);
      }
      if (stop < 0) return false;
      for (int k = 0; k < n; ++k) {
        p[k] = fma(step, z[k], p[k]);
        w[k] = fma(step, dw[k], w[k]);
      }
      closed.has[stop] = !closed.has[stop];
      (closed.has[stop] ? w : p)[stop] = Real(0.0);
    }
    return true;
  }
};

namespace detail {

template <class Event, class Impulses>
SALTUS_FN void give(Event& now, const Impulses& at, const typename Impulses::by_constraint& p) {
  const auto jump = at.jump(p);
  constexpr int first = Event::kinds::state_count - static_cast<int>(sizeof(jump.data) / sizeof(jump.data[0]));
  for (int i = first; i < Event::kinds::state_count; ++i) now.y[i] = now.y[i] + jump[i - first];
  for (int k = 0; k < Impulses::n; ++k) now.impulses.of[k] = now.impulses.of[k] + p[k];
}

}  // namespace detail

/// Newton's impact at constraint k.
template <class Model, class Real>
SALTUS_FN_COLD void collide(event<Model, Real>& now, int k, Real restitution) {
  const impulses_at<Model, Real> at(now.here());
  if constexpr (is_dual<Real>) {
    const Real u = at.rows.velocity[k], none(0.0);
    now.is_undecided = now.is_undecided || is_undecided(abs(u), none, none, at.rounding(now.here()));
  }
  if (at.rows.velocity[k] >= Real(0.0)) return;
  auto closed = at.on;
  closed.has[k] = true;
  typename impulses_at<Model, Real>::by_constraint change{}, p;
  change[k] = -(Real(1.0) + restitution) * at.rows.velocity[k];
  if (at.solve(closed, change, p)) detail::give(now, at, p);
  else now.no_impulses = true;
}

/// One impact of some contacts at once.
template <class Model, class Real, class Id>
SALTUS_FN_COLD void collide_at_once(event<Model, Real>& now, const Id* list, int count, Real restitution) {
  using impulses = impulses_at<Model, Real>;
  const impulses at(now.here());
  typename impulses::set contacts;
  for (int i = 0; i < count; ++i) contacts.has[static_cast<int>(list[i])] = true;
  typename impulses::by_constraint p;
  if (at.complementary(now.here(), contacts, restitution, p, now.is_undecided)) detail::give(now, at, p);
  else now.no_impulses = true;
}

/// Switches constraint k off and puts the point on `side` of it (event::release). A holonomic constraint moves its position and its
/// velocity, others their velocity, by the smallest change in the metric of kinetic energy that leaves constraints that are on unchanged.
template <class Model, class Real>
SALTUS_FN_COLD void let_go(event<Model, Real>& now, int k, Real side) {
  using bodies = mechanics<Model>;
  if (bodies::table.of[k].switched_by < 0) return;
  now.modes[bodies::table.of[k].switched_by] = Real(0.0);
  constexpr bool levels[] = {true, false};
  for (const bool position : levels) {
    if (position && !bodies::is_holonomic(k)) continue;
    const impulses_at<Model, Real> at(now.here());
    const Real is = position ? at.rows.position[k] : at.rows.velocity[k];
    // The position is the residual of the last projection; the velocity may be larger.
    const Real room = max(at.rounding(k, now.here(), position), Real(position ? 16.0 : 1.0) * abs(is));
    if (side * is >= room) continue;
    auto closed = at.on;
    closed.has[k] = true;
    typename impulses_at<Model, Real>::by_constraint change{}, p;
    change[k] = side * room - is;
    if (!at.solve(closed, change, p)) return;
    const auto d = at.jump(p);
    const auto q = bodies::shift(now.here(), d);
    const int begin = position ? 0 : bodies::coordinates, end = position ? bodies::coordinates : bodies::states;
    for (int i = begin; i < end; ++i) now.y[i] = now.y[i] + (position ? q[i] : d[i - begin]);
  }
}

/// The velocity-level residual of constraint k.
template <class Model, class Real>
SALTUS_FN_COLD Real level_of(const event<Model, Real>& now, int k) {
  return mechanics<Model>::levels_at(now.here()).velocity[k];
}

}  // namespace saltus
