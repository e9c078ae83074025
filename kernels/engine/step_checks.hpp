// Checks of a step beside its error estimate. A step may have a small error and still have passed a singularity, or be on another branch of
// its constraints. And where no step is short enough, a check may know why.
//
// Each check is a type with static functions, all of which sail calls. A check of a model to which it does not apply does nothing.
#pragma once

#include "engine/trial.hpp"
#include "form/independence.hpp"

namespace saltus {

/// The trial must be repeated with a smaller size in the lanes of `where`.
template <class E, class Real>
SALTUS_FN void refuse(trial<E, Real>& a, mask_of<Real> where) {
  a.accepted = a.accepted & !where;
  a.error2 = select(to_rough(where), rough_of<Real>(unsettled<typename E::Method>), a.error2);
}

/// The functions of a check.
struct no_check {
  /// measure(x, a, report, tol): takes what the projection of the step has reported, or finds it.
  SALTUS_FN static void measure(const auto&...) {}
  /// judge(x, a, tol): refuses the trial in lanes that must repeat the step with a smaller size.
  SALTUS_FN static void judge(const auto&...) {}
  /// begin(x, c, where): the search c has made the accepted point consistent, at the start or after an event.
  SALTUS_FN static void begin(const auto&...) {}
  /// accept(x, a, where, tol): the end of the trial has become the accepted point.
  SALTUS_FN static void accept(const auto&...) {}
  /// give_up(x, a, rejected, too_small, tol): ends lanes, or adds to `too_small` those that no shorter step can help.
  SALTUS_FN static void give_up(const auto&...) {}
  /// explain(x, a, where, tol): ends those lanes of `where` that have no acceptable step for a reason that the check knows.
  SALTUS_FN static void explain(const auto&...) {}
};

/// The orientation of the matrix that determines algebraic states or highest derivatives: where it turns, the matrix is singular.
template <class E>
struct orientation_check : no_check {};

template <class E>
requires(E::form::has_orientation) struct orientation_check<E> : no_check {
  /// Without constraints there is no projection that finds the orientation.
  template <class Real>
  SALTUS_FN static void measure(const instance<E, Real>& x, trial<E, Real>& a, const constraint_report<Real>& of_step,
                                const tolerances<E, Real>& tol) {
    if constexpr (has_constraints<typename E::form>) a.orientation = of_step.orientation;
    else a.orientation = orientation_at_end(x, a, tol);
  }
  template <class Real>
  SALTUS_FN static void judge(const instance<E, Real>& x, trial<E, Real>& a, const tolerances<E, Real>& tol) {
    // Over so short a step, an orientation far from zero can change its sign only by a jump, which is not a singularity.
    const Real least = min(abs(a.orientation), abs(x.orientation));
    const auto jumps =
        (a.s.h <= Real(0x1p-30) * (x.t_end - x.t_begin)) & (least > Real(0x1p-10) * x.largest_orientation);
    a.turns_over = a.accepted & (a.orientation * x.orientation < Real(0.0)) & !jumps;
    if constexpr (!E::Method::is_explicit && !E::fixed_steps) {
      // Next to a singularity, errors below the absolute tolerance may hide that the step has passed it.
      const auto small = a.accepted & !a.turns_over & (abs(a.orientation) < Real(0x1p-6) * x.largest_orientation);
      if (any(small)) a.turns_over = a.turns_over | may_turn_over(x, a, tol, small);
    }
    refuse(a, a.turns_over);
  }
  template <class Real>
  SALTUS_FN static void begin(instance<E, Real>& x, const consistency<Real>& c, mask_of<Real> where) {
    assign_where(where, x.orientation, c.orientation);
    assign_where(where, x.largest_orientation, abs(c.orientation));
  }
  template <class Real>
  SALTUS_FN static void accept(instance<E, Real>& x, const trial<E, Real>& a, mask_of<Real> where,
                               const tolerances<E, Real>&) {
    assign_where(where, x.orientation, a.orientation);
    assign_where(where, x.largest_orientation, max(x.largest_orientation, abs(a.orientation)));
  }
  template <class Real>
  SALTUS_FN static void give_up(const instance<E, Real>&, const trial<E, Real>& a, mask_of<Real> rejected,
                                mask_of<Real>& too_small, const tolerances<E, Real>& tol) {
    if (const auto turned = rejected & a.turns_over; any(turned))
      too_small = too_small | (turned & moves_by_rounding(a, tol));
  }
  /// Newton's iteration fails, or errors grow, before a step shows that the orientation turns.
  template <class Real>
  SALTUS_FN static void explain(instance<E, Real>& x, const trial<E, Real>& a, mask_of<Real> where,
                                const tolerances<E, Real>& tol) {
    auto singular = a.turns_over;
    if constexpr (!E::fixed_steps) singular = singular | is_next_to_singular(x, tol, where);
    end_where(x.status, where & singular, status::singular);
  }
};

/// Ends those lanes in `where` at whose point equations depend on each other, as `measured` shows.
template <class E, class Real>
SALTUS_FN_COLD void end_where_dependent(instance<E, Real>& x, mask_of<Real> where, status as,
                                        const detail::independence<Real>& measured) {
  constexpr double next_to_none = 0x1p-10;  // of a square: within two degrees
  const auto dependent = where & (measured.least <= Real(next_to_none));
  assign_where(dependent, x.residual_of, measured.of);
  end_where(x.status, dependent, as);
}

/// Constraints that become dependent on the way, at points where branches of the solution meet.
template <class E>
struct branch_check : no_check {
  SALTUS_FN static void end_at_meeting(const auto&...) {}
};

template <class E>
requires has_branches<typename E::form>
struct branch_check<E> : no_check {
  using form = typename E::form;
  template <class Real>
  SALTUS_FN static void judge(const instance<E, Real>& x, trial<E, Real>& a, const tolerances<E, Real>& tol) {
    a.changes_branch = a.accepted & form::changes_branch({x.t, form::model_part(x.y), a.t1, form::model_part(a.s.y1)},
                                                         x.constants, tol.rtol);
    refuse(a, a.changes_branch);
  }
  template <class Real>
  SALTUS_FN static void give_up(instance<E, Real>& x, const trial<E, Real>& a, mask_of<Real> rejected,
                                mask_of<Real> too_small, const tolerances<E, Real>&) {
    if (const auto stuck = rejected & (too_small | a.changes_branch); any(stuck)) end_at_meeting(x, stuck);
  }
  template <class Real>
  SALTUS_FN static void explain(instance<E, Real>& x, const trial<E, Real>& a, mask_of<Real> where,
                                const tolerances<E, Real>&) {
    end_where(x.status, where & a.changes_branch, form::where_branches_meet);
  }
  /// Ends the lanes of `where` whose accepted point is at such a point.
  template <class Real>
  SALTUS_FN static void end_at_meeting(instance<E, Real>& x, mask_of<Real> where) {
    end_where_dependent(x, where, form::where_branches_meet,
                        form::independence_of_constraints(x.t, form::model_part(x.y), x.constants));
  }
};

/// The matrix that determines f may become singular.
template <class E>
struct singularity_check : no_check {};

template <class E>
requires(may_be_singular<typename E::form> && !E::fixed_steps) struct singularity_check<E> : no_check {
  template <class Real>
  SALTUS_FN static void explain(instance<E, Real>& x, const trial<E, Real>&, mask_of<Real> where,
                                const tolerances<E, Real>&) {
    using form = typename E::form;
    end_where_dependent(x, where, status::singular, form::independence(x.t, form::model_part(x.y), x.constants));
  }
};

/// In local coordinates a point of the step may not be on the branch of its start.
template <class E>
struct coordinates_check : no_check {};

template <class E>
requires(E::in_local_coordinates) struct coordinates_check<E> : no_check {
  template <class Real>
  SALTUS_FN static void measure(const instance<E, Real>&, trial<E, Real>& a, const constraint_report<Real>& of_step,
                                const tolerances<E, Real>&) {
    a.lost_branch = of_step.lost;
  }
  template <class Real>
  SALTUS_FN static void explain(instance<E, Real>& x, const trial<E, Real>& a, mask_of<Real> where,
                                const tolerances<E, Real>&) {
    end_where(x.status, where & a.lost_branch, status::newton_failed);
  }
};

/// The equations of an implicit step may have no solution.
template <class E>
struct solver_check : no_check {};

template <class E>
requires(!E::Method::is_explicit) struct solver_check<E> : no_check {
  template <class Real>
  SALTUS_FN static void explain(instance<E, Real>& x, const trial<E, Real>& a, mask_of<Real> where,
                                const tolerances<E, Real>&) {
    // A method that chooses the unknowns of its constraints knows which constraint depends on others.
    if constexpr (E::Method::for_mechanics && has_constraints<typename E::form>)
      assign_where(where & a.s.singular, x.residual_of, a.s.residual_of);
    end_where(x.status, where & a.s.singular, status::singular);
    end_where(x.status, where & !a.s.solved, status::newton_failed);
  }
};

/// There may be no f, or more than one, at a point of the solution.
template <class E>
struct paradox_check {
  SALTUS_FN static void look(const auto&...) {}
};

template <class E>
requires has_paradoxes<typename E::form>
struct paradox_check<E> {
  template <class Real>
  SALTUS_FN static void look(instance<E, Real>& x, mask_of<Real> where,
                             const typename E::form::template step_constants<Real>& constants) {
    using form = typename E::form;
    end_where(x.status, where & form::is_paradoxical(x.t, form::model_part(x.y), constants), status::painleve);
  }
};

/// The projection onto the constraints may move the end of a step further than its error explains: constraints or model are wrong, or the
/// constraints hardly determine the solution.
template <class E>
struct adjustment_check : no_check {};

template <class E>
requires has_constraints<typename E::form>
struct adjustment_check<E> : no_check {
  template <class Real>
  SALTUS_FN static void measure(const instance<E, Real>&, trial<E, Real>& a, const constraint_report<Real>& of_step,
                                const tolerances<E, Real>&) {
    a.moved = of_step.moved;
  }
  /// Counts a step that the projection has moved far, and consecutive ones that it has moved much further, by a hundred times their
  /// explained error: with a loose tolerance a step may have an error of some tolerances. The third one in a row ends the instance.
  template <class Real>
  SALTUS_FN static void accept(instance<E, Real>& x, const trial<E, Real>& a, mask_of<Real> where,
                               const tolerances<E, Real>&) {
    constexpr double by_much = 100.0;
    add_where(x.far_adjustments, where & (a.moved > Real(1.0)), 1);
    if constexpr (E::watches_adjustments) {
      constexpr double two_steps = 2.5;
      assign_where(where, x.far_steps, select(a.moved > Real(by_much), x.far_steps + Real(1.0), Real(0.0)));
      if (const auto far = where & (x.far_steps > Real(two_steps)); any(far)) end_moved_far(x, far);
    }
  }

 private:
  /// Near a dead point constraints hardly determine the solution; the instance then ends with that status.
  template <class Real>
  SALTUS_FN_COLD static void end_moved_far(instance<E, Real>& x, mask_of<Real> where) {
    branch_check<E>::end_at_meeting(x, where);
    end_where(x.status, where, status::moved_far);
  }
};

/// Rounding of the linear solves of a Rosenbrock method breaks linear conservation laws of the equations. Its sum over all steps matters
/// once the states that a law connects have become small.
template <class E>
struct rounding_check {
  SALTUS_FN static void accept(const auto&...) {}
  SALTUS_FN static void mark(const auto&...) {}
};

template <class E>
requires(E::watches_rounding) struct rounding_check<E> {
  /// Adds the rounding of an accepted step.
  template <class Real>
  SALTUS_FN static void accept(instance<E, Real>& x, const stages<typename E::Method, Real, E::n>& s,
                               mask_of<Real> where) {
    assign_where(where, x.rounding, x.rounding + s.rounding);
  }
  /// Marks an instance at its end if the sum exceeds the smallest tolerance of a state. Tolerances are the same in all lanes.
  template <class T, class Lanes>
  SALTUS_FN_COLD static void mark(instance<E, pack<T, 1>>& x, const tolerances<E, Lanes>& tol) {
    using Real = pack<T, 1>;
    Real least = Real(limits<T>::largest);
    each<E::model_states>([&](int i) SALTUS_INLINE_LAMBDA {
      least = min(least, fma(Real(tol.rtol.get(0)), abs(x.y[i]), Real(tol.atol[i].get(0))));
    });
    add_where(x.rounded, Real(limits<T>::epsilon) * x.rounding > least, 1);
  }
};

}  // namespace saltus
