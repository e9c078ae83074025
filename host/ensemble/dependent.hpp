// Finds the constraints of a mechanical system that depend on each other where an instance has ended for that reason:
// by the singular values of their Jacobian at its last point, on the host.
#pragma once

#include <cstdint>
#include <mutex>
#include <optional>
#include <span>
#include <utility>

#include "base/cancellation.hpp"
#include "compile/compiler.hpp"
#include "ensemble/chunk_data.hpp"
#include "spec/plan.hpp"

namespace saltus::host {

/// The rows that take part in a linear dependency, bit k for row k < 62; 0 if the rows are independent. With `nearly`,
/// rows close to a dependency: those in the singular vector of the smallest singular value. `rows` is [count][columns];
/// rows of zeros are left out.
std::int64_t dependent_rows(std::span<const double> rows, std::size_t count, bool nearly);

class dependency_finder {
 public:
  dependency_finder(const plan& p, cancellation stop) : plan_(p), stop_(std::move(stop)) {}

  /// Sets `dependent` of the chunk. The function that evaluates the constraints is compiled on first use; if that
  /// fails, nothing is reported. Any thread.
  void look_at(chunk_data& chunk);

 private:
  using rows_at = void(double t, const double* states, const double* parameters, const double* discretes, double* rows);
  /// Null if it does not compile.
  rows_at* function();

  const plan& plan_;
  cancellation stop_;
  std::mutex mutex_;  ///< guards the members below
  bool tried_ = false;
  std::optional<built> module_;
};

}  // namespace saltus::host
