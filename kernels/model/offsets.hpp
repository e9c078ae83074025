// What a module knows of its model beforehand.
//
// Where the values of an instance lie whose equations have derivatives of any order: what the structural analysis of a model has found
// (docs/high_index.md), which a module has as constants. The values are x_j, x_j', .., x_j^(d_j) of every unknown x_j, one unknown
// after another; of all other models they are the states.
#pragma once

#include "number/base.hpp"

namespace saltus {

/// Of a model that was not analysed, or need not be.
struct no_offsets {};
template <class Model>
inline constexpr no_offsets offsets_of{};

/// Places that the series of a model's functions take beside states and time: an upper bound. A module has the number found by
/// running them (model/describe.hpp).
template <class Model>
inline constexpr int series_places = 256;

/// An entry of J that may not be zero: df_i/dx_j^(d_j - c_i), where no equation with the same offset c_i has two unknowns of the
/// same direction: they are found together.
struct stage_entry {
  int row, column, direction;
};

/// A direction: the derivatives x_j^(d_j - level) of some unknowns, for the equations with c_i = level.
/// Offsets of equations and unknowns.
template <int n, int entry_count, int direction_count>
struct offsets {
  static constexpr int size = n, entries = entry_count, directions = direction_count;
  int c[n], d[n];
  stage_entry entry[entry_count];
  int level[direction_count];  ///< of a direction, the offset of its equations

  constexpr int most_of_c() const {
    int most = 0;
    for (const int i : c) most = most < i ? i : most;
    return most;
  }
  constexpr int most_of_d() const {
    int most = 0;
    for (const int i : d) most = most < i ? i : most;
    return most;
  }
};

namespace detail {

template <int n>
struct value_places {
  int first[n + 1];  ///< of each unknown; behind the last, the number of values
};

template <class Model, int n>
constexpr value_places<n> make_value_places() {
  value_places<n> r{};
  for (int j = 0; j < n; ++j) {
    int more = 0;
    if constexpr (requires { offsets_of<Model>.d; }) more = offsets_of<Model>.d[j];
    r.first[j + 1] = r.first[j] + 1 + more;
  }
  return r;
}

/// Where the values of a model with n unknowns lie.
template <class Model, int n>
struct value_layout {
  static constexpr bool has_derivatives = requires { offsets_of<Model>.d; };
  static constexpr value_places<n> places = make_value_places<Model, n>();
  static constexpr int count = places.first[n];
  /// The place of x_j.
  SALTUS_FN static constexpr int place(int j) {
    if constexpr (has_derivatives) return places.first[j];
    else return j;
  }
  SALTUS_FN static constexpr int highest(int j) { return places.first[j + 1] - places.first[j] - 1; }
};

}  // namespace detail

}  // namespace saltus
