// The findings of `saltus bench --advise`, as data, as text and as JSON.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "base/cancellation.hpp"
#include "base/json.hpp"
#include "bench/options.hpp"
#include "bench/spread.hpp"
#include "spec/plan.hpp"

namespace saltus::host {

/// The settings of a spec that are compared. They change bits.
struct method_choice {
  std::string method;
  controller_kind controller;
  saltus::detection detection;
  double rtol;
};
method_choice choice_of(const plan& p);

/// The performance of one choice on the sample.
struct choice_result {
  method_choice what;
  spread seconds;                                          ///< for the sample
  double error = std::numeric_limits<double>::infinity();  ///< the median, in units of rtol's measure
  double other_events = 0;  ///< share of instances with another number of events, or that failed
  std::string trouble;      ///< why it is excluded; empty: it is not
};

struct advice {
  plan asked;
  bool alike = false;  ///< the instances of the sample are all equal
  std::string device;
  std::int64_t instances = 0, with_reference = 0;  ///< of the sample
  std::string references[2];                       ///< methods
  double reference_rtol = 0;
  std::vector<choice_result> tried;  ///< the first: the spec as it is
  choice_result best;
  spread times_as_fast;  ///< speed of the best over that of the spec as it is; 0: not compared
  std::vector<std::string> left_out;
  double limit = 0;  ///< seconds after which choices were left out

  const choice_result& as_it_is() const { return tried.front(); }
  bool is_known() const { return best.error <= asked.rtol; }
  /// The lines of a spec that select the best choice; empty: the spec has it.
  std::vector<std::string> lines() const;
};

/// "dop853, pi": the settings of a choice that differ from the spec.
std::string name_of(const method_choice& choice, const plan& asked);

std::string text_of(const advice& found);
json json_of(const advice& found);

/// Finds the method, controller and detection that reach the requested accuracy in the shortest time. It measures and
/// recommends; it changes nothing. Throws `error`: exit_usage for a spec without a tolerance, exit_failure if there is no reference.
advice advise(const bench_options& options, const cancellation& stop);

}  // namespace saltus::host
