// Numbers together with what they change by.
#pragma once

#include "number/base.hpp"

namespace saltus {

/// A number, or a vec of them, and its time derivative along the solution; or what it changes by over a piece of a step,
/// where that is said.
template <class Number>
struct with_rate {
  Number value, rate;
};

}  // namespace saltus
