#include "result/make_output.hpp"

#include <fmt/format.h>

#include "base/error.hpp"
#include "result/storage.hpp"
#include "result/writer.hpp"
#include "result/zarr_writer.hpp"

namespace saltus::host {

void check_output_options(const plan& p) {
  if (is_zarr(p.file) && p.compression > 0)
    throw error(exit_usage,
                fmt::format("output.compression = {}: must be 0: a Zarr store is not compressed", p.compression));
  if (!p.file.empty() && !is_zarr(p.file) && p.store_chunk > 0)
    throw error(
        exit_usage,
        fmt::format("output.store_chunk = {}: is for Zarr stores alone, output.file = \"FILE.zarr\"", p.store_chunk));
}

std::unique_ptr<result_output> make_output(const std::filesystem::path& path, const plan& p, const provenance& origin,
                                           existing older, abandoned part) {
  if (is_zarr(path)) return std::make_unique<zarr_writer>(path, p, origin, older, part);
  return std::make_unique<result_writer>(path, p, origin, older, part);
}

std::int64_t output_bytes(const std::filesystem::path& path, const plan& p, std::int64_t event_rows) {
  return is_zarr(path) ? zarr_bytes(p, event_rows) : stored_bytes(p, event_rows);
}

std::int64_t output_buffer_bytes(const std::filesystem::path& path, const plan& p) {
  return is_zarr(path) ? zarr_writer::usual_bound : buffer_bytes(p);
}

}  // namespace saltus::host
