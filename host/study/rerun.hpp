// One instance of a result file, made again from the file alone.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/cancellation.hpp"
#include "result/arrays.hpp"
#include "spec/plan.hpp"
#include "spec/spec.hpp"

namespace saltus::host {

/// The plan of instance `id` of a result: model, settings, tables and inputs of the file, and then these flags. Its model is the
/// header that the file was made from, or, where that is gone or another one now, the text of it in the file. Of a file without
/// rows the inputs are made again from its spec. There is no output file, no statistics and no journal unless a flag says so.
/// What has changed since the file was made is among the warnings. Throws `error`.
plan plan_of_instance(const std::string& file, std::int64_t id, std::vector<flag> flags, const cancellation& stop = {});

/// What of the result of that plan is not as in the file, to the bit: "final_lift is 0.1 and was 0.2"; empty: nothing is.
std::vector<std::string> differences(const result_arrays& made, const std::string& file, std::int64_t id);

}  // namespace saltus::host
