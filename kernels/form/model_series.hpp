// The equations 0 = f_i(t, x, x', x'', ...) of a model run over truncated series (number/jet.hpp).
#pragma once

#include "form/functions.hpp"
#include "number/jet.hpp"

namespace saltus {

namespace detail {
/// (k + 1) (k + 2) ... (k + m) = (k + m)! / k!
SALTUS_FN constexpr double rising(int k, int m) {
  double r = 1.0;
  for (int i = 1; i <= m; ++i) r *= k + i;
  return r;
}
}  // namespace detail

template <class Functions>
struct model_series {
  using Model = typename Functions::Model;
  using kinds = typename Functions::kinds;
  using layout = typename kinds::values;
  using time = typename Functions::time;
  static constexpr int unknowns = kinds::state_count, values = kinds::value_count;
  template <class Real>
  using step_constants = typename Functions::template step_constants<Real>;

  /// Series of time and unknowns with room for `length` terms, and for all intermediate results of the equations. Derivatives are with
  /// respect to the model's time.
  template <class Value, int length>
  struct run {
    static constexpr int given = unknowns + 1;
    static constexpr series_room room = {given + room_of_series<Model>.series, room_of_series<Model>.numbers};
    Value numbers[jet_table<Value>::size(length, room)];
    jet_table<Value> table;
    vec<jet<Value>, unknowns> x;
    jet<Value> t;

    /// Sets the series of the values y at engine time t, those of x_j up to the order last(j); higher coefficients are zero.
    template <class Of, class Last>
    SALTUS_FN run(Of engine_time, const vec<Of, values>& y, Last&& last) : table(numbers, length, room) {
      table.in_turn = false;  // a stage runs some orders again
      for (int j = 0; j < unknowns; ++j) {
        for (int l = 0; l < length; ++l)
          table.row(j)[l] = l <= last(j) ? Value(y[layout::first(j) + l] * (1.0 / detail::rising(0, l))) : Value(0.0);
        x[j] = jet<Value>(table.row(j), &table);
      }
      for (int l = 0; l < length; ++l)
        table.row(unknowns)[l] = l == 0 ? Value(time::of_model(engine_time)) : Value(l == 1 ? 1.0 : 0.0);
      t = jet<Value>(table.row(unknowns), &table, 1);
    }
    run(const run&) = delete;

    /// The coefficients of order k of the equations; those below must have been computed before.
    template <class Real>
    SALTUS_FN vec<Value, unknowns> at_order(int k, const step_constants<Real>& fixed) {
      table.begin(k, given);
      t.value = t.c[k];
      for (int j = 0; j < unknowns; ++j) x[j].value = x[j].c[k];
      return evaluate(t, x, k, fixed);
    }
    SALTUS_FN bool is_complete() const { return !table.overflowed(); }
  };

  /// Evaluates the equations at the values y, for numbers that note what happens in them.
  template <class Value, class Real>
  SALTUS_FN_COLD static void visit(Value t, const vec<Value, values>& y, const step_constants<Real>& fixed) {
    constexpr int most = [] {
      int r = 0;
      for (int j = 0; j < unknowns; ++j) r = layout::highest(j) > r ? layout::highest(j) : r;
      return r;
    }();
    run<Value, most + 1> series(t, y, [](int j) SALTUS_INLINE_LAMBDA { return layout::highest(j); });
    series.at_order(0, fixed);
  }

  template <class Value, class Real>
  SALTUS_FN_COLD static vec<Value, unknowns> evaluate(const jet<Value>& t, const vec<jet<Value>, unknowns>& x, int k,
                                                      const step_constants<Real>& fixed) {
    named<typename kinds::row_of_residual, jet<Value>, unknowns> zeros;
    for (int i = 0; i < unknowns; ++i) zeros.values[i] = jet<Value>(Functions::unset);
    const point<Model, jet<Value>, Real, true> at{t, x, fixed.p, fixed.d, fixed.guard_values.data, fixed.pieces.data};
    Model::residual(at, zeros);
    vec<Value, unknowns> r;
    for (int i = 0; i < unknowns; ++i) r[i] = zeros.values[i].coefficient(k);
    return r;
  }
};

}  // namespace saltus
