// How instances lie in the lanes of a CPU thread. It changes no bit of any result, only the time they take, which depends
// on model, method and machine: it is measured once for each, and remembered in the cache. Until a model is, it has what was
// measured for the like of it (machine_shapes.hpp).
#pragma once

#include <atomic>
#include <optional>
#include <string>
#include <vector>

#include "spec/plan.hpp"

namespace saltus::host {

class backend;

/// `groups` groups of `lanes` instances take turns. Lanes beyond a register are several registers side by side.
struct lane_shape {
  int lanes = 0, groups = 0;
  bool operator==(const lane_shape&) const = default;
};

/// "8 lanes", "2 x 8 lanes".
std::string name_of(const lane_shape& shape);

/// What the plan gives, or what was remembered of the model, or what was measured of the machine, or a rule by the number
/// of states.
lane_shape lane_shape_of(const plan& p);

/// The rule: what goes without a measurement.
lane_shape shape_by_rule(const plan& p);

/// What was measured for this model, method and machine; nothing if none was.
std::optional<lane_shape> remembered_shape(const plan& p);

/// Is the shape one of those that are measured for the plan?
bool is_tried(const plan& p, const lane_shape& shape);

/// Implicit steps: states up to which two registers for each number are faster. Beyond, too few are left for the rest.
inline constexpr std::size_t two_registers_up_to = 4;
bool is_explicit_method(const std::string& name);

/// A shape and what instances of the plan took in it.
struct timed_shape {
  lane_shape shape;
  double seconds;   ///< of one thread per instance, the median of some rounds
  double gain = 1;  ///< of the first: how many times as fast as the shape that would have been taken
};

/// Measures the shapes that come into question on instances spread over the plan, and remembers the one to take, which
/// comes first: that which would have been taken without, unless another is faster beyond doubt. The others follow, fastest
/// first. Nothing where the plan gives the lanes itself, where its instances take too long to measure, or where the model
/// crashes. Throws `error`.
std::vector<timed_shape> tune_lanes(const plan& p, const std::atomic<bool>& stop);

/// The same on the reference model for plans like this one (machine_shapes.hpp), for all that come on this machine.
std::vector<timed_shape> tune_machine(const plan& p, const std::atomic<bool>& stop);

/// tune_lanes for a run on `where`, if that is CPU lanes, nothing is remembered, and the whole run would take so long that
/// it is worth while. Returns whether it was: there may be a faster backend for the plan now.
bool tune_long_run(const plan& p, backend& where, const std::atomic<bool>& stop);

/// Is there anything about lanes that a run on `where` could find out beside itself?
bool lanes_are_unknown(const plan& p, backend& where);

}  // namespace saltus::host
