// The accepted steps of an instance, from which its gradient is found backward (run/gradient.hpp).
#pragma once

#include "engine/instance.hpp"

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

/// The row of a step holds the point at which it begins, its length, and the pieces of tables along it.
template <class E>
struct step_row {
  static constexpr int pieces = 2 + E::n, width = pieces + E::form::piece_numbers;

  /// Writes the row of one lane.
  template <class T, int W>
  SALTUS_FN static void write(double* row, const instance<E, pack<T, W>>& x, pack<T, W> h, int lane) {
    row[0] = static_cast<double>(x.t.get(lane));
    row[1] = static_cast<double>(h.get(lane));
    for (int i = 0; i < E::n; ++i) row[2 + i] = static_cast<double>(x.y[i].get(lane));
    for (int i = 0; i < E::form::piece_numbers; ++i)
      row[pieces + i] = static_cast<double>(x.constants.pieces[i].get(lane));
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

/// Keeps steps of length h, which begin at the accepted points of the lanes in `where`.
template <class E, class T, int W>
SALTUS_FN_COLD void keep_steps(const instance<E, pack<T, W>>& x, pack<T, W> h, mask_of<pack<T, W>> where,
                               trajectory* all) {
  for (unsigned lanes = where.bits(); lanes != 0; lanes &= lanes - 1) {
    const int lane = __builtin_ctz(lanes);
    step_row<E>::write(all[x.slot.get(lane)].append(step_row<E>::width), x, h, lane);
  }
}

}  // namespace saltus
