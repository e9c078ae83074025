// The model's functions for one instance at an event: `transition` and `mode`, of one lane.
#pragma once

#include "engine/history.hpp"
#include "event/derivatives_at_events.hpp"
#include "event/restart.hpp"
#include "model/views.hpp"

namespace saltus {

/// Ends one lane with a terminal status.
template <class E, class T, int W>
SALTUS_FN void end_lane(instance<E, pack<T, W>>& x, int lane, status why) {
  if (x.status.get(lane) == static_cast<integer_of<T>>(status::interrupted))
    x.status.set(lane, static_cast<integer_of<T>>(why));
}

/// Tells an event which guards and time events are due, if any, and the guards' values.
template <class E, class Event, class T, int W>
SALTUS_FN void tell_due(Event& now, int lane, const vec<pack<T, W>, E::ng>& g, const due_events<E, pack<T, W>>* due) {
  using Number = pack<T, 1>;
  for (int i = 0; i < E::form::model_guards; ++i) {
    now.g[i] = Number::from(g[i].get(lane));
    now.fired[i] = Number::from(due ? due->guard[i].get(lane) : T(0.0));
  }
  for (int i = 0; i < E::form::time_events; ++i)
    now.fired[E::form::model_guards + i] = Number::from(due ? due->time_event[i].get(lane) : T(0.0));
  now.may_schedule = due != nullptr;
}

/// Calls the model's function `call(now)` at the event. Items of scheduled time events up to `latest` are due.
template <class Event, class Real, class Call>
SALTUS_FN void call_with_items(Event& now, [[maybe_unused]] Real latest, Call&& call) {
  now.begin();
  if constexpr (Event::kinds::schedules) now.take_items(latest);
  call(now);
  if constexpr (Event::kinds::schedules) now.drop_items();
}

/// The same for an instance. `rules` receives the states that the function has written.
template <class E, class Event, class T, int W, class Call>
SALTUS_FN void call_at(Event& now, instance<E, pack<T, W>>& x, int lane,
                       [[maybe_unused]] point_rules<E, pack<T, W>>* rules, Call&& call) {
  call_with_items(now, pack<T, 1>::from(together_with(x, x.t).get(lane)), call);
  if constexpr (E::form::kinds::schedules) end_lane<E>(x, lane, fault_of_queues<typename E::Model>(now.modes));
  now.end();
  if constexpr (E::form::keeps_written)
    if (rules != nullptr)
      for (int i = 0; i < E::model_states; ++i) rules->written[i].set(lane, T(now.states.is_written(i) ? 1.0 : 0.0));
  if constexpr (detail::is_mechanical<typename E::Model>)
    if (now.no_impulses) end_lane<E>(x, lane, status::no_impulses);
  if constexpr (E::directions > 0)
    if (now.is_undecided && x.constants.undefined.get(lane) == T(0.0))
      x.constants.undefined.set(lane, static_cast<T>(sensitivity::order));
}

/// with_event over dual numbers: the model's results for t, y, parameters and discrete variables carry their derivatives.
template <class E, class T, int W, class Call>
SALTUS_FN bool with_event_and_derivatives(instance<E, pack<T, W>>& x, int lane, const vec<pack<T, W>, E::ng>& g,
                                          const due_events<E, pack<T, W>>* due, Call&& call,
                                          point_rules<E, pack<T, W>>* rules) {
  using form = typename E::form;
  using Scalar = pack<T, 1>;
  using Lifted = typename form::template lifted<Scalar>;
  const auto one = [&](const pack<T, W>& of) SALTUS_INLINE_LAMBDA { return Scalar::from(of.get(lane)); };
  vec<Scalar, form::params> p;
  vec<Lifted, E::model_states> y;
  vec<Lifted, form::discretes> d;
  for (int i = 0; i < form::params; ++i) p[i] = one(x.constants.p[i]);
  for (int i = 0; i < E::model_states; ++i)
    y[i] = form::with_rates(one(x.y[i]), [&](int j) SALTUS_INLINE_LAMBDA { return one(x.y[form::rate_index(i, j)]); });
  for (int i = 0; i < form::discretes; ++i)
    d[i] = form::with_rates(one(x.constants.d[i]), [&](int j) SALTUS_INLINE_LAMBDA {
      return one(x.constants.discrete_rates[form::discretes * j + i]);
    });
  const auto t = form::with_rates(one(x.t), [&](int j) SALTUS_INLINE_LAMBDA { return one(x.constants.event_time[j]); });
  const auto lifted_p = form::template lift_parameters<Scalar>(p);
  vec<Lifted, form::piece_numbers> pieces;
  for (int i = 0; i < form::piece_numbers; ++i) pieces[i] = Lifted(one(x.constants.pieces[i]));
  event<typename E::Model, Lifted> now{form::model_time(t), y, lifted_p, d, pieces.data, {}, {}};
  tell_due<E>(now, lane, g, due);
  call_at(now, x, lane, rules, call);
  for (int i = 0; i < E::model_states; ++i) {
    x.y[i].set(lane, y[i].value.v);
    for (int j = 0; j < E::directions; ++j) x.y[form::rate_index(i, j)].set(lane, y[i].d[j].v);
  }
  for (int i = 0; i < form::discretes; ++i) {
    x.constants.d[i].set(lane, d[i].value.v);
    for (int j = 0; j < E::directions; ++j) x.constants.discrete_rates[form::discretes * j + i].set(lane, d[i].d[j].v);
  }
  return now.stopped;
}

/// Calls `call(now)` with one lane of x as the model's functions for one instance see it, with guard values g and the due guards and time
/// events, if any. Returns true if the model stopped the instance. `rules` records which states it has written.
template <class E, class T, int W, class Call>
requires(E::directions > 0) SALTUS_FN
    bool with_event(instance<E, pack<T, W>>& x, int lane, const vec<pack<T, W>, E::ng>& g,
                    const due_events<E, pack<T, W>>* due, Call&& call, point_rules<E, pack<T, W>>* rules = nullptr) {
  return with_event_and_derivatives<E>(x, lane, g, due, call, rules);
}
template <class E, class T, int W, class Call>
SALTUS_FN bool with_event(instance<E, pack<T, W>>& x, int lane, const vec<pack<T, W>, E::ng>& g,
                          const due_events<E, pack<T, W>>* due, Call&& call,
                          point_rules<E, pack<T, W>>* rules = nullptr) {
  using form = typename E::form;
  using Scalar = pack<T, 1>;
  vec<Scalar, E::model_states> y;
  vec<Scalar, form::params> p;
  vec<Scalar, form::discretes> d;
  each<E::model_states>([&](int i) SALTUS_INLINE_LAMBDA { y[i].v = x.y[i].get(lane); });
  each<form::params>([&](int i) SALTUS_INLINE_LAMBDA { p[i].v = x.constants.p[i].get(lane); });
  each<form::discretes>([&](int i) SALTUS_INLINE_LAMBDA { d[i].v = x.constants.d[i].get(lane); });
  vec<Scalar, form::piece_numbers> pieces;
  each<form::piece_numbers>([&](int i) SALTUS_INLINE_LAMBDA { pieces[i].v = x.constants.pieces[i].get(lane); });
  event<typename E::Model, Scalar> now{form::model_time(Scalar::from(x.t.get(lane))), y, p, d, pieces.data, {}, {}};
  [[maybe_unused]] detail::past_of<typename E::Model, Scalar> past;
  if constexpr (has_delays<E>) {
    past = x.constants.past_states.of_lane(lane);
    now.past = {&past};
  }
  tell_due<E>(now, lane, g, due);
  call_at(now, x, lane, rules, call);
  each<E::model_states>([&](int i) SALTUS_INLINE_LAMBDA { x.y[i].set(lane, y[i].v); });
  each<form::discretes>([&](int i) SALTUS_INLINE_LAMBDA { x.constants.d[i].set(lane, d[i].v); });
  return now.stopped;
}

/// One lane's transition for the due guards and time events: ordinary scalar code of the model.
template <class E, class T, int W>
SALTUS_FN_COLD void transition_of(instance<E, pack<T, W>>& x, int lane, const vec<pack<T, W>, E::ng>& g,
                                  const due_events<E, pack<T, W>>& due, point_rules<E, pack<T, W>>& rules,
                                  const tolerances<E, pack<T, W>>& tol) {
  using form = typename E::form;
  bool ends = with_event<E>(
      x, lane, g, &due,
      [&](auto& now) SALTUS_INLINE_LAMBDA {
        if constexpr (form::records > 0) tell_due_rows(now, x, lane, due, tol.records);
        if constexpr (form::kinds::has_transition) E::Model::transition(now);
      },
      &rules);
  for (int i = 0; i < form::model_guards; ++i)
    ends = ends || (due.guard[i].get(lane) > T(0.5) && form::traits(i).terminal);
  if (ends) end_lane<E>(x, lane, status::stopped);
}

}  // namespace saltus
