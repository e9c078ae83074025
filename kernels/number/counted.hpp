// pack<counted, 1>: a double that counts the operations done with it. A model's functions, and those of number/math.hpp, run over it once
// to show their cost. Host side only.
//
// Operations on parameters and literals alone can be left out of the count, since a compiler moves them out of the stages of a step.
//
// An operation is + - * / or sqrt; an fma counts as two. Comparisons are counted apart, min and max as one each. Operations that only move
// bits are free: changes of sign, selections, absolute values, integers.
#pragma once

#include "number/real.hpp"
#include "number/recorded_branches.hpp"

namespace saltus {

struct operation_count {
  int64 flops, comparisons;
};

/// Operations counted so far.
inline operation_count operations_so_far = {0, 0};

/// True if operations on parameters and literals alone are not counted.
inline bool held_is_free = false;

/// The scalar of counting packs.
struct counted {
  double value;
};

namespace detail {
template <>
struct integer_of<counted> {
  using type = int64;
};
}  // namespace detail
template <>
struct limits<counted> : limits<double> {};

/// The answer of a comparison. It is a type of its own so that select of two literals still counts.
struct counted_mask {
  mask<int64, 1> m;

  counted_mask() = default;
  counted_mask(mask<int64, 1> from) : m(from) {}
  friend counted_mask operator&(counted_mask a, counted_mask b) { return a.m & b.m; }
  friend counted_mask operator|(counted_mask a, counted_mask b) { return a.m | b.m; }
  friend counted_mask operator^(counted_mask a, counted_mask b) { return a.m ^ b.m; }
  friend counted_mask operator!(counted_mask a) { return !a.m; }
  friend counted_mask operator&&(counted_mask a, counted_mask b) { return a.m & b.m; }
  friend counted_mask operator||(counted_mask a, counted_mask b) { return a.m | b.m; }
  bool operator[](int lane) const { return m[lane]; }
  explicit operator bool() const { return m.m; }
  static counted_mask all(bool value) { return mask<int64, 1>::all(value); }
  unsigned bits() const { return m.bits(); }
  friend bool any(counted_mask a) { return any_recorded(a.m.m); }
  friend bool all(counted_mask a) { return all_recorded(a.m.m); }
  friend bool none(counted_mask a) { return !any_recorded(a.m.m); }
};

template <>
struct pack<counted, 1> {
  using scalar = counted;
  using plain = pack<double, 1>;
  using integer = pack<int64, 1>;
  using mask_type = counted_mask;
  using literal = double;
  static constexpr int lanes = 1;
  static constexpr bool floating = true;
  static constexpr auto sign_bit = plain::sign_bit;

  plain v;
  bool held = true;  ///< made of parameters and literals alone

  pack() = default;
  pack(double x) : v(x) {}
  /// A constant of the model, from a literal.
  pack(plain x, bool is_held = true) : v(x), held(is_held) {}
  /// A number that changes from stage to stage.
  static pack varying(double x) { return pack(plain(x), false); }
  template <class Enum>
  requires(__is_enum(Enum)) pack(Enum)
  = delete;

  counted get(int) const { return {v.v}; }
  void set(int, counted x) { v.v = x.value; }

  friend pack operator+(pack a, pack b) { return done(1, a.v + b.v, a.held && b.held); }
  friend pack operator-(pack a, pack b) { return done(1, a.v - b.v, a.held && b.held); }
  friend pack operator*(pack a, pack b) { return done(1, a.v * b.v, a.held && b.held); }
  friend pack operator/(pack a, pack b) { return done(1, a.v / b.v, a.held && b.held); }
  friend pack fma(pack a, pack b, pack c) { return done(2, fma(a.v, b.v, c.v), a.held && b.held && c.held); }
  friend pack sqrt(pack a) { return done(1, sqrt(a.v), a.held); }
  friend pack operator-(pack a) { return {-a.v, a.held}; }
  friend pack operator+(pack a) { return a; }
  pack& operator+=(pack b) { return *this = *this + b; }
  pack& operator-=(pack b) { return *this = *this - b; }
  pack& operator*=(pack b) { return *this = *this * b; }
  pack& operator/=(pack b) { return *this = *this / b; }

  friend counted_mask operator<(pack a, pack b) { return compared(a.v < b.v); }
  friend counted_mask operator<=(pack a, pack b) { return compared(a.v <= b.v); }
  friend counted_mask operator>(pack a, pack b) { return compared(a.v > b.v); }
  friend counted_mask operator>=(pack a, pack b) { return compared(a.v >= b.v); }
  friend counted_mask operator==(pack a, pack b) { return compared(a.v == b.v); }
  friend counted_mask operator!=(pack a, pack b) { return compared(a.v != b.v); }

  friend pack select(counted_mask m, pack a, pack b) { return {select(m.m, a.v, b.v), a.held && b.held}; }
  friend pack abs(pack a) { return {abs(a.v), a.held}; }
  friend pack copysign(pack a, pack b) { return {copysign(a.v, b.v), a.held && b.held}; }
  friend pack min(pack a, pack b) { return select(b < a, b, a); }
  friend pack max(pack a, pack b) { return select(a < b, b, a); }
  friend pack sign(pack a) {
    return select(a > pack(0.0), pack(1.0), select(a < pack(0.0), pack(-1.0), a * pack(0.0)));
  }

  friend integer bits(pack a) { return bits(a.v); }
  static pack from_bits(integer a) { return {plain::from_bits(a), false}; }
  static pack from_integer(integer a) { return {plain::from_integer(a), false}; }
  friend integer to_integer(pack a) { return to_integer(a.v); }

 private:
  static pack done(int some, plain result, bool is_held) {
    if (!(held_is_free && is_held)) operations_so_far.flops += some;
    return {result, is_held};
  }
  static counted_mask compared(mask<int64, 1> answer) {
    ++operations_so_far.comparisons;
    return answer;
  }
};

/// A selection between two literals, as models write it: select(at.above(switch), -1.0, 1.0).
inline pack<counted> select(counted_mask m, double a, double b) {
  return select(m, pack<counted>(a), pack<counted>(b));
}

/// Operations that `body()` performs.
template <class F>
operation_count count_operations(F&& body) {
  const operation_count before = operations_so_far;
  body();
  return {operations_so_far.flops - before.flops, operations_so_far.comparisons - before.comparisons};
}

/// The same without operations on parameters and literals alone.
template <class F>
operation_count count_varying_operations(F&& body) {
  held_is_free = true;
  const auto count = count_operations(static_cast<F&&>(body));
  held_is_free = false;
  return count;
}

}  // namespace saltus
