// How instances lie in the lanes of a CPU thread. It changes no bit of any result, only the time they take. Here is what a
// plan's shapes are and which of them goes without a measurement; what was measured, chosen_shape.hpp.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "spec/plan.hpp"

namespace saltus::host {

/// Instances per vector register of this machine in an arithmetic ("double" or "float").
int native_lanes(const std::string& precision);

/// `groups` groups of `lanes` instances take turns. Lanes beyond a register are several registers side by side.
struct lane_shape {
  int lanes = 0, groups = 0;
  bool operator==(const lane_shape&) const = default;
};

/// "8 lanes", "2 x 8 lanes".
std::string name_of(const lane_shape& shape);

/// The rule: what goes without a measurement.
lane_shape shape_by_rule(const plan& p);

/// The shapes that come into question for the plan, that of the rule first.
std::vector<lane_shape> shapes_to_try(const plan& p);
/// Is the shape one of them?
bool is_tried(const plan& p, const lane_shape& shape);

/// Implicit steps: states up to which two registers for each number are faster. Beyond, too few are left for the rest.
inline constexpr std::size_t two_registers_up_to = 4;
bool is_explicit_method(const std::string& name);

}  // namespace saltus::host
