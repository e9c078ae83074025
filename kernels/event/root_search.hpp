// The search for the first event within a step, by the kind of detection. It includes guards that are not armed, which may cross without
// an event and then come back within the step.
#pragma once

#include "event/certify.hpp"
#include "event/of_series.hpp"
#include "event/root_on_dense.hpp"

namespace saltus {

/// The start of a search for a root in a step, and its result so far.
template <class E, class Real>
struct search {
  vec<Real, E::ng> side;
  guards_at<E, Real> from;
  bracket<E, Real> found;
  mask_of<Real> doubtful;  ///< a certified search could not decide within the local error; a shorter step may
};

/// A step to be searched.
template <class E, class Real>
struct searched_step {
  guards_on_step<E, Real> guards;
  const guard_polynomials<E, Real>& series;  ///< of the guards, if they are searched on series
  guards_at<E, Real> begin, end;
  vec<Real, E::model_states> delta;  ///< how far the solution may be from the interpolant; for a certified search

  SALTUS_FN searched_step(const instance<E, Real>& x, const trial<E, Real>& a,
                          const interpolant_of<E, Real>& interpolant)
      : guards{x, interpolant},
        series(a.guards),
        begin{Real(0.0), {x.constants.guard_values, x.rate}},
        end{Real(1.0), a.g} {
    each<E::ng>([&](int i) SALTUS_INLINE_LAMBDA {
      begin.g.rate[i] = begin.g.rate[i] * a.s.h;
      end.g.rate[i] = end.g.rate[i] * a.s.h;
    });
    if constexpr (E::certified) delta = enclosed_error<E>(step_system<E, Real>{x.constants}, a.s, interpolant);
  }
};

/// Looks for the first root from s.from on, in the lanes of `where`.
template <class E, class Real>
SALTUS_FN void look_for_roots(search<E, Real>& s, instance<E, Real>& x, const searched_step<E, Real>& step,
                              mask_of<Real> where) {
  const auto& on_step = step.guards;
  bracket<E, Real> onward;
  if constexpr (E::certified) {
    constexpr double max_doubts = 12.5;  // consecutive repeated steps, before the interpolant alone decides
    const auto r = certify<E, Real>(on_step, step.delta, s.side, s.from, step.end, where);
    onward = r.found;
    s.doubtful = where & r.shrink & (x.doubts < Real(max_doubts));
    x.undetermined =
        x.undetermined + select(where & !s.doubtful, to_integer(r.undetermined), typename Real::integer(int64(0)));
  } else {
    if constexpr (detects_on_series<E>)
      onward = detect_on_series<E, Real>(step.series, s.side, s.from, step.end, where);
    else onward = detect<E, Real>(x, on_step, s.side, s.from, step.end, where);
  }
  s.found.found = (s.found.found & !where) | (where & onward.found);
  assign_where(where, s.found.lo, onward.lo);
  assign_where(where, s.found.hi, onward.hi);
  assign_where(where, s.found.guess, onward.guess);
}

/// Guards that hover at zero: their values at the ends and in the middle of the step, and their changes over half of it by their rates there,
/// are within some times what the local error of the states makes of them. Their crossings within the step are noise. The errors of the
/// states go together, so they count with their signs: the difference of two large states may be exact.
template <class E, class Real>
struct hovering_guards {
  vec<Real, E::ng> hovers;  ///< 1 for these, in the lanes for which they were found

  SALTUS_FN hovering_guards() {
    each<E::ng>([&](int i) SALTUS_INLINE_LAMBDA { hovers[i] = Real(0.0); });
  }
  SALTUS_FN_COLD void find(const instance<E, Real>& x, const trial<E, Real>& a, const searched_step<E, Real>& step,
                           mask_of<Real> where) {
    constexpr double some = 4.0;
    const Real middle(0.5);
    const auto g = step.guards(middle).g;
    const auto error = E::form::model_guards_through(fma(middle, a.s.h, a.s.t), Real(0.0),
                                                     step.guards.interpolant(middle), local_error(a.s), x.constants);
    each<E::form::model_guards>([&](int i) SALTUS_INLINE_LAMBDA {
      const auto& begin = step.begin.g;
      const auto& end = step.end.g;
      const Real largest = max(abs(g.value[i]), max(abs(begin.value[i]), abs(end.value[i])));
      const Real fastest = max(abs(g.rate[i]), max(abs(begin.rate[i]), abs(end.rate[i])));
      hovers[i] = select(where & (largest + middle * fastest <= Real(some) * abs(error.rate[i])), Real(1.0), Real(0.0));
    });
  }
  /// Leaves them out of a search for guards that leave these sides.
  SALTUS_FN void leave_out_of(vec<Real, E::ng>& sides) const {
    each<E::ng>([&](int i) SALTUS_INLINE_LAMBDA { sides[i] = select(hovers[i] > Real(0.5), Real(0.0), sides[i]); });
  }
};

/// The guards that may leave and come back in a step that is landed, if any guard in the lanes of `where` is not armed: the same result as
/// while sailing.
template <class E, class Real>
SALTUS_FN_COLD suspected_guards<E, Real> suspect_unarmed(const instance<E, Real>& x, const trial<E, Real>& a,
                                                         const searched_step<E, Real>& step, mask_of<Real> where) {
  auto unarmed = mask_of<Real>::all(false);
  suspected_guards<E, Real> none_of_them{unarmed, {}};
  each<E::ng>([&](int i) SALTUS_INLINE_LAMBDA {
    none_of_them.comes_back[i] = Real(0.0);
    if (is_one_way<E>(i)) unarmed = unarmed | !armed<E>(i, x.constants.guard_values[i]);
  });
  if (none(where & unarmed)) return none_of_them;
  if constexpr (E::certified) return suspect_enclosures<E, Real>(x, step.guards.interpolant, step.delta);
  else if constexpr (detects_on_series<E>) return suspect_series(x, a);
  else return suspect_guards(x, a, guards_in_middle(x, a));
}

/// The part of the step at which the first of the guards of `sides` that leaves its side and comes back before the end is beyond zero; 1
/// if none does. `doubtful` as in `search`.
template <class E, class Real>
SALTUS_FN_COLD Real part_on_the_way(instance<E, Real>& x, const searched_step<E, Real>& step,
                                    const vec<Real, E::ng>& sides, mask_of<Real> where, mask_of<Real>& doubtful) {
  constexpr int most =
      E::ng + 8;  // points examined: guards that stay beyond, and touches that rounding makes crossings
  Real part = Real(1.0);
  search<E, Real> away{sides, step.begin, {}, mask_of<Real>::all(false)};
  doubtful = away.doubtful;
  auto open = where;
  for (int points = 0; points < most && any(open); ++points) {
    look_for_roots<E, Real>(away, x, step, open);
    doubtful = doubtful | (open & away.doubtful);
    open = open & !doubtful & away.found.found & (away.found.hi < Real(1.0));
    if (none(open)) break;
    const auto there = step.guards(away.found.hi);
    search<E, Real> back{sides_beyond<E, Real>(away.side, there.g), there, {}, mask_of<Real>::all(false)};
    look_for_roots<E, Real>(back, x, step, open);
    doubtful = doubtful | (open & back.doubtful);
    const auto comes_back = open & !doubtful & back.found.found;
    assign_where(comes_back, part, there.s);
    open = open & !doubtful & !comes_back;
    each<E::ng>([&](int i) SALTUS_INLINE_LAMBDA {
      const auto stays =
          has_crossed(away.side[i], step.end.g.value[i], step.end.g.rate[i]) & (back.side[i] != Real(0.0));
      away.side[i] = select(stays, Real(0.0), away.side[i]);
    });
    away.from = select<E, Real>(open, there, away.from);
  }
  return part;
}

/// Lanes in which `part` comes before the root that has been found, if any.
template <class E, class Real>
SALTUS_FN mask_of<Real> comes_first(const searched_step<E, Real>& step, const search<E, Real>& s, Real part,
                                    mask_of<Real> where) {
  const auto open = where & s.found.found & (part > s.found.lo) & (part < s.found.hi);
  auto first = (!s.found.found) | (part <= s.found.lo);
  if (none(open)) return first;
  auto bracket = s.found;
  const auto root = root_on_dense<E, Real>(step.guards, s.side, bracket, open);
  return first | (open & (part < root.theta));
}

}  // namespace saltus
