// 0 = f_i(t, x, x', x'', ...), of any order and index, as a field. An instance has the values x_j, .., x_j^(d_j), d_j the offsets of the
// structural analysis; their time derivative follows from the equations differentiated c_i + 1 times. Every step ends on the equations and
// on all of their derivatives in which only values of an instance occur. Any explicit method may integrate the field. A Taylor method finds
// the solution's series from the equations themselves. Implicit methods solve them as equations of index 1, in which the highest
// derivatives are algebraic.
#pragma once

#include "form/consistent/by_stages.hpp"
#include "form/consistent/start_sizes.hpp"
#include "form/local_coordinates.hpp"
#include "number/expression.hpp"

namespace saltus {

template <class Functions>
struct any_order_form : Functions {
  using Functions::states;
  using Model = typename Functions::Model;
  using kinds = typename Functions::kinds;
  using layout = typename kinds::values;
  template <class Real>
  using step_constants = typename Functions::template step_constants<Real>;

  /// The slopes are among the values.
  template <class Value, class Real>
  SALTUS_FN static void visit_equations(Value t, const vec<Value, states>& y, const vec<Value, states>&,
                                        const step_constants<Real>& c) {
    model_series<Functions>::visit(t, y, c);
  }

  static constexpr auto equations = saltus::equations::semi_explicit;
  static constexpr bool has_field = true;

  SALTUS_FN static constexpr int index(int i) {
    for (int j = 0; j < kinds::state_count; ++j)
      if (i == layout::first(j) + layout::highest(j)) return 1;
    return 0;
  }
  /// For implicit methods: true if the error of value i counts. The error of a derivative that follows from lower ones does not, because
  /// every step ends on these. In stiff equations it is the error of the lower ones times a large eigenvalue, and no other value inherits
  /// it.
  SALTUS_FN static constexpr bool counts(int i) {
    constexpr auto table = offsets_of<Model>;
    for (int j = 0; j < kinds::state_count; ++j) {
      const int l = i - layout::first(j);
      bool follows = l > 0 && l <= layout::highest(j);
      for (const auto& of_set : table.d) follows = follows && l >= of_set[j];
      if (follows) return false;
    }
    return true;
  }
  static constexpr int widest_sweep =
      1;  ///< as for J: compiling the model over series of a wider dual would cost more than it saves
  static constexpr int colours = states;
  SALTUS_FN static constexpr int colour(int j) { return j; }
  SALTUS_FN static constexpr bool entry(int, int) { return true; }

  template <class Real>
  SALTUS_FN static vec<Real, states> rhs(Real t, const vec<Real, states>& y, const step_constants<Real>& c) {
    vec<Real, states> r;
    each_set(c, mask_of<Real>::all(true), [&](auto set, mask_of<Real> where) SALTUS_INLINE_LAMBDA {
      const auto f = equation_series<Functions, set.value>::rates(t, y, c);
      for (int i = 0; i < states; ++i) r[i] = select(where, f[i], r[i]);
    });
    return r;
  }

  template <class Value, class Real>
  SALTUS_FN static vec<Value, states> implicit_rhs(Value t, const vec<Value, states>& y,
                                                   const step_constants<Real>& c) {
    vec<Value, states> r;
    each_set(c, mask_of<Real>::all(true), [&](auto set, mask_of<Real> where) SALTUS_INLINE_LAMBDA {
      const auto f = equation_series<Functions, set.value>::of_index_1(t, y, c);
      for (int i = 0; i < states; ++i) r[i] = select(where, f[i], r[i]);
    });
    return r;
  }
  template <class Value, class Real>
  SALTUS_FN static vec<Value, states> residual(Value t, const vec<Value, states>& y, const vec<Value, states>& dy,
                                               const step_constants<Real>& c) {
    const auto f = implicit_rhs(t, y, c);
    vec<Value, states> r;
    for (int i = 0; i < states; ++i) r[i] = index(i) == 0 ? dy[i] - f[i] : -f[i];
    return r;
  }

  /// The coefficients of the solution's series through (t, y).
  template <int order, class Real>
  SALTUS_FN static void find_coefficients(Real t, const vec<Real, states>& y, const step_constants<Real>& c,
                                          vec<Real, states> (&coefficient)[order]) {
    each_set(c, mask_of<Real>::all(true), [&](auto set, mask_of<Real> where) SALTUS_INLINE_LAMBDA {
      equation_series<Functions, set.value>::find_coefficients(t, y, c, coefficient, where);
    });
  }

  /// Makes the start consistent: given values stay, guesses move, and free values (NaN), which begin at zero, move most. `how`
  /// (abi::consistency): `nearest` lets given values move as guesses do, `given` lets guesses stay.
  template <class System, class Real>
  SALTUS_FN_COLD static consistency<Real> begin(const System& system, Real t, vec<Real, states>& y,
                                                const vec<Real, states>& given, mask_of<Real> where, int how) {
    const auto guess = y;
    for (int i = 0; i < states; ++i) y[i] = select(y[i] == y[i], y[i], Real(0.0));
    return settled(system, y, where, [&](auto set, vec<Real, states>& to, mask_of<Real> these) SALTUS_INLINE_LAMBDA {
      using here = settling<Functions, set.value>;
      auto sizes = detail::sizes_of(system, to);
      auto free_alone = sizes;
      for (int j = 0; j < here::unknowns; ++j)
        for (int l = 0; l < here::series::d(j); ++l) {  // the equations determine the highest derivatives
          const int i = layout::first(j) + l;
          detail::weigh_start(guess[i], given[i], how, sizes[i], free_alone[i]);
        }
      // Guesses that are consistent with each other stay. Otherwise each of them would move a little for the free values.
      auto with_guesses = to;
      const auto go_together = here::from_guess(value_search{system, t, free_alone, these}, with_guesses, false).found;
      for (int i = 0; i < states; ++i) to[i] = select(go_together, with_guesses[i], to[i]);
      return here::from_guess(value_search{system, t, sizes, these}, to, system.is_conservative());
    });
  }

  template <class System, class Real>
  SALTUS_FN static consistency<Real> initialise(const System& system, const Real& t, vec<Real, states>& y,
                                                vec<Real, states>& f, const restart<any_order_form, Real>& start) {
    const auto r =
        settled(system, y, start.where, [&](auto set, vec<Real, states>& to, mask_of<Real> these) SALTUS_INLINE_LAMBDA {
          using here = settling<Functions, set.value>;
          auto sizes = detail::sizes_of(system, to);
          vec<Real, states> stays;  // without the highest derivatives, which the equations determine
          for (int i = 0; i < states; ++i) stays[i] = Real(0.0);
          for (int j = 0; j < here::unknowns; ++j)
            for (int i = layout::first(j); i < layout::first(j) + here::series::d(j); ++i) {
              stays[i] = start.written[i];
              sizes[i] = select(stays[i] > Real(0.0), Real(0.0), sizes[i]);
            }
          auto found = here::from_guess(value_search{system, t, sizes, these}, to, system.is_conservative());
          detail::blame_written(found, here::unknowns, stays, these,
                                [&](int i) SALTUS_INLINE_LAMBDA { return here::concerns(found.of, i); });
          return found;
        });
    f = rhs(t, y, system.c);
    return r;
  }

  template <class System, class Real>
  SALTUS_FN static consistency<Real> project(const System& system, Real t, vec<Real, states>& y, vec<Real, states>&,
                                             mask_of<Real> where) {
    return settled(system, y, where, [&](auto set, vec<Real, states>& to, mask_of<Real> these) SALTUS_INLINE_LAMBDA {
      return settling<Functions, set.value>::near(system, t, to, these);
    });
  }

  template <class Real>
  SALTUS_FN static consistency<Real> constraint_residual(Real t, const vec<Real, states>& y,
                                                         const step_constants<Real>& c) {
    return settling<Functions, 0>::residual_at(t, y, c);  // the equations are the same for all offsets
  }

  /// The largest number of constraints of any mode.
  static constexpr int constraints = [] {
    int most = 0;
    for (const auto& c : offsets_of<Model>.c) {
      int own = 0;
      for (const int times : c) own += times + 1;
      most = most < own ? own : most;
    }
    return most;
  }();
  template <class Real>
  SALTUS_FN static constraint_values<Real, Real, constraints> constraints_at(Real t, const vec<Real, states>& y,
                                                                             const step_constants<Real>& c) {
    constraint_values<Real, Real, constraints> r;
    each_constraint<Real>(
        c, r,
        [&](auto set) SALTUS_INLINE_LAMBDA { return equation_series<Functions, set.value>::constraints_at(t, y, c); },
        [](mask_of<Real> where, Real from, Real& to) SALTUS_INLINE_LAMBDA { to = select(where, from, to); });
    return r;
  }
  template <class Real>
  SALTUS_FN static constraint_values<vec<Real, states>, Real, constraints> jacobian_of_constraints(
      Real t, const vec<Real, states>& y, const step_constants<Real>& c) {
    constraint_values<vec<Real, states>, Real, constraints> r;
    each_constraint<Real>(
        c, r,
        [&](auto set)
            SALTUS_INLINE_LAMBDA { return equation_series<Functions, set.value>::jacobian_of_constraints(t, y, c); },
        [](mask_of<Real> where, const vec<Real, states>& from, vec<Real, states>& to) SALTUS_INLINE_LAMBDA {
          for (int i = 0; i < states; ++i) to[i] = select(where, from[i], to[i]);
        });
    return r;
  }
  /// Sets the values of y that follow from those in the constraints.
  template <class Real>
  SALTUS_FN static void follow(Real t, vec<Real, states>& y, const step_constants<Real>& c, mask_of<Real> where) {
    each_set(c, where, [&](auto set, mask_of<Real> these) SALTUS_INLINE_LAMBDA {
      using series = equation_series<Functions, set.value>;
      if constexpr (series::more_stages > 0) series::complete(t, y, c, these);
    });
  }

  /// Dead points: some equations are differentiated and so constrain values, and may depend on each other.
  static constexpr bool constrains_values = [] {
    for (const auto& c : offsets_of<Model>.c)
      for (const int times : c)
        if (times > 0) return true;
    return false;
  }();
  template <class Real>
  SALTUS_FN static mask_of<Real> changes_branch(const step_ends<Real, states>& ends, const step_constants<Real>& c,
                                                Real rtol) requires(constrains_values) {
    auto r = mask_of<Real>::all(false);
    each_set(c, mask_of<Real>::all(true), [&](auto set, mask_of<Real> where) SALTUS_INLINE_LAMBDA {
      using here = settling<Functions, set.value>;
      if constexpr (here::gradients > 0) r = r | (where & here::on_other_branches(ends, c, rtol));
    });
    return r;
  }
  template <class Real>
  SALTUS_FN static detail::independence<Real> independence_of_constraints(Real t, const vec<Real, states>& y,
                                                                          const step_constants<Real>& c) {
    detail::independence<Real> r;
    each_set(c, mask_of<Real>::all(true), [&](auto set, mask_of<Real> where) SALTUS_INLINE_LAMBDA {
      if constexpr (settling<Functions, set.value>::gradients > 0) {
        const auto here = settling<Functions, set.value>::independence_of_constraints(t, y, c);
        r.least = select(where, here.least, r.least);
        r.of = select(where, here.of, r.of);
      }
    });
    return r;
  }
  static constexpr bool has_orientation = true;
  template <class Real>
  SALTUS_FN static Real orientation_at(Real t, const vec<Real, states>& y, const step_constants<Real>& c) {
    Real r = Real(0.0);
    each_set(c, mask_of<Real>::all(true), [&](auto set, mask_of<Real> where) SALTUS_INLINE_LAMBDA {
      using series = equation_series<Functions, set.value>;
      r = select(where, lu<Real, series::unknowns>(series::jacobian(t, y, c)).orientation(), r);
    });
    return r;
  }
  template <class System, class Real>
  SALTUS_FN_COLD static mask_of<Real> turns_within(const System& system, const solution_point<Real, states>& at,
                                                   Real orientation, const vec<Real, states>& error) {
    auto after = at.y, before = at.y;
    for (int i = 0; i < states; ++i) {
      after[i] = after[i] + error[i];
      before[i] = before[i] - error[i];
    }
    return !(orientation * orientation_at(at.t, after, system.c) > Real(0.0)) |
           !(orientation * orientation_at(at.t, before, system.c) > Real(0.0));
  }
  /// If det J is zero, the structural analysis does not hold.
  template <class Real>
  SALTUS_FN static detail::independence<Real> independence(Real t, const vec<Real, states>& y,
                                                           const step_constants<Real>& c) {
    detail::independence<Real> r;
    each_set(c, mask_of<Real>::all(true), [&](auto set, mask_of<Real> where) SALTUS_INLINE_LAMBDA {
      const auto here = settling<Functions, set.value>::independence_at(t, y, c);
      r.least = select(where, here.least, r.least);
      r.of = select(where, here.of, r.of);
    });
    return r;
  }

 private:
  static constexpr int sets = offsets_of<Model>.sets;

  /// The set of offsets that belongs to the mode of each lane.
  template <class Real>
  SALTUS_FN static Real set_of(const step_constants<Real>& c) {
    constexpr auto table = offsets_of<Model>;
    Real answers = Real(0.0), r = Real(0.0);
    for (int k = 0; k < table.conditions; ++k) {
      const mode_condition of = table.condition[k];
      const Real value = of.of_guard != 0 ? c.guard_values[of.index] : c.d[of.index], bit(static_cast<double>(1 << k));
      answers = answers + select(holds(value, static_cast<relation>(of.relation), Real(of.value)), bit, Real(0.0));
    }
    for (int which = 0; which < 1 << table.conditions; ++which) {
      const Real number(static_cast<double>(which)), set(static_cast<double>(table.set_of[which]));
      r = select(answers == number, set, r);
    }
    return r;
  }
  template <class Real>
  SALTUS_FN static mask_of<Real> holds(Real a, relation r, Real b) {
    switch (r) {
      case relation::less: return a < b;
      case relation::less_equal: return a <= b;
      case relation::greater: return a > b;
      case relation::greater_equal: return a >= b;
      case relation::equal: return a == b;
      default: return a != b;
    }
  }

  /// body(set, its lanes of `where`) for every set of offsets that occurs in a lane.
  template <class Real, class Body>
  SALTUS_FN static void each_set(const step_constants<Real>& c, mask_of<Real> where, Body&& body) {
    if constexpr (sets == 1) {
      body(constant<0>{}, where);
    } else {
      const Real number = set_of(c);
      static_for<sets>([&](auto set) SALTUS_INLINE_LAMBDA {
        const auto these = where & (number == Real(static_cast<double>(set.value)));
        if (any(these)) body(set, these);
      });
    }
  }

  /// Collects the results of `find(set)` for the constraints of every set; zero for constraints that a mode does not have.
  template <class Real, class Value, class Find, class Assign>
  SALTUS_FN static void each_constraint(const step_constants<Real>& c, constraint_values<Value, Real, constraints>& r,
                                        Find&& find, Assign&& assign) {
    const auto all = mask_of<Real>::all(true);
    for (int i = 0; i < constraints; ++i) {
      assign(all, zero_of<Value>(), r.of[i]);
      r.there[i] = Real(0.0);
    }
    each_set(c, all, [&](auto set, mask_of<Real> where) SALTUS_INLINE_LAMBDA {
      const auto found = find(set);
      for (int i = 0; i < found.size; ++i) {
        assign(where, found[i], r.of[i]);
        r.there[i] = select(where, Real(1.0), r.there[i]);
      }
    });
  }
  template <class Value>
  SALTUS_FN static Value zero_of() {
    if constexpr (requires { Value::size; }) {
      Value r;
      for (int i = 0; i < Value::size; ++i) r[i] = typename Value::value_type(0.0);
      return r;
    } else {
      return Value(0.0);
    }
  }

  /// Applies `settle(set, y, lanes)` to y for every set.
  template <class System, class Real, class Settle>
  SALTUS_FN static consistency<Real> settled(const System& system, vec<Real, states>& y, mask_of<Real> where,
                                             Settle&& settle) {
    consistency<Real> r{mask_of<Real>::all(false), Real(0.0), Real(-1.0), Real(0.0)};
    each_set(system.c, where, [&](auto set, mask_of<Real> these) SALTUS_INLINE_LAMBDA {
      auto to = y;
      const auto found = settle(set, to, these);
      for (int i = 0; i < states; ++i) y[i] = select(these, to[i], y[i]);
      r.found = r.found | (these & found.found);
      r.residual = select(these, found.residual, r.residual);
      r.of = select(these, found.of, r.of);
      r.moved = select(these, found.moved, r.moved);
      r.orientation = select(these, found.orientation, r.orientation);
    });
    return r;
  }
};

}  // namespace saltus
