// A NetCDF file or a Zarr store, by the name of the result.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>

#include "result/output.hpp"
#include "result/part_file.hpp"
#include "result/provenance.hpp"
#include "spec/plan.hpp"

namespace saltus::host {

/// Throws `error` (exit_usage) if the plan's options of output are not for its file.
void check_output_options(const plan& p);

/// Creates `<path>.part` with all definitions. What `path` may be: check_result_path.
std::unique_ptr<result_output> make_output(const std::filesystem::path& path, const plan& p, const provenance& origin,
                                           existing older = existing::refused, abandoned part = abandoned::set_aside);

/// Size in bytes that a result of this name will have without compression, with `event_rows` rows in its event log.
std::int64_t output_bytes(const std::filesystem::path& path, const plan& p, std::int64_t event_rows);

/// What a result_output of this name keeps in memory, at most.
std::int64_t output_buffer_bytes(const std::filesystem::path& path, const plan& p);

}  // namespace saltus::host
