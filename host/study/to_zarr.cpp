#include "study/to_zarr.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include <fmt/format.h>
#include <netcdf.h>

#include "base/error.hpp"
#include "result/journal.hpp"
#include "result/reader.hpp"
#include "result/zarr_group.hpp"

namespace saltus::host {

namespace {

using detail::dimension;

zarr_array array_of(const result_file& from, const result_variable& v) {
  constexpr int types[] = {NC_UBYTE, NC_INT, NC_INT64, NC_DOUBLE, NC_STRING};
  const bool is_known = std::find(std::begin(types), std::end(types), v.type) != std::end(types);
  if (!is_known || (v.type == NC_STRING && v.dimensions.size() != 1) || v.name.starts_with('.'))
    throw error(exit_failure,
                fmt::format("cannot read {}: no result of saltus has such a variable as {}", from.path(), v.name));
  zarr_array a{.type = v.type, .unset = from.unset(v), .attributes = from.attributes(v)};
  for (const std::string& name : v.dimensions) {
    const auto kind = name == "instance" ? dimension::kind::instance
                      : name == "event"  ? dimension::kind::event
                                         : dimension::kind::listed;
    a.axes.push_back({kind, name, static_cast<std::int64_t>(from.dimension(name.c_str()))});
  }
  return a;
}

/// Copies variables chunk by chunk.
void copy(const result_file& from, const std::shared_ptr<const store_folder>& to, std::int64_t chunk,
          const cancellation& stop) {
  from.must_be_plausible();
  std::vector<std::pair<const result_variable*, zarr_array>> of_instances, of_events;
  std::int64_t most_reals = 1;
  for (const result_variable& v : from.variables()) {
    zarr_array a = array_of(from, v);
    const bool is_event = !a.axes.empty() && a.axes[0].which == dimension::kind::event;
    if (v.dimensions.size() > 1 && v.dimensions[0] == "instance") most_reals = std::max(most_reals, a.axes[1].length);
    (is_event ? of_events : of_instances).emplace_back(&v, std::move(a));
  }
  const auto instances = static_cast<std::int64_t>(from.instances());
  const std::int64_t rows = chunk_rows(chunk, std::max<std::int64_t>(instances, 1), most_reals);

  const auto put = [&](zarr_group& group, const result_variable& v, const zarr_array& a, std::int64_t first) {
    group.define(v.name, a, rows);
    if (v.type == NC_STRING) return group.put(v.name, 0, bytes_of_texts(from.texts(v)));
    const std::int64_t length = a.axes.empty() ? 1 : a.axes[0].length,
                       step = a.axes.empty() ? 1 : group.at(v.name).chunk[0];
    for (std::int64_t k = 0; k * step < length; ++k) {
      if (stop) throw error(exit_interrupted, fmt::format("{}: interrupted while it was read", from.path()));
      group.put(v.name, k, from.bytes(v, first + k * step, std::min(step, length - k * step)));
    }
  };
  zarr_group root(to);
  for (const auto& [v, a] : of_instances) put(root, *v, a, 0);
  if (!of_events.empty()) zarr_group(to, std::string(event_log_group)).describe();
  std::int64_t start = 0;  // rows of the log are in the order of instances
  for (std::int64_t k = 0, chunks = chunks_of(instances, rows); k < chunks && !of_events.empty(); ++k) {
    const std::int64_t length = event_rows_of(from, k * rows, std::min(rows, instances - k * rows), start);
    zarr_group group = zarr_group::of_events(to, k, chunks);
    for (auto& [v, a] : of_events) {
      a.axes[0].length = length;
      put(group, *v, a, start);
    }
    group.describe();
    start += length;
  }
  root.describe(from.attributes());  // last: a folder without it is the remains of a killed process
}

}  // namespace

std::string to_zarr(const std::string& result, const zarr_options& how, const cancellation& stop) {
  if (how.chunk && *how.chunk < 1)
    throw error(exit_usage, fmt::format("chunk = {}: must be a number of instances, 1 or more", *how.chunk));
  const std::filesystem::path kept = journal::named(result);
  std::filesystem::path store = how.store;
  if (store.empty()) store = kept.empty() ? std::filesystem::path(result) : kept.parent_path() / kept.stem();
  if (how.store.empty()) store.replace_extension(".zarr");
  if (store.extension() != ".zarr")
    throw error(exit_usage, fmt::format("{}: the name of a Zarr store ends with .zarr", store.string()));
  const existing older = how.replace ? existing::replaced : existing::refused;
  const std::int64_t chunk = how.chunk.value_or(0);
  if (!kept.empty()) {
    const auto make = [&](plan& p, const provenance& origin) {
      p.store_chunk = chunk;
      return make_output(store, p, origin, older);
    };
    so_far(kept, make, stop);
    return store.string();
  }
  const result_file from(result);
  check_result_path(store, older, {result});
  const auto folder = std::make_shared<store_folder>(store);
  try {
    copy(from, folder, chunk, stop);
  } catch (...) {
    folder->remove();
    throw;
  }
  folder->publish(older);
  return store.string();
}

}  // namespace saltus::host
