// The arrangement of instances in the lanes of a CPU thread. It changes the time of a run and no bit of a result. This
// file has the shapes for a plan and the rule; chosen_shape.hpp uses measurements.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "spec/plan.hpp"

namespace saltus::host {

/// Instances per vector register of this machine in an arithmetic ("double" or "float").
int native_lanes(precision_kind precision = precision_kind::double_precision);

/// `groups` groups of `lanes` instances take turns. Lanes beyond a register are several registers side by side.
struct lane_shape {
  int lanes = 0, groups = 0;
  bool operator==(const lane_shape&) const = default;
};

/// "8 lanes", "2 x 8 lanes".
std::string name_of(const lane_shape& shape);

/// The rule, used without a measurement.
lane_shape shape_by_rule(const plan& p);

/// The candidate shapes for the plan, that of the rule first.
std::vector<lane_shape> shapes_to_try(const plan& p);
/// Is the shape one of the candidates?
bool is_tried(const plan& p, const lane_shape& shape);

/// Explicit steps of models without events: up to so many states, two registers for each number are faster.
inline constexpr std::size_t doubled_up_to = 8;
/// Implicit steps: up to so many states, two registers for each number are faster. Beyond, too few registers are left
/// for other data.
inline constexpr std::size_t two_registers_up_to = 4;
bool is_explicit_method(const std::string& name);
/// Do the states of an explicit method, with their derivatives, fill the registers of one group? A second register or group would then be
/// kept in memory: one group of 8 lanes is 2 to 5 times as fast as two of 16 with 12 numbers and more, and half as fast with 6.
bool carries_many_derivatives(const plan& p);

}  // namespace saltus::host
