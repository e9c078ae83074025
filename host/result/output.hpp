// The interface to which a run writes its result, chunk by chunk: a NetCDF file (writer.hpp) or a Zarr store
// (zarr_writer.hpp).
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "ensemble/chunk.hpp"
#include "ensemble/indices.hpp"
#include "ensemble/statistics.hpp"
#include "ensemble/tally.hpp"

namespace saltus::host {

/// A result that appears under its name only when it is complete. Until `close` it is `<name>.part`, which the
/// destructor removes if `close` was not called. Not thread-safe. If the result cannot be written, every member throws
/// `error` (exit_failure) with its name and the reason; `keep` can then save the part written so far.
class result_output {
 public:
  result_output() = default;
  virtual ~result_output() = default;
  result_output(const result_output&) = delete;
  result_output& operator=(const result_output&) = delete;

  /// Adds one chunk and the counts of its instances. Chunks come in any order, each instance once. If the plan has no
  /// rows, a chunk from an earlier run has only statistics: its columns must not be counted.
  virtual void write(const chunk_data& chunk, const tally& counts) = 0;
  /// The same for a chunk whose columns are all on the host.
  void write(const chunk_data& chunk) { write(chunk, tally_of(chunk)); }

  /// Adds instances that have ended, for a plan without rows: their number and their counts.
  virtual void count(std::int64_t instances, const tally& counts) = 0;

  /// Completes the result, with statistics and sensitivity indices if the plan asks for them, and gives it its name.
  /// Instances that were never written have status not_run.
  virtual void close(double wall_time_s, const statistics& all = {}, const sensitivity_indices& indices = {}) = 0;

  /// Keeps `<name>.part` if it contains instances, marked with the reason for which it is incomplete. Returns the
  /// number of its instances that have ended. Nothing can be written afterwards.
  virtual std::int64_t keep(const std::string& reason) = 0;

  /// `<name>.part`, and the name to which that of a dead run was moved, if there was one.
  virtual const std::filesystem::path& unfinished() const = 0;
  virtual const std::filesystem::path& set_aside() const = 0;
};

}  // namespace saltus::host
