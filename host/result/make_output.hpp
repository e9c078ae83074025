// Makes the output for a run, a NetCDF file or a Zarr store, by the name of the result.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>

#include "result/output.hpp"
#include "result/part_file.hpp"
#include "result/provenance.hpp"
#include "spec/plan.hpp"

namespace saltus::host {

/// Throws `error` (exit_usage) if the plan's output options do not apply to its kind of file.
void check_output_options(const plan& p);

/// Creates `<path>.part` with all definitions. check_result_path says which paths are allowed.
std::unique_ptr<result_output> make_output(const std::filesystem::path& path, const plan& p, const provenance& origin,
                                           existing older = existing::refused, abandoned part = abandoned::set_aside);

/// Size in bytes of such a result without compression, with `event_rows` rows in its event log.
std::int64_t output_bytes(const std::filesystem::path& path, const plan& p, std::int64_t event_rows);

/// Largest number of bytes that such a result_output keeps in memory.
std::int64_t output_buffer_bytes(const std::filesystem::path& path, const plan& p);

}  // namespace saltus::host
