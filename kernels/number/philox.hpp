// Random bits without a state: a block cipher of a counter (J. K. Salmon, M. A. Moraes, R. O. Dror, D. E. Shaw, "Parallel random numbers: as
// easy as 1, 2, 3", SC11). The same counter and key give the same bits on every machine, in every order.
#pragma once

#include "number/base.hpp"

namespace saltus {

using uint32 = unsigned;

/// Philox4x32-10: four words from a counter of four words and a key of two.
struct philox {
  uint32 word[4];

  SALTUS_FN static philox of(const uint32 (&counter)[4], uint32 key_0, uint32 key_1) {
    constexpr uint64 multiplier_0 = 0xD2511F53u, multiplier_1 = 0xCD9E8D57u;
    constexpr uint32 weyl_0 = 0x9E3779B9u, weyl_1 = 0xBB67AE85u;
    philox x{{counter[0], counter[1], counter[2], counter[3]}};
    for (int round = 0; round < 10; ++round) {
      const uint64 a = multiplier_0 * x.word[0], b = multiplier_1 * x.word[2];
      x = {{static_cast<uint32>(b >> 32) ^ x.word[1] ^ key_0, static_cast<uint32>(b),
            static_cast<uint32>(a >> 32) ^ x.word[3] ^ key_1, static_cast<uint32>(a)}};
      key_0 += weyl_0;
      key_1 += weyl_1;
    }
    return x;
  }
};

namespace detail {
/// (k + 1/2) 2^-b with b bits k of 64: above 0 and below 1, symmetric about 1/2, and exact. The half is the last bit of a mantissa.
template <class T>
SALTUS_FN T between_0_and_1(uint64 bits);
template <>
SALTUS_FN double between_0_and_1<double>(uint64 bits) {
  return (static_cast<double>(static_cast<int64>(bits >> 12)) + 0.5) * 0x1p-52;
}
template <>
SALTUS_FN float between_0_and_1<float>(uint64 bits) {
  return (static_cast<float>(static_cast<int64>(bits >> 41)) + 0.5f) * 0x1p-23f;
}
}  // namespace detail

}  // namespace saltus
