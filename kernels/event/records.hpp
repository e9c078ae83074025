// Recorded time events: their times are those of rows of data, which each instance has of its own (abi::record). An instance knows three
// rows of each record by their numbers, which are exact in any arithmetic: the next one, the one behind those that come together with it,
// and the one behind its last. All rows within rounding of the first one's time come at once, in the order of the data.
#pragma once

#include "engine/instance.hpp"

namespace saltus {

/// The rows of one record, for one lane.
template <class E>
class record_reader {
  using T = typename E::T;
  using Model = typename E::Model;

 public:
  SALTUS_FN record_reader(const abi::record* records, int k) : rows_(records[k].rows), k_(k) {}

  SALTUS_FN const double* row(int64 number) const { return rows_ + number * width_of_record<Model>(k_); }
  /// The engine time of a row, without its delay.
  SALTUS_FN T time_of(int64 number) const { return static_cast<T>(E::form::time_sign * row(number)[0]); }
  /// The first row from `first` to `end` with a later time than `time`, when all come later by `delay`.
  SALTUS_FN int64 first_after(int64 first, int64 end, T delay, T time) const {
    while (first < end && time_of(first) + delay <= time) ++first;
    return first;
  }

 private:
  const double* rows_;
  int k_;
};

/// The times of the next row of each record, without their delays; the largest number where none is left.
template <class E, class T, int W>
SALTUS_FN vec<pack<T, W>, E::form::records> times_of_next_rows(const instance<E, pack<T, W>>& x,
                                                               const abi::record* records) {
  vec<pack<T, W>, E::form::records> r;
  for (int k = 0; k < E::form::records; ++k) {
    const record_reader<E> data(records, k);
    for (int lane = 0; lane < W; ++lane) {
      const int64 next = x.next_row[k].get(lane);
      r[k].set(lane, next < x.end_row[k].get(lane) ? data.time_of(next) : static_cast<T>(limits<T>::largest));
    }
  }
  return r;
}

/// Leaves the rows behind that came with the recorded time events at the lanes' positions.
template <class E, class T, int W>
SALTUS_FN void pass_rows(instance<E, pack<T, W>>& x, mask_of<pack<T, W>> where) {
  for (int k = 0; k < E::form::records; ++k) {
    const auto given = where & (x.next_time_event[event_of_record<typename E::Model>(k)] <= x.t);
    x.next_row[k] = select(given, x.due_row[k], x.next_row[k]);
  }
}

/// Finds the rows that come together with the next one.
template <class E, class T, int W>
SALTUS_FN void find_due_rows(instance<E, pack<T, W>>& x, mask_of<pack<T, W>> where, const abi::record* records) {
  for (int k = 0; k < E::form::records; ++k) {
    const record_reader<E> data(records, k);
    const auto rounding = rounding_of_time(x, x.next_time_event[event_of_record<typename E::Model>(k)]);
    for (int lane = 0; lane < W; ++lane) {
      const int64 next = x.next_row[k].get(lane), end = x.end_row[k].get(lane);
      if (!where[lane] || next >= end) continue;
      const T last = data.time_of(next) + rounding.get(lane);
      x.due_row[k].set(lane, static_cast<integer_of<T>>(data.first_after(next, end, T(0.0), last)));
    }
  }
}

/// Tells an event which rows are due in one lane.
template <class E, class Event, class T, int W, class Due>
SALTUS_FN void tell_due_rows(Event& now, const instance<E, pack<T, W>>& x, int lane, const Due& due,
                             const abi::record* records) {
  for (int k = 0; k < E::form::records; ++k) {
    const int64 next = x.next_row[k].get(lane);
    const bool is_due = due.time_event[event_of_record<typename E::Model>(k)].get(lane) > T(0.5);
    now.recorded.first[k] = record_reader<E>(records, k).row(next);
    now.recorded.rows[k] = is_due ? x.due_row[k].get(lane) - next : 0;
  }
}

}  // namespace saltus
