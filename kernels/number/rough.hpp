// Rough numbers: a float in every lane, for the controller of step sizes, which needs no more digits. On a device the pipe of double
// precision has enough to do. As everywhere, one straight line of IEEE-754 operations, so that lanes of any width and a device hold the
// same bits.
#pragma once

#include "number/real.hpp"

namespace saltus {

/// The rough numbers beside Real.
template <class Real>
using rough_of = pack<float, Real::lanes>;

namespace detail {
#if !defined(__CUDACC_RTC__)
/// Two vectors side by side.
template <class To, class From>
SALTUS_FN To joined(From lo, From hi) {
  if constexpr (sizeof(lo) / sizeof(lo[0]) == 2) return __builtin_shufflevector(lo, hi, 0, 1, 2, 3);
  else if constexpr (sizeof(lo) / sizeof(lo[0]) == 4) return __builtin_shufflevector(lo, hi, 0, 1, 2, 3, 4, 5, 6, 7);
  else return __builtin_shufflevector(lo, hi, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
}
/// The first or the second half of a vector.
template <class To, bool second, class From>
SALTUS_FN To half_of(From x) {
  if constexpr (sizeof(x) / sizeof(x[0]) == 4) return __builtin_shufflevector(x, x, 2 * second, 2 * second + 1);
  else if constexpr (sizeof(x) / sizeof(x[0]) == 8)
    return __builtin_shufflevector(x, x, 4 * second, 4 * second + 1, 4 * second + 2, 4 * second + 3);
  else
    return __builtin_shufflevector(x, x, 8 * second, 8 * second + 1, 8 * second + 2, 8 * second + 3, 8 * second + 4,
                                   8 * second + 5, 8 * second + 6, 8 * second + 7);
}
#endif

/// Numbers or answers of another size: `To` and `From` are packs, or masks, of as many lanes. The wider of the two may be split where the
/// narrower is not.
template <class To, class From>
SALTUS_FN To converted(From x) {
#if defined(__CUDACC_RTC__)
  if constexpr (is_same<To, From>) return x;
  else if constexpr (requires { x.v; }) return To::from(static_cast<typename To::scalar>(x.v));
  else return To{x.m};
#else
  if constexpr (is_same<To, From>) {
    return x;
  } else if constexpr (requires(To to) {
                         x.lo;
                         to.lo;
                       }) {
    return {converted<typename To::half>(x.lo), converted<typename To::half>(x.hi)};
  } else if constexpr (
      requires { x.v; } && requires(To to) { to.v; }) {
    if constexpr (To::lanes == 1) return To::from(static_cast<typename To::scalar>(x.v));
    else return To::from(__builtin_convertvector(x.v, typename To::native));
  } else if constexpr (requires { x.v; }) {
    using half = pack<typename From::scalar, From::lanes / 2>;
    return {converted<typename To::half>(half::from(half_of<typename half::native, false>(x.v))),
            converted<typename To::half>(half::from(half_of<typename half::native, true>(x.v)))};
  } else if constexpr (requires(To to) { to.v; }) {
    using half = pack<typename To::scalar, To::lanes / 2>;
    return To::from(joined<typename To::native>(converted<half>(x.lo).v, converted<half>(x.hi).v));
  } else if constexpr (
      requires { x.m; } && requires(To to) { to.m; }) {
    if constexpr (requires { To{x.m}; } && sizeof(x.m) == sizeof(To)) return To{x.m};
    else return To{__builtin_convertvector(x.m, typename To::native)};
  } else {
    return To::from_bits(x.bits());
  }
#endif
}
}  // namespace detail

/// x rounded to float, and the answers of a comparison of Reals beside rough numbers.
template <class T, int W>
SALTUS_FN pack<float, W> to_rough(pack<T, W> x) {
  return detail::converted<pack<float, W>>(x);
}
template <class I, int W>
SALTUS_FN mask<int32, W> to_rough(mask<I, W> x) {
  return detail::converted<mask<int32, W>>(x);
}
/// A rough number as a Real of the same value, and the answers of a comparison of rough numbers beside Reals.
template <class Real>
SALTUS_FN Real from_rough(rough_of<Real> x) {
  return detail::converted<Real>(x);
}
template <class Real>
SALTUS_FN mask_of<Real> from_rough(mask<int32, Real::lanes> x) {
  return detail::converted<mask_of<Real>>(x);
}

}  // namespace saltus
