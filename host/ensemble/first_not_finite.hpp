// Finds the first function of an instance's model that is not finite, and when.
#pragma once

#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "base/cancellation.hpp"
#include "compile/compiler.hpp"
#include "ensemble/chunk_data.hpp"
#include "spec/plan.hpp"

namespace saltus::host {

class not_finite_finder {
 public:
  not_finite_finder(const plan& p, cancellation stop) : plan_(p), stop_(std::move(stop)) {}

  /// Sets `not_finite` of the chunk, for the first of its instances with status not_finite or bad_start. The function
  /// that evaluates the model is compiled on first use; if that fails, nothing is reported. Any thread.
  void look_at(chunk_data& chunk);

 private:
  using finder = int(double t, const double* states, const double* parameters, const double* discretes, double* rates,
                     int* which);
  finder* function();
  std::string explain(const chunk_data& chunk, std::size_t slot, finder* find) const;

  const plan& plan_;
  cancellation stop_;
  std::mutex mutex_;  ///< guards the members below
  bool tried_ = false;
  std::optional<built> module_;
};

}  // namespace saltus::host
