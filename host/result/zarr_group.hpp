// The layout of a Zarr store that is a result: its groups of arrays, how arrays are cut into chunks, and the files of
// chunks. A run (zarr_writer.hpp) and the conversion of a file (study/to_zarr.hpp) write it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "result/store_folder.hpp"
#include "result/zarr_format.hpp"

namespace saltus::host {

/// Instances in a chunk: those asked for, or 1/64 of the ensemble, but at most 4 MiB per variable and chunk.
/// @param wanted     0: not asked for
/// @param most_reals  of one instance in one variable
std::int64_t chunk_rows(std::int64_t wanted, std::int64_t instances, std::int64_t most_reals);

inline std::int64_t chunks_of(std::int64_t count, std::int64_t rows) { return (count + rows - 1) / rows; }

/// The group of the event log, with a group for each chunk of instances.
inline constexpr std::string_view event_log_group = "event_log";

class zarr_group {
 public:
  /// @param path  of the group in the store; empty: its root
  explicit zarr_group(std::shared_ptr<const store_folder> folder, const std::string& path = {});
  /// The group with the event log of a chunk of instances. All numbers have equal width, so that names sort in order.
  static zarr_group of_events(std::shared_ptr<const store_folder> folder, std::int64_t index, std::int64_t chunks);

  /// Writes the description of an array, for the first time or again. A chunk has `rows` instances, or up to 65536
  /// events, and the whole length of other dimensions.
  void define(const std::string& name, zarr_array array, std::int64_t rows);
  const zarr_array& at(const std::string& name) const { return arrays_.at(name); }
  /// Writes chunk `index` along the first dimension of an array, with unset numbers after the bytes.
  void put(const std::string& name, std::int64_t index, std::string_view bytes) const;
  /// Reads such a chunk.
  std::string get(const std::string& name, std::int64_t index) const;
  /// Writes the description of the group and of its arrays, by which readers find them.
  void describe(const std::vector<attribute>& attributes = {}) const;

 private:
  std::string chunk_name(const std::string& array, std::int64_t index) const;

  std::shared_ptr<const store_folder> folder_;
  std::string path_;  ///< with a slash at its end
  zarr_arrays arrays_;
};

}  // namespace saltus::host
