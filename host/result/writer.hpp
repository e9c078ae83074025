// Writes the result file (schema.hpp) chunk by chunk, so that an ensemble need not fit into memory.
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
#include "result/output.hpp"
#include "result/part_file.hpp"
#include "result/provenance.hpp"
#include "result/schema.hpp"
#include "spec/plan.hpp"

namespace saltus::host {

/// Writes the result of one run as a NetCDF file; the unfinished file is locked (part_file.hpp).
class result_writer final : public result_output {
 public:
  result_writer(const std::filesystem::path& path, const plan& p, const provenance& origin,
                existing older = existing::refused, abandoned part = abandoned::set_aside);
  ~result_writer() override;

  /// Rows of the event log wait until all lower ids are written.
  using result_output::write;
  void write(const chunk_data& chunk, const tally& counts) override;
  void count(std::int64_t instances, const tally& counts) override;
  void close(double wall_time_s, const statistics& all = {}, const sensitivity_indices& indices = {}) override;
  std::int64_t keep(const std::string& reason) override;
  const std::filesystem::path& unfinished() const override { return part_.path(); }
  const std::filesystem::path& set_aside() const override { return part_.set_aside(); }

 private:
  void define_dimensions();
  int shared_dimension(const std::string& name, std::size_t length);
  std::vector<int> dimensions_of(const detail::field& f);
  void define(detail::field& f);
  void define_storage(const detail::field& f);
  void define_fill(const detail::field& f);
  void define(const detail::name_list& list);
  void write_names();
  void write_events(const waiting_logs::chunk_log& chunk);
  void write_waiting_events();
  void write_columns(const chunk_data& chunk, const detail::derived_columns& derived, std::int64_t first,
                     std::int64_t rows, bool of_events = false);
  void write_final(const statistics& all, const sensitivity_indices& indices);
  void write_counts();
  void make_room(std::int64_t instances, std::int64_t event_rows);
  void finish(const std::string& state);
  void sync();
  void discard();
  /// Writes attributes of a variable with external type `type`, or of the file.
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
  std::int64_t on_disk_ = 0;  ///< instances that a reader finds in the file now
  std::int64_t syncs_ = 0;
  std::int64_t reached_ = 0;  ///< the first instance after all that have been written
  clock::time_point synced_ = clock::now();
  waiting_logs waiting_;
  int file_ = -1;
  int instance_ = -1, time_ = -1, event_ = -1, statistic_ = -1;  ///< dimensions
  int outcome_ = -1, input_ = -1, pair_ = -1;                    ///< dimensions of sensitivity indices
  bool closed_ = false, failed_ = false;
};

}  // namespace saltus::host
