// The reductions of abi/reductions.def: numbers kept of a quantity over a trajectory, or of an event.
#pragma once

namespace saltus {

/// Number of bins for the time that a quantity spends in each, for its quantiles (engine/reductions/time_in_bins.hpp).
inline constexpr int bins_of_time = 128;

enum class reduce {
#define SALTUS_REDUCTION(name, notation, group, unit, numbers, derivative, about) name,
#include "abi/reductions.def"
};

enum class reduction_group { extremum, integral, value, quantile, event };
enum class reduction_unit { quantity, time, quantity_time, number };
enum class reduction_derivative { always, never };

/// A row of abi/reductions.def.
struct reduction_row {
  const char *name, *notation;
  reduction_group group;
  reduction_unit unit;
  int numbers;
  reduction_derivative derivative;
  const char* about;
};
inline constexpr reduction_row reduction_table[] = {
#define SALTUS_REDUCTION(name, notation, group, unit, numbers, derivative, about) \
  {#name, notation, reduction_group::group, reduction_unit::unit, numbers, reduction_derivative::derivative, about},
#include "abi/reductions.def"
};
constexpr const reduction_row& row_of(reduce r) { return reduction_table[static_cast<int>(r)]; }

constexpr bool is_of_event(reduce r) { return row_of(r).group == reduction_group::event; }
/// True for reductions of the whole trajectory within their window, step by step.
constexpr bool counts_whole_steps(reduce r) { return !is_of_event(r) && r != reduce::value; }
/// True if derivatives of this reduction are computed, too.
constexpr bool has_derivative(reduce r) { return row_of(r).derivative == reduction_derivative::always; }

}  // namespace saltus
