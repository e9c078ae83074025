// The tables of a run: functions of time, given by values at knots, that instances read. They are made from
// numbers alone; read_tables.cpp handles names and sources.
#pragma once

#include <string>
#include <vector>

#include "abi/choices.hpp"
#include "abi/module.hpp"

namespace saltus::host {

/// The values of a table at its knots, in the model's units: those of one curve after the other.
struct knots {
  std::vector<double> times, values;
  std::size_t curves() const { return times.empty() ? 0 : values.size() / times.size(); }
};

/// The defect of knots, in a sentence; empty: none. Their table has one curve, or several.
std::string flaw_of(const knots& k, at_ends beyond, bool several = false);

/// The coefficients [4] of each piece of each curve, in powers of the time since its first knot. Slopes of pchip are
/// those of Fritsch and Butland, at the ends from three points, as in SciPy; a spline is natural, or periodic if the table is.
std::vector<double> coefficients_of(const knots& k, interpolation between, at_ends beyond);

/// All tables of a run in the form that kernels take: one copy, shared by all copies of the plan.
class run_tables {
 public:
  struct table {
    std::string name;
    host::knots knots;
    std::vector<double> coefficients;
    std::vector<double> last = {};  ///< values at the last knot
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
