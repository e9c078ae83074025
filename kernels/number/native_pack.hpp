// pack<T, W> and mask<T, W> for widths that fit into a register: one vector of g++ or clang, or a plain number. Include pack.hpp, which
// also defines what a pack is.
//
// The types are built on the vector types of g++ and clang and not on a SIMD library; docs/numerics.md gives the reasons.
#pragma once

#include "number/base.hpp"
#include "number/mask_register.hpp"

namespace saltus {

namespace detail {

template <class T>
struct integer_of;
template <>
struct integer_of<double> {
  using type = int64;
};
template <>
struct integer_of<float> {
  using type = int32;
};
template <>
struct integer_of<int64> {
  using type = int64;
};
template <>
struct integer_of<int32> {
  using type = int32;
};

template <bool First, class A, class B>
struct choose {
  using type = A;
};
template <class A, class B>
struct choose<false, A, B> {
  using type = B;
};

// NVRTC has no vector types; every pack there has one lane.
#if defined(__CUDACC_RTC__)
template <class T, int W>
struct native;
#else
template <class T, int W>
struct native {
  typedef T type __attribute__((vector_size(W * sizeof(T))));
  typedef typename integer_of<T>::type mask __attribute__((vector_size(W * sizeof(T))));
};
#endif
#if defined(__AVX512F__) && defined(__AVX512DQ__) && !defined(__clang__) && !defined(__CUDACC_RTC__)
template <class T, int W>
requires(in_mask_register<T, W>) struct native<T, W> {
  typedef T type __attribute__((vector_size(W * sizeof(T))));
  using mask = typename mask_bits<W>::type;
};
#endif
template <class T>
struct native<T, 1> {
  using type = T;
  using mask = bool;
};

/// Size of the machine's registers in bytes.
#if defined(__AVX512F__)
inline constexpr int register_size = 64;
#elif defined(__AVX__)
inline constexpr int register_size = 32;
#else
inline constexpr int register_size = 16;
#endif
// x < y ? x : y and x > y ? x : y in every lane, in one instruction where the compiler would take two.
#if defined(__CUDACC_RTC__)
template <class V>
SALTUS_FN V least(V x, V y);
template <class V>
SALTUS_FN V greatest(V x, V y);
#else
template <class V>
SALTUS_FN V least(V x, V y) {
#if defined(__AVX512F__) && !defined(__clang__)
  if constexpr (sizeof(V) == 64 && sizeof(x[0]) == 8)
    return (V)__builtin_ia32_minpd512_mask(x, y, x, static_cast<unsigned char>(-1), 4);
  else if constexpr (sizeof(V) == 64 && sizeof(x[0]) == 4)
    return (V)__builtin_ia32_minps512_mask(x, y, x, static_cast<unsigned short>(-1), 4);
  else
#endif
    return x < y ? x : y;
}
template <class V>
SALTUS_FN V greatest(V x, V y) {
#if defined(__AVX512F__) && !defined(__clang__)
  if constexpr (sizeof(V) == 64 && sizeof(x[0]) == 8)
    return (V)__builtin_ia32_maxpd512_mask(x, y, x, static_cast<unsigned char>(-1), 4);
  else if constexpr (sizeof(V) == 64 && sizeof(x[0]) == 4)
    return (V)__builtin_ia32_maxps512_mask(x, y, x, static_cast<unsigned short>(-1), 4);
  else
#endif
    return x > y ? x : y;
}
#endif

/// A wider pack is split into halves (number/split_pack.hpp).
template <class T, int W>
inline constexpr bool is_split = W > 1 && W* static_cast<int>(sizeof(T)) > register_size;

}  // namespace detail

template <class T>
using integer_of = typename detail::integer_of<T>::type;

/// W truth values over lanes as wide as the integer T. A mask of one lane converts to bool.
template <class T, int W>
struct mask {
  using native = typename detail::native<T, W>::mask;
  static constexpr bool packed = detail::in_mask_register<T, W>;
  native m;

  SALTUS_FN friend mask operator&(mask a, mask b) {
    if constexpr (W == 1) return {a.m && b.m};
    else if constexpr (packed) return {detail::bits_and(a.m, b.m)};
    else return {a.m & b.m};
  }
  SALTUS_FN friend mask operator|(mask a, mask b) {
    if constexpr (W == 1) return {a.m || b.m};
    else if constexpr (packed) return {detail::bits_or(a.m, b.m)};
    else return {a.m | b.m};
  }
  SALTUS_FN friend mask operator!(mask a) {
    if constexpr (W == 1) return {!a.m};
    else if constexpr (packed) return {detail::bits_not(a.m)};
    else return {~a.m};
  }
  SALTUS_FN friend mask operator&&(mask a, mask b) { return a & b; }
  SALTUS_FN friend mask operator||(mask a, mask b) { return a | b; }
  SALTUS_FN friend mask operator^(mask a, mask b) {
    if constexpr (W == 1) return {a.m != b.m};
    else if constexpr (packed) return {detail::bits_xor(a.m, b.m)};
    else return {a.m ^ b.m};
  }
  SALTUS_FN bool operator[](int lane) const {
    if constexpr (W == 1) return m;
    else if constexpr (packed) return (m >> lane & 1) != 0;
    else return m[lane] != 0;
  }
  SALTUS_FN operator bool() const requires(W == 1) { return m; }
  /// The same answer in every lane.
  SALTUS_FN static mask all(bool value) {
    if constexpr (W == 1) return {value};
    else if constexpr (packed) return {static_cast<native>(value ? -1 : 0)};
    else return {native{} - (value ? 1 : 0)};
  }
  /// Lane j takes bit j.
  SALTUS_FN static mask from_bits(unsigned bits) {
    if constexpr (W == 1) {
      return {(bits & 1u) != 0};
    } else if constexpr (packed) {
      return {static_cast<native>(bits)};
    } else {
      native bit{};
      for (int j = 0; j < W; ++j) bit[j] = T(1) << j;
      return {(bit & (native{} + static_cast<T>(bits))) != 0};
    }
  }
  /// Bit j is lane j.
  SALTUS_FN unsigned bits() const {
    if constexpr (W == 1) {
      return m ? 1u : 0u;
    } else if constexpr (packed) {
      return m;
    } else {
#if defined(__AVX512DQ__) && defined(__AVX512VL__)
      if constexpr (sizeof(native) == 64 && sizeof(T) == 8)
        return static_cast<unsigned char>(__builtin_ia32_cvtq2mask512(m));
      else if constexpr (sizeof(native) == 64 && sizeof(T) == 4)
        return static_cast<unsigned short>(__builtin_ia32_cvtd2mask512((int __attribute__((vector_size(64))))m));
      else
#endif
#if defined(__AVX__)
          if constexpr (sizeof(native) == 32 && sizeof(T) == 8)
        return static_cast<unsigned>(__builtin_ia32_movmskpd256((double __attribute__((vector_size(32))))m));
      else if constexpr (sizeof(native) == 32 && sizeof(T) == 4)
        return static_cast<unsigned>(__builtin_ia32_movmskps256((float __attribute__((vector_size(32))))m));
      else
#endif
#if defined(__SSE2__)
          if constexpr (sizeof(native) == 16 && sizeof(T) == 8)
        return static_cast<unsigned>(__builtin_ia32_movmskpd((double __attribute__((vector_size(16))))m));
      else if constexpr (sizeof(native) == 16 && sizeof(T) == 4)
        return static_cast<unsigned>(__builtin_ia32_movmskps((float __attribute__((vector_size(16))))m));
      else
#endif
      {
        unsigned r = 0;
        for (int j = 0; j < W; ++j) r |= static_cast<unsigned>(m[j]) & 1u << j;
        return r;
      }
    }
  }
};

template <class T, int W>
SALTUS_FN bool any(mask<T, W> a) {
  return a.bits() != 0;
}
template <class T, int W>
SALTUS_FN bool all(mask<T, W> a) {
  return a.bits() == (W == 32 ? ~0u : (1u << W) - 1u);
}
template <class T, int W>
SALTUS_FN bool none(mask<T, W> a) {
  return a.bits() == 0;
}

template <class T, int W = 1>
struct pack {
  using scalar = T;
  using native = typename detail::native<T, W>::type;
  using integer = pack<integer_of<T>, W>;
  using mask_type = mask<integer_of<T>, W>;
  static constexpr int lanes = W;
  static constexpr bool floating = static_cast<T>(0.5) != T(0);
  /// Type of literals: double for floating packs, a 64-bit integer for integer ones.
  using literal = typename detail::choose<floating, double, int64>::type;

  native v;

  pack() = default;
  SALTUS_FN constexpr pack(literal x) : v(spread(static_cast<T>(x))) {}
  /// An enumerator is a name, not a number: at[mass], not mass.
  template <class Enum>
  requires(__is_enum(Enum)) pack(Enum)
  = delete;

  /// Explicit conversion of a single lane to a plain number: int(now[gear]). An implicit one would make now[x] + 1.0 ambiguous.
  template <class Number>
  requires(W == 1 && is_number<Number>) SALTUS_FN explicit operator Number() const { return static_cast<Number>(v); }

  SALTUS_FN static pack from(native x) {
    pack r;
    r.v = x;
    return r;
  }

  SALTUS_FN T get(int lane) const {
    if constexpr (W == 1) return v;
    else return v[lane];
  }
  SALTUS_FN void set(int lane, T x) {
    if constexpr (W == 1) v = x;
    else reinterpret_cast<T*>(this)[lane] = x;
  }

  SALTUS_FN friend pack operator+(pack a, pack b) { return from(a.v + b.v); }
  SALTUS_FN friend pack operator-(pack a, pack b) { return from(a.v - b.v); }
  SALTUS_FN friend pack operator*(pack a, pack b) { return from(a.v * b.v); }
  SALTUS_FN friend pack operator/(pack a, pack b) { return from(a.v / b.v); }
  SALTUS_FN friend pack operator-(pack a) { return from(-a.v); }
  SALTUS_FN friend pack operator+(pack a) { return a; }
  SALTUS_FN pack& operator+=(pack b) { return *this = *this + b; }
  SALTUS_FN pack& operator-=(pack b) { return *this = *this - b; }
  SALTUS_FN pack& operator*=(pack b) { return *this = *this * b; }
  SALTUS_FN pack& operator/=(pack b) { return *this = *this / b; }

  SALTUS_FN friend mask_type operator<(pack a, pack b) {
    if constexpr (mask_type::packed) return {detail::compare<1>(a.v, b.v)};
    else return {a.v < b.v};
  }
  SALTUS_FN friend mask_type operator<=(pack a, pack b) {
    if constexpr (mask_type::packed) return {detail::compare<2>(a.v, b.v)};
    else return {a.v <= b.v};
  }
  SALTUS_FN friend mask_type operator==(pack a, pack b) {
    if constexpr (mask_type::packed) return {detail::compare<0>(a.v, b.v)};
    else return {a.v == b.v};
  }
  SALTUS_FN friend mask_type operator!=(pack a, pack b) {
    if constexpr (mask_type::packed) return {detail::compare<4>(a.v, b.v)};
    else return {a.v != b.v};
  }
  SALTUS_FN friend mask_type operator>(pack a, pack b) { return b < a; }
  SALTUS_FN friend mask_type operator>=(pack a, pack b) { return b <= a; }

  /// m ? a : b in every lane.
  SALTUS_FN friend pack select(mask_type m, pack a, pack b) {
    if constexpr (mask_type::packed) return from(detail::choose_lanes(m.m, a.v, b.v));
    else return from(m.m ? a.v : b.v);
  }
  /// a * b + c, rounded once.
  SALTUS_FN friend pack fma(pack a, pack b, pack c) { return from(fused(a.v, b.v, c.v)); }
  SALTUS_FN friend pack sqrt(pack a) { return from(root(a.v)); }
  SALTUS_FN friend pack abs(pack a) { return from_bits(bits(a) & integer(~sign_bit)); }
  /// |a| with the sign of b.
  SALTUS_FN friend pack copysign(pack a, pack b) {
    return from_bits((bits(a) & integer(~sign_bit)) | (bits(b) & integer(sign_bit)));
  }
  /// b < a ? b : a, and a < b ? b : a: a where either is NaN. The min and max instructions do the same with b first.
  SALTUS_FN friend pack min(pack a, pack b) {
    if constexpr (floating && W > 1) return from(detail::least(b.v, a.v));
    else return select(b < a, b, a);
  }
  SALTUS_FN friend pack max(pack a, pack b) {
    if constexpr (floating && W > 1) return from(detail::greatest(b.v, a.v));
    else return select(a < b, b, a);
  }
  /// -1, 0 or 1 (NaN for NaN).
  SALTUS_FN friend pack sign(pack a) {
    return select(a > pack(0.0), pack(1.0), select(a < pack(0.0), pack(-1.0), a * pack(0.0)));
  }

  // Integers only.
  SALTUS_FN friend pack operator&(pack a, pack b) { return from(a.v & b.v); }
  SALTUS_FN friend pack operator|(pack a, pack b) { return from(a.v | b.v); }
  SALTUS_FN friend pack operator^(pack a, pack b) { return from(a.v ^ b.v); }
  SALTUS_FN pack shift_left(int n) const { return from(v << n); }
  /// Arithmetic: the sign is kept.
  SALTUS_FN pack shift_right(int n) const { return from(v >> n); }

  /// The same bits read as integers, and back.
  SALTUS_FN friend integer bits(pack a) { return integer::from(reinterpret<typename integer::native>(a.v)); }
  SALTUS_FN static pack from_bits(integer a) { return from(reinterpret<native>(a.v)); }
  /// The integer's value, rounded to nearest.
  SALTUS_FN static pack from_integer(integer a) {
#if defined(__CUDACC_RTC__)
    return from(static_cast<T>(a.v));
#else
    if constexpr (W == 1) return from(static_cast<T>(a.v));
    else return from(__builtin_convertvector(a.v, native));
#endif
  }
  /// The integer part: rounded towards zero.
  SALTUS_FN friend integer to_integer(pack a) {
#if defined(__CUDACC_RTC__)
    return integer::from(static_cast<integer_of<T>>(a.v));
#else
    if constexpr (W == 1) return integer::from(static_cast<integer_of<T>>(a.v));
    else return integer::from(__builtin_convertvector(a.v, typename integer::native));
#endif
  }
  static constexpr integer_of<T> sign_bit =
      sizeof(T) == 8 ? static_cast<integer_of<T>>(1ull << 63) : static_cast<integer_of<T>>(1u << 31);

 private:
  SALTUS_FN static constexpr native spread(T x) {
    if constexpr (W == 1) return x;
    else return x - native{};  // not +: -0.0 stays -0.0
  }
  template <class To, class From>
  SALTUS_FN static To reinterpret(From x) {
#if defined(__CUDA_ARCH__)
    if constexpr (sizeof(To) == 8 && floating) {
      if constexpr (static_cast<To>(0.5) != To(0)) return __longlong_as_double(x);
      else return __double_as_longlong(x);
    } else if constexpr (floating) {
      if constexpr (static_cast<To>(0.5) != To(0)) return __int_as_float(x);
      else return __float_as_int(x);
    } else {
      return static_cast<To>(x);
    }
#else
    return __builtin_bit_cast(To, x);
#endif
  }
  SALTUS_FN static native fused(native a, native b, native c) {
#if defined(__CUDA_ARCH__)
    if constexpr (sizeof(T) == 4) return __fmaf_rn(a, b, c);
    else return __fma_rn(a, b, c);
#else
    if constexpr (W == 1) {
      if constexpr (sizeof(T) == 4) return __builtin_fmaf(a, b, c);
      else return __builtin_fma(a, b, c);
    } else {
#if defined(__AVX512F__) && defined(__clang__)
      if constexpr (sizeof(native) == 64 && sizeof(T) == 8) return __builtin_ia32_vfmaddpd512_mask(a, b, c, -1, 4);
      else if constexpr (sizeof(native) == 64) return __builtin_ia32_vfmaddps512_mask(a, b, c, -1, 4);
      else
#elif defined(__AVX512F__)
      if constexpr (sizeof(native) == 64 && sizeof(T) == 8) return __builtin_ia32_vfmaddpd512_mask(a, b, c, -1, 4);
      else if constexpr (sizeof(native) == 64) return __builtin_ia32_vfmaddps512_mask(a, b, c, -1, 4);
      else
#endif
#if defined(__FMA__)
          if constexpr (sizeof(native) == 32 && sizeof(T) == 8)
        return __builtin_ia32_vfmaddpd256(a, b, c);
      else if constexpr (sizeof(native) == 32) return __builtin_ia32_vfmaddps256(a, b, c);
      else
#endif
#if defined(__aarch64__) && !defined(__clang__)
          if constexpr (sizeof(native) == 16 && sizeof(T) == 8)
        return __builtin_aarch64_fmav2df(a, b, c);
      else if constexpr (sizeof(native) == 16) return __builtin_aarch64_fmav4sf(a, b, c);
      else if constexpr (sizeof(native) == 8) return __builtin_aarch64_fmav2sf(a, b, c);
      else
#endif
      {
        native r;
        for (int j = 0; j < W; ++j)
          if constexpr (sizeof(T) == 4) r[j] = __builtin_fmaf(a[j], b[j], c[j]);
          else r[j] = __builtin_fma(a[j], b[j], c[j]);
        return r;
      }
    }
#endif
  }
  SALTUS_FN static native root(native a) {
#if defined(__CUDA_ARCH__)
    if constexpr (sizeof(T) == 4) return __fsqrt_rn(a);
    else return __dsqrt_rn(a);
#else
    if constexpr (W == 1) {
      if constexpr (sizeof(T) == 4) return __builtin_sqrtf(a);
      else return __builtin_sqrt(a);
    } else {
#if defined(__AVX512F__) && !defined(__clang__)
      if constexpr (sizeof(native) == 64 && sizeof(T) == 8) return __builtin_ia32_sqrtpd512_mask(a, a, -1, 4);
      else if constexpr (sizeof(native) == 64) return __builtin_ia32_sqrtps512_mask(a, a, -1, 4);
      else
#endif
#if defined(__AVX__) && !defined(__clang__)
          if constexpr (sizeof(native) == 32 && sizeof(T) == 8)
        return __builtin_ia32_sqrtpd256(a);
      else if constexpr (sizeof(native) == 32) return __builtin_ia32_sqrtps256(a);
      else
#endif
#if defined(__aarch64__) && !defined(__clang__)
          if constexpr (sizeof(native) == 16 && sizeof(T) == 8)
        return __builtin_aarch64_sqrtv2df(a);
      else if constexpr (sizeof(native) == 16) return __builtin_aarch64_sqrtv4sf(a);
      else if constexpr (sizeof(native) == 8) return __builtin_aarch64_sqrtv2sf(a);
      else
#endif
      {
        native r;
        for (int j = 0; j < W; ++j)
          if constexpr (sizeof(T) == 4) r[j] = __builtin_sqrtf(a[j]);
          else r[j] = __builtin_sqrt(a[j]);
        return r;
      }
    }
#endif
  }
};

}  // namespace saltus
