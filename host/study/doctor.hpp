// Examines this machine: compiler, lanes, devices, cache.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/cancellation.hpp"
#include "compile/machine_shapes.hpp"

namespace saltus::host {

/// The text that was found, or the reason for its absence.
struct finding {
  std::string text, trouble;
  const std::string& either() const { return trouble.empty() ? text : trouble; }
};

struct health {
  finding home, cache, compiler;
  finding compiles;  ///< "yes" if a model was compiled
  unsigned threads = 0;
  int lanes_double = 0, lanes_float = 0;
  std::string processor;              ///< that modules are compiled for
  std::vector<machine_shape> shapes;  ///< measured shapes
  finding cuda;                       ///< names of the devices
  std::int64_t cached_files = 0, cached_bytes = 0;

  bool is_well() const { return compiles.text == "yes"; }
};

/// Examines everything. If `measured` is given, lane shapes are measured again and reported to it.
health examine(const cancellation& stop = {}, const std::function<void(const std::string&)>& measured = {});

}  // namespace saltus::host
