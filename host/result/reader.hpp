// Reads result files: variables and attributes by name, and the most frequent queries. Returns data and prints nothing.
// It depends on the file's roles and names (schema.hpp lists them), not on plans or backends.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "abi/status.hpp"
#include "base/netcdf.hpp"

namespace saltus::host {

/// A variable of a result file.
using result_variable = netcdf_variable;

/// The path itself. Throws `error` (exit_failure), which says what reads it, for a result of a format that result_file
/// cannot read.
const std::string& must_be_read_here(const std::string& path);

/// A result file open for reading. Every member throws `error` (exit_failure) if the file is damaged or no result of saltus.
class result_file : public netcdf_file {
 public:
  explicit result_file(const std::string& path);

  std::size_t instances() const { return instances_; }
  /// Does the file have results of single instances (output.rows)?
  bool has_rows() const { return find("status") != nullptr; }

  /// Throws `error` (exit_failure) if the file is too small for the instances it declares: reading all of them would
  /// take for ever.
  void must_be_plausible() const;

  std::vector<const result_variable*> with_role(std::string_view role) const;
  const result_variable& at(std::string_view name) const;
  unsigned long long seed() const;
  /// The value for one instance; for a scalar, the only value.
  double value(const result_variable& v, std::size_t instance) const { return reals(v, {instance, 0}, {1, 1})[0]; }

 private:
  std::size_t instances_ = 0;
};

/// The row of a status number; an unknown number comes from a newer saltus.
status_row row_of(long long number);

/// The statuses with which lanes gave up some instances; 0: they did not.
std::vector<long long> exceptions_of(const result_file& f, std::size_t first, std::size_t count);

/// The state whose equation has the largest residual of an instance; empty: none, or no state is algebraic.
std::string residual_of(const result_file& f, std::size_t instance);
/// The implicit method that an instance went over to, with method = "auto"; empty: none.
std::string switched_to(const result_file& f, std::size_t instance);
/// The constraints that depend on each other where an instance ended.
std::vector<std::string> dependent_of(const result_file& f, std::size_t instance);

// ------------------------------------------------------------------------------------------------------ the whole file

/// The range of a counter over instances.
struct value_range {
  double min = std::numeric_limits<double>::infinity(), max = -min, sum = 0;
};

/// Numbers of instances by status, and their cost.
struct census {
  std::vector<std::int64_t> by_status = std::vector<std::int64_t>(256, 0);
  std::vector<std::int64_t> by_rescue = std::vector<std::int64_t>(256, 0);  ///< rescued instances, by their exception
  std::vector<value_range> counters;  ///< in the order of the file, over the instances that were started
  std::int64_t started = 0;
  std::int64_t switched = 0;  ///< instances that changed to the stiff method
};

census take_census(const result_file& f);

// -------------------------------------------------------------------------------------------------------- one instance

/// The event log of one instance; states in the order of the file.
struct instance_events {
  std::vector<std::string> states;
  std::vector<std::string> guards;                 ///< of each row
  std::vector<double> time;                        ///< of each row
  std::vector<std::vector<double>> before, after;  ///< [state][row]
};

instance_events events_of(const result_file& f, std::size_t instance);
/// The number of rows in the event log of some instances, before which the log has `before` rows.
std::int64_t event_rows_of(const result_file& f, std::int64_t first, std::int64_t instances, std::int64_t before);

/// The samples of one instance, the times first.
std::vector<std::pair<std::string, std::vector<double>>> samples_of(const result_file& f, std::size_t instance);

// ---------------------------------------------------------------------------------------------------- failed instances

/// The instances that failed.
struct failures {
  std::vector<std::size_t> first;  ///< the first ones, up to the number asked for
  std::vector<long long> status;
  std::vector<std::int64_t> by_status = std::vector<std::int64_t>(256, 0);
  std::int64_t count = 0, not_finished = 0;
};

failures find_failures(const result_file& f, std::size_t most);

/// The words of an attribute.
std::vector<std::string> words(const std::string& text);

/// The inputs that vary between instances.
std::vector<const result_variable*> varied_inputs(const result_file& f);

}  // namespace saltus::host
