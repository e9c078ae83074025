// Explains on the host how instances have ended, by functions of their model that are compiled when they are first needed:
// constraints that depend on each other, and the first number that is not finite.
#pragma once

#include <cstdint>
#include <mutex>
#include <optional>
#include <span>
#include <string>
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

/// A function of a plan's model that is compiled on first use. Any thread.
class late_function {
 public:
  /// `header`: of kernels, which has what it calls; `signature`: of saltus_late_function; `call`: the value that it
  /// returns, in which the model is `model_here`.
  late_function(const plan& p, cancellation stop, std::string header, std::string signature, std::string call)
      : plan_(p),
        stop_(std::move(stop)),
        header_(std::move(header)),
        signature_(std::move(signature)),
        call_(std::move(call)) {}

  /// Null if it does not compile.
  void* address();

 private:
  const plan& plan_;
  cancellation stop_;
  std::string header_, signature_, call_;
  std::mutex mutex_;  ///< guards the members below
  bool tried_ = false;
  std::optional<built> module_;
};

/// If a function does not compile, nothing is explained. Any thread.
class end_explainer {
 public:
  end_explainer(const plan& p, const cancellation& stop);

  /// Sets `dependent` of the chunk: by the singular values of the constraints' Jacobian at the last point of instances
  /// that have ended for that reason.
  void find_dependent(chunk_data& chunk);
  /// Sets `not_finite` of the chunk, for the first of its instances with status not_finite or bad_start.
  void find_not_finite(chunk_data& chunk);

 private:
  const plan& plan_;
  late_function jacobian_rows_, first_not_finite_;
};

}  // namespace saltus::host
