// The force of the spring and damper of two_bobs on the first bob.
#pragma once

#include <saltus.hpp>

namespace parts {

template <class Value>
struct pull_on_first {
  Value x, y;
};

template <class Model>
auto spring_between_bobs(const auto& at) {
  using M = Model;
  const auto dx = at[M::a] - at[M::x], dy = at[M::b] - at[M::y], length = sqrt(dx * dx + dy * dy);
  const auto rate = (dx * (at[M::va] - at[M::vx]) + dy * (at[M::vb] - at[M::vy])) / length;
  const auto along = (at[M::stiffness] * (length - 0.5) + at[M::damping] * rate) / length;
  return pull_on_first<decltype(along * dx)>{along * dx, along * dy};
}

}  // namespace parts
