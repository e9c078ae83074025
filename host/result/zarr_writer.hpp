// Writes a result as a Zarr store (format 3): the variables of the file (schema.hpp) with the same names, numbers and
// attributes. Each variable is an array whose chunks are files, so that any number of readers and writers can access it
// at once.
//
// All variables with the dimension `instance` have chunks of the same instances, which depend on the plan alone; a
// chunk is written when all its instances have ended. An array needs a length, and that of the event log is unknown
// before the end; so the rows of each chunk of instances form their own group, event_log/<chunk>/, with the dimension
// `event`, in the order of instances.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "ensemble/chunk_data.hpp"
#include "ensemble/part.hpp"
#include "result/attributes.hpp"
#include "result/output.hpp"
#include "result/part_file.hpp"
#include "result/provenance.hpp"
#include "result/schema.hpp"
#include "result/store_folder.hpp"
#include "result/zarr_group.hpp"
#include "spec/plan.hpp"

namespace saltus::host {

extern const output_format zarr_stores;

class zarr_writer final : public output_file {
 public:
  /// Largest number of bytes in memory, beside one chunk, of unfinished chunks and of event logs that wait for theirs;
  /// further unfinished chunks are kept in their files.
  static constexpr std::int64_t usual_bound = std::int64_t{256} << 20;

  zarr_writer(const std::filesystem::path& path, const plan& p, const provenance& origin,
              existing older = existing::refused, abandoned part = abandoned::set_aside,
              std::int64_t bound = usual_bound);
  zarr_writer(const std::filesystem::path& path, const plan& p, const provenance& origin, existing older,
              const shared_format::share& which);
  /// Completes a store whose chunks of rows have all been written by parts: `write` only counts, `close` completes it.
  zarr_writer(const std::filesystem::path& path, const plan& p, const provenance& origin, existing older,
              std::shared_ptr<store_folder> whole);
  ~zarr_writer() override;

  std::int64_t keep(const std::string& reason) override;
  std::string leave(bool all) override;
  const std::filesystem::path& unfinished() const override { return folder_->path(); }
  const std::filesystem::path& set_aside() const override { return folder_->set_aside(); }

 private:
  zarr_writer(const std::filesystem::path& path, const plan& p, const provenance& origin, existing older,
              std::int64_t bound);
  struct some_log {
    std::int64_t first_id, count;  ///< of its chunk
    std::int64_t from, to;         ///< the slots that belong to this chunk of the store
    event_log log;
  };
  struct open_chunk {
    std::vector<std::string> columns;  ///< as fields_; empty: in their files
    std::map<std::int64_t, some_log> logs;
    std::int64_t instances = 0, ended = 0;
  };

  void put_rows(const chunk_data& chunk, const detail::derived_columns& derived) override;
  void end_rows() override;
  void put_final(std::size_t k, const detail::final_values& values) override;
  void end(const std::vector<attribute>& last) override;

  zarr_array array_of(const detail::field& f) const;
  void begin(const std::string& run);
  std::size_t chunk_bytes(const detail::field& f) const { return static_cast<std::size_t>(rows_) * f.row_bytes(); }
  void open_columns(open_chunk& open, std::int64_t index) const;
  void add(const chunk_data& chunk, const detail::derived_columns& derived, std::int64_t from, std::int64_t to);
  void write_columns(open_chunk& open, std::int64_t index) const;
  void write_events(const open_chunk& open, std::int64_t index) const;
  void finish(std::map<std::int64_t, open_chunk>::iterator which);
  void spill(std::int64_t but);
  void put_state(const std::vector<attribute>& last);

  const std::int64_t bound_;
  const std::int64_t rows_;  ///< instances per chunk
  std::shared_ptr<store_folder> folder_;
  std::string part_;              ///< name of the part; empty: the whole
  std::vector<id_range> ranges_;  ///< ranges that are written
  std::vector<attribute> attributes_;
  std::optional<zarr_group> root_;                   ///< once the folder exists
  std::map<std::int64_t, open_chunk> open_;          ///< by number
  std::int64_t on_disk_ = 0;                         ///< instances that have ended and are in their files
  std::int64_t in_memory_ = 0, logs_in_memory_ = 0;  ///< bytes
  bool closed_ = false;
};

}  // namespace saltus::host
