// The queues of scheduled events (model/kept_numbers.hpp): what `after`, `each_due` and `cancel` of a model's functions do.
#pragma once

#include "model/traits.hpp"
#include "number/dual.hpp"
#include "number/real.hpp"

namespace saltus {

/// A delay from which on nothing is scheduled: a number that a spec can give, below the largest float.
inline constexpr double never_ends = 1e30;

/// An item of a queue: the time at which it is due, and the numbers that it carries.
template <class Real, int N>
struct scheduled_item {
  Real t;
  Real numbers[N > 0 ? N : 1];
  SALTUS_FN const Real& operator[](int k) const { return numbers[k]; }
};

namespace detail {

/// A number as an author writes it: a value of the model, or a literal.
template <class Real, class Number>
SALTUS_FN Real as_real(const Number& x) {
  if constexpr (is_number<Number>) return Real(static_cast<double>(x));
  else return Real(x);
}

/// The queue of one time event among the discrete variables of one or several instances.
template <class Model, class Real>
struct event_queue {
  static constexpr int most_carried = kinds<Model>::queues.most_carried;
  using item = scheduled_item<Real, most_carried>;
  vec<Real, kinds<Model>::discrete_count>& d;
  queue_traits is;

  SALTUS_FN event_queue(vec<Real, kinds<Model>::discrete_count>& all, int event) : d(all), is(queue_of<Model>(event)) {}
  SALTUS_FN Real& waiting() const { return d[is.first]; }

  /// Schedules an item at t + delay, behind the first ranks; nothing if the delay never ends.
  SALTUS_FN void insert(Real t, Real delay, const Real (&carried)[most_carried > 0 ? most_carried : 1],
                        int first_rank) const {
    item one{t + delay, {}};
    for (int k = 0; k < most_carried; ++k) one.numbers[k] = carried[k];
    const auto sound = waiting() >= Real(0.0), right = delay >= Real(0.0);
    const auto comes = sound & right & (delay < Real(never_ends));
    const auto fits = comes & (waiting() < Real(static_cast<double>(is.capacity)));
    auto moves = mask_of<Real>::all(false);
    for (int rank = first_rank; rank < is.capacity; ++rank) {
      // Once the item has found its rank, all behind it move on by one.
      moves = moves | (fits & ((waiting() <= Real(static_cast<double>(rank))) | (one.t < d[is.time(rank)])));
      exchange(moves, one.t, d[is.time(rank)]);
      for (int k = 0; k < is.carries; ++k) exchange(moves, one.numbers[k], d[is.carried(rank, k)]);
    }
    waiting() = select(fits, waiting() + Real(1.0), waiting());
    waiting() = select(comes & !fits, Real(is.capacity + 1.0), waiting());
    waiting() = select(sound & !right, Real(-1.0), waiting());
  }
  /// Marks what no delay can be.
  SALTUS_FN void refuse() const { waiting() = Real(-1.0); }

  /// The first time after t; the largest number if none is waiting.
  SALTUS_FN static Real next(const vec<Real, kinds<Model>::discrete_count>& d, queue_traits is, Real t) {
    Real r = Real(limits<scalar_of<Real>>::largest);
    for (int rank = is.capacity - 1; rank >= 0; --rank) {
      const Real time = d[is.time(rank)];
      r = select((d[is.first] > Real(static_cast<double>(rank))) & (time > t), time, r);
    }
    return r;
  }

  // The functions below are for one instance.

  SALTUS_FN int count() const {
    const int n = static_cast<int>(waiting());
    return n < 0 || n > is.capacity ? 0 : n;
  }
  SALTUS_FN item at(int rank) const {
    item one{d[is.time(rank)], {}};
    for (int k = 0; k < most_carried; ++k) one.numbers[k] = k < is.carries ? d[is.carried(rank, k)] : Real(0.0);
    return one;
  }
  /// Number of items with times up to t.
  SALTUS_FN int due(Real t) const {
    int n = 0;
    while (n < count() && bool(d[is.time(n)] <= t)) ++n;
    return n;
  }
  SALTUS_FN void remove(int rank) const {
    const int last = count() - 1;
    for (; rank < last; ++rank) {
      d[is.time(rank)] = d[is.time(rank + 1)];
      for (int k = 0; k < is.carries; ++k) d[is.carried(rank, k)] = d[is.carried(rank + 1, k)];
    }
    d[is.time(last)] = Real(0.0);
    for (int k = 0; k < is.carries; ++k) d[is.carried(last, k)] = Real(0.0);
    waiting() = Real(static_cast<double>(last));
  }

 private:
  SALTUS_FN static void exchange(mask_of<Real> where, Real& a, Real& b) {
    const Real was = a;
    a = select(where, b, a);
    b = select(where, was, b);
  }
};

/// Schedules an item: `after` of `initial` and of transitions.
template <class Model, class Real, class Delay, class... Numbers>
SALTUS_FN void schedule_item(vec<Real, kinds<Model>::discrete_count>& d, int event, Real t, const Delay& delay,
                             int first_rank, const Numbers&... numbers) {
  constexpr int most = kinds<Model>::queues.most_carried;
  static_assert(kinds<Model>::schedules,
                "no time event of the model is scheduled: give its entry a capacity, {fire, \"...\"}.scheduled(8)");
  static_assert(sizeof...(numbers) <= most || !kinds<Model>::schedules,
                "an item carries no more numbers than its time event declares: .carrying(n)");
  const event_queue<Model, Real> queue(d, event);
  Real carried[most > 0 ? most : 1] = {as_real<Real>(numbers)...};
  for (int k = sizeof...(numbers); k < most; ++k) carried[k] = Real(0.0);
  if (static_cast<int>(sizeof...(numbers)) > queue.is.carries || queue.is.capacity == 0) queue.refuse();
  else queue.insert(t, as_real<Real>(delay), carried, first_rank);
}

/// Number of items of each time event that are due in the transition under way, the first ones of their queues; empty without queues.
template <class Model, bool = kinds<Model>::schedules>
struct items_at_hand {
  SALTUS_FN static constexpr int of(int) { return 0; }
};
template <class Model>
struct items_at_hand<Model, true> {
  int count[kinds<Model>::time_event_count] = {};
  SALTUS_FN int of(int event) const { return count[event]; }
};

}  // namespace detail

}  // namespace saltus
