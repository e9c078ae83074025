#include "result/zarr_writer.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>
#include <netcdf.h>
#include <nlohmann/json.hpp>

#include "abi/status.hpp"
#include "base/error.hpp"
#include "result/storage.hpp"
#include "statistics/statistics.hpp"

namespace saltus::host {

using detail::derived_columns;
using detail::field;
using detail::shape;
using detail::size_of;

namespace {

/// largest number of rows in a chunk of an event log variable
constexpr std::int64_t event_rows = detail::max_chunk_rows;

// Files of stores that parts write, until they are complete: the identity of the run, and marks of parts that have
// ended.
constexpr const char* run_name = ".run";
constexpr const char* parts_name = ".parts";

/// Checks before the folder is created, so that a refused result leaves no trace.
const std::filesystem::path& checked(const std::filesystem::path& path, const plan& p, existing older) {
  check_names(p);
  check_result_path(path, older, p.inputs);
  return path;
}

bool has_ended(unsigned char status) { return status_table[status].group != status_group::not_finished; }

std::int64_t chunks_of(std::int64_t count, std::int64_t rows) { return (count + rows - 1) / rows; }

/// `bytes` bytes of unset values.
std::string unset_bytes(const field& f, std::int64_t bytes) {
  if (f.type == NC_UBYTE) return std::string(static_cast<std::size_t>(bytes), static_cast<char>(f.unset));
  std::array<char, sizeof(double)> one{};
  const auto size = size_of(f.type);
  if (constexpr double nan = std::numeric_limits<double>::quiet_NaN(); f.type == NC_DOUBLE)
    std::memcpy(one.data(), &nan, size);
  else std::memcpy(one.data(), &f.unset, size);  // for an int, the lower half
  std::string all;
  all.reserve(static_cast<std::size_t>(bytes));
  while (std::ssize(all) < bytes) all.append(one.data(), size);
  return all;
}

/// The name of the only chunk of an array.
std::string first_chunk(const zarr_array& a) { return chunk_name(std::vector<std::int64_t>(a.axes.size())); }

/// The convention of xarray: NaN means missing.
const attribute missing_is_nan = {"_FillValue", std::string("AAAAAAAA+H8=")};

bool is_given(const field& f) {
  return f.shape == shape::time || f.shape == shape::bin || f.shape == shape::knots || f.shape == shape::quantile;
}

/// Names of groups have numbers of equal width, so that they sort in order.
std::string group_of_events(std::int64_t index, std::int64_t chunks) {
  return fmt::format("event_log/{:0{}}", index, fmt::formatted_size("{}", chunks - 1));
}

}  // namespace

std::int64_t zarr_chunk_rows(const plan& p) {
  if (p.store_chunk > 0) return std::min(p.store_chunk, p.count);
  constexpr std::int64_t chunks = 64, bytes = std::int64_t{4} << 20;
  const std::int64_t width = 8 * std::max<std::int64_t>(p.sample_count, 1);
  const std::int64_t most = std::clamp<std::int64_t>(bytes / width, 1, detail::max_chunk_rows);
  const std::int64_t rows = std::min(chunks_of(p.count, chunks), most);
  // Whole blocks of statistics if possible, for parts.
  return rows < statistics_block ? rows : std::min(p.count, rows / statistics_block * statistics_block);
}

std::int64_t zarr_bytes(const plan& p, std::int64_t rows_of_events) {
  constexpr std::int64_t head = 1024;  // description of a variable
  const std::int64_t chunk = zarr_chunk_rows(p), chunks = chunks_of(p.count, chunk);
  double bytes = static_cast<double>(p.text.size()) + 4 * head;
  for (const field& f : detail::fields_of(p)) {
    double numbers = 1;
    for (const auto& [name, length] : detail::axes_of(f, p))
      numbers *= static_cast<double>(name == "instance" ? chunks * chunk : name == "event" ? rows_of_events : length);
    bytes += numbers * static_cast<double>(size_of(f.type)) + head;
    if (f.shape == shape::event) bytes += static_cast<double>(chunks) * head;
    if (f.shape == shape::instance || f.shape == shape::instance_time)
      bytes += static_cast<double>(chunks * seal_bytes);
  }
  constexpr auto largest = std::numeric_limits<std::int64_t>::max();
  return bytes < static_cast<double>(largest) ? static_cast<std::int64_t>(bytes) : largest;
}

zarr_writer::zarr_writer(const plan& p, const provenance& origin, existing older, std::shared_ptr<store_folder> folder,
                         std::int64_t bound)
    : older_(older),
      bound_(bound),
      plan_(p),
      fields_(detail::fields_of(p)),
      rows_(zarr_chunk_rows(p)),
      folder_(std::move(folder)),
      attributes_(attributes_of(p, origin)) {}

zarr_writer::zarr_writer(const std::filesystem::path& path, const plan& p, const provenance& origin, existing older,
                         abandoned part, std::int64_t bound)
    : zarr_writer(p, origin, older, std::make_shared<store_folder>(checked(path, p, older), part), bound) {
  ranges_ = {{0, p.count}};
  begin({});
}

zarr_writer::zarr_writer(const std::filesystem::path& path, const plan& p, const provenance& origin, existing older,
                         const share& which)
    : zarr_writer(p, origin, older, store_folder::joined(checked(path, p, older), which.name), usual_bound) {
  part_ = which.name;
  ranges_ = which.ranges;
  begin(which.run);
}

zarr_writer::zarr_writer(const std::filesystem::path& path, const plan& p, const provenance& origin, existing older,
                         std::shared_ptr<store_folder> whole)
    : zarr_writer(p, origin, older, std::move(whole), usual_bound) {
  checked(path, p, older);
  part_ = "all";
  begin(folder_->get(run_name));
  part_.clear();
}

zarr_writer::~zarr_writer() {
  if (!closed_ && part_.empty() && !ranges_.empty()) folder_->remove();  // chunks written by parts stay
}

std::shared_ptr<store_folder> zarr_writer::left_by_parts(const std::filesystem::path& path, std::int64_t parts,
                                                         const std::string& run) {
  try {
    std::shared_ptr<store_folder> folder = store_folder::left_by_all(path);
    for (std::int64_t k = 1; k <= parts; ++k)
      if (!folder->has(fmt::format("{}/{}of{}", parts_name, k, parts))) return nullptr;
    return folder->has(run_name) && folder->get(run_name) == run ? folder : nullptr;
  } catch (const store_is_taken&) { return nullptr; }  // the run that has it completes it, or has done so
}

void zarr_writer::end_part(bool all) {
  closed_ = true;
  finish_all();
  if (!all) return;
  folder_->settle();
  folder_->put(fmt::format("{}/{}", parts_name, part_), "");
}

zarr_array zarr_writer::array_of(const field& f) const {
  zarr_array a{
      .axes = detail::axes_of(f, plan_), .chunk = {}, .type = f.type, .unset = f.unset, .attributes = attributes_of(f)};
  for (const auto& [name, length] : a.axes)
    a.chunk.push_back(name == "instance" ? rows_ : std::max<std::int64_t>(length, 1));
  if (f.type == NC_DOUBLE && !is_given(f)) a.attributes.push_back(missing_is_nan);
  return a;
}

void zarr_writer::define(const std::string& name, const zarr_array& array) const {
  const bool has_rows = !array.axes.empty() && array.axes[0].first == "instance";
  folder_->make_folder(name + (array.axes.empty() ? "" : array.axes.size() == 2 && !has_rows ? "/c/0" : "/c"));
  folder_->put(name + "/zarr.json", json_text(metadata_of(array)) + "\n");
}

void zarr_writer::put_chunk(const std::string& array, const std::string& chunk, const std::string& bytes) const {
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
    if (f.shape == shape::event) continue;
    const zarr_array a = array_of(f);
    define(f.name, a);
    arrays_.emplace_back(f.name, a);
    if (!f.fixed.empty())
      put_chunk(f.name, first_chunk(a),
                std::string(reinterpret_cast<const char*>(f.fixed.data()), f.fixed.size() * sizeof(double)));
  }
  for (const detail::name_list& list : detail::name_lists_of(plan_)) {
    const std::int64_t length = std::ssize(list.names);
    const zarr_array a{{{list.dimension, length}}, {length}, NC_STRING, 0, attributes_of(list)};
    define(list.dimension, a);
    arrays_.emplace_back(list.dimension, a);
    put_chunk(list.dimension, chunk_name({0}), bytes_of_texts(list.names));
  }
  if (plan_.log_events) {
    folder_->make_folder("event_log");
    folder_->put("event_log/zarr.json", json_text(metadata_of_group({})) + "\n");
  }
  attributes_.push_back({"state", std::string("unfinished")});
  if (part_.empty() || !folder_->has("zarr.json")) put_root();
}

bool zarr_writer::is_of_rows(const field& f) const {
  return f.shape == shape::instance || f.shape == shape::instance_time;
}

std::int64_t zarr_writer::row_bytes(const field& f) const {
  return static_cast<std::int64_t>(size_of(f.type)) * (f.shape == shape::instance_time ? plan_.sample_count : 1);
}

std::string zarr_writer::chunk_of(const field& f, std::int64_t index) const {
  return chunk_name(f.shape == shape::instance_time ? std::vector{index, std::int64_t{0}} : std::vector{index});
}

/// Opens a chunk: with unset values, or with the content of its files.
void zarr_writer::open_columns(open_chunk& open, std::int64_t index) const {
  if (!open.columns.empty()) return;
  for (const field& f : fields_) {
    std::string bytes;
    if (is_of_rows(f)) {
      if (open.instances == 0) bytes = unset_bytes(f, rows_ * row_bytes(f));
      else {
        bytes = folder_->get(f.name + "/" + chunk_of(f, index));
        if (!unseal_chunk(bytes) || std::ssize(bytes) != rows_ * row_bytes(f))
          throw error(exit_failure, fmt::format("{}/{}/{}: cannot be read back", folder_->path().string(), f.name,
                                                chunk_of(f, index)));
      }
    }
    open.columns.push_back(std::move(bytes));
  }
}

void zarr_writer::write(const chunk_data& chunk, const tally& counts) {
  if (chunk.first_id < 0 || written_ + chunk.count > plan_.count || chunk.first_id + chunk.count > plan_.count)
    throw std::logic_error("zarr_writer: more instances than the plan has");
  const derived_columns derived = detail::derive(chunk, plan_);
  for (std::int64_t from = 0, to = 0; from < chunk.count; from = to) {
    const std::int64_t end = ((chunk.first_id + from) / rows_ + 1) * rows_ - chunk.first_id;
    to = std::min(end, chunk.count);
    const id_range some{chunk.first_id + from, to - from};
    if (!intersection({some}, ranges_).empty()) add(chunk, derived, from, to);
  }
  written_ += chunk.count;
  tally_.add(counts);
}

/// Adds the slots from `from` to `to` of a chunk, which lie in one chunk of the store.
void zarr_writer::add(const chunk_data& chunk, const derived_columns& derived, std::int64_t from, std::int64_t to) {
  const std::int64_t first = chunk.first_id + from, index = first / rows_;
  open_chunk& open = open_[index];
  if (open.columns.empty())
    for (const field& f : fields_)
      if (is_of_rows(f)) in_memory_ += rows_ * row_bytes(f);
  open_columns(open, index);
  for (std::size_t k = 0; k < fields_.size(); ++k) {
    const field& f = fields_[k];
    if (!is_of_rows(f)) continue;
    const std::int64_t width = row_bytes(f);
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
      if (!is_of_rows(f) || (f.role == "status") != of_status) continue;
      if (f.shape == shape::instance_time) folder_->make_folder(fmt::format("{}/c/{}", f.name, index));
      put_chunk(f.name, chunk_of(f, index), open.columns[k]);
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
    if (f.shape != shape::event) continue;
    zarr_array a = array_of(f);
    a.axes[0].second = rows;
    a.chunk = {chunk};
    define(group + "/" + f.name, a);
    arrays.emplace_back(f.name, std::move(a));
  }
  const chunk_data none;
  derived_columns piece;
  piece.before.resize(logged_numbers(plan_));
  piece.after.resize(logged_numbers(plan_));
  const auto put = [&] {
    if (piece.time.empty()) return;
    for (const field& f : fields_) {
      if (f.shape != shape::event) continue;
      const auto size = static_cast<std::int64_t>(size_of(f.type)), full = std::ssize(piece.time) * size;
      std::string bytes(static_cast<const char*>(f.numbers(none, piece)), static_cast<std::size_t>(full));
      bytes += unset_bytes(f, chunk * size - full);
      put_chunk(group + "/" + f.name, chunk_name({pieces}), bytes);
    }
    ++pieces;
    piece.clear_events();
  };
  for (const auto& [first, some] : open.logs)
    some.log.for_each([&](const event_row& row) {
      if (row.slot < some.from || row.slot >= some.to) return;
      piece.add(row, some.first_id);
      if (std::ssize(piece.time) == chunk) put();
    });
  put();
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
void zarr_writer::finish_all() {
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

void zarr_writer::count(std::int64_t instances, const tally& counts) {
  written_ += instances;
  tally_.add(counts);
}

void zarr_writer::write_final(const statistics& all, const sensitivity_indices& indices) {
  for (const field& f : fields_) {
    if (f.shape == shape::event) continue;
    auto& [name, a] =
        *std::find_if(arrays_.begin(), arrays_.end(), [&](const auto& one) { return one.first == f.name; });
    if (const auto numbers = detail::final_numbers_of(f, plan_, all, indices); !numbers.empty()) {
      const auto size = numbers.counts.empty() ? numbers.reals.size() : numbers.counts.size();
      put_chunk(name, first_chunk(a), std::string(static_cast<const char*>(numbers.data()), 8 * size));
    }
    const auto more = attributes_of_final(f, plan_, all);
    if (more.empty()) continue;
    a.attributes.insert(a.attributes.end(), more.begin(), more.end());
    define(name, a);
  }
  if (indices.outcomes.empty()) return;
  for (auto& one : attributes_of(indices)) attributes_.push_back(std::move(one));
}

void zarr_writer::put_counts() {
  tally_.by_status[static_cast<std::size_t>(status::not_run)] += plan_.count - written_;
  for (auto& one : attributes_of(plan_, tally_)) attributes_.push_back(std::move(one));
}

void zarr_writer::close(double wall_time_s, const statistics& all, const sensitivity_indices& indices) {
  finish_all();
  write_final(all, indices);
  std::erase_if(attributes_, [](const attribute& a) { return a.name == "state"; });
  attributes_.push_back({"wall_time_s", wall_time_s});
  put_counts();
  attributes_.push_back({"state", std::string(tally_.not_finished() > 0 ? "interrupted" : "complete")});
  put_root();
  folder_->drop(run_name);
  folder_->drop(parts_name);
  closed_ = true;  // complete, whatever happens below
  folder_->publish(older_);
}

std::int64_t zarr_writer::keep(const std::string& reason) {
  if (std::exchange(closed_, true) || !part_.empty() || ranges_.empty()) return 0;  // parts have journals
  const std::int64_t ended = written_ - tally_.not_finished();
  if (plan_.rows && ended > 0) {
    try {
      finish_all();
      put_counts();
      std::erase_if(attributes_, [](const attribute& a) { return a.name == "state"; });
      attributes_.push_back({"state", "cut short: " + reason});
      put_root();
      folder_->settle();
    } catch (const error&) {}  // the written part stays readable, and its state says that it is unfinished
  }
  if (!plan_.rows || on_disk_ == 0) folder_->remove();
  return plan_.rows ? on_disk_ : 0;
}

}  // namespace saltus::host
