// The interface of a system of equations for implicit methods and for the search for consistent states. A system has
//     kind                       equations
//     index(i)                   0 for a differential state, 1 or 2 for an algebraic one
//     rhs(t, y)                  over any Value; all kinds but `implicit`
//     mass()                     the constant matrix M; `with_mass`
//     residual(t, y, dy)         F(t, y, dy), over any Value: M dy - rhs(t, y), or the model's own residual
//     weight(y)                  one over the size at which an error of each state counts
//     algebra()                  optional: the host's linear algebra, for large systems (linear/factorised.hpp)
//     counts(i)                  optional: true if the error of state i counts; default: all but those of index 2
//     widest_sweep               optional: number of derivatives taken at a time
//     colours, colour(j), entry(i, j)    optional: the columns of df/dy that share a direction, and the entries that may be non-zero
#pragma once

#include "number/base.hpp"
#include "number/equations.hpp"

namespace saltus {

inline constexpr int widest_sweep = 4;

namespace detail {

template <class System>
constexpr int widest_sweep_of() {
  if constexpr (requires { System::widest_sweep; }) return System::widest_sweep;
  else return widest_sweep;
}
/// Number of directions for the columns of df/dy.
template <class System, int n>
constexpr int colours_of() {
  if constexpr (requires { System::colours; }) return System::colours;
  else return n;
}
template <class System>
SALTUS_FN constexpr int colour_of(int j) {
  if constexpr (requires { System::colours; }) return System::colour(j);
  else return j;
}
template <class System>
SALTUS_FN constexpr bool counts(int i) {
  if constexpr (requires { System::counts(i); }) return System::counts(i);
  else return System::index(i) != 2;
}
template <class System>
SALTUS_FN constexpr bool has_entry(int i, int j) {
  if constexpr (requires { System::colours; }) return System::entry(i, j);
  else return true;
}
}  // namespace detail

}  // namespace saltus
