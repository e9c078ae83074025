// Reference results for a sample: two methods at much tighter tolerances, where they agree.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "bench/sample_runner.hpp"

namespace saltus::host {

class references {
 public:
  /// Runs both methods. Throws `error` if they do not agree for at least half of the instances.
  explicit references(const sample_runner& sample);

  /// Sets the median error over the instances with a reference, and the share of those with other events. A method is
  /// never compared with its own reference.
  void judge(choice_result& result, const sample_results& computed) const;

  const std::string& method(int which) const { return found_[static_cast<std::size_t>(which)].method; }
  double rtol() const;
  std::int64_t instances() const { return static_cast<std::int64_t>(known_.size()); }
  std::int64_t with_reference() const { return known_count_; }

 private:
  struct reference {
    std::string method;
    sample_results results;
  };

  bool add(const char* method);
  bool agree();
  /// The error of an instance in the measure of rtol: max |y - r| / (atol / rtol + |r|).
  double error_of(const sample_results& computed, const sample_results& exact, std::size_t instance) const;

  const sample_runner& sample_;
  const plan& asked_;
  std::vector<reference> found_;
  std::vector<bool> known_;  ///< [instance] it has a reference
  std::int64_t known_count_ = 0;
};

}  // namespace saltus::host
