// Two kinds of landing. A quick one takes the way of most events: one root of one guard, found by a few Newton steps, and one transition.
// Where it meets anything else it leaves the instance as it was to a full landing. Both do the same operations, so the bits are the same;
// but the code of a quick landing is small, and no instance waits there for a harder neighbour.
#pragma once

#include "engine/instance.hpp"

namespace saltus {

/// The engine of quick landings.
template <class E>
struct quick : E {
  static constexpr bool is_quick = true;
  using whole = quick;
};

/// True if there are quick landings: for equations without algebraic states or derivatives, whose steps end at guards. A certified search,
/// guards along series, slides and steps that are recorded have landings of their own.
template <class E>
inline constexpr bool has_quick_landings =
    E::ng > 0 && E::form::time_events == 0 && E::form::tables == 0 && E::form::delay_count == 0 &&
    !E::stops_at_windows && !E::certified && !E::gradient && !is_series_method<typename E::Method> &&
    E::directions == 0 && !E::form::slides && !moves_states<typename E::form>;

/// The status of an instance that a quick landing leaves to a full one. It never leaves the kernels.
inline constexpr auto left_to_full = static_cast<status>(255);

template <class E, class Real>
SALTUS_FN void leave_to_full(instance<E, Real>& x, mask_of<Real> where) {
  end_where(x.status, where, left_to_full);
}

/// Does what few landings need, if any lane of `where` needs it: `body()`. A quick landing leaves these lanes instead.
template <class E, class Real, class Body>
SALTUS_FN void seldom(instance<E, Real>& x, mask_of<Real> where, const Body& body) {
  if constexpr (E::is_quick) leave_to_full(x, where);
  else if (any(where)) body();
}

}  // namespace saltus
