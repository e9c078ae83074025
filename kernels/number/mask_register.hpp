// Truth values in the mask registers of AVX-512, one bit per lane. g++ 12 keeps a vector of truth values in a full register instead, moves
// it to and fro for each comparison, and combines three or more of them bit by bit. clang++ does not. pack.hpp includes this file.
#pragma once

#include "number/base.hpp"

namespace saltus::detail {

#if defined(__AVX512F__) && defined(__AVX512DQ__) && !defined(__clang__) && !defined(__CUDACC_RTC__)
#if defined(__AVX512VL__)
inline constexpr bool has_short_masks = true;
#else
inline constexpr bool has_short_masks = false;
#endif
/// Whole registers, and eight floats, which go with eight doubles.
template <class T, int W>
inline constexpr bool in_mask_register = (W > 1 && W * sizeof(T) == 64) ||
                                         (has_short_masks && W == 8 && sizeof(T) == 4);

using eight = unsigned char;
using sixteen = unsigned short;
template <int W>
struct mask_bits {
  using type = eight;
};
template <>
struct mask_bits<16> {
  using type = sixteen;
};

inline eight bits_and(eight a, eight b) { return __builtin_ia32_kandqi(a, b); }
inline eight bits_or(eight a, eight b) { return __builtin_ia32_korqi(a, b); }
inline eight bits_xor(eight a, eight b) { return __builtin_ia32_kxorqi(a, b); }
inline eight bits_not(eight a) { return __builtin_ia32_knotqi(a); }
inline sixteen bits_and(sixteen a, sixteen b) { return __builtin_ia32_kandhi(a, b); }
inline sixteen bits_or(sixteen a, sixteen b) { return __builtin_ia32_korhi(a, b); }
inline sixteen bits_xor(sixteen a, sixteen b) { return __builtin_ia32_kxorhi(a, b); }
inline sixteen bits_not(sixteen a) { return __builtin_ia32_knothi(a); }

using doubles = double __attribute__((vector_size(64)));
using floats = float __attribute__((vector_size(64)));
using int32s = int32 __attribute__((vector_size(64)));
using longs = long long __attribute__((vector_size(64)));
using floats8 = float __attribute__((vector_size(32)));
using int32s8 = int32 __attribute__((vector_size(32)));

/// Compares by the instruction's number of a relation: 0 equal, 1 less, 2 less or equal, 4 not equal.
template <int relation, class V>
SALTUS_FN auto compare(V a, V b) {
  if constexpr (__is_same(V, doubles)) return eight(__builtin_ia32_cmppd512_mask(a, b, relation, eight(-1), 4));
  else if constexpr (__is_same(V, floats)) return sixteen(__builtin_ia32_cmpps512_mask(a, b, relation, sixteen(-1), 4));
#if defined(__AVX512VL__)
  else if constexpr (__is_same(V, floats8)) return eight(__builtin_ia32_cmpps256_mask(a, b, relation, eight(-1)));
  else if constexpr (sizeof(V) == 32)
    return eight(__builtin_ia32_cmpd256_mask((int32s8)a, (int32s8)b, relation, eight(-1)));
#endif
  else if constexpr (sizeof(a[0]) == 8)
    return eight(__builtin_ia32_cmpq512_mask((longs)a, (longs)b, relation, eight(-1)));
  else return sixteen(__builtin_ia32_cmpd512_mask((int32s)a, (int32s)b, relation, sixteen(-1)));
}
/// m ? a : b in every lane.
template <class M, class V>
SALTUS_FN V choose_lanes(M m, V a, V b) {
  if constexpr (__is_same(V, doubles)) return __builtin_ia32_blendmpd_512_mask(b, a, m);
  else if constexpr (__is_same(V, floats)) return __builtin_ia32_blendmps_512_mask(b, a, m);
#if defined(__AVX512VL__)
  else if constexpr (__is_same(V, floats8)) return __builtin_ia32_blendmps_256_mask(b, a, m);
  else if constexpr (sizeof(V) == 32) return (V)__builtin_ia32_blendmd_256_mask((int32s8)b, (int32s8)a, m);
#endif
  else if constexpr (sizeof(a[0]) == 8) return (V)__builtin_ia32_blendmq_512_mask((longs)b, (longs)a, m);
  else return (V)__builtin_ia32_blendmd_512_mask((int32s)b, (int32s)a, m);
}
#else
template <class T, int W>
inline constexpr bool in_mask_register = false;

// Named only in branches that are never taken.
template <class M>
M bits_and(M a, M b);
template <class M>
M bits_or(M a, M b);
template <class M>
M bits_xor(M a, M b);
template <class M>
M bits_not(M a);
template <int relation, class V>
V compare(V a, V b);
template <class M, class V>
V choose_lanes(M m, V a, V b);
#endif

}  // namespace saltus::detail
