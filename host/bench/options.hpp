// Options of `saltus bench`.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "ensemble/pilot.hpp"
#include "spec/plan.hpp"
#include "spec/spec.hpp"

namespace saltus::host {

struct bench_options {
  std::string backends;  ///< as typed: "cpu,cuda"; empty: the CPU, and a CUDA device if there is one
  int rounds = 5;
  double limit = 60;      ///< seconds after which nothing new is begun
  bool growth = false;    ///< also measure throughput against the number of instances
  bool launches = false;  ///< also time the kernels of a device one by one
  std::string methods;    ///< methods to advise about: "dp5,dop853"; empty: all
  bool quiet = false;     ///< no progress on stderr
  /// Clocks for tests that must not depend on the machine: the seconds assigned to a round of a pilot, on which advice
  /// is based, and the time of day in seconds. Empty: those of the machine.
  std::function<double(const pilot_round&)> seconds_of_round;
  std::function<double()> now;
  /// Makes the plan of the command line with more flags.
  std::function<plan(const std::vector<flag>&)> make_plan;
};

}  // namespace saltus::host
