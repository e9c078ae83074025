// Impacts with Coulomb's friction, several at once, each contact with one direction of slip. With u_n = d Phi/dt of a gap, u_t the
// velocity of the constraint that holds while its contact sticks, and impulses p_n and p_t along their gradients:
//
//     0 <= p_n  and  0 <= u_n+ + e u_n-,  one of the two zero                        (Newton's restitution)
//     |p_t| <= mu p_n;  where u_t+ is not zero, p_t = -mu p_n sign(u_t+)              (no restitution along the contact)
//     J v+ = J v- for all other constraints that are on
//
// This is Moreau's impact law (J. J. Moreau, Unilateral contact and dry friction in finite freedom dynamics, 1988). It is written as the
// linear complementarity problem of D. E. Stewart and J. C. Trinkle (Int. J. Numer. Meth. Engng 39, 1996, 2673), with p_t = p_t' - p_t''
// and the speed of slip s:
//
//     0 <= p_n   and  0 <= u_n+ + e u_n-
//     0 <= p_t'  and  0 <= s + u_t+
//     0 <= p_t'' and  0 <= s - u_t+
//     0 <= s     and  0 <= mu p_n - p_t' - p_t''
//
// Its matrix is copositive. So, with e = 0 and contacts that do not move by themselves, Lemke's method always finds a solution. With e > 0
// there may be none if friction can jam a body, so that forces p_n and p_t of any size are in equilibrium.
//
// Poisson's law (F. Pfeiffer, C. Glocker, Multibody Dynamics with Unilateral Contacts, 1996, chapter 8) solves the same problem twice.
// The first, with e = 0, is the compression. In the second, the expansion, a contact gets at least e times the p_n of the first, and
// more only where it would close. Both always have a solution.
//
// Energy: the change is p'(u+ + u-)/2. It is never positive if e = 0, for any mu and any number of contacts; nor for Newton's law with
// 0 <= e <= 1 if p_n and p_t do not act on each other's velocities (a disc on a floor). Otherwise Newton's law with friction may
// increase the energy (T. R. Kane, D. A. Levinson, Dynamics, 1985, section 3.3).
#pragma once

#include "model/impact.hpp"

namespace saltus {

/// The contacts of one impact as a linear complementarity problem.
template <class Model, class Real>
class rough_impact {
  using impulses = impulses_at<Model, Real>;
  using by_constraint = typename impulses::by_constraint;
  using list = contact_list<Model, Real>;
  static constexpr int n = impulses::n;

 public:
  const impulses at;
  by_constraint u;            ///< velocities of constraints, before the impact and then after it
  bool is_undecided = false;  ///< the impulses have no derivative

  SALTUS_FN rough_impact(const event<Model, Real>& now, const list& contacts)
      : at(now.here()), contacts_(contacts), closed_(at.on) {
    for (int k = 0; k < n; ++k) u[k] = at.rows.velocity[k];
    for (int c = 0; c < contacts.count; ++c) {
      closed_.has[contacts.of[c].gap] = false;
      if (contacts.of[c].slip >= 0) closed_.has[contacts.of[c].slip] = false;
    }
    if constexpr (is_dual<Real>) rounding_ = at.rounding(now.here());
    sound_ = reduce();
  }

  /// Impulses of Newton's law. On entry p is zero; on return u is the velocities after the impact. Returns false if there are no impulses.
  SALTUS_FN bool newton(Real restitution, by_constraint& p) { return collide(restitution, by_constraint{}, p); }
  /// The same for Poisson's law.
  SALTUS_FN bool poisson(Real restitution, by_constraint& p) {
    if (!collide(Real(0.0), by_constraint{}, p)) return false;
    by_constraint back{};
    for (int c = 0; c < contacts_.count; ++c) back[contacts_.of[c].gap] = restitution * p[contacts_.of[c].gap];
    return collide(Real(0.0), back, p);
  }

 private:
  const list& contacts_;
  typename impulses::set closed_;
  matrix<Real, n>
      along_;  ///< impulses of all constraints per unit of impulse at constraint l of a contact, column by column
  matrix<Real, n> reply_;  ///< the changes of velocities that go with them
  bool sound_;
  Real rounding_{};  ///< of velocities, where derivatives are taken

  /// Finds the effect of contact impulses while constraints that are on keep their velocities. False if these depend on each other.
  SALTUS_FN bool reduce() {
    for (int c = 0; c < contacts_.count; ++c) {
      const int both[] = {contacts_.of[c].gap, contacts_.of[c].slip};
      for (const int l : both) {
        if (l < 0) continue;
        by_constraint against, z;
        for (int k = 0; k < n; ++k) against[k] = -at.response(k, l);
        if (!at.solve(closed_, against, z)) return false;
        z[l] = Real(1.0);
        for (int k = 0; k < n; ++k) {
          Real sum = Real(0.0);
          for (int j = 0; j < n; ++j) sum = fma(at.response(k, j), z[j], sum);
          along_[k][l] = z[k];
          reply_[k][l] = closed_.has[k] ? Real(0.0) : sum;
        }
      }
    }
    return true;
  }
  /// A row of the problem: for the impulse across a contact, for one of the two along it, or for its speed of slip.
  struct row {
    int contact, of;  ///< the contact, and the constraint of the impulse; -1: the speed of slip
    Real sign;
  };
  static constexpr int max_rows = 2 * n < 32 ? 2 * n : 32;

  SALTUS_FN int rows_of(row* r) const {
    int count = 0;
    for (int c = 0; c < contacts_.count; ++c) {
      const auto& contact = contacts_.of[c];
      r[count++] = {c, contact.gap, Real(1.0)};
      if (contact.slip < 0) continue;
      r[count++] = {c, contact.slip, Real(1.0)};
      r[count++] = {c, contact.slip, Real(-1.0)};
      r[count++] = {c, -1, Real(1.0)};
    }
    return count;
  }
  /// An entry of the matrix, for impulses measured in `unit`.
  SALTUS_FN Real entry(const row& a, const row& b, Real unit) const {
    if (a.of >= 0 && b.of >= 0) return a.sign * b.sign * reply_[a.of][b.of] * unit;
    if (a.contact != b.contact || a.of == b.of) return Real(0.0);
    const auto& contact = contacts_.of[a.contact];
    if (a.of < 0) return b.of == contact.gap ? contact.friction : Real(-1.0);
    return Real(a.of == contact.gap ? 0.0 : 1.0);
  }

  /// True if a solution has no derivative. The rows of a contact with friction are those of p_n, p_t', p_t'' and s. Friction decides nothing
  /// where the contact opens. While one of p_t' and p_t'' is positive the other is zero.
  template <class Problem>
  SALTUS_FN bool has_undecided(const Problem& problem, const row* rows, const by_constraint& least) const {
    const auto is_positive = [&](int i) SALTUS_INLINE_LAMBDA { return bool(problem.z[i] > rounding_); };
    for (int i = 0; i < problem.n; ++i) {
      if (problem.is_undecided_at(i, rounding_)) return true;
      const auto& contact = contacts_.of[rows[i].contact];
      if (contact.slip < 0) continue;
      const int along = i + 1, slip = i + 3;
      if (is_positive(i) || least[contact.gap] > Real(0.0)) {
        const bool any = is_positive(along) || is_positive(along + 1) || is_positive(slip);
        if (problem.is_undecided_at(slip, rounding_) || (!any && problem.is_undecided_at(along, rounding_)))
          return true;
      }
      i = slip;
    }
    return false;
  }

  /// Solves one problem, with impulses of at least `least` at the gaps. Adds the impulses to `sum` and their effect to u.
  SALTUS_FN bool collide(Real restitution, const by_constraint& least, by_constraint& sum) {
    if (!sound_) return false;
    by_constraint with_least = u;
    Real softest = Real(0.0);
    for (int c = 0; c < contacts_.count; ++c) {
      const int gap = contacts_.of[c].gap;
      softest = max(softest, reply_[gap][gap]);
      for (int k = 0; k < n; ++k) with_least[k] = fma(reply_[k][gap], least[gap], with_least[k]);
    }
    const Real unit = Real(1.0) / softest;  // of impulses: it makes all numbers of the problem velocities
    complementarity<Real, max_rows> problem;
    row rows[max_rows];
    problem.n = rows_of(rows);
    for (int i = 0; i < problem.n; ++i) {
      const row& a = rows[i];
      const auto& contact = contacts_.of[a.contact];
      const Real given_back = a.of == contact.gap ? restitution * u[contact.gap] : Real(0.0);
      problem.q[i] =
          a.of < 0 ? contact.friction * least[contact.gap] * softest : a.sign * (with_least[a.of] + given_back);
      for (int j = 0; j < problem.n; ++j) problem.m[i][j] = entry(a, rows[j], unit);
    }
    if (!problem.solve()) return false;
    if constexpr (is_dual<Real>) is_undecided = is_undecided || has_undecided(problem, rows, least);

    by_constraint p = least;
    for (int i = 0; i < problem.n; ++i)
      if (rows[i].of >= 0) p[rows[i].of] = fma(rows[i].sign * unit, problem.z[i], p[rows[i].of]);
    for (int c = 0; c < contacts_.count; ++c) {
      const int both[] = {contacts_.of[c].gap, contacts_.of[c].slip};
      for (const int l : both)
        for (int k = 0; l >= 0 && k < n; ++k) {
          sum[k] = fma(along_[k][l], p[l], sum[k]);
          u[k] = fma(reply_[k][l], p[l], u[k]);
        }
    }
    for (int i = 0; i < problem.n; ++i)
      if (rows[i].of < 0 && problem.z[i] <= problem.rounding()) u[contacts_.of[rows[i].contact].slip] = Real(0.0);
    return true;
  }
};

/// One impact of the contacts in a list, with friction.
template <class Model, class Real>
SALTUS_FN_COLD void collide_with_friction(event<Model, Real>& now, const contact_list<Model, Real>& contacts,
                                          Real restitution, restitution_law law) {
  now.no_impulses = now.no_impulses || contacts.count > contacts.most;
  if (now.no_impulses || contacts.count == 0) return;
  rough_impact<Model, Real> impact(now, contacts);
  typename impulses_at<Model, Real>::by_constraint p{};
  const bool found = law == restitution_law::poisson ? impact.poisson(restitution, p) : impact.newton(restitution, p);
  if (!found) {
    now.no_impulses = true;
    return;
  }
  now.is_undecided = now.is_undecided || impact.is_undecided;
  detail::give(now, impact.at, p);
  for (int c = 0; c < contacts.count; ++c)
    if (const int k = contacts.of[c].slip; k >= 0) now.impulses.slip[k] = impact.u[k];
}

}  // namespace saltus
