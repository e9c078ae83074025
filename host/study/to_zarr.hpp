// Zarr stores of results that exist.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "base/cancellation.hpp"
#include "result/output.hpp"
#include "study/run.hpp"

namespace saltus::host {

struct zarr_options {
  std::string store = {};                  ///< FILE.zarr to write; empty: beside the result, under its name
  std::optional<std::int64_t> chunk = {};  ///< instances in a chunk; none: as many as a run chooses
  bool replace = false;                    ///< replace an older store
};

/// Writes a result file, or the ended instances of a journal, FILE.journal, as the Zarr store that its run would have
/// written. Memory does not grow with the number of instances. Returns the store, which has its name when it is
/// complete. Throws `error`.
std::string to_zarr(const std::string& result, const zarr_options& how = {}, const cancellation& stop = {});

/// so_far (run.hpp) with an output of the caller, who may change the plan where that changes no number.
using output_maker = std::function<std::unique_ptr<output_file>(plan&, const provenance&)>;
run_report so_far(const std::filesystem::path& journal, const output_maker& make, const cancellation& stop);

}  // namespace saltus::host
