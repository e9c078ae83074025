// One instance of a result file, made again from the file alone.
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

/// The model that a result says it is of.
struct model_of_result {
  std::string result, name, text;
  std::filesystem::path file;  ///< the header that it was
};
/// A header with the text of the model that is in a result: a built-in, the header that it was made from, or one in the cache, which is
/// the only place that is written to. A text that this user has never had compiled is somebody else's code: `error` (exit_usage), which
/// says where it can be read, unless it is trusted.
std::filesystem::path header_of(const model_of_result& m, bool trusted);

/// The plan of instance `id` of a result: model, settings, tables and inputs of the file, and then these flags. Its model is the
/// header that the file was made from, or, where that is gone or another one now, the text of it in the file. Of a file without
/// rows the inputs are made again from its spec. There is no output file, no statistics and no journal unless a flag says so.
/// What has changed since the file was made is among the warnings. `trusted`: as for header_of. Throws `error`.
plan plan_of_instance(const std::string& file, std::int64_t id, std::vector<flag> flags, bool trusted = false,
                      const cancellation& stop = {});

/// The settings that a result tells, without those of the ensemble and of the file: keys at the top, and the tables that settings have.
/// Others are left out, since a file may say anything. Throws `error` (exit_failure), which names the file, for text that is not TOML.
std::string settings_of_instance(const std::string& settings, const std::string& file);

/// What of the result of that plan is not as in the file, to the bit: "final_lift is 0.1 and was 0.2"; empty: nothing is.
std::vector<std::string> differences(const result_arrays& made, const std::string& file, std::int64_t id);

}  // namespace saltus::host
