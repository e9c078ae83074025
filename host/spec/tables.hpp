// The tables of a run: functions of time, given by values at knots, that every instance reads. Made from numbers alone: what they
// are called and where they come from is for the reader of specs (read_tables.cpp).
#pragma once

#include <string>
#include <vector>

#include "abi/choices.hpp"
#include "abi/module.hpp"

namespace saltus::host {

/// The values of a table at its knots, in the model's units.
struct knots {
  std::vector<double> times, values;
};

/// What is wrong with knots: a sentence; empty: nothing.
std::string flaw_of(const knots& k, at_ends beyond);

/// The coefficients [4] of each piece, in powers of the time since its first knot. Slopes of pchip are those of Fritsch and Butland,
/// at the ends by three points, as SciPy's; a spline is natural, or periodic if the table is.
std::vector<double> coefficients_of(const knots& k, interpolation between, at_ends beyond);

/// All tables of a run, as kernels take them: one copy, whatever is made of the plan.
class run_tables {
 public:
  struct table {
    std::string name;
    host::knots knots;
    std::vector<double> coefficients;
  };

  explicit run_tables(std::vector<table> all);
  run_tables(const run_tables&) = delete;
  run_tables& operator=(const run_tables&) = delete;
  const std::vector<table>& all() const { return all_; }
  const abi::table* for_kernels() const { return for_kernels_.data(); }

 private:
  std::vector<table> all_;
  std::vector<abi::table> for_kernels_;
};

}  // namespace saltus::host
