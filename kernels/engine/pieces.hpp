// The current pieces of tables. A step lies within one piece of every table, ends included. The numbers of a piece are set at the first
// point of a step and held through it, so both ends use the same piece. This file finds pieces and moves from one to the next;
// event/knots.hpp has the other actions at a knot.
//
// Pieces are half-open in the direction of time: forward [knot, next knot), backward (knot, next knot]. With n pieces between knots, piece
// -1 lies before the first knot and piece n after the last. A periodic table has neither; `cycle` counts its repetitions.
#pragma once

#include "engine/instance.hpp"

namespace saltus {

/// Piece `piece` of a table, in the model's time.
struct place_in_table {
  int64 piece, cycle;
};

/// One table of a model, for one lane.
template <class T>
class table_reader {
 public:
  SALTUS_FN table_reader(const abi::table& table, detail::tabulated_traits is, int64 curve = 0)
      : table_(table),
        is_(is),
        coefficients_(table.coefficients + 4 * table.pieces * curve),
        last_(table.last[curve]) {}

  /// The start time of a piece; the piece after the last begins at the last knot and never ends.
  SALTUS_FN T begin_of(place_in_table at) const {
    if (is_.beyond == at_ends::periodic)
      return static_cast<T>(fma(one(static_cast<double>(at.cycle)), one(period()), one(table_.knots[at.piece])).v);
    if (at.piece < 0) return -limits<T>::largest;
    if (at.piece > table_.pieces) return limits<T>::largest;
    return static_cast<T>(table_.knots[at.piece]);
  }
  SALTUS_FN place_in_table after(place_in_table at) const {
    at.piece += 1;
    if (is_.beyond == at_ends::periodic && at.piece == table_.pieces) at = {0, at.cycle + 1};
    return at;
  }
  SALTUS_FN place_in_table before(place_in_table at) const {
    at.piece -= 1;
    if (is_.beyond == at_ends::periodic && at.piece < 0) at = {table_.pieces - 1, at.cycle - 1};
    return at;
  }

  /// The last piece that begins at or before t, or one near it; `settle` corrects it.
  SALTUS_FN place_in_table search(double t) const {
    place_in_table at{0, 0};
    if (is_.beyond == at_ends::periodic) {
      const one cycles = floor(one((t - table_.knots[0]) / period()));
      at.cycle = static_cast<int64>(cycles.v);
      t = fma(-cycles, one(period()), one(t)).v;
    } else if (t < table_.knots[0]) {
      return {-1, 0};
    }
    int64 end = is_.beyond == at_ends::periodic ? table_.pieces : table_.pieces + 1;
    while (end - at.piece > 1) {
      const int64 middle = at.piece + (end - at.piece) / 2;
      (table_.knots[middle] <= t ? at.piece : end) = middle;
    }
    return at;
  }
  /// The piece that contains the times just after t in direction `sign`.
  SALTUS_FN place_in_table settle(place_in_table at, T t, int sign) const {
    const auto has_begun = [&](place_in_table p)
                               SALTUS_INLINE_LAMBDA { return sign > 0 ? begin_of(p) <= t : begin_of(p) < t; };
    while (!has_begun(at) && begin_of(at) > -limits<T>::largest) at = before(at);
    for (place_in_table next = after(at); has_begun(next); next = after(at)) at = next;
    return at;
  }

  /// body(j, number j) for the numbers that represent the table on a piece (detail::numbers_of_piece).
  template <class F>
  SALTUS_FN void each_number(place_in_table at, F&& body) const {
    const bool is_within = at.piece >= 0 && at.piece < table_.pieces;
    const double beyond = is_.beyond == at_ends::none ? detail::no_number : at.piece < 0 ? coefficients_[0] : last_;
    const auto coefficient = [&](int k) SALTUS_INLINE_LAMBDA {
      return is_within ? coefficients_[4 * at.piece + k] : k == 0 ? beyond : 0.0;
    };
    if (is_.between == interpolation::step) return body(0, static_cast<T>(coefficient(0)));
    body(0, is_within ? begin_of(at) : T(0.0));
    const int powers = detail::numbers_of_piece(is_.between) - 1;
    for (int k = 0; k < powers; ++k) body(1 + k, static_cast<T>(coefficient(k)));
  }

 private:
  using one = pack<double, 1>;
  SALTUS_FN double period() const { return table_.knots[table_.pieces] - table_.knots[0]; }

  const abi::table& table_;
  detail::tabulated_traits is_;
  const double* coefficients_;  ///< of the curve
  double last_;
};

/// The number of the curve of table i that a lane reads; 0 if a parameter chooses none.
template <class E, class T, int W>
SALTUS_FN int64 chosen_curve(const instance<E, pack<T, W>>& x, int lane, int i, const abi::table& table) {
  const int choice = tabulated_traits_of<typename E::Model>(i).choice;
  if (choice < 0) return 0;
  const T number = x.constants.p[choice].get(lane);
  return number >= T(0.0) && number < static_cast<T>(table.curves) ? static_cast<int64>(number) : 0;
}

/// Ends the lanes of `where` in which the parameter of a table is the number of none of its curves.
template <class E, class Real>
SALTUS_FN_COLD void end_without_curve(instance<E, Real>& x, mask_of<Real> where, const tolerances<E, Real>& tol) {
  each<E::form::tables>([&](int i) SALTUS_INLINE_LAMBDA {
    const int choice = tabulated_traits_of<typename E::Model>(i).choice;
    if (choice < 0) return;
    const Real number = x.constants.p[choice];
    const auto is_one =
        (number >= Real(0.0)) & (number < Real(static_cast<double>(tol.tables[i].curves))) & (number == floor(number));
    end_where(x.status, where & !is_one, status::bad_start);
  });
}

/// The lanes of `where` in which a table has jumped at x.t, to rounding.
template <class E, class T, int W>
SALTUS_FN_COLD mask_of<pack<T, W>> has_jumped(const instance<E, pack<T, W>>& x, mask_of<pack<T, W>> where,
                                              const tolerances<E, pack<T, W>>& tol) {
  using form = typename E::form;
  auto r = pack<T, W>(0.0);
  for (int lane = 0; lane < W; ++lane) {
    if (!where[lane]) continue;
    const T t = static_cast<T>(form::time_sign) * x.t.get(lane), near = rounding_of_time(x, x.t).get(lane);
    each<form::tables>([&](int i) SALTUS_INLINE_LAMBDA {
      const auto is = tabulated_traits_of<typename E::Model>(i);
      if (is.between != interpolation::step) return;
      const table_reader<T> table(tol.tables[i], is, chosen_curve(x, lane, i, tol.tables[i]));
      const place_in_table at{x.piece[i].get(lane), x.cycle[i].get(lane)};
      const T begin = table.begin_of(form::time_sign > 0 ? at : table.after(at));
      if (begin - near <= t && t <= begin + near) r.set(lane, T(1.0));
    });
  }
  return r > pack<T, W>(0.0);
}

/// Moves the lanes of `where` to the pieces that contain the times after x.t, to rounding: found anew if `at_start`, else from the previous
/// pieces. Sets the time at which the first of them ends.
template <class E, class T, int W>
SALTUS_FN_COLD void enter_pieces(instance<E, pack<T, W>>& x, mask_of<pack<T, W>> where,
                                 const tolerances<E, pack<T, W>>& tol, bool at_start = false) {
  using form = typename E::form;
  constexpr int sign = form::time_sign;
  for (int lane = 0; lane < W; ++lane) {
    if (!where[lane]) continue;
    const T t = static_cast<T>(sign) * (x.t.get(lane) + rounding_of_time(x, x.t).get(lane));
    T ends[form::tables], next = limits<T>::largest;
    each<form::tables>([&](int i) SALTUS_INLINE_LAMBDA {
      const auto is = tabulated_traits_of<typename E::Model>(i);
      const table_reader<T> table(tol.tables[i], is, chosen_curve(x, lane, i, tol.tables[i]));
      const auto from =
          at_start ? table.search(static_cast<double>(t)) : place_in_table{x.piece[i].get(lane), x.cycle[i].get(lane)};
      const auto at = table.settle(from, t, sign);
      x.piece[i].set(lane, static_cast<integer_of<T>>(at.piece));
      x.cycle[i].set(lane, static_cast<integer_of<T>>(at.cycle));
      table.each_number(
          at, [&](int j, T number) SALTUS_INLINE_LAMBDA { x.constants.pieces[is.first + j].set(lane, number); });
      ends[i] = sign > 0 ? table.begin_of(table.after(at)) : -table.begin_of(at);
      next = ends[i] < next ? ends[i] : next;
    });
    // Knots of tables that jump together, at equal times, are passed together.
    const T together = next + rounding_of_time(x, pack<T, W>(next)).get(lane);
    for (const T end : ends) next = end <= together && end > next ? end : next;
    x.next_knot.set(lane, next);
  }
}

}  // namespace saltus
