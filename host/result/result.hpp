// The result file: one NetCDF-4 file per run, written chunk by chunk, so that an ensemble never has to fit in memory.
//
//     dimensions   instance (fixed), time (with samples), event (unlimited, with the event log)
//     per instance <parameter> initial_<state> t_begin t_end            what was varied; what was fixed is a scalar
//                  final_<state> final_<output> final_<discrete> t_final status exception
//                  steps rejected ...                                    counters: kernels/abi/counters.def
//                  residual residual_of                                  of a model with algebraic states
//                  switched                                              with method = "auto"
//                  max(<state>) ...
//     samples      <state>(instance, time) <output>(instance, time), time(time) or sample_time(instance, time)
//     events       event_row_size(instance): rows of the log per instance, in the order of the instances (CF contiguous
//                  ragged array); event_instance event_time event_guard before_<state> event_<state>
//     statistics   statistics_<final or counter>(statistic), statistic(statistic): their names
//                  histogram_<name>(bin_<name>), bin_<name>(bin_<name>): middles of the bins
//
// With output.rows = false there is nothing with the dimensions instance, time or event.
// Every variable carries units, a long_name and the attribute `role`, by which `saltus show` finds its way.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "abi/counters.hpp"
#include "abi/module.hpp"
#include "abi/status.hpp"
#include "ensemble/chunk.hpp"
#include "ensemble/event_log.hpp"
#include "ensemble/statistics.hpp"
#include "ensemble/tally.hpp"
#include "ensemble/waiting_logs.hpp"
#include "result/part_file.hpp"
#include "result/provenance.hpp"
#include "spec/plan.hpp"

namespace saltus::host {

/// Time of sample k of an evenly spaced grid, as the kernels compute it (observe.hpp); both ends are exact, a single
/// sample lies at the end.
double even_sample_time(double t_begin, double t_end, std::int64_t k, std::int64_t sample_count);

/// Names that no state, parameter, output or discrete variable should have, whatever a run writes.
const std::vector<std::string>& reserved_names();

/// Throws `error` (exit_model) if two variables of the result file would have the same name, naming both.
void check_names(const plan& p);

/// Size in bytes of the result file without compression and without its event log. Sizes that are too large for their
/// type are its largest value, here and below.
std::int64_t expected_bytes(const plan& p);

/// Size in bytes that the file will have without compression, with `event_rows` rows in its event log: with what the last
/// chunk of each variable is padded to, and about what the description of the variables takes. Or once the first
/// `instances` have been written.
std::int64_t stored_bytes(const plan& p, std::int64_t event_rows);
std::int64_t stored_bytes(const plan& p, std::int64_t event_rows, std::int64_t instances);

/// What a result_writer keeps in memory of the file, at most.
std::int64_t buffer_bytes(const plan& p);

namespace detail {

/// What the file holds of a chunk beyond its own columns: sample times, and a part of the event log in the order of the
/// instances.
struct derived_columns {
  std::vector<long long> row_size, instance;
  std::vector<double> time;
  std::vector<int> guard;
  std::vector<std::vector<double>> before, after;  ///< [state][row]
  std::vector<double> sample_time;                 ///< [instance][sample]

  void add(const event_row& row, std::int64_t first_id);
  void clear_events();
};

enum class shape { scalar, instance, time, instance_time, event, statistic, bin };

/// One variable of the file: what it is called, what it is, and where its numbers lie.
struct field {
  std::string name, role, unit, about;  ///< unit empty: not known
  detail::shape shape = shape::instance;
  int type = 0;                                    ///< NetCDF external type, the same as in memory
  std::vector<double> fixed;                       ///< the numbers of a scalar or of `time(time)`
  std::vector<std::pair<int, std::string>> flags;  ///< values and their meanings
  long long unset = 0;                             ///< of integers: what an instance that is never written has
  /// The numbers of one chunk, for the shapes with instances or events.
  std::function<const void*(const chunk_data&, const derived_columns&)> numbers = {};
  int of = -1;  ///< of statistics: which
  int id = -1;  ///< NetCDF variable
};

}  // namespace detail

/// Writes the result file of one run. The file appears under its name only when it is complete: until `close` it is
/// `<name>.part` (part_file.hpp), and a writer that is destroyed before removes that. Not thread-safe.
/// Every member throws `error` (exit_failure), naming the file and the reason, when the file cannot be written; what was
/// written until then can be kept.
class result_writer {
 public:
  /// Creates `<path>.part` with all definitions. What `path` may be: check_result_path.
  result_writer(const std::filesystem::path& path, const plan& p, const provenance& origin,
                existing older = existing::refused);
  ~result_writer();
  result_writer(const result_writer&) = delete;
  result_writer& operator=(const result_writer&) = delete;

  /// Adds one chunk; chunks come in any order, each instance once. Their rows of the event log wait for their turn.
  void write(const chunk_data& chunk);

  /// Completes the file and gives it its name. Instances that were never written have status not_run. With statistics if
  /// the plan asks for them.
  void close(double wall_time_s, const statistics& all = {});

  /// Keeps `<name>.part` as far as it got, marked with the reason for which it ends there, if there are instances in it.
  /// Returns how many there are, of those that have ended. Nothing can be written afterwards.
  std::int64_t keep(const std::string& reason);

  /// `<name>.part`, and where that of a dead run was moved to, if it was there.
  const part_file& part() const { return part_; }

 private:
  void define_dimensions();
  void define(detail::field& f);
  void define_names_of_statistics();
  void write_events(const waiting_logs::chunk_log& chunk);
  void write_waiting_events();
  void write_columns(const chunk_data& chunk, const detail::derived_columns& derived, std::int64_t first,
                     std::int64_t rows, bool of_events = false);
  void write_statistics(const statistics& all);
  void write_counts();
  void describe(const provenance& origin);
  void make_room(std::int64_t instances, std::int64_t event_rows);
  void finish(const std::string& state);
  void sync();
  void discard();
  void attribute(const char* name, const std::string& text, int variable = -1);
  void attribute(const char* name, long long number);
  void must(int netcdf_status);

  using clock = std::chrono::steady_clock;
  std::filesystem::path path_;
  existing older_;
  part_file part_;
  plan plan_;
  std::vector<detail::field> fields_;
  tally tally_;
  std::int64_t written_ = 0, event_rows_ = 0;
  std::int64_t texts_ = 0;    ///< bytes of attributes
  std::int64_t on_disk_ = 0;  ///< instances that the file has for whoever opens it now
  std::int64_t syncs_ = 0;
  std::int64_t reached_ = 0;  ///< the first instance behind all that have been written
  clock::time_point synced_ = clock::now();
  waiting_logs waiting_;
  int file_ = -1;
  int instance_ = -1, time_ = -1, event_ = -1, statistic_ = -1;  ///< dimensions
  bool closed_ = false, failed_ = false;
};

}  // namespace saltus::host
