// Numbers together with their time derivatives.
#pragma once

#include "number/base.hpp"

namespace saltus {

/// A number, or a vec of them, and its time derivative along the solution; where the code says so, `rate` is its change over a piece of a
/// step.
template <class Number>
struct with_rate {
  Number value, rate;
};

}  // namespace saltus
