// The variables of the result file, which follow from the plan alone. One NetCDF-4 file per run:
//
//     dimensions   instance (fixed), time (with samples), event (unlimited, with the event log)
//     per instance <parameter> initial_<state> initial_<discrete> t_begin t_end            varied ones; a fixed one is a scalar
//                  final_<state> final_<output> final_<discrete> t_final status ok exception
//                  steps rejected ...                                    counters: kernels/abi/counters.def
//                  residual residual_of                                  for models with algebraic states
//                  switched, switched_to                                 with method = "auto"
//                  max(<state>) ...
//                  sensitivity_status d_final_<state>_d_<parameter> d_t_final_d_<parameter> ...     with [sensitivity]
//     samples      <state>(instance, time) <output>(instance, time), time(time) or sample_time(instance, time);
//                  d_<state>_d_<parameter>(instance, time)
//     events       event_row_size(instance): rows of the log per instance, in the order of the instances (CF contiguous
//                  ragged array); event_instance event_time event_guard before_<state> event_<state>,
//                  d_event_time_d_<parameter>
//     statistics   statistics_<final or counter>(statistic), statistic(statistic): their names
//                  histogram_<name>(bin_<name>), bin_<name>(bin_<name>): middles of the bins
//     bands        statistics_<state>(time, statistic), quantiles_<state>(time, quantile), quantile(quantile); the same for outputs
//     tables       table_<table>(knot_<table>), knot_<table>(knot_<table>): the tables that all instances read: values and times
//     sensitivity  sensitivity_<index>, sensitivity_<index>_low, _high and _left_out(sensitivity_outcome, sensitivity_input),
//                  second order: (sensitivity_outcome, sensitivity_pair); each of these dimensions has a variable of names
//
// With output.rows = false no variable has the dimension instance or event, and `time` occurs in bands alone.
// Every variable has units, a long_name and the attribute `role`, by which `saltus show` finds it.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/attribute.hpp"
#include "ensemble/chunk_data.hpp"
#include "ensemble/event_log.hpp"
#include "ensemble/indices.hpp"
#include "ensemble/run_statistics.hpp"
#include "spec/plan.hpp"

namespace saltus::host {

/// Time of sample k of an evenly spaced grid, as the kernels compute it (engine/samples.hpp). Both ends are exact; a
/// single sample is at the end.
double even_sample_time(double t_begin, double t_end, std::int64_t k, std::int64_t sample_count);

/// Names that states, parameters, outputs and discrete variables must not have, whatever a run writes.
const std::vector<std::string>& reserved_names();

/// The variables of an index: suffixes of their names, and descriptions.
inline constexpr std::array<std::pair<const char*, const char*>, 4> sensitivity_parts = {{
    {"", ""},
    {"_low", ", lower end of its interval"},
    {"_high", ", upper end of its interval"},
    {"_left_out", ", share of its terms that was left out"},
}};

namespace detail {

/// Columns of the file that are derived from a chunk: sample times, and a part of the event log in the order of
/// instances.
struct derived_columns {
  std::vector<long long> row_size, instance;
  std::vector<unsigned char> ok;
  std::vector<double> time;
  std::vector<int> guard;
  std::vector<std::vector<double>> before, after;  ///< [state, then further logged numbers][row]
  std::vector<double> sample_time;                 ///< [instance][sample]

  void add(const event_row& row, std::int64_t first_id);
  void clear_events();
};

/// A dimension of variables. Numbers along instances are known chunk by chunk, and rows of events with the logs of
/// chunks; others in the beginning or at the end.
struct dimension {
  enum class kind { instance, event, time, statistic, listed };  ///< listed: quantiles, bins, inputs, knots ...
  kind which;
  std::string name;
  std::int64_t length;  ///< of events 0: it is not known beforehand

  bool operator==(const dimension&) const = default;
};

/// Bytes of a number of a NetCDF external type.
std::size_t number_bytes(int type);
/// Sets `length` bytes to the value of numbers that are never written: NaN, or `unset` for integers.
void put_unset(int type, long long unset, void* to, std::size_t length);

/// The values of a variable known only at the end: reals, or counts of a histogram; and attributes. No numbers: they
/// cannot be computed and stay unset.
struct final_values {
  std::vector<double> reals = {};
  std::vector<std::int64_t> counts = {};
  std::vector<attribute> attributes = {};
  std::string_view bytes() const;
};

/// One variable of the file: its name, its meaning, and where its numbers are.
struct field {
  std::string name, role, unit, about;                  ///< empty unit: unknown
  std::vector<dimension> axes = {};                     ///< the last one fastest; none: a scalar
  int type = 0;                                         ///< NetCDF external type, the same as in memory
  std::vector<double> fixed = {};                       ///< values known in the beginning
  std::vector<std::pair<int, std::string>> flags = {};  ///< values and their meanings
  std::vector<std::string> bits = {};                   ///< meanings of single bits, from the lowest
  bool truth = false;                                   ///< a truth value
  long long unset = 0;                                  ///< for integers: the value of numbers that are never written
  /// The values of one chunk, of a variable with instances or events.
  std::function<const void*(const chunk_data&, const derived_columns&)> numbers = {};
  /// The values at the end.
  std::function<final_values(const statistics&, const sensitivity_indices&)> at_end = {};

  bool is_along(dimension::kind first) const { return !axes.empty() && axes[0].which == first; }
  bool has_rows() const { return is_along(dimension::kind::instance); }
  bool has_events() const { return is_along(dimension::kind::event); }
  /// Every number of an array is known in the beginning.
  bool is_given() const { return !axes.empty() && !fixed.empty(); }
  std::size_t number_bytes() const { return detail::number_bytes(type); }
  std::size_t row_bytes() const;  ///< the numbers of one index along the first dimension
  void put_unset(void* to, std::size_t length) const { detail::put_unset(type, unset, to, length); }
};

/// Every variable of the file, in its order there.
std::vector<field> fields_of(const plan& p);

/// The dimensions of the file, in their order there.
std::vector<dimension> dimensions_of(const plan& p, const std::vector<field>& fields);

/// A variable with the names along a dimension; it has the name of the dimension.
struct name_list {
  std::string dimension, role, about;
  std::vector<std::string> names;
};
std::vector<name_list> name_lists_of(const plan& p);

/// The derived columns of a chunk, except its events.
derived_columns derive(const chunk_data& c, const plan& p);

}  // namespace detail
}  // namespace saltus::host
