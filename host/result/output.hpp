// Where the result of a run goes, chunk by chunk: a NetCDF file (writer.hpp) or a Zarr store (zarr_writer.hpp), by its name.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "ensemble/chunk.hpp"
#include "ensemble/indices.hpp"
#include "ensemble/statistics.hpp"
#include "ensemble/tally.hpp"

namespace saltus::host {

/// A result that appears under its name only when it is complete: until `close` it is `<name>.part`, and one that is destroyed
/// before removes that. Not thread-safe.
/// Every member throws `error` (exit_failure), naming the result and the reason, when it cannot be written; what was written
/// until then can be kept.
class result_output {
 public:
  result_output() = default;
  virtual ~result_output() = default;
  result_output(const result_output&) = delete;
  result_output& operator=(const result_output&) = delete;

  /// Adds one chunk, and what there is to count of its instances; chunks come in any order, each instance once. Where the plan has no
  /// rows, a chunk that an earlier run has kept has its statistics alone: nothing may be counted from its columns.
  virtual void write(const chunk_data& chunk, const tally& counts) = 0;
  /// The same of a chunk whose columns are all here.
  void write(const chunk_data& chunk) { write(chunk, tally_of(chunk)); }

  /// Adds instances that have ended, of a plan without rows, by their number and what there is to count of them.
  virtual void count(std::int64_t instances, const tally& counts) = 0;

  /// Completes the result and gives it its name. Instances that were never written have status not_run. With statistics
  /// and indices of sensitivity if the plan asks for them.
  virtual void close(double wall_time_s, const statistics& all = {}, const sensitivity_indices& indices = {}) = 0;

  /// Keeps `<name>.part` as far as it got, marked with the reason for which it ends there, if there are instances in it.
  /// Returns how many there are, of those that have ended. Nothing can be written afterwards.
  virtual std::int64_t keep(const std::string& reason) = 0;

  /// `<name>.part`, and where that of a dead run was moved to, if it was there.
  virtual const std::filesystem::path& unfinished() const = 0;
  virtual const std::filesystem::path& set_aside() const = 0;
};

}  // namespace saltus::host
