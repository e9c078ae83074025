// What `saltus bench --advise` finds out, as data, as text and as JSON.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "base/json.hpp"
#include "bench/spread.hpp"
#include "spec/plan.hpp"

namespace saltus::host {

/// What of a spec is compared. It changes bits.
struct method_choice {
  std::string method, controller, detection;
  double rtol;
};
method_choice choice_of(const plan& p);

/// How one choice did on the sample.
struct choice_result {
  method_choice what;
  spread seconds;                                          ///< for the sample
  double error = std::numeric_limits<double>::infinity();  ///< the median, in the measure of rtol
  double other_events = 0;  ///< share of instances with another number of events, or that failed
  std::string trouble;      ///< why it is out of the question; empty: it is not
};

struct advice {
  plan asked;
  bool alike = false;  ///< the instances of the sample
  std::string device;
  std::int64_t instances = 0, with_reference = 0;  ///< of the sample
  std::string references[2];                       ///< methods
  double reference_rtol = 0;
  std::vector<choice_result> tried;  ///< the first: the spec as it is
  choice_result best;
  spread times_as_fast;  ///< the best, compared with the spec as it is; 0: not compared
  std::vector<std::string> left_out;
  double limit = 0;  ///< seconds, after which they were left out

  const choice_result& as_it_is() const { return tried.front(); }
  bool is_known() const { return best.error <= asked.rtol; }
  /// What a spec must say to have the best; empty: it is the best.
  std::vector<std::string> lines() const;
};

/// "dop853, pi": what of a choice is not as it was asked.
std::string name_of(const method_choice& choice, const plan& asked);

std::string text_of(const advice& found);
json json_of(const advice& found);

}  // namespace saltus::host
