#include "result/zarr_writer.hpp"

#include <algorithm>
#include <cstring>
#include <limits>
#include <utility>

#include <fmt/format.h>
#include <netcdf.h>
#include <nlohmann/json.hpp>

#include "base/error.hpp"
#include "base/files.hpp"
#include "result/storage.hpp"
#include "statistics/statistics.hpp"

namespace saltus::host {

using detail::derived_columns;
using detail::dimension;
using detail::field;

namespace {

/// largest number of rows in a chunk of an event log variable
constexpr std::int64_t event_rows = detail::max_chunk_rows;

// Files of stores that parts write, until they are complete: the identity of the run, and marks of parts that have
// ended.
constexpr const char* run_name = ".run";
constexpr const char* parts_name = ".parts";

std::int64_t chunks_of(std::int64_t count, std::int64_t rows) { return (count + rows - 1) / rows; }

/// The name of the only chunk of an array.
std::string first_chunk(const zarr_array& a) { return chunk_name(std::vector<std::int64_t>(a.axes.size())); }

/// The convention of xarray: NaN means missing.
const attribute missing_is_nan = {"_FillValue", std::string("AAAAAAAA+H8=")};

/// Names of groups have numbers of equal width, so that they sort in order.
std::string group_of_events(std::int64_t index, std::int64_t chunks) {
  return fmt::format("event_log/{:0{}}", index, fmt::formatted_size("{}", chunks - 1));
}

/// The name of the chunk with these rows.
std::string chunk_of_rows(const field& f, std::int64_t index) {
  std::vector<std::int64_t> place(f.axes.size());
  place[0] = index;
  return chunk_name(place);
}

/// Instances in a chunk: output.store_chunk, or 1/64 of the ensemble, but at most 4 MiB per variable and chunk.
std::int64_t chunk_rows(const plan& p) {
  if (p.store_chunk > 0) return std::min(p.store_chunk, p.count);
  constexpr std::int64_t chunks = 64, bytes = std::int64_t{4} << 20;
  const std::int64_t width = 8 * std::max<std::int64_t>(p.sample_count, 1);
  const std::int64_t most = std::clamp<std::int64_t>(bytes / width, 1, detail::max_chunk_rows);
  const std::int64_t rows = std::min(chunks_of(p.count, chunks), most);
  // Whole blocks of statistics if possible, for parts.
  return rows < statistics_block ? rows : std::min(p.count, rows / statistics_block * statistics_block);
}

std::int64_t bytes_of_store(const plan& p, std::int64_t rows_of_events) {
  constexpr std::int64_t head = 1024;  // description of a variable
  const std::int64_t chunk = chunk_rows(p), chunks = chunks_of(p.count, chunk);
  double bytes = static_cast<double>(p.text.size()) + 4 * head;
  for (const field& f : detail::fields_of(p)) {
    double numbers = 1;
    for (const dimension& d : f.axes)
      numbers *= static_cast<double>(d.which == dimension::kind::instance ? chunks * chunk
                                     : d.which == dimension::kind::event  ? rows_of_events
                                                                          : d.length);
    bytes += numbers * static_cast<double>(f.number_bytes()) + head;
    if (f.has_events()) bytes += static_cast<double>(chunks) * head;
    if (f.has_rows()) bytes += static_cast<double>(chunks * seal_bytes);
  }
  constexpr auto largest = std::numeric_limits<std::int64_t>::max();
  return bytes < static_cast<double>(largest) ? static_cast<std::int64_t>(bytes) : largest;
}

bool is_store(const std::filesystem::path& store) { return !attributes_of_store(store).is_null(); }

bool has_ended_instances(const std::filesystem::path& part) {
  if (!is_store(part)) return false;
  std::error_code failure;
  for (const auto& entry : std::filesystem::directory_iterator(part / "status" / "c", failure)) {
    std::string bytes = read_file(entry.path());
    if (unseal_chunk(bytes) && std::any_of(bytes.begin(), bytes.end(), has_ended)) return true;
  }
  return false;
}

bool has_texts(const std::filesystem::path& store, const std::map<std::string, std::string>& texts) {
  const json made = attributes_of_store(store);
  return std::all_of(texts.begin(), texts.end(),
                     [&](const auto& one) { return made.value(one.first, "") == one.second; });
}

completion left_by_parts(const std::filesystem::path& path, std::int64_t parts, const std::string& run) {
  try {
    const std::shared_ptr<store_folder> folder = store_folder::left_by_all(path);
    for (std::int64_t k = 1; k <= parts; ++k)
      if (!folder->has(fmt::format("{}/{}of{}", parts_name, k, parts))) return {};
    if (!folder->has(run_name) || folder->get(run_name) != run) return {};
    return [path, folder](const plan& p, const provenance& origin, existing older) {
      return std::make_unique<zarr_writer>(path, p, origin, older, folder);
    };
  } catch (const store_is_taken&) { return {}; }  // the run that has it completes it, or has done so
}

const shared_format parts_of_stores{
    .chunk_rows = chunk_rows,
    .begin = [](const auto& path, const plan& p, const provenance& origin, existing older,
                const shared_format::share& which) -> std::unique_ptr<output_file> {
      return std::make_unique<zarr_writer>(path, p, origin, older, which);
    },
    .left_by_parts = left_by_parts,
};

}  // namespace

const output_format zarr_stores{
    .name = "Zarr store",
    .ending = ".zarr",
    .is_folder = true,
    .has_store_chunk = true,
    .event_group = "event_log",
    .make = [](const auto& path, const plan& p, const provenance& origin, existing older, abandoned part)
        -> std::unique_ptr<output_file> { return std::make_unique<zarr_writer>(path, p, origin, older, part); },
    .bytes = bytes_of_store,
    .buffer_bytes = [](const plan&) { return zarr_writer::usual_bound; },
    .is_result = is_store,
    .has_ended_instances = has_ended_instances,
    .has_texts = has_texts,
    .shared = &parts_of_stores,
};

zarr_writer::zarr_writer(const std::filesystem::path& path, const plan& p, const provenance& origin, existing older,
                         std::int64_t bound)
    : output_file(path, p, older), bound_(bound), rows_(chunk_rows(p)), attributes_(attributes_of(p, origin)) {}

zarr_writer::zarr_writer(const std::filesystem::path& path, const plan& p, const provenance& origin, existing older,
                         abandoned part, std::int64_t bound)
    : zarr_writer(path, p, origin, older, bound) {
  folder_ = std::make_shared<store_folder>(path, part);
  ranges_ = {{0, p.count}};
  begin({});
}

zarr_writer::zarr_writer(const std::filesystem::path& path, const plan& p, const provenance& origin, existing older,
                         const shared_format::share& which)
    : zarr_writer(path, p, origin, older, usual_bound) {
  folder_ = store_folder::joined(path, which.name);
  part_ = which.name;
  ranges_ = which.ranges;
  begin(which.run);
}

zarr_writer::zarr_writer(const std::filesystem::path& path, const plan& p, const provenance& origin, existing older,
                         std::shared_ptr<store_folder> whole)
    : zarr_writer(path, p, origin, older, usual_bound) {
  folder_ = std::move(whole);
  part_ = "all";
  begin(folder_->get(run_name));
  part_.clear();
}

zarr_writer::~zarr_writer() {
  if (!closed_ && part_.empty() && !ranges_.empty()) folder_->remove();  // chunks written by parts stay
}

std::string zarr_writer::leave(bool all) {
  if (part_.empty()) return {};
  closed_ = true;
  end_rows();
  if (all) {
    folder_->settle();
    folder_->put(fmt::format("{}/{}", parts_name, part_), "");
  }
  return folder_->path().string();
}

zarr_array zarr_writer::array_of(const field& f) const {
  zarr_array a{.axes = f.axes, .chunk = {}, .type = f.type, .unset = f.unset, .attributes = attributes_of(f)};
  for (const dimension& d : f.axes)
    a.chunk.push_back(d.which == dimension::kind::instance ? rows_ : std::max<std::int64_t>(d.length, 1));
  if (f.type == NC_DOUBLE && !f.is_given()) a.attributes.push_back(missing_is_nan);
  return a;
}

void zarr_writer::define(const std::string& name, const zarr_array& array) const {
  const bool has_rows = !array.axes.empty() && array.axes[0].which == dimension::kind::instance;
  folder_->make_folder(name + (array.axes.empty() ? "" : array.axes.size() == 2 && !has_rows ? "/c/0" : "/c"));
  folder_->put(name + "/zarr.json", json_text(metadata_of(array)) + "\n");
}

void zarr_writer::put_chunk(const std::string& array, const std::string& chunk, std::string_view bytes) const {
  std::string sealed;
  sealed.reserve(bytes.size() + seal_bytes);
  sealed = bytes;
  seal_chunk(sealed);
  folder_->put(array + "/" + chunk, sealed);
}

void zarr_writer::put_root() const {
  folder_->put("zarr.json", json_text(metadata_of_group(attributes_, arrays_)) + "\n");
}

/// Writes everything that is known before the first instance ends.
void zarr_writer::begin(const std::string& run) {
  if (!part_.empty()) {
    if (folder_->has(run_name) && folder_->get(run_name) != run)
      throw error(exit_usage, fmt::format("{} is of another run than this one: remove it, or give another name with -o",
                                          folder_->path().string()));
    folder_->put(run_name, run);
    folder_->make_folder(parts_name);
  }
  for (const field& f : fields_) {
    if (f.has_events()) continue;
    const zarr_array a = array_of(f);
    define(f.name, a);
    arrays_.emplace_back(f.name, a);
    if (!f.fixed.empty())
      put_chunk(f.name, first_chunk(a),
                {reinterpret_cast<const char*>(f.fixed.data()), f.fixed.size() * sizeof(double)});
  }
  for (const detail::name_list& list : detail::name_lists_of(plan_)) {
    const std::int64_t length = std::ssize(list.names);
    const dimension along{dimension::kind::listed, list.dimension, length};
    const zarr_array a{{along}, {length}, NC_STRING, 0, attributes_of(list)};
    define(list.dimension, a);
    arrays_.emplace_back(list.dimension, a);
    put_chunk(list.dimension, chunk_name({0}), bytes_of_texts(list.names));
  }
  if (plan_.log_events) {
    folder_->make_folder(std::string(zarr_stores.event_group));
    folder_->put("event_log/zarr.json", json_text(metadata_of_group({})) + "\n");
  }
  attributes_.push_back({"state", std::string("unfinished")});
  if (part_.empty() || !folder_->has("zarr.json")) put_root();
}

/// Opens a chunk: with unset values, or with the content of its files.
void zarr_writer::open_columns(open_chunk& open, std::int64_t index) const {
  if (!open.columns.empty()) return;
  for (const field& f : fields_) {
    std::string bytes;
    if (f.has_rows() && open.instances == 0) {
      bytes.resize(chunk_bytes(f));
      f.put_unset(bytes.data(), bytes.size());
    } else if (f.has_rows()) {
      const std::string name = f.name + "/" + chunk_of_rows(f, index);
      bytes = folder_->get(name);
      if (!unseal_chunk(bytes) || bytes.size() != chunk_bytes(f))
        throw error(exit_failure, fmt::format("{}/{}: cannot be read back", folder_->path().string(), name));
    }
    open.columns.push_back(std::move(bytes));
  }
}

void zarr_writer::put_rows(const chunk_data& chunk, const derived_columns& derived) {
  for (std::int64_t from = 0, to = 0; from < chunk.count; from = to) {
    const std::int64_t end = ((chunk.first_id + from) / rows_ + 1) * rows_ - chunk.first_id;
    to = std::min(end, chunk.count);
    const id_range some{chunk.first_id + from, to - from};
    if (!intersection({some}, ranges_).empty()) add(chunk, derived, from, to);
  }
}

/// Adds the slots from `from` to `to` of a chunk, which lie in one chunk of the store.
void zarr_writer::add(const chunk_data& chunk, const derived_columns& derived, std::int64_t from, std::int64_t to) {
  const std::int64_t first = chunk.first_id + from, index = first / rows_;
  open_chunk& open = open_[index];
  if (open.columns.empty())
    for (const field& f : fields_)
      if (f.has_rows()) in_memory_ += static_cast<std::int64_t>(chunk_bytes(f));
  open_columns(open, index);
  for (std::size_t k = 0; k < fields_.size(); ++k) {
    const field& f = fields_[k];
    if (!f.has_rows()) continue;
    const auto width = static_cast<std::int64_t>(f.row_bytes());
    std::memcpy(open.columns[k].data() + first % rows_ * width,
                static_cast<const char*>(f.numbers(chunk, derived)) + from * width,
                static_cast<std::size_t>((to - from) * width));
  }
  open.instances += to - from;
  open.ended += std::count_if(chunk.status.begin() + from, chunk.status.begin() + to, has_ended);
  if (plan_.log_events) {
    some_log& log = open.logs.emplace(first, some_log{chunk.first_id, chunk.count, from, to, chunk.log}).first->second;
    const auto bytes = [&] { return std::ssize(log.log.slot) * log.log.row_bytes(); };
    if (logs_in_memory_ + bytes() > bound_) log.log.spill();
    logs_in_memory_ += bytes();
  }
  if (open.instances == std::min(rows_, plan_.count - index * rows_)) finish(open_.find(index));
  else spill(index);
}

/// Writes the statuses last, so that a reader that finds them finds everything else.
void zarr_writer::write_columns(open_chunk& open, std::int64_t index) const {
  for (const bool of_status : {false, true})
    for (std::size_t k = 0; k < open.columns.size(); ++k) {
      const field& f = fields_[k];
      if (!f.has_rows() || (f.role == "status") != of_status) continue;
      if (f.axes.size() > 1) folder_->make_folder(fmt::format("{}/c/{}", f.name, index));
      put_chunk(f.name, chunk_of_rows(f, index), open.columns[k]);
    }
  open.columns.clear();
}

/// Writes the event rows of a chunk of instances in pieces, since they may exceed memory.
void zarr_writer::write_events(const open_chunk& open, std::int64_t index) const {
  const std::string group = group_of_events(index, chunks_of(plan_.count, rows_));
  std::int64_t rows = 0, pieces = 0;
  for (const auto& [first, some] : open.logs) {
    const auto by_slot = some.log.rows_by_slot(static_cast<std::size_t>(some.count));
    for (std::int64_t slot = some.from; slot < some.to; ++slot) rows += by_slot[static_cast<std::size_t>(slot)];
  }
  const std::int64_t chunk = std::clamp<std::int64_t>(rows, 1, event_rows);
  zarr_arrays arrays;
  for (const field& f : fields_) {
    if (!f.has_events()) continue;
    zarr_array a = array_of(f);
    a.axes[0].length = rows;
    a.chunk = {chunk};
    define(group + "/" + f.name, a);
    arrays.emplace_back(f.name, std::move(a));
  }
  event_pieces all(plan_, chunk, [&](const derived_columns& piece) {
    for (const field& f : fields_) {
      if (!f.has_events()) continue;
      const std::size_t full = piece.time.size() * f.row_bytes();
      std::string bytes(static_cast<std::size_t>(chunk) * f.row_bytes(), '\0');
      std::memcpy(bytes.data(), f.numbers({}, piece), full);
      f.put_unset(bytes.data() + full, bytes.size() - full);
      put_chunk(group + "/" + f.name, chunk_name({pieces}), bytes);
    }
    ++pieces;
  });
  for (const auto& [first, some] : open.logs) all.add(some.log, some.first_id, some.from, some.to);
  all.end();
  folder_->put(group + "/zarr.json",
               json_text(metadata_of_group({}, arrays)) + "\n");  // written last, so that readers see a complete group
}

void zarr_writer::finish(std::map<std::int64_t, open_chunk>::iterator which) {
  auto& [index, open] = *which;
  if (!open.columns.empty())
    for (const std::string& column : open.columns) in_memory_ -= std::ssize(column);
  if (plan_.log_events) write_events(open, index);
  for (const auto& [first, some] : open.logs) logs_in_memory_ -= std::ssize(some.log.slot) * some.log.row_bytes();
  write_columns(open, index);
  on_disk_ += open.ended;
  open_.erase(which);
}

/// Finishes all chunks, including those with missing instances. A chunk with no instance has no rows.
void zarr_writer::end_rows() {
  while (!open_.empty()) finish(open_.begin());
}

/// Moves unfinished chunks to their files while they wait for a slow instance.
void zarr_writer::spill(std::int64_t but) {
  for (auto& [index, open] : open_) {
    if (in_memory_ <= bound_) return;
    if (index == but || open.columns.empty()) continue;
    for (const std::string& column : open.columns) in_memory_ -= std::ssize(column);
    write_columns(open, index);
  }
}

void zarr_writer::put_final(std::size_t k, const detail::final_values& values) {
  auto& [name, a] =
      *std::find_if(arrays_.begin(), arrays_.end(), [&](const auto& one) { return one.first == fields_[k].name; });
  if (!values.bytes().empty()) put_chunk(name, first_chunk(a), values.bytes());
  if (values.attributes.empty()) return;
  a.attributes.insert(a.attributes.end(), values.attributes.begin(), values.attributes.end());
  define(name, a);
}

void zarr_writer::put_state(const std::vector<attribute>& last) {
  std::erase_if(attributes_, [](const attribute& a) { return a.name == "state"; });
  attributes_.insert(attributes_.end(), last.begin(), last.end());
  put_root();
}

void zarr_writer::end(const std::vector<attribute>& last) {
  put_state(last);
  folder_->drop(run_name);
  folder_->drop(parts_name);
  closed_ = true;  // complete, whatever happens below
  folder_->publish(older_);
}

std::int64_t zarr_writer::keep(const std::string& reason) {
  if (std::exchange(closed_, true) || !part_.empty() || ranges_.empty()) return 0;  // parts have journals
  if (plan_.rows && ended() > 0) {
    try {
      end_rows();
      put_state(counts_and_state("cut short: " + reason));
      folder_->settle();
    } catch (const error&) {}  // the written part stays readable, and its state says that it is unfinished
  }
  if (!plan_.rows || on_disk_ == 0) folder_->remove();
  return plan_.rows ? on_disk_ : 0;
}

}  // namespace saltus::host
