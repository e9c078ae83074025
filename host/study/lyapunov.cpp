#include "study/lyapunov.hpp"

#include <cmath>
#include <cstring>
#include <limits>
#include <utility>

#include <fmt/format.h>

#include "base/error.hpp"

namespace saltus::host {

namespace {

/// The values of a variable, one per instance.
template <class Number>
std::vector<Number> numbers_of(const result_array& variable) {
  std::vector<Number> numbers(variable.numbers.size() / sizeof(Number));
  std::memcpy(numbers.data(), variable.numbers.data(), numbers.size() * sizeof(Number));
  return numbers;
}

const result_array& variable_called(const result_arrays& all, const std::string& name) {
  for (const auto& variable : all.variables())
    if (variable.what.name == name) return variable;
  throw error(exit_failure, fmt::format("internal: no variable {}", name));
}

bool is_varied_input(const result_array& variable) {
  return (variable.what.role == "parameter" || variable.what.role == "initial") && !variable.dimensions.empty();
}

}  // namespace

double instance_exponents::dimension() const {
  double sum = 0;
  for (std::size_t j = 0; j < exponents.size(); ++j) {
    if (std::isnan(exponents[j])) break;
    if (sum + exponents[j] < 0) return static_cast<double>(j) + (j > 0 ? sum / -exponents[j] : 0.0);
    sum += exponents[j];
  }
  return std::numeric_limits<double>::quiet_NaN();
}

plan lyapunov_plan(study what, const cancellation& stop) {
  plan p = plan_of(what, stop);
  if (p.exponents > 0) return p;
  what.flags.push_back({"--set", "lyapunov={}"});
  return plan_of(what, stop);
}

lyapunov_report lyapunov(plan p, run_options options, const cancellation& stop, const run_listener& listener) {
  options.in_memory = true;
  const auto k = static_cast<std::size_t>(p.exponents);
  lyapunov_report r{run(std::move(p), options, stop, listener), {}, {}};
  if (!r.run.arrays) return r;
  const result_arrays& all = *r.run.arrays;
  const auto status = numbers_of<unsigned char>(variable_called(all, "status"));
  const auto why = numbers_of<unsigned char>(variable_called(all, "lyapunov_status"));
  const auto grazings = numbers_of<double>(variable_called(all, "lyapunov_grazings"));
  std::vector<std::vector<double>> exponents, errors, inputs;
  for (std::size_t j = 1; j <= k; ++j) {
    exponents.push_back(numbers_of<double>(variable_called(all, fmt::format("lyapunov_{}", j))));
    errors.push_back(numbers_of<double>(variable_called(all, fmt::format("lyapunov_error_{}", j))));
  }
  for (const auto& variable : all.variables())
    if (is_varied_input(variable)) {
      r.inputs.push_back(variable.what.name);
      inputs.push_back(numbers_of<double>(variable));
    }
  const auto row = [](const std::vector<std::vector<double>>& columns, std::size_t i) {
    std::vector<double> numbers;
    for (const auto& column : columns) numbers.push_back(column[i]);
    return numbers;
  };
  for (std::size_t i = 0; i < status.size(); ++i)
    r.instances.push_back({static_cast<std::int64_t>(i), row(inputs, i), row(exponents, i), row(errors, i), grazings[i],
                           static_cast<saltus::status>(status[i]), static_cast<saltus::sensitivity>(why[i])});
  return r;
}

}  // namespace saltus::host
