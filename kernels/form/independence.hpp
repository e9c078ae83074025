// How far equations that determine something together are from depending on one another.
#pragma once

#include "number/base.hpp"

namespace saltus::detail {

/// Of constraint k of a mechanical system: D of J M^-1 J' = L D L' over its diagonal, the squared sine of an angle. Of equations of
/// any order: the sine of the angle between a row of J and those before it. The least of them, and whose it is.
template <class Real>
struct independence {
  Real least = Real(1.0);
  Real of = Real(-1.0);
};

}  // namespace saltus::detail
