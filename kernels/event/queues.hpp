// Scheduled time events of instances in flight: which items are due, and what is wrong with a queue.
#pragma once

#include "engine/instance.hpp"

namespace saltus {

/// The last time that counts as the same time as t.
template <class E, class Real>
SALTUS_FN Real together_with(const instance<E, Real>& x, Real t) {
  return t + rounding_of_time(x, t);
}

/// True if time event i has an item of this rank, due at or before `latest`.
template <class E, class Real>
SALTUS_FN mask_of<Real> is_item_up_to(const instance<E, Real>& x, int i, int rank, Real latest) {
  const auto queue = queue_of<typename E::Model>(i);
  return (x.constants.d[queue.first] > Real(static_cast<double>(rank))) & (x.constants.d[queue.time(rank)] <= latest);
}
template <class E, class Real>
SALTUS_FN mask_of<Real> has_items_up_to(const instance<E, Real>& x, int i, Real latest) {
  if (queue_of<typename E::Model>(i).capacity == 0) return mask_of<Real>::all(false);
  return is_item_up_to(x, i, 0, latest);
}

/// The fault that a function of the model has left in the queues (model/kept_numbers.hpp); `interrupted`: none.
template <class Model, class Real>
SALTUS_FN status fault_of_queues(const vec<Real, detail::kinds<Model>::discrete_count>& d) {
  for (int i = 0; i < detail::kinds<Model>::time_event_count; ++i) {
    const auto queue = queue_of<Model>(i);
    if (queue.capacity == 0) continue;
    if (!bool(d[queue.first] >= Real(0.0))) return status::bad_schedule;
    if (bool(d[queue.first] > Real(static_cast<double>(queue.capacity)))) return status::queue_full;
  }
  return status::interrupted;
}

/// Ends the lanes whose `initial` has left a fault.
template <class E, class Real>
SALTUS_FN void end_at_faults(instance<E, Real>& x, mask_of<Real> where) {
  each<E::form::time_events>([&](int i) SALTUS_INLINE_LAMBDA {
    const auto queue = queue_of<typename E::Model>(i);
    if (queue.capacity == 0) return;
    const Real waiting = x.constants.d[queue.first];
    end_where(x.status, where & !(waiting >= Real(0.0)), status::bad_schedule);
    end_where(x.status, where & (waiting > Real(static_cast<double>(queue.capacity))), status::queue_full);
  });
}

}  // namespace saltus
