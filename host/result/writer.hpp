// Writes the result file (schema.hpp) chunk by chunk, so that an ensemble never has to fit in memory.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "ensemble/chunk.hpp"
#include "ensemble/indices.hpp"
#include "ensemble/statistics.hpp"
#include "ensemble/tally.hpp"
#include "ensemble/waiting_logs.hpp"
#include "result/attributes.hpp"
#include "result/part_file.hpp"
#include "result/provenance.hpp"
#include "result/schema.hpp"
#include "spec/plan.hpp"

namespace saltus::host {

/// Writes the result file of one run. The file appears under its name only when it is complete: until `close` it is
/// `<name>.part` (part_file.hpp), and a writer that is destroyed before removes that. Not thread-safe.
/// Every member throws `error` (exit_failure), naming the file and the reason, when the file cannot be written; what was
/// written until then can be kept.
class result_writer {
 public:
  /// Creates `<path>.part` with all definitions. What `path` may be: check_result_path.
  result_writer(const std::filesystem::path& path, const plan& p, const provenance& origin,
                existing older = existing::refused, abandoned part = abandoned::set_aside);
  ~result_writer();
  result_writer(const result_writer&) = delete;
  result_writer& operator=(const result_writer&) = delete;

  /// Adds one chunk; chunks come in any order, each instance once. Their rows of the event log wait for their turn.
  void write(const chunk_data& chunk);

  /// Adds instances that have ended, of a plan without rows, by their number and what there is to count of them.
  void count(std::int64_t instances, const tally& counts);

  /// Completes the file and gives it its name. Instances that were never written have status not_run. With statistics
  /// and indices of sensitivity if the plan asks for them.
  void close(double wall_time_s, const statistics& all = {}, const sensitivity_indices& indices = {});

  /// Keeps `<name>.part` as far as it got, marked with the reason for which it ends there, if there are instances in it.
  /// Returns how many there are, of those that have ended. Nothing can be written afterwards.
  std::int64_t keep(const std::string& reason);

  /// `<name>.part`, and where that of a dead run was moved to, if it was there.
  const part_file& part() const { return part_; }

 private:
  void define_dimensions();
  int shared_dimension(const std::string& name, std::size_t length);
  std::vector<int> dimensions_of(const detail::field& f);
  void define(detail::field& f);
  void define_storage(const detail::field& f);
  void define_fill(const detail::field& f);
  void define_names_of_statistics();
  void define_names(const char* dimension, const std::vector<std::string>& names, const char* about);
  void define_indices();
  void write_events(const waiting_logs::chunk_log& chunk);
  void write_waiting_events();
  void write_columns(const chunk_data& chunk, const detail::derived_columns& derived, std::int64_t first,
                     std::int64_t rows, bool of_events = false);
  void write_statistics(const statistics& all);
  void write_sensitivity(const sensitivity_indices& indices);
  void write_counts();
  void make_room(std::int64_t instances, std::int64_t event_rows);
  void finish(const std::string& state);
  void sync();
  void discard();
  /// Attributes of a variable of a type, or of the file.
  void put(const std::vector<attribute>& all, int variable = -1, int type = 0);
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
  int outcome_ = -1, input_ = -1, pair_ = -1;                    ///< and those of indices of sensitivity
  /// Variables of names, and these: written once the file is defined.
  std::vector<std::pair<int, std::vector<std::string>>> names_;
  bool closed_ = false, failed_ = false;
};

}  // namespace saltus::host
