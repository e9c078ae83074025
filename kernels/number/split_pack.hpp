// pack<T, W> and mask<T, W> wider than the machine's registers: two halves, each again a pack. Their instructions interleave, so that one
// half hides the latency of the other.
#pragma once

#include "number/native_pack.hpp"

namespace saltus {

template <class T, int W>
requires(detail::is_split<T, W>) struct mask<T, W> {
  using half = mask<T, W / 2>;
  half lo, hi;

  SALTUS_FN friend mask operator&(mask a, mask b) { return {a.lo & b.lo, a.hi & b.hi}; }
  SALTUS_FN friend mask operator|(mask a, mask b) { return {a.lo | b.lo, a.hi | b.hi}; }
  SALTUS_FN friend mask operator^(mask a, mask b) { return {a.lo ^ b.lo, a.hi ^ b.hi}; }
  SALTUS_FN friend mask operator!(mask a) { return {!a.lo, !a.hi}; }
  SALTUS_FN friend mask operator&&(mask a, mask b) { return a & b; }
  SALTUS_FN friend mask operator||(mask a, mask b) { return a | b; }
  SALTUS_FN bool operator[](int lane) const { return lane < W / 2 ? lo[lane] : hi[lane - W / 2]; }
  SALTUS_FN static mask all(bool value) { return {half::all(value), half::all(value)}; }
  SALTUS_FN static mask from_bits(unsigned bits) { return {half::from_bits(bits), half::from_bits(bits >> W / 2)}; }
  SALTUS_FN unsigned bits() const { return lo.bits() | hi.bits() << W / 2; }
};

template <class T, int W>
requires(detail::is_split<T, W>) struct pack<T, W> {
  using half = pack<T, W / 2>;
  using scalar = T;
  using integer = pack<integer_of<T>, W>;
  using mask_type = mask<integer_of<T>, W>;
  static constexpr int lanes = W;
  static constexpr bool floating = half::floating;
  using literal = typename half::literal;

  half lo, hi;

  pack() = default;
  SALTUS_FN constexpr pack(literal x) : lo(x), hi(x) {}
  template <class Enum>
  requires(__is_enum(Enum)) pack(Enum)
  = delete;
  SALTUS_FN pack(half a, half b) : lo(a), hi(b) {}

  SALTUS_FN T get(int lane) const { return lane < W / 2 ? lo.get(lane) : hi.get(lane - W / 2); }
  SALTUS_FN void set(int lane, T x) { reinterpret_cast<T*>(this)[lane] = x; }

  SALTUS_FN friend pack operator+(pack a, pack b) { return {a.lo + b.lo, a.hi + b.hi}; }
  SALTUS_FN friend pack operator-(pack a, pack b) { return {a.lo - b.lo, a.hi - b.hi}; }
  SALTUS_FN friend pack operator*(pack a, pack b) { return {a.lo * b.lo, a.hi * b.hi}; }
  SALTUS_FN friend pack operator/(pack a, pack b) { return {a.lo / b.lo, a.hi / b.hi}; }
  SALTUS_FN friend pack operator-(pack a) { return {-a.lo, -a.hi}; }
  SALTUS_FN friend pack operator+(pack a) { return a; }
  SALTUS_FN pack& operator+=(pack b) { return *this = *this + b; }
  SALTUS_FN pack& operator-=(pack b) { return *this = *this - b; }
  SALTUS_FN pack& operator*=(pack b) { return *this = *this * b; }
  SALTUS_FN pack& operator/=(pack b) { return *this = *this / b; }

  SALTUS_FN friend mask_type operator<(pack a, pack b) { return {a.lo < b.lo, a.hi < b.hi}; }
  SALTUS_FN friend mask_type operator<=(pack a, pack b) { return {a.lo <= b.lo, a.hi <= b.hi}; }
  SALTUS_FN friend mask_type operator>(pack a, pack b) { return {a.lo > b.lo, a.hi > b.hi}; }
  SALTUS_FN friend mask_type operator>=(pack a, pack b) { return {a.lo >= b.lo, a.hi >= b.hi}; }
  SALTUS_FN friend mask_type operator==(pack a, pack b) { return {a.lo == b.lo, a.hi == b.hi}; }
  SALTUS_FN friend mask_type operator!=(pack a, pack b) { return {a.lo != b.lo, a.hi != b.hi}; }

  SALTUS_FN friend pack select(mask_type m, pack a, pack b) {
    return {select(m.lo, a.lo, b.lo), select(m.hi, a.hi, b.hi)};
  }
  SALTUS_FN friend pack fma(pack a, pack b, pack c) { return {fma(a.lo, b.lo, c.lo), fma(a.hi, b.hi, c.hi)}; }
  SALTUS_FN friend pack sqrt(pack a) { return {sqrt(a.lo), sqrt(a.hi)}; }
  SALTUS_FN friend pack abs(pack a) { return {abs(a.lo), abs(a.hi)}; }
  SALTUS_FN friend pack copysign(pack a, pack b) { return {copysign(a.lo, b.lo), copysign(a.hi, b.hi)}; }
  SALTUS_FN friend pack min(pack a, pack b) { return {min(a.lo, b.lo), min(a.hi, b.hi)}; }
  SALTUS_FN friend pack max(pack a, pack b) { return {max(a.lo, b.lo), max(a.hi, b.hi)}; }
  SALTUS_FN friend pack sign(pack a) { return {sign(a.lo), sign(a.hi)}; }

  SALTUS_FN friend pack operator&(pack a, pack b) { return {a.lo & b.lo, a.hi & b.hi}; }
  SALTUS_FN friend pack operator|(pack a, pack b) { return {a.lo | b.lo, a.hi | b.hi}; }
  SALTUS_FN friend pack operator^(pack a, pack b) { return {a.lo ^ b.lo, a.hi ^ b.hi}; }
  SALTUS_FN pack shift_left(int n) const { return {lo.shift_left(n), hi.shift_left(n)}; }
  SALTUS_FN pack shift_right(int n) const { return {lo.shift_right(n), hi.shift_right(n)}; }

  SALTUS_FN friend integer bits(pack a) { return {bits(a.lo), bits(a.hi)}; }
  SALTUS_FN static pack from_bits(integer a) { return {half::from_bits(a.lo), half::from_bits(a.hi)}; }
  SALTUS_FN static pack from_integer(integer a) { return {half::from_integer(a.lo), half::from_integer(a.hi)}; }
  SALTUS_FN friend integer to_integer(pack a) { return {to_integer(a.lo), to_integer(a.hi)}; }
  static constexpr auto sign_bit = half::sign_bit;
};

}  // namespace saltus
