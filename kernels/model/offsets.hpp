// A module's knowledge of its model from the host's analysis.
//
// For equations with derivatives of any order it has the layout of an instance's values: the structural analysis (docs/high_index.md) or
// the derivative array gives the offsets, which are constants of the module. The values are x_j, x_j', .., x_j^(d_j) of every unknown x_j,
// one unknown after another. For all other models the values are the states.
#pragma once

#include "number/base.hpp"
#include "number/series_room.hpp"
#include "number/smoothness.hpp"

namespace saltus {

/// For a model that was not analysed, or need not be.
struct no_offsets {};
template <class Model>
inline constexpr no_offsets offsets_of{};

/// Room for the series of a model's functions, beside those of states and time: an upper bound. A module has the numbers found by running
/// the functions (model/describe.hpp).
template <class Model>
inline constexpr series_room room_of_series = {256, 256};
/// The same for a model's outputs, which run by themselves.
template <class Model>
inline constexpr series_room room_of_outputs = {256, 256};

/// The smoothness of a model's functions: not known.
struct unknown_smoothness {
  smoothness equations = smoothness::unknown, outputs = smoothness::unknown;
  constexpr smoothness guard(int) const { return smoothness::unknown; }
  constexpr smoothness output(int) const { return smoothness::unknown; }
};
template <class Model>
inline constexpr unknown_smoothness smoothness_of{};
/// The same as the host has found it.
template <int guard_count, int output_count>
struct known_smoothness {
  smoothness equations, outputs, guards[guard_count + 1], each_output[output_count + 1];
  constexpr smoothness guard(int i) const { return guards[i]; }
  constexpr smoothness output(int i) const { return each_output[i]; }
};

/// An entry of J that may not be zero: df_i/dx_j^(d_j - c_i). Unknowns of one direction are found together: no equation with offset c_i has
/// two of them.
struct stage_entry {
  int row, column, direction;
};

/// A comparison of a discrete variable, or of a guard's sign, with a number: one bit of a mode.
struct mode_condition {
  int of_guard, index;  ///< 1: a guard, 0: a discrete variable; and its number
  int relation;         ///< of number/tracked.hpp
  double value;
};

/// Offsets of equations and unknowns: one set for all modes, or several, selected by the answers to the conditions.
template <int n, int set_count, int entry_count, int direction_count, int condition_count>
struct offsets {
  static constexpr int size = n, sets = set_count, conditions = condition_count;
  int c[set_count][n], d[set_count][n];
  stage_entry entry[entry_count];
  int first_entry[set_count + 1];
  /// The derivative order of a direction: it comprises x_j^(d_j - level) of some unknowns, for the equations with c_i = level.
  int level[direction_count];
  int first_direction[set_count + 1];
  mode_condition condition[condition_count + 1];
  int set_of[1 << condition_count];  ///< by the answers to the conditions; the first condition is the lowest bit
  int observed[n];                   ///< the highest derivative that guards and outputs need

  /// The highest derivative of an unknown among the values of an instance.
  constexpr int highest(int j) const {
    int most = observed[j];
    for (const auto& of_set : d) most = most < of_set[j] ? of_set[j] : most;
    return most;
  }
};

/// The derivative array F, F', .., F^(times) of a model whose structural analysis fails (form/derivative_array.hpp): the orders of the
/// highest derivatives in its equations, and the rank that the host has found for it.
template <int n>
struct array_offsets {
  static constexpr int size = n;
  int times, rank;
  double time_scale;  ///< coefficients of order m are weighted by its m-th power
  int order[n], observed[n];
  constexpr int highest(int j) const { return order[j] < observed[j] ? observed[j] : order[j]; }
};

namespace detail {

/// A NaN for absent values: NVRTC has no function for it.
inline constexpr double no_number = __builtin_bit_cast(double, 0x7ff8000000000000ll);

template <int n>
struct value_firsts {
  int first[n + 1];  ///< of each unknown; the last entry is the number of values
};

template <class Model, int n>
constexpr value_firsts<n> make_value_firsts() {
  value_firsts<n> r{};
  for (int j = 0; j < n; ++j) {
    int more = 0;
    if constexpr (requires { offsets_of<Model>.observed; }) more = offsets_of<Model>.highest(j);
    r.first[j + 1] = r.first[j] + 1 + more;
  }
  return r;
}

/// The layout of the values of a model with n unknowns.
template <class Model, int n>
struct value_layout {
  static constexpr bool has_derivatives = requires { offsets_of<Model>.observed; };
  static constexpr value_firsts<n> firsts = make_value_firsts<Model, n>();
  static constexpr int count = firsts.first[n];
  /// The index of x_j, which its derivatives follow.
  SALTUS_FN static constexpr int first(int j) {
    if constexpr (has_derivatives) return firsts.first[j];
    else return j;
  }
  SALTUS_FN static constexpr int highest(int j) { return firsts.first[j + 1] - firsts.first[j] - 1; }
};

}  // namespace detail

}  // namespace saltus
