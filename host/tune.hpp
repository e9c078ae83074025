// How instances lie in the lanes of a CPU thread. It changes no bit of any result, only the time they take, which depends
// on model, method and machine: it is measured once for each, and remembered in the cache.
#pragma once

#include <atomic>
#include <optional>
#include <string>
#include <vector>

#include "plan.hpp"

namespace saltus::host {

class backend;

/// `groups` groups of `lanes` instances take turns. Lanes beyond a register are several registers side by side.
struct lane_shape {
  int  lanes = 0, groups = 0;
  bool operator==(const lane_shape&) const = default;
};

/// "8 lanes", "2 x 8 lanes".
std::string name_of(const lane_shape& shape);

/// What the plan gives, or what was remembered, or a rule by the number of states.
lane_shape lane_shape_of(const plan& p);

/// What was measured for this model, method and machine; nothing if none was.
std::optional<lane_shape> remembered_shape(const plan& p);

/// A shape and what instances of the plan took in it.
struct timed_shape {
  lane_shape shape;
  double     seconds;  ///< of one thread per instance
};

/// Measures the shapes that come into question on instances spread over the plan, fastest first, and remembers the first.
/// Does nothing where the plan gives the lanes itself. Throws `error`.
std::vector<timed_shape> tune_lanes(const plan& p, const std::atomic<bool>& stop);

/// The same for a run on `where`, if that is CPU lanes, nothing is remembered, and the whole run would take so long that it
/// is worth while. Returns whether it was: there may be a faster backend for the plan now.
bool tune_long_run(const plan& p, backend& where, const std::atomic<bool>& stop);

}  // namespace saltus::host
