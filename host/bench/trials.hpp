// Tries one choice of method, controller and detection on a sample, and measures its error and time.
#pragma once

#include "bench/references.hpp"
#include "bench/sample_runner.hpp"

namespace saltus::host {

class trials {
 public:
  /// Refers to the sample, and runs its references.
  explicit trials(const sample_runner& sample) : sample_(sample), references_(sample) {}

  const references& compared_with() const { return references_; }

  /// Runs with the requested rtol, or, if `tuned`, with an rtol whose error is about the requested one. Runs longer
  /// than `patience` seconds are given up.
  choice_result measure(const method_choice& choice, bool tuned, double patience) const;

 private:
  void run_with(choice_result& result, plan p, double rtol, double patience) const;
  void tune_rtol(choice_result& result, const plan& p, double patience) const;
  void time(choice_result& result) const;

  const sample_runner& sample_;
  references references_;
};

}  // namespace saltus::host
