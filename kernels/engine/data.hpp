// The data of a gradient: measured values of states and outputs. Steps end at their times, so that the sweep (run/gradient.hpp) has the
// states there.
#pragma once

#include "engine/instance.hpp"

namespace saltus {

/// The number of the first datum after time t.
SALTUS_FN int first_datum_after(const abi::datum* data, int count, double t) {
  int first = 0;
  for (int left = count; left > 0;) {
    const int half = left / 2;
    if (data[first + half].time > t) left = half;
    else first += half + 1, left -= half + 1;
  }
  return first;
}

/// The time of the first datum after t; the largest number if there is none.
template <class E, class T, int W>
SALTUS_FN pack<T, W> next_datum(const tolerances<E, pack<T, W>>& tol, pack<T, W> t) {
  pack<T, W> next(limits<T>::largest);
  if constexpr (E::gradient)
    for (int lane = 0; tol.data_count > 0 && lane < W; ++lane)
      if (const int i = first_datum_after(tol.data, tol.data_count, t.get(lane)); i < tol.data_count)
        next.set(lane, tol.data[i].time);
  return next;
}

/// The lanes with a datum less than `within` before or after t.
template <class E, class Real>
SALTUS_FN mask_of<Real> is_at_datum(const tolerances<E, Real>& tol, Real t, Real within) {
  return next_datum(tol, t - within) < t + within;
}

}  // namespace saltus
