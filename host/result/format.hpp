// The formats of a result, whose one list is formats.cpp. The ending of its name says which format a result has. A new
// format is one file, with a class over `output_file` (output.hpp) and an `output_format`, and one row in the list.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ensemble/part.hpp"
#include "spec/plan.hpp"

namespace saltus::host {

class output_file;
struct provenance;

/// Policy for an existing result.
enum class existing { refused, replaced };

/// Policy for the unfinished file of a dead run: rename it if it contains finished instances; or remove it, since they
/// are in the journal.
enum class abandoned { set_aside, removed };

/// Makes the output that completes a result whose rows have all been written by parts: `write` only counts.
using completion = std::function<std::unique_ptr<output_file>(const plan&, const provenance&, existing)>;

/// A format that several processes can write at once.
struct shared_format {
  struct share {
    std::string name;              ///< of the part: "3of16"
    std::vector<id_range> ranges;  ///< whole chunks
    std::string run;               ///< identifies the run of the result
  };
  std::int64_t (*chunk_rows)(const plan&);  ///< the ranges of parts begin at multiples of this
  /// Makes the output of a part. Throws `error` (exit_usage) if the unfinished result belongs to another run.
  std::unique_ptr<output_file> (*begin)(const std::filesystem::path&, const plan&, const provenance&, existing,
                                        const share&);
  /// Empty unless this run's parts have all ended and no other run completes their result.
  completion (*left_by_parts)(const std::filesystem::path&, std::int64_t parts, const std::string& run);
};

struct output_format {
  std::string_view name;              ///< "NetCDF file"
  std::string_view ending = {};       ///< of the names of its results; empty: all names without another ending
  bool is_folder = false;             ///< a result is a folder
  bool is_read = false;               ///< reader.hpp reads it, so that saltus show can
  bool is_compressed = false;         ///< output.compression applies to it
  bool has_store_chunk = false;       ///< output.store_chunk applies to it
  std::string_view event_group = {};  ///< the group with the event log; empty: it is among the other variables
  std::string_view python_reader = "xarray.open_dataset";

  /// Throws `error` (exit_usage) if the plan asks for something that the format cannot hold; null: it holds all.
  void (*check)(const plan&) = nullptr;
  /// Creates `<path>.part` with all definitions. check_result_path says which paths are allowed.
  std::unique_ptr<output_file> (*make)(const std::filesystem::path&, const plan&, const provenance&, existing,
                                       abandoned);
  /// Size in bytes of a result without compression, with `event_rows` rows in its event log.
  std::int64_t (*bytes)(const plan&, std::int64_t event_rows);
  /// Largest number of bytes that its output keeps in memory.
  std::int64_t (*buffer_bytes)(const plan&);
  /// Is this a result of saltus, finished or not, that can be opened?
  bool (*is_result)(const std::filesystem::path&);
  /// Does an unfinished result contain instances that have ended?
  bool (*has_ended_instances)(const std::filesystem::path&);
  /// Does a result have these attributes? Null: the format has no attributes, and runs with --share need them.
  bool (*has_texts)(const std::filesystem::path&, const std::map<std::string, std::string>&) = nullptr;
  const shared_format* shared = nullptr;  ///< null: only one process can write a result
};

/// All formats; the first one has all names without the ending of another.
std::span<const output_format* const> formats();

const output_format& format_of(const std::filesystem::path& result);

/// The way in which parts write the rows of this plan into its result; null: parts write their journal alone.
const shared_format* shared_format_of(const plan& p);

/// "a NetCDF file, or FILE.zarr, a Zarr store"
std::string formats_text();

/// Throws `error` (exit_usage) if the plan's output options do not apply to the format of its result.
void check_output_options(const plan& p);

/// Throws `error` (exit_model) with both variables if two variables of the result file would have the same name.
void check_names(const plan& p);

/// Is this a result of saltus, finished or not, that can be opened?
bool is_result(const std::filesystem::path& file);

/// Throws `error` (exit_usage) if a run must not write its result there: the path is a folder, a device or a symbolic
/// link; one of `inputs`, the files that the run reads; a file that is no result of saltus; or, unless it may be
/// replaced, an older result.
void check_result_path(const std::filesystem::path& file, existing older,
                       const std::vector<std::filesystem::path>& inputs);

/// A name beside a result and in its format, for a result that this process makes for a while.
std::string name_beside(const std::string& result, std::string_view purpose);

}  // namespace saltus::host
