// How far each value of a start may move: given values stay, guesses move, free values move most. For searches that take the smallest
// change relative to the sizes of the values.
#pragma once

#include "abi/choices.hpp"
#include "number/math.hpp"

namespace saltus {

/// A search for values that satisfy the equations at time t, in the lanes of `where`, by the smallest change relative to `sizes`.
template <class System, class Real, int n>
struct value_search {
  const System& system;
  Real t;
  const vec<Real, n>& sizes;
  mask_of<Real> where;

  SALTUS_FN value_search in(mask_of<Real> lanes) const { return {system, t, sizes, lanes}; }
};
template <class System, class Real, int n>
value_search(const System&, Real, const vec<Real, n>&, mask_of<Real>) -> value_search<System, Real, n>;

namespace detail {

/// The scale of each value: the search minimises changes relative to it. A value of scale zero does not move.
template <class System, class Real, int N>
SALTUS_FN vec<Real, N> sizes_of(const System& system, const vec<Real, N>& y) {
  vec<Real, N> r;
  for (int i = 0; i < N; ++i) r[i] = abs(y[i]) + system.floor(i);
  return r;
}

/// Sets the size of one value, initially `size`: a NaN in `guess` marks a free value, a number in `given` a given one. `how`
/// (abi::consistency): `nearest` lets given values move as guesses do, `given` lets guesses stay. `free_alone`: the same with guesses
/// fixed.
template <class Real>
SALTUS_FN void weigh_start(Real guess, Real given, int how, Real& size, Real& free_alone) {
  constexpr double free_over_guess = 0x1p20;
  const auto is_free = !(guess == guess), is_given = given == given;
  const auto stays = how == abi::nearest ? mask_of<Real>::all(false) : how == abi::given ? !is_free : is_given;
  const Real wide = Real(free_over_guess) * max(size, Real(1.0));
  size = select(stays, Real(0.0), select(is_free, wide, size));
  free_alone = select(is_free & !stays, wide, Real(0.0));
}

}  // namespace detail
}  // namespace saltus
