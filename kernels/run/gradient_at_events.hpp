// The adjoint of an event: that of event/derivatives_at_events.hpp. With lambda+ and mu+ the derivatives of J by the states and discrete
// variables after the event, at a fixed time, and phi all transitions and modes at that time,
//
//     a = (lambda+, mu+) (phi_y f- + phi_t) - lambda+ f+,     r = a / (g_t + g_y f-)
//     lambda- = phi_y^T (lambda+, mu+) - r g_y^T,     mu- = phi_d^T (lambda+, mu+) - r g_d^T
//     dJ/dp gains phi_p^T (lambda+, mu+) - r g_p
//
// (H. Zhang, S. Abhyankar, E. Constantinescu, M. Anitescu, IEEE Trans. Circuits Syst. I 64 (2017) 1247). The rows of an event are passed
// from the last to the first, each by a sweep of a tape over one call of the model. For a time event, a is the derivative by its time,
// and goes on to the point at which that time was computed: the departure before.
//
// The sweep does not know how the state depends on the parameters. Two times move together for certain if they have the same derivatives
// by the state and by the parameters.
#pragma once

#include "event/carried.hpp"
#include "number/taped.hpp"
#include "run/trajectory.hpp"

namespace saltus {

/// The derivatives of J by the state of an instance at a point of its trajectory. Those by the parameters are the part that the event adds.
template <class E>
struct adjoints {
  using Real = pack<double, 1>;
  vec<Real, E::n> y;
  vec<Real, E::form::discretes> d;
  vec<Real, E::form::params> p;
  Real t;                                     ///< the time of the event
  vec<Real, E::form::time_events> next_time;  ///< of each time event
  // To be judged where the next times were computed:
  vec<Real, E::form::time_events> watched;  ///< a saltus::sensitivity: the reason if it moves apart from the others
  bool must_stay;                           ///< or if it moves at all
};

/// Passes the rows of events of one instance at a time, backward.
template <class E>
class adjoint_at_events {
  using Real = pack<double, 1>;
  using number = taped<Real>;
  using form = typename E::form;
  using Model = typename E::Model;
  using row = trajectory_row<E>;
  static constexpr int n = E::n, model_states = E::model_states;

 public:
  /// The inputs of an instance.
  struct inputs {
    vec<Real, form::params> p;
    given_values<Real, model_states, form::discretes> given;
    Real t_begin;
  };

  /// Passes a row of an event. Returns why there is no gradient.
  sensitivity pass(const double* at, const inputs& of, const abi::settings& settings, adjoints<E>& a) {
    settings_ = &settings;
    load(at, of);
    switch (static_cast<row_kind>(static_cast<int>(-at[1]))) {
      case row_kind::entry: return enter(at, sensitivity::defined, a);
      case row_kind::entry_at_end: return enter(at, sensitivity::at_end, a);
      case row_kind::entry_at_datum: return enter(at, sensitivity::at_datum, a);
      case row_kind::entry_at_knot: return enter(at, sensitivity::order, a);
      case row_kind::transition: return call(at, true, of, a);
      case row_kind::mode: return call(at, false, of, a);
      case row_kind::departure: return depart(a);
      case row_kind::start: return begin(at, of, a);
      case row_kind::field: f_ = point(); return sensitivity::defined;
    }
    return sensitivity::not_finite;
  }

 private:
  // ---- derivatives of one number by everything at a point

  struct derivatives {
    vec<Real, n> y;
    vec<Real, form::discretes> d;
    vec<Real, form::params> p;
    Real t;

    /// body(derivative) for all by which a time may move: `settings` has the requested parameters.
    template <class Body>
    void each_that_counts(const abi::settings& settings, Body&& body) const {
      for (int i = 0; i < n; ++i) body(y[i].v);
      for (int i = 0; i < form::discretes; ++i) body(d[i].v);
      for (int j = 0; j < settings.gradient_count; ++j)
        if (settings.gradient_of[j] >= 0) body(p[settings.gradient_of[j]].v);
    }
  };

  /// Loads the point of a row, whose numbers are inputs of the tape.
  void load(const double* at, const inputs& of) {
    tape_.rewind(0);
    const auto input = [&](double x) { return number::input(tape_, Real(x)); };
    t_ = input(at[0]);
    for (int i = 0; i < n; ++i) y_[i] = input(at[2 + i]);
    for (int j = 0; j < form::params; ++j) held_.p[j] = input(of.p[j].v);
    for (int i = 0; i < form::discretes; ++i) held_.d[i] = input(at[row::discretes + i]);
    for (int i = 0; i < form::piece_numbers; ++i) held_.pieces[i] = number(Real(at[row::pieces + i]));
    for (int i = 0; i < E::ng; ++i) held_.guard_values[i] = number(Real(at[row::guards + i]));
    for (int j = 0; j < form::params; ++j) constants_.p[j] = held_.p[j].value;
    for (int i = 0; i < form::discretes; ++i) constants_.d[i] = held_.d[i].value;
    for (int i = 0; i < form::piece_numbers; ++i) constants_.pieces[i] = held_.pieces[i].value;
    for (int i = 0; i < E::ng; ++i) constants_.guard_values[i] = held_.guard_values[i].value;
  }
  static bool is_due(const double* at, int item) { return at[row::due + item] > 0.5; }
  static bool is_time_event_due(const double* at, int i) { return is_due(at, E::ng + i); }

  static void weigh(const number& result, Real weight) {
    if (result.on != nullptr) result.adjoint() += weight;
  }
  /// Sweeps the tape, and takes the adjoints of its inputs.
  derivatives sweep() {
    tape_.template sweep<true>(tape_.size(), 0);
    derivatives r;
    const auto take = [](const number& input) {
      const Real is = input.adjoint();
      input.adjoint() = Real(0.0);
      return is;
    };
    r.t = take(t_);
    for (int i = 0; i < n; ++i) r.y[i] = take(y_[i]);
    for (int j = 0; j < form::params; ++j) r.p[j] = take(held_.p[j]);
    for (int i = 0; i < form::discretes; ++i) r.d[i] = take(held_.d[i]);
    return r;
  }
  derivatives of(const number& result, Real weight) {
    weigh(result, weight);
    return sweep();
  }
  static void add(const derivatives& by, adjoints<E>& a) {
    for (int i = 0; i < n; ++i) a.y[i] += by.y[i];
    for (int i = 0; i < form::discretes; ++i) a.d[i] += by.d[i];
    for (int j = 0; j < form::params; ++j) a.p[j] += by.p[j];
  }

  /// True if a time with these derivatives moves.
  bool moves(const derivatives& by) const {
    bool r = false;
    by.each_that_counts(*settings_, [&](double x) { r = r || x != 0.0; });
    return r;
  }
  /// True if two times with these derivatives move together.
  bool move_together(const derivatives& a, const derivatives& b) const {
    double list[n + form::discretes + form::params + 1];
    int count = 0;
    double largest = 0.0;
    a.each_that_counts(*settings_, [&](double x) {
      list[count++] = x;
      largest = x > largest ? x : -x > largest ? -x : largest;
    });
    count = 0;
    bool r = true;
    b.each_that_counts(*settings_, [&](double x) {
      const double apart = x - list[count++];
      r = r && apart <= 1e-12 * largest && -apart <= 1e-12 * largest;
    });
    return r;
  }

  Real along_field(const adjoints<E>& a, const vec<Real, n>& f) const {
    Real r(0.0);
    for (int i = 0; i < n; ++i) r = fma(a.y[i], f[i], r);
    return r;
  }
  vec<Real, n> point() const {
    vec<Real, n> y;
    for (int i = 0; i < n; ++i) y[i] = y_[i].value;
    return y;
  }

  // ---- the rows

  /// After the event: from derivatives at a fixed time to those along with it, and to the next times of time events, which were computed
  /// there.
  sensitivity depart(adjoints<E>& a) {
    a.t -= along_field(a, form::rhs(t_.value, point(), constants_));
    return compute_next_times(a);
  }

  sensitivity compute_next_times(adjoints<E>& a) {
    auto reason = sensitivity::defined;
    if constexpr (form::time_events > 0) {
      typename number::mask_type sound;
      const auto next = form::next_time_events(t_, y_, held_, sound, vec<number, form::records>{});
      reason = judge_watched(next, a);
      for (int i = 0; i < form::time_events; ++i) {
        weigh(next[i], a.next_time[i]);
        a.next_time[i] = Real(0.0);
      }
      const auto by = sweep();
      add(by, a);
      a.t += by.t;
    }
    return reason;
  }
  /// The reason why there is no gradient if time events move that were due together with others, or at the end.
  template <class Times>
  sensitivity judge_watched(const Times& next, adjoints<E>& a) {
    auto reason = sensitivity::defined;
    derivatives first;
    bool any = false;
    for (int i = 0; i < form::time_events; ++i) {
      const auto why = static_cast<sensitivity>(static_cast<int>(a.watched[i].v));
      a.watched[i].v = 0.0;
      if (why == sensitivity::defined) continue;
      const auto by = of(next[i], Real(1.0));
      const bool follows = by.t.v != 0.0;  // the time of the event at which it was computed
      const bool apart = (a.must_stay && (follows || moves(by))) || (any && (follows || !move_together(first, by)));
      if (apart) reason = why;
      if (!any) first = by;
      any = true;
    }
    return reason;
  }

  /// A call of `transition`, or of `mode`.
  sensitivity call(const double* at, bool is_transition, const inputs& of, adjoints<E>& a) {
    auto y = form::model_part(y_);
    auto d = held_.d;
    event<Model, number> now{form::model_time(t_), y, held_.p, d, held_.pieces.data, {}, {}};
    due_events<E, Real> due;
    for (int i = 0; i < E::ng; ++i) due.guard[i] = Real(is_due(at, i) ? 1.0 : 0.0);
    for (int i = 0; i < form::time_events; ++i) due.time_event[i] = Real(is_time_event_due(at, i) ? 1.0 : 0.0);
    tell_due<E>(now, 0, constants_.guard_values, is_transition ? &due : nullptr);
    const Real latest = t_.value + rounding_of_time(t_.value, of.t_begin);
    call_with_items(now, number(latest), [&](auto& point) {
      if constexpr (form::kinds::has_transition)
        if (is_transition) Model::transition(point);
      if constexpr (form::kinds::has_mode)
        if (!is_transition) Model::mode(point);
    });
    now.end();
    for (int i = 0; i < n; ++i) weigh(i < model_states ? y[i < model_states ? i : 0] : y_[i], a.y[i]);
    for (int i = 0; i < form::discretes; ++i) weigh(d[i], a.d[i]);
    const auto by = sweep();
    a.y = by.y, a.d = by.d;
    for (int j = 0; j < form::params; ++j) a.p[j] += by.p[j];
    a.t += by.t;
    return sensitivity::defined;
  }

  /// Before the event: the derivative by its time goes to the guard that determines it, else to the first time event. `special` tells of the
  /// end of the span and of a datum, where a time event must stay, and of a knot (`order`), where all times must.
  sensitivity enter(const double* at, sensitivity special, adjoints<E>& a) {
    const Real of_time = a.t + along_field(a, f_);
    a.t = Real(0.0);
    if (special == sensitivity::order) {
      watch_time_events(at, special, true, a);
      return sensitivity::defined;
    }
    const auto guards = through_guards(at, of_time, a);
    const int time_events = watch_time_events(at, special, guards.count > 0, a);
    if (guards.count == 0) hand_to_time_event(at, of_time, a);
    return guards.apart || (time_events > 0 && guards.move) ? sensitivity::order : sensitivity::defined;
  }
  struct due_guards_report {
    int count = 0;
    bool apart = false, move = false;  ///< their times move apart; the first one's moves
  };
  due_guards_report through_guards([[maybe_unused]] const double* at, [[maybe_unused]] Real of_time,
                                   [[maybe_unused]] adjoints<E>& a) {
    due_guards_report r;
    if constexpr (E::ng > 0) {
      const auto g = form::guard_values(t_, y_, held_);
      const auto rate = form::guards_along(t_.value, point(), f_, constants_).rate;
      derivatives first;
      for (int i = 0; i < E::ng; ++i) {
        if (!is_due(at, i)) continue;
        const auto by = of(g[i], Real(-1.0) / rate[i]);
        if (r.count++ == 0) {
          first = by;
          r.move = moves(by);
          add(of(g[i], -of_time / rate[i]), a);
        } else {
          r.apart = r.apart || !move_together(first, by);
        }
      }
    }
    return r;
  }
  void hand_to_time_event(const double* at, Real of_time, adjoints<E>& a) {
    for (int i = 0; i < form::time_events; ++i)
      if (is_time_event_due(at, i)) {
        a.next_time[i] += of_time;
        return;
      }
  }
  /// Notes the due time events whose times must not move apart, or not at all. Returns their number.
  int watch_time_events(const double* at, sensitivity special, bool must_stay, adjoints<E>& a) {
    int count = 0;
    for (int i = 0; i < form::time_events; ++i) count += is_time_event_due(at, i);
    a.must_stay = must_stay || special == sensitivity::at_end || special == sensitivity::at_datum;
    const auto why = special == sensitivity::defined ? sensitivity::order : special;
    for (int i = 0; i < form::time_events; ++i)
      if (is_time_event_due(at, i) && (count > 1 || a.must_stay))
        a.watched[i] = Real(static_cast<double>(static_cast<int>(why)));
    return count;
  }

  /// The start: the first times of time events, and guards at zero, which must not move.
  sensitivity begin(const double* at, const inputs& given, adjoints<E>& a) {
    const auto reason = compute_next_times(a);
    bool any = false;
    for (int i = 0; i < E::ng; ++i) any = any || is_due(at, i);
    if constexpr (E::ng > 0)
      if (any && guards_move(at, given)) return sensitivity::at_start;
    return reason;
  }
  bool guards_move(const double* at, const inputs& of) {
    load(at, of);
    given_values<number, model_states, form::discretes> given;
    vec<number, model_states> y;
    for (int i = 0; i < model_states; ++i) given.y[i] = number::input(tape_, of.given.y[i]);
    for (int i = 0; i < form::discretes; ++i) {
      given.d[i] = number(of.given.d[i]);
      held_.d[i] = number(default_discrete<Model>(i));
    }
    set_initial<form>(form::model_time(number(t_.value)), y, held_.p, held_.d, held_.pieces.data, given);
    for (int i = 0; i < form::discretes; ++i) held_.d[i].value = Real(at[row::discretes + i]);
    const auto g = form::model_form::guard_values(number(t_.value), y, held_);
    bool r = false;
    for (int i = 0; i < E::ng; ++i) {
      if (!is_due(at, i) || g[i].on == nullptr) continue;
      g[i].adjoint() += Real(1.0);
      tape_.template sweep<true>(tape_.size(), 0);
      for (int j = 0; j < settings_->gradient_count; ++j) {
        const int by = settings_->gradient_of[j];
        const number& input = by >= 0 ? held_.p[by >= 0 ? by : 0] : given.y[by >= 0 ? 0 : -1 - by];
        r = r || input.adjoint().v != 0.0;
      }
      for (int k = 0; k < model_states; ++k) given.y[k].adjoint() = Real(0.0);
      for (int j = 0; j < form::params; ++j) held_.p[j].adjoint() = Real(0.0);
    }
    return r;
  }

  tape<Real> tape_;
  number t_;
  vec<number, n> y_;
  typename form::template step_constants<number> held_;
  typename form::template step_constants<Real> constants_;  ///< their values
  vec<Real, n> f_;                                          ///< at the entry of the event
  const abi::settings* settings_ = nullptr;
};

}  // namespace saltus
