#include "bench/references.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include <fmt/format.h>

#include "base/error.hpp"

namespace saltus::host {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

using pair_of_methods = std::pair<const char*, const char*>;

std::vector<pair_of_methods> candidates(const model& m) {
  if (m.equations == abi::plain) return {{"dop853", "rkf78"}, {"radau5", "rodas5p"}};
  return {{"radau5", "rodas5p"}, {"radau5", "esdirk4"}};
}

}  // namespace

references::references(const sample_runner& sample) : sample_(sample), asked_(sample.asked()) {
  for (const auto& [one, other] : candidates(asked_.model)) {
    found_.clear();
    const bool both = add(one) && add(other);
    if (sample_.is_stopped()) throw error(exit_interrupted, "interrupted: there is no reference yet");
    if (both && agree()) return;
  }
  throw error(exit_failure,
              fmt::format("--advise: there is no reference: two methods at {:g} of rtol do not agree for half of {} "
                          "instances; a shorter t, or a larger rtol, can be judged",
                          rtol() / asked_.rtol, found_.size() < 2 ? 0 : found_[0].results.ok.size()));
}

double references::rtol() const {
  constexpr double sharper = 1e-3, smallest = 2e-14;
  return std::max(sharper * asked_.rtol, smallest);
}

bool references::add(const char* method) {
  const double longest = std::max(5.0, sample_.options().limit / 4);
  try {
    method_choice choice = choice_of(asked_);
    choice.method = method;
    choice.rtol = rtol();
    const plan p = sample_.plan_of(choice);
    auto results = sample_.results_of(p, *sample_.backend_of(p), longest);
    if (!results) {
      sample_.say("reference by {}: more than {:g} s\n", method, longest);
      return false;
    }
    found_.push_back({method, std::move(*results)});
    sample_.say("reference by {} at rtol {:g}\n", method, choice.rtol);
    return true;
  } catch (const error& e) {
    if (e.exit_code != exit_usage) throw;
    return false;  // the method does not suit the model
  }
}

bool references::agree() {
  constexpr double within = 0.1;  // of rtol
  const auto &one = found_[0].results, &other = found_[1].results;
  known_.clear();
  for (std::size_t i = 0; i < one.ok.size(); ++i) known_.push_back(error_of(other, one, i) <= within * asked_.rtol);
  known_count_ = std::count(known_.begin(), known_.end(), true);
  return 2 * known_count_ > std::ssize(known_);
}

double references::error_of(const sample_results& computed, const sample_results& exact, std::size_t i) const {
  if (!computed.ok[i] || computed.events[i] != exact.events[i]) return infinity;
  double worst = 0;
  for (std::size_t j = 0; j < asked_.atol.size(); ++j) {
    const double right = exact.state[i][j];
    const double error = std::abs(computed.state[i][j] - right) / (asked_.atol[j] / asked_.rtol + std::abs(right));
    if (!(error <= worst)) worst = error == error ? error : infinity;
  }
  return worst;
}

void references::judge(choice_result& result, const sample_results& computed) const {
  const auto& against = found_[result.what.method == found_[0].method ? 1 : 0].results;
  std::vector<double> errors;
  std::int64_t other = 0;
  for (std::size_t i = 0; i < known_.size(); ++i) {
    if (!known_[i]) continue;
    errors.push_back(error_of(computed, against, i));
    other += !computed.ok[i] || computed.events[i] != against.events[i] ? 1 : 0;
  }
  std::sort(errors.begin(), errors.end());
  result.error = errors[errors.size() / 2];
  result.other_events = static_cast<double>(other) / static_cast<double>(errors.size());
}

}  // namespace saltus::host
