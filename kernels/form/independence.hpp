// A measure of how far equations that determine something together are from being dependent.
#pragma once

#include "number/base.hpp"

namespace saltus::detail {

/// For constraint k of a mechanical system: D of J M^-1 J' = L D L' over its diagonal, the squared sine of an angle. For equations of any
/// order: the sine of the angle between a row of J and those before it. The smallest of them, and its number.
template <class Real>
struct independence {
  Real least = Real(1.0);
  Real of = Real(-1.0);
};

}  // namespace saltus::detail
