// Repeats one instance of a result file, from the file alone.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "base/cancellation.hpp"
#include "result/arrays.hpp"
#include "spec/plan.hpp"
#include "spec/spec.hpp"

namespace saltus::host {

/// The model that a result file contains.
struct model_of_result {
  std::string result, name, text;
  std::filesystem::path file;  ///< the header of the run
};
/// A header with the text of the model in a result: a built-in, the header of the run, or a new one in the cache, which
/// is the only folder written to. A text that this user has never had compiled is foreign code: unless it is trusted,
/// throws `error` (exit_usage) with the path where it can be read.
std::filesystem::path header_of(const model_of_result& m, bool trusted);

/// The plan of instance `id` of a result: model, settings, tables and inputs from the file, then these flags. The model
/// is the header of the run, or, if that is gone or has changed, its text in the file. For a file without rows, inputs
/// are sampled again from its spec. The plan has no output file, statistics or journal unless a flag asks for them.
/// Warnings list the changes since the file was made. `trusted`: as for header_of. Throws `error`.
plan plan_of_instance(const std::string& file, std::int64_t id, std::vector<flag> flags, bool trusted = false,
                      const cancellation& stop = {});

/// The settings in a result without those of the ensemble and of the file: keys at the top, and the tables that settings
/// have. Other tables are left out, since a file may contain anything. Throws `error` (exit_failure), which names the
/// file, for text that is not TOML.
std::string settings_of_instance(const std::string& settings, const std::string& file);

/// [records] of a result, where the rows of its instances are, but for their ids; empty: it has none. `sources` is that of
/// the result. Throws `error` (exit_usage) if one of the files has changed since the run.
std::string records_of_instance(const std::string& records, const std::string& sources, const std::string& file);

/// The differences between the result of that plan and the file, to the bit: "final_lift is 0.1 and was 0.2"; empty:
/// none.
std::vector<std::string> differences(const result_arrays& made, const std::string& file, std::int64_t id);

}  // namespace saltus::host
