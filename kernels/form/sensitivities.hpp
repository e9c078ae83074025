// Sensitivities: a form whose instances carry, behind the states y, the derivatives S = dy/dp with respect to some parameters and initial
// values. They obey
//
//     dS/dt = f_y S + f_p,
//
// which is f over dual numbers with a direction for each, in the same stages as the states. event/derivatives_at_events.hpp has the effect of events
// on them; otherwise only the results (samples, reductions, final values) use them. With implicit methods their step is the differentiated
// step of the states (method/step_derivatives.hpp), and the constraints determine the derivatives of algebraic states.
#pragma once

#include "form/consistent/derive_consistent.hpp"
#include "form/invariants.hpp"
#include "form/states_behind.hpp"

namespace saltus {

/// Directions in which the right-hand side of a larger model is differentiated at once: numbers with more derivatives leave the registers.
inline constexpr int directions_at_once = 4;
/// States and parameters, with their derivatives, up to which a right-hand side is inlined into the stages of a step. Beyond that a call costs
/// less than one per cent, and inlined copies take two to fifteen times as long to compile.
inline constexpr int most_inlined_numbers = 64;

/// `Of` lists the directions: parameter j is number j, the initial value of state i is -1 - i. `InError`: their errors count in step-size
/// control.
template <class Base, bool InError, int... Of>
struct sensitivities : states_behind<Base, Base::states* static_cast<int>(sizeof...(Of))> {
  using behind = states_behind<Base, Base::states* static_cast<int>(sizeof...(Of))>;
  static_assert(!finds_series<Base> && !chooses_start<Base> && (Base::has_field || moves_states<Base>),
                "sensitivities are those of all equations but those of any order");
  static constexpr int directions = sizeof...(Of);
  static constexpr bool keeps_derivatives = true;
  using behind::model_part;
  using behind::model_states;
  using behind::states;  ///< y, and then S direction by direction
  static constexpr int judged = InError ? states : model_states;
  /// Constraints move the states of a field, as of a mechanical system, which derives its moves itself.
  static constexpr bool moves_with_field = Base::has_field && moves_states<Base>;
  using Base::discretes;
  using Base::guards;
  using Base::model_guards;
  using Base::outputs;
  using Base::params;
  using Base::piece_numbers;
  using Base::time_events;
  template <class Real, int N>
  using rated = typename Base::template rated<Real, N>;

  /// Where the derivative of state i in direction j is.
  SALTUS_FN static constexpr int rate_index(int i, int j) { return model_states * (1 + j) + i; }
  /// True if direction j is that of parameter i, or of the initial value of state i.
  SALTUS_FN static constexpr bool is_of_parameter(int j, int i) { return of(j) == i; }
  SALTUS_FN static constexpr bool is_of_initial(int j, int i) { return of(j) == -1 - i; }

  template <class Real>
  struct step_constants : Base::template step_constants<Real> {
    vec<Real, discretes * directions> discrete_rates;  ///< of the discrete variables, which events may set from states
    vec<Real, directions> event_time;                  ///< of the time of the current event, or of the end
    vec<Real, time_events * directions> next_time_events;  ///< of the next times of time events
    Real jumped_at;  ///< time of the last event whose time depends on the directions
    Real undefined;  ///< saltus::sensitivity
  };

  template <class A, class B, class F>
  SALTUS_FN static constexpr void each_memory(A& a, B& b, F&& body) {
    Base::each_memory(a, b, body);
    each<discretes * directions>([&](int i) SALTUS_INLINE_LAMBDA { body(a.discrete_rates[i], b.discrete_rates[i]); });
    each<directions>([&](int j) SALTUS_INLINE_LAMBDA { body(a.event_time[j], b.event_time[j]); });
    each<time_events * directions>([&](int i)
                                       SALTUS_INLINE_LAMBDA { body(a.next_time_events[i], b.next_time_events[i]); });
    body(a.jumped_at, b.jumped_at);
    body(a.undefined, b.undefined);
  }
  template <class Real>
  SALTUS_FN static consistency<Real> constraint_residual(Real t, const vec<Real, states>& y,
                                                         const step_constants<Real>& c) requires(moves_with_field) {
    return Base::constraint_residual(t, model_part(y), c);
  }

  // ---- with their derivatives

  template <class Value, int width = directions>
  using lifted = dual<Value, width>;
  /// Value with the derivatives rate(j).
  template <int width = directions, class Value, class Rate>
  SALTUS_FN static lifted<Value, width> with_rates(Value value, Rate&& rate) {
    lifted<Value, width> r(value);
    each<width>([&](int j) SALTUS_INLINE_LAMBDA { r.d[j] = rate(j); });
    return r;
  }

  template <class Value>
  SALTUS_FN static lifted<Value> lift_state(const vec<Value, states>& y, int i) {
    return with_rates(y[i], [&](int j) SALTUS_INLINE_LAMBDA { return y[rate_index(i, j)]; });
  }
  template <class Value>
  SALTUS_FN static vec<lifted<Value>, model_states> lift(const vec<Value, states>& y) {
    vec<lifted<Value>, model_states> r;
    each<model_states>([&](int i) SALTUS_INLINE_LAMBDA { r[i] = lift_state(y, i); });
    return r;
  }
  template <class Value>
  SALTUS_FN static void put_down_state(const lifted<Value>& one, int i, vec<Value, states>& y) {
    y[i] = one.value;
    each<directions>([&](int j) SALTUS_INLINE_LAMBDA { y[rate_index(i, j)] = one.d[j]; });
  }
  template <class Value>
  SALTUS_FN static vec<Value, states> put_down(const vec<lifted<Value>, model_states>& y) {
    vec<Value, states> r;
    each<model_states>([&](int i) SALTUS_INLINE_LAMBDA { put_down_state(y[i], i, r); });
    return r;
  }

  /// Parameters, each with the derivative 1 in its own direction. `width` directions from `first` on are taken.
  template <class Value, int width = directions, class Real>
  SALTUS_FN static vec<lifted<Value, width>, params> lift_parameters(const vec<Real, params>& p, int first = 0) {
    vec<lifted<Value, width>, params> r;
    each<params>([&](int i) SALTUS_INLINE_LAMBDA {
      r[i] = with_rates<width>(
          Value(p[i]), [&](int j) SALTUS_INLINE_LAMBDA { return Value(is_of_parameter(first + j, i) ? 1.0 : 0.0); });
    });
    return r;
  }
  template <class Value, int width = directions, class Real>
  SALTUS_FN static typename Base::template step_constants<lifted<Value, width>> lift_held(const step_constants<Real>& c,
                                                                                          int first = 0) {
    using number = lifted<Value, width>;
    typename Base::template step_constants<number> r;
    r.p = lift_parameters<Value, width>(c.p, first);
    each<discretes>([&](int i) SALTUS_INLINE_LAMBDA {
      r.d[i] = with_rates<width>(Value(c.d[i]), [&](int j) SALTUS_INLINE_LAMBDA {
        return Value(c.discrete_rates[discretes * (first + j) + i]);
      });
    });
    each<guards>([&](int i) SALTUS_INLINE_LAMBDA { r.guard_values[i] = number(Value(c.guard_values[i])); });
    each<piece_numbers>([&](int i) SALTUS_INLINE_LAMBDA { r.pieces[i] = number(Value(c.pieces[i])); });
    Base::each_memory(r, c, [](auto& to, const auto& from) SALTUS_INLINE_LAMBDA { to = number(Value(from)); });
    return r;
  }

  /// f, and f_y S + f_p.
  template <class Value, class Real>
  SALTUS_FN static vec<Value, states> rhs(Value t, const vec<Value, states>& y, const step_constants<Real>& c) {
    if constexpr ((model_states + params) * (1 + directions) <= most_inlined_numbers) {
      return put_down<Value>(Base::rhs(lifted<Value>(t), lift(y), lift_held<Value>(c)));
    } else {
      vec<Value, states> r;
      constexpr int parts = (directions + directions_at_once - 1) / directions_at_once;
      static_for<parts>([&](auto part) SALTUS_INLINE_LAMBDA {
        constexpr int first = part * directions_at_once, rest = directions - first;
        rhs_in<first, (rest < directions_at_once ? rest : directions_at_once)>(t, y, c, r);
      });
      return r;
    }
  }

  /// The equations of the model over numbers with derivatives in `width` directions (linear/system.hpp).
  template <class Real, int width = directions>
  struct lifted_system {
    static constexpr auto kind = Base::equations;
    static constexpr int highest_index = Base::highest_index;
    typename Base::template step_constants<lifted<Real, width>> c;

    SALTUS_FN static constexpr int index(int i) { return Base::index(i); }
    static constexpr int widest_sweep = Base::widest_sweep;
    static constexpr int colours = Base::colours;
    SALTUS_FN static constexpr int colour(int j) { return Base::colour(j); }
    SALTUS_FN static constexpr bool entry(int i, int j) { return Base::entry(i, j); }
    template <class Value>
    SALTUS_FN vec<Value, model_states> rhs(Value t, const vec<Value, model_states>& y) const {
      return Base::rhs(t, y, c);
    }
    template <class Value>
    SALTUS_FN vec<Value, model_states> residual(Value t, const vec<Value, model_states>& y,
                                                const vec<Value, model_states>& rate) const {
      return Base::residual(t, y, rate, c);
    }
    SALTUS_FN matrix<lifted<Real, width>, model_states> mass() const { return Base::mass(c); }
  };

  // ---- models with constraints, or with time derivatives as unknowns

  /// Where the search for consistent states moves differential states, its derivatives are those of the same search over numbers with
  /// derivatives: Newton's iteration makes them exact in its last turn.
  static constexpr bool searches_over_duals = Base::finds_rates;

  /// At a consistent point, in the lanes of `where`: the derivatives of algebraic states, and, `with_rates`, those of all time derivatives.
  /// The derivatives of the other states are given, and t may have some.
  template <bool with_rates = true, class System, class Real>
  SALTUS_FN static void settle_derivatives(const System& system, lifted<Real> t, vec<Real, states>& y,
                                           vec<Real, states>& rate, mask_of<Real> where) {
    if constexpr (searches_over_duals) {
      search_over_duals(y, rate, where, [&](int j, auto& lifted_y, auto& lifted_rate) SALTUS_INLINE_LAMBDA {
        const dual<Real> time(t.value, t.d[j]);
        const auto over_duals = system.lifted_in(j);
        auto found = where;
        if constexpr (has_constraints<Base>)
          found = Base::project(over_duals, time, lifted_y, lifted_rate, where).found;
        if constexpr (with_rates) lifted_rate = Base::rates_at(over_duals, time, lifted_y, lifted_rate);
        return found;
      });
    } else if constexpr (moves_with_field) {
      auto lifted_y = lift(y);
      Base::derive_projection(system.of_model(), lift_held<Real>(system.c), t, lifted_y);
      take_derivatives(put_down<Real>(lifted_y), y, where);
    } else {
      auto lifted_y = lift(y), lifted_rate = lift(rate);
      derive_consistent(system.of_model(), system.lifted(), t, lifted_y, lifted_rate);
      take_derivatives(put_down<Real>(lifted_y), y, where);
      take_derivatives(put_down<Real>(lifted_rate), rate, where);
    }
  }

  template <class System, class Real>
  SALTUS_FN static consistency<Real> initialise(
      const System& system, const Real& t, vec<Real, states>& y, vec<Real, states>& f,
      const restart<sensitivities, Real>& start) requires(moves_states<Base>) {
    auto of_model = model_part(y), rate = model_part(f);
    auto begun = lift(y);
    if constexpr (searches_over_duals) {
      using number = dual<Real>;
      written_states<Base, number> written;
      each<written.size>([&](int i) SALTUS_INLINE_LAMBDA { written[i] = number(start.written[i]); });
      search_over_duals(y, f, start.where, [&](int j, auto& lifted_y, auto& lifted_rate) SALTUS_INLINE_LAMBDA {
        const number time(t, system.c.event_time[j]);
        const auto over_duals = system.lifted_in(j);
        const auto found = Base::initialise(over_duals, time, lifted_y, lifted_rate,
                                            {start.where, start.how, number(start.span), written})
                               .found;
        lifted_rate = Base::rates_at(over_duals, time, lifted_y, lifted_rate);
        return found;
      });
    }
    const auto c =
        Base::initialise(system.of_model(), t, of_model, rate, {start.where, start.how, start.span, start.written});
    const auto where = start.where & c.found;
    take_model_part(of_model, y), take_model_part(rate, f);
    if constexpr (moves_with_field) {
      Base::derive_start(system.of_model(), lift_held<Real>(system.c), time_of_event(t, system.c), begun, start.written,
                         where);
      take_derivatives(put_down<Real>(begun), y, where);
      take_derivatives(rhs(t, y, system.c), f, where);
    } else if constexpr (!searches_over_duals) {
      settle_derivatives(system, time_of_event(t, system.c), y, f, where);
    }
    return c;
  }
  template <class System, class Real>
  SALTUS_FN static consistency<Real> project(const System& system, Real t, vec<Real, states>& y, vec<Real, states>& f,
                                             mask_of<Real> where) requires(has_constraints<Base>) {
    auto of_model = model_part(y), rate = model_part(f);
    const auto c = Base::project(system.of_model(), t, of_model, rate, where);
    take_model_part(of_model, y), take_model_part(rate, f);
    settle_derivatives<Base::gives_algebraic_rates>(system, lifted<Real>(t), y, f, where & c.found);
    return c;
  }

  // The values of invariants are kept by the states alone: their derivatives follow from the equations, to within the tolerance.
  template <class Real>
  SALTUS_FN static void take_invariants(step_constants<Real>& c, Real t, const vec<Real, states>& y,
                                        mask_of<Real> where) requires(keeps_invariants<Base>) {
    Base::take_invariants(c, t, model_part(y), where);
  }
  template <class Real>
  SALTUS_FN static detail::nearer_point<Real, states> nearer_to_invariants(
      Real t, Real h, const vec<Real, states>& y, const step_constants<Real>& c) requires(keeps_invariants<Base>) {
    const auto to = Base::nearer_to_invariants(t, h, model_part(y), c);
    detail::nearer_point<Real, states> r{y, to.sound};
    take_model_part(to.y, r.y);
    return r;
  }

  /// The time of the current event with its derivatives.
  template <class Real>
  SALTUS_FN static lifted<Real> time_of_event(Real t, const step_constants<Real>& c) {
    return with_rates(t, [&](int j) SALTUS_INLINE_LAMBDA { return c.event_time[j]; });
  }

 private:
  /// The part of the right-hand side in `width` directions from `first` on, and f itself.
  template <int first, int width, class Value, class Real>
  SALTUS_FN_COLD static void rhs_in(Value t, const vec<Value, states>& y, const step_constants<Real>& c,
                                    vec<Value, states>& r) {
    using number = lifted<Value, width>;
    vec<number, model_states> at;
    each<model_states>([&](int i) SALTUS_INLINE_LAMBDA {
      at[i] = with_rates<width>(y[i], [&](int j) SALTUS_INLINE_LAMBDA { return y[rate_index(i, first + j)]; });
    });
    const auto f = Base::rhs(number(t), at, lift_held<Value, width>(c, first));
    each<model_states>([&](int i) SALTUS_INLINE_LAMBDA {
      r[i] = f[i].value;
      each<width>([&](int j) SALTUS_INLINE_LAMBDA { r[rate_index(i, first + j)] = f[i].d[j]; });
    });
  }

  template <class Real>
  SALTUS_FN static void take_derivatives(const vec<Real, states>& from, vec<Real, states>& to, mask_of<Real> where) {
    for (int i = model_states; i < states; ++i) to[i] = select(where, from[i], to[i]);
  }
  /// search(j, y, rate) for each direction j, with y and rate as numbers with its derivatives; it returns the lanes in which it has found
  /// them. These are then those of y and rate, in the lanes of `where`.
  template <class Real, class Search>
  SALTUS_FN static void search_over_duals(vec<Real, states>& y, vec<Real, states>& rate, mask_of<Real> where,
                                          Search&& search) {
    for (int j = 0; j < directions; ++j) {
      vec<dual<Real>, model_states> lifted_y, lifted_rate;
      each<model_states>([&](int i) SALTUS_INLINE_LAMBDA {
        lifted_y[i] = dual<Real>(y[i], y[rate_index(i, j)]);
        lifted_rate[i] = dual<Real>(rate[i], rate[rate_index(i, j)]);
      });
      const auto found = search(j, lifted_y, lifted_rate);
      each<model_states>([&](int i) SALTUS_INLINE_LAMBDA {
        const int at = rate_index(i, j);
        y[at] = select(where, select(found, lifted_y[i].d[0], Real(Base::unset)), y[at]);
        rate[at] = select(where, lifted_rate[i].d[0], rate[at]);
      });
    }
  }
  template <class Value>
  SALTUS_FN static void take_model_part(const vec<Value, model_states>& from, vec<Value, states>& to) {
    each<model_states>([&](int i) SALTUS_INLINE_LAMBDA { to[i] = from[i]; });
  }
  SALTUS_FN static constexpr int of(int j) {
    constexpr int all[] = {Of...};
    return all[j];
  }
};

}  // namespace saltus
