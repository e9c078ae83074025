// Draws from the random streams of a model (model/kept_numbers.hpp): a draw is Philox of the key of the instance and of (number of the draw,
// stream), so it depends on nothing else. Draws have no derivative: paths are held fixed.
#pragma once

#include "model/traits.hpp"
#include "number/dual.hpp"
#include "number/normal_quantile.hpp"
#include "number/philox.hpp"

namespace saltus::detail {

/// The value of a number that may have derivatives.
template <class T, int W>
SALTUS_FN pack<T, W>& plain_value(pack<T, W>& x) {
  return x;
}
template <class Real, int N>
SALTUS_FN auto& plain_value(dual<Real, N>& x) {
  return plain_value(x.value);
}

/// The next number of a stream in (0, 1), and one draw more in its count.
template <class Model, class Real>
SALTUS_FN auto draw_uniform(vec<Real, kinds<Model>::discrete_count>& d, int stream) {
  static_assert(kinds<Model>::stream_count > 0,
                "the model has no random stream: add enum stream { ... }; and static constexpr "
                "saltus::random_stream<stream> stream_list[]");
  using T = scalar_of<Real>;
  const int key = kinds<Model>::random_key, count = key + parts_of_key + parts_of_count * stream;
  auto u = plain_value(d[key]);
  for (int lane = 0; lane < real_traits<Real>::lanes; ++lane) {
    const auto number = [&](int i) SALTUS_INLINE_LAMBDA { return static_cast<uint64>(plain_value(d[i]).get(lane)); };
    const uint64 draw = number(count) | number(count + 1) << 16;
    const uint32 counter[4] = {static_cast<uint32>(draw), static_cast<uint32>(draw >> 32), static_cast<uint32>(stream),
                               0};
    const auto key_word = [&](int i)
                              SALTUS_INLINE_LAMBDA { return static_cast<uint32>(number(i) | number(i + 1) << 16); };
    const auto random = philox::of(counter, key_word(key), key_word(key + 2));
    u.set(lane, between_0_and_1<T>(static_cast<uint64>(random.word[0]) << 32 | random.word[1]));
    plain_value(d[count]).set(lane, static_cast<T>((draw + 1) & 0xffff));
    plain_value(d[count + 1]).set(lane, static_cast<T>((draw + 1) >> 16));
  }
  return u;
}

}  // namespace saltus::detail
