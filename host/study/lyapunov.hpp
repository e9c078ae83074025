// Lyapunov exponents of the instances of a study.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "abi/sensitivity.hpp"
#include "abi/status.hpp"
#include "study/prepare.hpp"
#include "study/run.hpp"

namespace saltus::host {

/// The exponents of one instance, per unit of time; the largest comes first if the time was long enough.
struct instance_exponents {
  std::int64_t instance;
  std::vector<double> inputs;     ///< in the order of lyapunov_report::inputs
  std::vector<double> exponents;  ///< NaN: none; -infinity: perturbations shrink to nothing within a step
  std::vector<double> errors;     ///< standard errors, from the spread over parts of the time
  double grazings;                ///< events met so slowly that they may change an exponent
  saltus::status status;
  saltus::sensitivity why;  ///< why there are no exponents

  /// The Kaplan-Yorke dimension of the attractor (J. L. Kaplan, J. A. Yorke, Lecture Notes in Mathematics 730 (1979)
  /// 204); NaN if an exponent that it needs is unknown.
  double dimension() const;
};

struct lyapunov_report {
  run_report run;
  std::vector<std::string> inputs;  ///< parameters and initial values that differ between instances
  std::vector<instance_exponents> instances;
};

/// The plan of a study with [lyapunov]; without that section, the plan asks for all exponents over its whole time.
plan lyapunov_plan(study what, const cancellation& stop = {});

/// Runs the plan. Throws `error`.
lyapunov_report lyapunov(plan p, run_options options = {}, const cancellation& stop = {},
                         const run_listener& listener = {});

}  // namespace saltus::host
