// Which constraints of a mechanical system depend on each other where an instance has ended for that: by the singular values of their
// Jacobian at its last point, on the host.
#pragma once

#include <cstdint>
#include <mutex>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "base/cancellation.hpp"
#include "compile/compiler.hpp"
#include "ensemble/chunk.hpp"
#include "spec/plan.hpp"

namespace saltus::host {

/// The rows that take part in a dependency, one bit each, bit k for row k < 62; 0 if the rows are independent. Of rows that are only near
/// a dependency, `nearly`, the one that they are nearest to. `rows` is [count][columns]; rows of zeros are left out.
std::int64_t dependent_rows(std::span<const double> rows, std::size_t count, bool nearly);

class dependency_finder {
 public:
  dependency_finder(const plan& p, cancellation stop) : plan_(p), stop_(std::move(stop)) {}

  /// Fills in `dependent` of the chunk. What evaluates constraints is compiled when it is first needed; where it cannot be, nothing
  /// is told. Any thread.
  void look_at(chunk_data& chunk);

 private:
  using rows_at = void(double t, const double* states, const double* parameters, const double* discretes, double* rows);
  /// Null if it does not compile.
  rows_at* function();

  const plan& plan_;
  cancellation stop_;
  std::mutex mutex_;  ///< guards what follows
  bool tried_ = false;
  std::optional<built> module_;
};

}  // namespace saltus::host
