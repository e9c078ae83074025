// The time that a quantity spends in each of a number of bins, from which its quantiles over time are read. Its range is not known in
// advance, and the number of bins is fixed: the width of the bins is a power of two and doubles, two bins becoming one, when the range has
// outgrown them. Bin i is [i width, (i + 1) width) for any integer i; its index is i modulo the number of bins, so that no bin moves
// while the range grows.
#pragma once

#include "engine/instance.hpp"

namespace saltus {

/// The bins of one lane, in the numbers that a reduction keeps in an instance from index `at` on: width (0 while the value is constant),
/// smallest and largest value so far, and the bins. All of them are zero at first.
template <class E, class T, int W>
class time_in_bins {
 public:
  SALTUS_FN time_in_bins(instance<E, pack<T, W>>& x, int lane, int at) : x_(x), lane_(lane), at_(at) {}

  /// Adds a time dt > 0 in which the quantity changes linearly from q0 to q1. Values that are not finite are left out.
  SALTUS_FN_COLD void add(T q0, T q1, T dt) const {
    const T low = q0 < q1 ? q0 : q1, high = q0 < q1 ? q1 : q0;
    if (!(high - low <= static_cast<T>(limits<T>::largest)) || !(dt > T(0.0))) return;
    make_room(low, high);
    const T w = get(width);
    if (w == T(0.0)) return set(bin(0), get(bin(0)) + dt);
    const int64 first = index(low, w), last = index(high, w);
    if (first == last) return spend(first, dt);
    const T density = dt / (high - low);
    spend(first, (static_cast<T>(first + 1) * w - low) * density);
    for (int64 i = first + 1; i < last; ++i) spend(i, w * density);
    spend(last, (high - static_cast<T>(last) * w) * density);
  }

  /// The value below which the quantity was for the fraction p of the time, interpolated linearly within a bin. NaN if there was no time.
  SALTUS_FN_COLD T quantile(T p) const {
    T total = T(0.0);
    for (int k = 0; k < bins_of_time; ++k) total += get(bin(k));
    if (!(total > T(0.0))) return static_cast<T>(E::form::unset);
    const T w = get(width), low = get(least), high = get(greatest);
    if (w == T(0.0)) return low;
    T left = p * total;
    const int64 last = index(high, w);
    for (int64 i = index(low, w); i < last; ++i) {
      const T here = get(bin(wrapped(i)));
      if (here > T(0.0) && left <= here) return within(i, w, left / here);
      left -= here;
    }
    const T here = get(bin(wrapped(last)));
    return within(last, w, here > T(0.0) && left < here ? left / here : T(1.0));
  }

 private:
  static constexpr int width = 0, least = 1, greatest = 2;
  SALTUS_FN static constexpr int bin(int k) { return 3 + k; }
  SALTUS_FN static int wrapped(int64 i) { return static_cast<int>(i & (bins_of_time - 1)); }
  SALTUS_FN T get(int k) const { return x_.reduced[at_ + k].get(lane_); }
  SALTUS_FN void set(int k, T value) const { x_.reduced[at_ + k].set(lane_, value); }
  SALTUS_FN void spend(int64 i, T dt) const { set(bin(wrapped(i)), get(bin(wrapped(i))) + dt); }

  SALTUS_FN static int64 index(T q, T w) {
    const T scaled = q / w;  // exact
    const int64 i = static_cast<int64>(scaled);
    return static_cast<T>(i) > scaled ? i - 1 : i;
  }
  SALTUS_FN T within(int64 i, T w, T part) const {
    const T from = static_cast<T>(i) * w, to = from + w;
    const T low = from > get(least) ? from : get(least), high = to < get(greatest) ? to : get(greatest);
    return low + part * (high - low);
  }
  /// A power of two between 1/128 and 1/64 of a range.
  SALTUS_FN static T first_width(T range) {
    using one = pack<T, 1>;
    using integer = typename one::integer;
    const int64 exponent = static_cast<int64>(bits(one(range)).shift_right(limits<T>::mantissa_bits).v) - 6;
    return one::from_bits(integer(exponent > 1 ? exponent : int64(1)).shift_left(limits<T>::mantissa_bits)).v;
  }

  /// Extends the range by the values from `low` to `high`.
  SALTUS_FN void make_room(T low, T high) const {
    const T so_far = get(bin(0)), from_before = get(least), to_before = get(greatest);
    const bool is_first = get(width) == T(0.0) && so_far == T(0.0);
    const T from = is_first || low < from_before ? low : from_before;
    const T to = is_first || high > to_before ? high : to_before;
    if (to > from) {
      if (get(width) == T(0.0)) {  // so far the quantity was constant
        set(width, first_width(to - from));
        set(bin(0), T(0.0));
        if (!is_first) spend(index(from_before, get(width)), so_far);
      }
      while (index(to, get(width)) - index(from, get(width)) >= bins_of_time)
        double_width(index(from_before, get(width)), index(to_before, get(width)));
    }
    set(least, from), set(greatest, to);
  }

  /// `first` and `last` are the bins in use.
  SALTUS_FN void double_width(int64 first, int64 last) const {
    T wide[bins_of_time];
    for (int k = 0; k < bins_of_time; ++k) wide[k] = T(0.0);
    for (int64 i = first; i <= last; ++i) wide[wrapped(i >> 1)] += get(bin(wrapped(i)));
    for (int k = 0; k < bins_of_time; ++k) set(bin(k), wide[k]);
    set(width, T(2.0) * get(width));
  }

  instance<E, pack<T, W>>& x_;
  int lane_, at_;
};

}  // namespace saltus
