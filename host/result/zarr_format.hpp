// Zarr format 3 (zarr-specs.readthedocs.io, version 3.1) as far as results need it: arrays on a regular grid of chunks,
// little-endian, not compressed, a CRC32C after each chunk. It does not depend on plans.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.hpp"
#include "result/attributes.hpp"

namespace saltus::host {

/// An array as described by its zarr.json.
struct zarr_array {
  std::vector<detail::dimension> axes = {};  ///< the last one fastest
  int type = 0;                              ///< NetCDF external type; NC_STRING: text
  long long unset = 0;                       ///< for integers: the value outside of chunks; reals are NaN there
  std::vector<attribute> attributes = {};
  std::vector<std::int64_t> chunk = {};  ///< lengths of a chunk
};

json metadata_of(const zarr_array& array);
/// Metadata of a group with the zarr.json of each of its arrays, so that readers open one file ("consolidated").
using zarr_arrays = std::map<std::string, zarr_array>;
json metadata_of_group(const std::vector<attribute>& attributes, const zarr_arrays& arrays = {});

/// CRC-32C (Castagnoli), by the processor's instruction or by a table.
std::uint32_t crc32c(std::string_view bytes);
std::uint32_t crc32c_by_table(std::string_view bytes);

/// seal_chunk appends the checksum to the bytes of a chunk; unseal_chunk removes it and returns false if it does not
/// match.
void seal_chunk(std::string& bytes);
bool unseal_chunk(std::string& bytes);
inline constexpr std::int64_t seal_bytes = 4;

/// Texts in the codec vlen-utf8: their number, then each with its length before it.
std::string bytes_of_texts(const std::vector<std::string>& texts);

/// The attributes of a store that saltus has made, complete or not; null: it is no such store.
json attributes_of_store(const std::filesystem::path& store);

}  // namespace saltus::host
