// Writes the result as a NetCDF file (schema.hpp) chunk by chunk, so that an ensemble need not fit into memory.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "ensemble/chunk_data.hpp"
#include "ensemble/tally.hpp"
#include "result/attributes.hpp"
#include "result/output.hpp"
#include "result/part_file.hpp"
#include "result/provenance.hpp"
#include "result/schema.hpp"
#include "spec/plan.hpp"

namespace saltus::host {

extern const output_format netcdf_files;

/// Writes the result of one run; the unfinished file is locked (part_file.hpp).
class netcdf_writer final : public output_file {
 public:
  netcdf_writer(const std::filesystem::path& path, const plan& p, const provenance& origin,
                existing older = existing::refused, abandoned part = abandoned::set_aside);
  ~netcdf_writer() override;

  using result_output::write;
  void write(const chunk_data& chunk, const tally& counts) override;
  std::int64_t keep(const std::string& reason) override;
  const std::filesystem::path& unfinished() const override { return part_.path(); }
  const std::filesystem::path& set_aside() const override { return part_.set_aside(); }

 private:
  void put_rows(const chunk_data& chunk, const detail::derived_columns& derived) override;
  void put_log(const chunk_data& chunk) override { log_.put(chunk); }
  void end_rows() override;
  void put_final(std::size_t k, const detail::final_values& values) override;
  void end(const std::vector<attribute>& last) override;

  void define(const detail::field& f);
  void define_storage(const detail::field& f, int id);
  void define_fill(const detail::field& f, int id);
  void define(const detail::name_list& list);
  void write_names();
  void put_events(const detail::derived_columns& events);
  void put_columns(const chunk_data& chunk, const detail::derived_columns& derived, std::int64_t first,
                   std::int64_t rows, detail::dimension::kind along);
  void make_room(std::int64_t instances, std::int64_t event_rows);
  void finish(const std::vector<attribute>& last);
  void sync();
  void discard();
  /// Writes attributes of a variable with external type `type`, or of the file.
  void put(const std::vector<attribute>& all, int variable, int type);
  void must(int netcdf_status);

  using clock = std::chrono::steady_clock;
  const std::filesystem::path path_;
  part_file part_;
  ordered_log log_;
  std::int64_t event_rows_ = 0;
  std::int64_t texts_ = 0;    ///< bytes of attributes
  std::int64_t on_disk_ = 0;  ///< instances that a reader finds in the file now
  std::int64_t syncs_ = 0;
  std::int64_t reached_ = 0;  ///< the first instance after all that have been written
  clock::time_point synced_ = clock::now();
  int file_ = -1;
  std::vector<int> ids_ = {};  ///< NetCDF variables, by field
  bool closed_ = false, failed_ = false;
};

}  // namespace saltus::host
