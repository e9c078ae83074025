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
#include <string>
#include <vector>

#include "ensemble/chunk.hpp"
#include "ensemble/part.hpp"
#include "ensemble/tally.hpp"
#include "result/attributes.hpp"
#include "result/output.hpp"
#include "result/part_file.hpp"
#include "result/provenance.hpp"
#include "result/schema.hpp"
#include "result/store_folder.hpp"
#include "result/zarr_format.hpp"
#include "spec/plan.hpp"

namespace saltus::host {

/// Instances in a chunk of a Zarr store: output.store_chunk, or 1/64 of the ensemble, but at most 4 MiB per variable
/// and chunk.
std::int64_t zarr_chunk_rows(const plan& p);

/// Size in bytes of the chunks of a store with `event_rows` rows in its event log.
std::int64_t zarr_bytes(const plan& p, std::int64_t event_rows);

class zarr_writer final : public result_output {
 public:
  /// Largest number of bytes in memory, beside one chunk, of unfinished chunks and of event logs that wait for theirs;
  /// further unfinished chunks are kept in their files.
  static constexpr std::int64_t usual_bound = std::int64_t{256} << 20;

  zarr_writer(const std::filesystem::path& path, const plan& p, const provenance& origin,
              existing older = existing::refused, abandoned part = abandoned::set_aside,
              std::int64_t bound = usual_bound);
  /// A part of an ensemble, which writes only the chunks of its own ranges, beside the writers of other parts. `run`
  /// identifies the run of the store. The constructor throws `error` (exit_usage) if the store belongs to another run.
  struct share {
    std::string name;              ///< "3of16"
    std::vector<id_range> ranges;  ///< whole chunks
    std::string run;
  };
  zarr_writer(const std::filesystem::path& path, const plan& p, const provenance& origin, existing older,
              const share& which);
  /// Completes a store whose chunks of rows have all been written by parts: `write` only counts, `close` completes it.
  zarr_writer(const std::filesystem::path& path, const plan& p, const provenance& origin, existing older,
              std::shared_ptr<store_folder> whole);
  ~zarr_writer() override;

  /// The unfinished store whose parts have all ended, if it belongs to this run and no other run has it.
  static std::shared_ptr<store_folder> left_by_parts(const std::filesystem::path& path, std::int64_t parts,
                                                     const std::string& run);
  /// Closes a part. `all`: all its instances have ended; otherwise the part will continue from its journal.
  void end_part(bool all);

  using result_output::write;
  void write(const chunk_data& chunk, const tally& counts) override;
  void count(std::int64_t instances, const tally& counts) override;
  void close(double wall_time_s, const statistics& all = {}, const sensitivity_indices& indices = {}) override;
  std::int64_t keep(const std::string& reason) override;
  const std::filesystem::path& unfinished() const override { return folder_->path(); }
  const std::filesystem::path& set_aside() const override { return folder_->set_aside(); }

 private:
  zarr_writer(const plan& p, const provenance& origin, existing older, std::shared_ptr<store_folder> folder,
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

  zarr_array array_of(const detail::field& f) const;
  void define(const std::string& name, const zarr_array& array) const;
  void put_chunk(const std::string& array, const std::string& chunk, const std::string& bytes) const;
  void begin(const std::string& run);
  void put_root() const;
  bool is_of_rows(const detail::field& f) const;
  std::int64_t row_bytes(const detail::field& f) const;
  std::string chunk_of(const detail::field& f, std::int64_t index) const;
  void open_columns(open_chunk& open, std::int64_t index) const;
  void add(const chunk_data& chunk, const detail::derived_columns& derived, std::int64_t from, std::int64_t to);
  void write_columns(open_chunk& open, std::int64_t index) const;
  void write_events(const open_chunk& open, std::int64_t index) const;
  void finish(std::map<std::int64_t, open_chunk>::iterator which);
  void finish_all();
  void spill(std::int64_t but);
  void write_final(const statistics& all, const sensitivity_indices& indices);
  void put_counts();

  const existing older_;
  const std::int64_t bound_;
  const plan plan_;
  const std::vector<detail::field> fields_;
  const std::int64_t rows_;  ///< instances per chunk
  std::shared_ptr<store_folder> folder_;
  std::string part_;              ///< name of the part; empty: the whole
  std::vector<id_range> ranges_;  ///< ranges that are written
  std::vector<attribute> attributes_;
  zarr_arrays arrays_;                       ///< of the store's root group
  std::map<std::int64_t, open_chunk> open_;  ///< by number
  tally tally_;
  std::int64_t written_ = 0;
  std::int64_t on_disk_ = 0;                         ///< instances that have ended and are in their files
  std::int64_t in_memory_ = 0, logs_in_memory_ = 0;  ///< bytes
  bool closed_ = false;
};

}  // namespace saltus::host
