// Derivatives across a jump of a right-hand side, or of an output that is integrated, that no guard announces. Its time may move with a
// parameter, and the derivatives would jump there as they do at an event; without a guard nobody knows by how much. A corner is harmless, and
// so is a jump at a fixed time.
#pragma once

#include "engine/corners.hpp"
#include "event/derivatives_at_events.hpp"

namespace saltus {

/// True if derivatives or a gradient depend on an output that may jump, by its integral.
template <class E>
inline constexpr bool integrates_jumps = [] {
  bool some = false;
  for (int i = 0; i < E::form::outputs; ++i) some = some || E::integrates_output(i);
  return some && (E::kept_directions > 0 || E::gradient) &&
         smoothness_of<typename E::Model>.outputs == smoothness::piecewise;
}();
template <class E>
inline constexpr bool watches_jumps = ((E::directions > 0 || E::gradient) && notes_answers<E>) || integrates_jumps<E>;

namespace detail {

/// The answers at a point of what may jump.
template <class E, class Number, class Real, class Held>
SALTUS_FN noted_answers<Real> answers_that_count(noted_answers<Real>& notes, const watched<Number>& t,
                                                 const vec<watched<Number>, E::model_states>& y,
                                                 const vec<watched<Number>, E::model_states>& slope, const Held& held) {
  if constexpr (notes_answers<E>) E::form::visit_equations(t, y, slope, held);
  if constexpr (integrates_jumps<E> && !E::form::integrates_outputs) E::form::visit_outputs(t, y, held);
  return notes;
}

/// The constants of a step and the rates of states along one direction in which comparisons may move.
template <class E, class Real>
struct moving_answers {
  using form = typename E::form;
  using number = dual<Real>;
  using constants = typename form::model_form::template step_constants<number>;

  constants held;
  vec<Real, E::model_states> rate_of_state, rate_of_slope;

  /// The answers at a point that depend on the direction.
  SALTUS_FN noted_answers<Real> at(Real t, const vec<Real, E::n>& y, const vec<Real, E::n>& slope) const {
    noted_answers<Real> notes;
    vec<watched<number>, E::model_states> states, slopes;
    for (int i = 0; i < E::model_states; ++i) {
      states[i] = {number(y[i], rate_of_state[i]), &notes};
      slopes[i] = {number(slope[i], rate_of_slope[i]), &notes};
    }
    return answers_that_count<E>(notes, watched<number>(number(t), &notes), states, slopes, held);
  }
};

/// Direction j of the derivatives in a step to (y, rate). Those at both ends are added: at the start they may be zero.
template <class E, class Real>
SALTUS_FN moving_answers<E, Real> moving_answers_along(const instance<E, Real>& x, const vec<Real, E::n>& y,
                                                       const vec<Real, E::n>& rate, int j) {
  moving_answers<E, Real> r;
  r.held = E::form::template lift_held<Real, 1>(x.constants, j);
  for (int i = 0; i < E::model_states; ++i) {
    const int at = E::form::rate_index(i, j);
    r.rate_of_state[i] = x.y[at] + y[at];
    r.rate_of_slope[i] = x.f[at] + rate[at];
  }
  return r;
}

/// The direction of a gradient, in which all of its parameters and all states move, at rates that do not cancel.
template <class E, class Real>
SALTUS_FN moving_answers<E, Real> moving_answers_of_gradient(const instance<E, Real>& x,
                                                             const abi::settings& settings) {
  using form = typename E::form;
  moving_answers<E, Real> r;
  Real rate(1.0);
  const auto next = [&]() SALTUS_INLINE_LAMBDA { return rate = fma(rate, Real(1.0625), Real(0.3)); };
  for (int j = 0; j < form::params; ++j) r.held.p[j] = dual<Real>(x.constants.p[j]);
  for (int j = 0; j < settings.gradient_count; ++j)
    if (settings.gradient_of[j] >= 0) r.held.p[settings.gradient_of[j]].d[0] = next();
  for (int i = 0; i < form::discretes; ++i) r.held.d[i] = dual<Real>(x.constants.d[i], next());
  for (int i = 0; i < E::ng; ++i) r.held.guard_values[i] = dual<Real>(x.constants.guard_values[i]);
  for (int i = 0; i < form::piece_numbers; ++i) r.held.pieces[i] = dual<Real>(x.constants.pieces[i]);
  for (int i = 0; i < E::model_states; ++i) r.rate_of_state[i] = next(), r.rate_of_slope[i] = next();
  return r;
}

/// True where a number that changes with time jumps over a step of length h: by less or more than both of its rates explain, with their
/// difference and a hundredth of them to spare.
template <class Real>
SALTUS_FN mask_of<Real> jumps_over(Real h, Real begin, Real rate_at_begin, Real end, Real rate_at_end) {
  constexpr double spare = 0.01, rounding = 64.0 * limits<scalar_of<Real>>::epsilon;
  const Real a = h * rate_at_begin, b = h * rate_at_end;
  const Real most = abs(b - a) + fma(Real(spare), abs(a) + abs(b), Real(rounding) * (abs(begin) + abs(end)));
  const Real change = end - begin;
  return (change > max(a, b) + most) | (change < min(a, b) - most);
}

/// The lanes in which an integrated output jumps in a step to (t, y).
template <class E, class Real>
SALTUS_FN mask_of<Real> outputs_jump(const instance<E, Real>& x, Real t, const vec<Real, E::n>& y,
                                     const vec<Real, E::n>& rate, const tolerances<E, Real>& tol) {
  const auto a = E::form::outputs_along(x.t, x.y, x.f, x.constants),
             b = E::form::outputs_along(t, y, rate, x.constants);
  auto jumps = mask_of<Real>::all(false);
  for (int i = 0; i < E::form::outputs; ++i)
    if (E::integrates_output(i))
      jumps = jumps | (jumps_over(t - x.t, a.value[i], a.rate[i], b.value[i], b.rate[i]) &
                       (abs(b.value[i] - a.value[i]) > tol.rtol * max(abs(a.value[i]), abs(b.value[i]))));
  return jumps;
}

/// The lanes in which the time derivative of a state jumps in a step to (t, y), by enough to matter over the whole run.
template <class E, class Real>
SALTUS_FN mask_of<Real> rates_jump(const instance<E, Real>& x, Real t, const vec<Real, E::n>& y,
                                   const vec<Real, E::n>& rate, const tolerances<E, Real>& tol) {
  const step_system<E, Real> system{x.constants, &tol};
  const auto begin = with_two_rates(system, x.t, x.y, x.f), end = with_two_rates(system, t, y, rate);
  const Real span = x.t_end - x.t_begin;
  auto jumps = mask_of<Real>::all(false);
  for (int i = 0; i < E::model_states; ++i) {
    if (E::form::index(i) != 0) continue;
    const auto a = begin[i].d[0], b = end[i].d[0];
    jumps = jumps | (jumps_over(t - x.t, a.value, a.d[0], b.value, b.d[0]) &
                     (abs(b.value - a.value) * span > fma(tol.rtol, abs(y[i]), tol.atol[i])));
  }
  return jumps;
}

}  // namespace detail

/// Marks the derivatives of lanes of `where` whose step to (t, y) crosses such a jump.
template <class E, class Real, class Run>
SALTUS_FN_COLD void look_at_crossed(instance<E, Real>& x, Real t, const vec<Real, E::n>& y, const vec<Real, E::n>& rate,
                                    mask_of<Real> where, const tolerances<E, Real>& tol,
                                    [[maybe_unused]] const Run& run) {
  auto jumps = mask_of<Real>::all(false);
  if constexpr (notes_answers<E>) jumps = where & detail::rates_jump(x, t, y, rate, tol);
  if constexpr (integrates_jumps<E>) jumps = jumps | (where & detail::outputs_jump(x, t, y, rate, tol));
  if (!any(jumps)) return;
  auto moves = mask_of<Real>::all(false);
  const auto look = [&](const detail::moving_answers<E, Real>& answers) {
    moves = moves | differ(answers.at(x.t, x.y, x.f), answers.at(t, y, rate));
  };
  if constexpr (E::gradient) look(detail::moving_answers_of_gradient(x, run.settings));
  else
    for (int j = 0; j < E::directions; ++j) look(detail::moving_answers_along(x, y, rate, j));
  undefine(x, jumps & moves, sensitivity::jump);
}

/// Looks at a step to (t, y) before it is accepted. One that ends at an event is no exception: where its end lies beyond a condition of the
/// right-hand side, the slopes before the event are not those at its end, and where it does not, the next step crosses the condition.
template <class E, class Real, class Run>
SALTUS_FN void look_for_unguarded_jumps(instance<E, Real>& x, Real t, const vec<Real, E::n>& y,
                                        const vec<Real, E::n>& rate, mask_of<Real> where,
                                        const tolerances<E, Real>& tol, const Run& run) {
  if constexpr (watches_jumps<E>) {
    auto crosses = mask_of<Real>::all(false);
    if constexpr (notes_answers<E>) crosses = differ(answers_at(x, x.t, x.y, x.f), answers_at(x, t, y, rate));
    if constexpr (integrates_jumps<E> && !E::form::integrates_outputs)
      crosses = crosses | differ(answers_of_outputs(x, x.t, x.y), answers_of_outputs(x, t, y));
    crosses = where & crosses;
    if (any(crosses)) look_at_crossed(x, t, y, rate, crosses, tol, run);
  }
}

}  // namespace saltus
