#include "result/zarr_group.hpp"

#include <algorithm>
#include <functional>
#include <numeric>
#include <utility>

#include <fmt/format.h>
#include <netcdf.h>
#include <nlohmann/json.hpp>

#include "base/error.hpp"
#include "result/storage.hpp"
#include "statistics/statistics.hpp"

namespace saltus::host {

using detail::dimension;

namespace {

std::size_t chunk_bytes(const zarr_array& a) {
  const auto numbers = std::accumulate(a.chunk.begin(), a.chunk.end(), std::int64_t{1}, std::multiplies<>());
  return static_cast<std::size_t>(numbers) * detail::number_bytes(a.type);
}

}  // namespace

std::int64_t chunk_rows(std::int64_t wanted, std::int64_t instances, std::int64_t most_reals) {
  if (wanted > 0) return std::min(wanted, instances);
  constexpr std::int64_t chunks = 64, bytes = std::int64_t{4} << 20;
  const std::int64_t width = 8 * std::max<std::int64_t>(most_reals, 1);
  const std::int64_t most = std::clamp<std::int64_t>(bytes / width, 1, detail::max_chunk_rows);
  const std::int64_t rows = std::min(chunks_of(instances, chunks), most);
  // Whole blocks of statistics if possible, for parts.
  return rows < statistics_block ? rows : std::min(instances, rows / statistics_block * statistics_block);
}

zarr_group::zarr_group(std::shared_ptr<const store_folder> folder, const std::string& path)
    : folder_(std::move(folder)), path_(path.empty() ? "" : path + "/") {
  folder_->make_folder(path_);
}

zarr_group zarr_group::of_events(std::shared_ptr<const store_folder> folder, std::int64_t index, std::int64_t chunks) {
  return zarr_group(std::move(folder),
                    fmt::format("{}/{:0{}}", event_log_group, index, fmt::formatted_size("{}", chunks - 1)));
}

void zarr_group::define(const std::string& name, zarr_array array, std::int64_t rows) {
  array.chunk.clear();
  for (const auto& [kind, axis, length] : array.axes)
    array.chunk.push_back(kind == dimension::kind::instance ? rows
                          : kind == dimension::kind::event ? std::clamp<std::int64_t>(length, 1, detail::max_chunk_rows)
                                                           : std::max<std::int64_t>(length, 1));
  folder_->make_folder(path_ + name + (array.axes.empty() ? "" : "/c"));
  folder_->put(path_ + name + "/zarr.json", json_text(metadata_of(array)) + "\n");
  arrays_[name] = std::move(array);
}

std::string zarr_group::chunk_name(const std::string& array, std::int64_t index) const {
  const std::size_t dimensions = at(array).axes.size();
  std::string name = fmt::format("{}{}/c", path_, array);
  for (std::size_t k = 0; k < dimensions; ++k) name += fmt::format("/{}", k == 0 ? index : 0);
  return name;
}

void zarr_group::put(const std::string& name, std::int64_t index, std::string_view bytes) const {
  const zarr_array& a = at(name);
  const std::size_t whole = a.type == NC_STRING ? bytes.size() : chunk_bytes(a);
  std::string sealed;
  sealed.reserve(whole + seal_bytes);
  sealed = bytes;
  if (bytes.size() < whole) {
    sealed.resize(whole);
    detail::put_unset(a.type, a.unset, sealed.data() + bytes.size(), whole - bytes.size());
  }
  seal_chunk(sealed);
  if (a.axes.size() > 1) folder_->make_folder(fmt::format("{}{}/c/{}", path_, name, index));
  folder_->put(chunk_name(name, index), sealed);
}

std::string zarr_group::get(const std::string& name, std::int64_t index) const {
  const std::string file = chunk_name(name, index);
  std::string bytes = folder_->get(file);
  if (!unseal_chunk(bytes) || bytes.size() != chunk_bytes(at(name)))
    throw error(exit_failure, fmt::format("{}/{}: cannot be read back", folder_->path().string(), file));
  return bytes;
}

void zarr_group::describe(const std::vector<attribute>& attributes) const {
  folder_->put(path_ + "zarr.json", json_text(metadata_of_group(attributes, arrays_)) + "\n");
}

}  // namespace saltus::host
