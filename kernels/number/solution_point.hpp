// A point of a solution: where a step begins or ends, a reduction looks, or a search for consistent states stands.
#pragma once

#include "number/base.hpp"

namespace saltus {

/// A time, the states there, and their time derivatives. It refers to the states and does not keep them.
template <class Real, int n>
struct solution_point {
  Real t;
  const vec<Real, n>& y;
  const vec<Real, n>& rate;
};
template <class Real, int n>
solution_point(Real, const vec<Real, n>&, const vec<Real, n>&) -> solution_point<Real, n>;

}  // namespace saltus
