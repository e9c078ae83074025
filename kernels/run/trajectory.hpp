// The accepted steps and events of an instance, from which its gradient is found backward (run/gradient.hpp).
#pragma once

#include "event/kept_events.hpp"

namespace saltus {

/// Rows of numbers, in host memory that grows with them.
class trajectory {
 public:
  trajectory() = default;
  ~trajectory() { delete[] numbers_; }
  trajectory(const trajectory&) = delete;
  trajectory& operator=(const trajectory&) = delete;

  int64 rows() const { return rows_; }
  const double* row(int64 i, int width) const { return numbers_ + i * width; }
  /// A new row, to be written.
  double* append(int width) {
    if (rows_ == capacity_) grow(width);
    return numbers_ + width * rows_++;
  }
  /// Why there is no gradient.
  sensitivity reason = sensitivity::defined;

  void forget() {
    delete[] numbers_;
    numbers_ = nullptr;
    rows_ = capacity_ = 0;
  }

 private:
  __attribute__((noinline, cold)) void grow(int width) {
    const int64 capacity = capacity_ == 0 ? 64 : 2 * capacity_;
    double* const larger = new double[static_cast<decltype(sizeof 0)>(capacity * width)];
    for (int64 i = 0; i < rows_ * width; ++i) larger[i] = numbers_[i];
    delete[] numbers_;
    numbers_ = larger;
    capacity_ = capacity;
  }

  double* numbers_ = nullptr;
  int64 rows_ = 0, capacity_ = 0;
};

/// The row of a step holds the point at which it begins, its length, and what is constant along it: the pieces of tables, discrete variables,
/// guards. The row of an event (event/kept_events.hpp) has its kind in the place of the length, as a negative number, and what is due. The
/// last row is the last point, of length 0.
template <class E>
struct trajectory_row {
  using form = typename E::form;
  static constexpr int pieces = 2 + E::n, discretes = pieces + form::piece_numbers;
  static constexpr int guards = discretes + form::discretes, due = guards + E::ng;
  static constexpr int numbers_remembered() {
    if constexpr (methods::has_memory<typename E::Method>)
      return E::Method::template memory<pack<double, 1>, E::n>::terms;
    else return 0;
  }
  static constexpr bool has_events = E::ng > 0 || form::time_events > 0 || form::kinds::has_mode;
  /// In the row of a step that lands, the moves behind it are in the place of what is due.
  static constexpr int moves = E::ng > 0 ? most_parabolas + 1 : 0, events = E::ng + form::time_events;
  /// An implicit step depends on the slope at its beginning, too, and on what its method remembers: where its iteration begins.
  static constexpr bool has_memory = methods::has_memory<typename E::Method>;
  static constexpr int slope = has_events ? due + (moves > events ? moves : events) : due;
  static constexpr int memory = slope + (E::Method::is_explicit ? 0 : E::n);
  static constexpr int width = memory + (has_memory ? 1 + numbers_remembered() * E::n : 0);

  /// body(number, column) for the slope and the method's memory.
  template <class Slope, class Constants, class Body>
  SALTUS_FN static void each_of_slope_and_memory(Slope& f, Constants& constants, Body&& body) {
    int column = slope;
    if constexpr (!E::Method::is_explicit)
      for (int i = 0; i < E::n; ++i) body(f[i], column++);
    if constexpr (has_memory) {
      using Real = typename Slope::value_type;
      E::Method::template memory<Real, E::n>::each(constants.past, constants.past,
                                                   [&](auto& one, auto&) { body(one, column++); });
    }
  }

  /// Writes the row of one lane of x at time t.
  template <class T, int W>
  SALTUS_FN static void write(double* row, const instance<E, pack<T, W>>& x, pack<T, W> t, double h_or_kind,
                              const vec<pack<T, W>, E::ng>& g, int lane) {
    const auto put = [&](int column, const pack<T, W>& of) { row[column] = static_cast<double>(of.get(lane)); };
    put(0, t);
    row[1] = h_or_kind;
    for (int i = 0; i < E::n; ++i) put(2 + i, x.y[i]);
    for (int i = 0; i < form::piece_numbers; ++i) put(pieces + i, x.constants.pieces[i]);
    for (int i = 0; i < form::discretes; ++i) put(discretes + i, x.constants.d[i]);
    for (int i = 0; i < E::ng; ++i) put(guards + i, g[i]);
    for (int i = slope; i < width; ++i) row[i] = 0.0;
  }
  template <class T, int W>
  SALTUS_FN static void write_slope_and_memory(double* row, const instance<E, pack<T, W>>& x, int lane) {
    each_of_slope_and_memory(
        x.f, x.constants, [&](const auto& number, int column) { row[column] = static_cast<double>(number.get(lane)); });
  }
  /// Writes the moves of a landing, each move(k).
  template <class Move>
  SALTUS_FN static void write_moves(double* row, const Move& move) {
    for (int k = 0; k < moves; ++k) row[due + k] = move(k);
  }
  /// Writes the due guards and time events.
  template <class T, int W>
  SALTUS_FN static void write_due(double* row, const due_events<E, pack<T, W>>& of, int lane) {
    for (int i = 0; i < E::ng; ++i) row[due + i] = static_cast<double>(of.guard[i].get(lane));
    for (int i = 0; i < form::time_events; ++i) row[due + E::ng + i] = static_cast<double>(of.time_event[i].get(lane));
  }
};

/// The trajectories of a chunk, by slots. Empty without a gradient.
template <class E>
class trajectories {
 public:
  explicit trajectories(int64) {}
  static trajectory* data() { return nullptr; }
};
template <class E>
requires(E::gradient) class trajectories<E> {
 public:
  explicit trajectories(int64 count) : all_(new trajectory[static_cast<decltype(sizeof 0)>(count)]) {}
  ~trajectories() { delete[] all_; }
  trajectories(const trajectories&) = delete;
  trajectories& operator=(const trajectories&) = delete;

  trajectory* data() const { return all_; }
  trajectory& operator[](int64 slot) const { return all_[slot]; }

 private:
  trajectory* all_;
};

/// append(trajectory, lane) for each lane of `where`.
template <class E, class T, int W, class Append>
SALTUS_FN void each_trajectory(const instance<E, pack<T, W>>& x, mask_of<pack<T, W>> where, trajectory* all,
                               Append&& append) {
  for (unsigned lanes = where.bits(); lanes != 0; lanes &= lanes - 1) {
    const int lane = __builtin_ctz(lanes);
    append(all[x.slot.get(lane)], lane);
  }
}

/// Keeps steps of length h, which begin at the accepted points of the lanes in `where`.
template <class E, class T, int W>
SALTUS_FN_COLD void keep_steps(const instance<E, pack<T, W>>& x, pack<T, W> h, mask_of<pack<T, W>> where,
                               trajectory* all) {
  using row = trajectory_row<E>;
  each_trajectory(x, where, all, [&](trajectory& one, int lane) {
    double* const to = one.append(row::width);
    row::write(to, x, x.t, static_cast<double>(h.get(lane)), x.constants.guard_values, lane);
    row::write_slope_and_memory(to, x, lane);
    row::write_moves(to, [](int) { return 0.0; });
  });
}

/// Keeps the steps that lead to landing points of the lanes in `where`.
template <class E, class T, int W>
SALTUS_FN_COLD void keep_landing(const instance<E, pack<T, W>>& x, const way_to_landing<pack<T, W>, true>& way,
                                 mask_of<pack<T, W>> where, trajectory* all) {
  using row = trajectory_row<E>;
  each_trajectory(x, where, all, [&](trajectory& one, int lane) {
    double* const to = one.append(row::width);
    row::write(to, x, x.t, static_cast<double>(way.step.get(lane)), x.constants.guard_values, lane);
    row::write_slope_and_memory(to, x, lane);
    row::write_moves(to, [&](int k) { return static_cast<double>(way.moves[k].get(lane)); });
  });
}

/// Keeps a row of an event at time t, with the guards g.
template <class E, class T, int W>
SALTUS_FN_COLD void keep_event(const instance<E, pack<T, W>>& x, row_kind kind, pack<T, W> t,
                               const vec<pack<T, W>, E::ng>& g, const due_events<E, pack<T, W>>& due,
                               mask_of<pack<T, W>> where, trajectory* all) {
  using row = trajectory_row<E>;
  each_trajectory(x, where, all, [&](trajectory& one, int lane) {
    double* const to = one.append(row::width);
    row::write(to, x, t, -static_cast<double>(kind), g, lane);
    row::write_due(to, due, lane);
  });
}

}  // namespace saltus
