#include "result/writer.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <limits>
#include <stdexcept>
#include <system_error>
#include <utility>
#include <variant>

#include <fmt/format.h>
#include <netcdf.h>

#include "abi/status.hpp"
#include "base/error.hpp"
#include "base/files.hpp"
#include "result/hdf5.hpp"
#include "result/storage.hpp"

namespace saltus::host {

using detail::bytes_of_chunk;
using detail::chunk_shape;
using detail::derived_columns;
using detail::field;
using detail::fields_of;
using detail::max_chunk_rows;
using detail::shape;

namespace {

/// Checks before the part is created, so that a refused result leaves no trace.
const std::filesystem::path& checked(const std::filesystem::path& path, const plan& p, existing older) {
  check_names(p);
  check_result_path(path, older, p.inputs);
  return path;
}

/// Writes one attribute of a variable; lists have the variable's own type.
struct put_attribute {
  int file, variable, type;
  const char* name;

  int operator()(const std::string& text) const {
    return nc_put_att_text(file, variable, name, text.size(), text.data());
  }
  int operator()(const double& number) const { return nc_put_att_double(file, variable, name, NC_DOUBLE, 1, &number); }
  int operator()(const long long& number) const {
    return nc_put_att_longlong(file, variable, name, NC_INT64, 1, &number);
  }
  int operator()(const unsigned long long& number) const {
    return nc_put_att_ulonglong(file, variable, name, NC_UINT64, 1, &number);
  }
  int operator()(const std::vector<int>& list) const {
    return nc_put_att_int(file, variable, name, type, list.size(), list.data());
  }
  int operator()(const std::vector<long long>& list) const {
    return nc_put_att_longlong(file, variable, name, type, list.size(), list.data());
  }
};

}  // namespace

result_writer::result_writer(const std::filesystem::path& path, const plan& p, const provenance& origin, existing older,
                             abandoned part)
    : path_(checked(path, p, older)), older_(older), part_(path, part), plan_(p) {
  fields_ = fields_of(p);
  try {
    must(nc_create(part_.own_name().c_str(), NC_NETCDF4 | NC_CLOBBER, &file_));
    define_dimensions();
    for (field& f : fields_) define(f);
    for (const auto& list : detail::name_lists_of(plan_)) define(list);
    put(attributes_of(plan_, origin), NC_GLOBAL, NC_INT64);
    put({{"state", std::string("unfinished")}});
    make_room(0, 0);
    must(nc_enddef(file_));
    for (const field& f : fields_)
      if (!f.fixed.empty()) must(nc_put_var(file_, f.id, f.fixed.data()));
    write_names();
    sync();
  } catch (...) {
    discard();
    throw;
  }
}

result_writer::~result_writer() {
  if (!closed_) discard();
}

void result_writer::define_dimensions() {
  must(nc_def_dim(file_, "instance", static_cast<std::size_t>(plan_.count), &instance_));
  if (plan_.sample_count > 0) must(nc_def_dim(file_, "time", static_cast<std::size_t>(plan_.sample_count), &time_));
  if (plan_.log_events) must(nc_def_dim(file_, "event", NC_UNLIMITED, &event_));
  if (plan_.statistics) must(nc_def_dim(file_, "statistic", statistic_names.size(), &statistic_));
  if (plan_.indices.empty()) return;
  must(nc_def_dim(file_, "sensitivity_outcome", plan_.indices.size(), &outcome_));
  must(nc_def_dim(file_, "sensitivity_input", plan_.random.size(), &input_));
  if (const auto pairs = input_pairs(plan_.design, static_cast<int>(plan_.random.size())); !pairs.empty())
    must(nc_def_dim(file_, "sensitivity_pair", pairs.size(), &pair_));
}

/// Defines a variable of names; they are written once the file is defined.
void result_writer::define(const detail::name_list& list) {
  int along = -1, id = -1;
  must(nc_inq_dimid(file_, list.dimension.c_str(), &along));
  must(nc_def_var(file_, list.dimension.c_str(), NC_STRING, 1, &along, &id));
  put(attributes_of(list), id);
}

void result_writer::write_names() {
  for (const auto& list : detail::name_lists_of(plan_)) {
    std::vector<const char*> texts;
    for (const auto& name : list.names) texts.push_back(name.c_str());
    int id = -1;
    must(nc_inq_varid(file_, list.dimension.c_str(), &id));
    must(nc_put_var_string(file_, id, texts.data()));
  }
}

/// A dimension that two variables share: the bins of a histogram and their middles, the knots of a table and their
/// times.
int result_writer::shared_dimension(const std::string& name, std::size_t length) {
  int id = -1;
  if (nc_inq_dimid(file_, name.c_str(), &id) != NC_NOERR) must(nc_def_dim(file_, name.c_str(), length, &id));
  return id;
}

std::vector<int> result_writer::dimensions_of(const field& f) {
  switch (f.shape) {
    case shape::scalar: return {};
    case shape::instance: return {instance_};
    case shape::time: return {time_};
    case shape::instance_time: return {instance_, time_};
    case shape::event: return {event_};
    case shape::statistic: return {statistic_};
    case shape::time_statistic: return {time_, statistic_};
    case shape::quantile: return {shared_dimension("quantile", plan_.quantiles.size())};
    case shape::time_quantile: return {time_, shared_dimension("quantile", plan_.quantiles.size())};
    case shape::outcome_input: return {outcome_, input_};
    case shape::outcome_pair: return {outcome_, pair_};
    case shape::bin: {
      const auto& h = plan_.histograms[static_cast<std::size_t>(f.of)];
      return {shared_dimension("bin_" + h.name, static_cast<std::size_t>(h.bins))};
    }
    case shape::knots:
      return {shared_dimension("knot_" + plan_.model.tables[static_cast<std::size_t>(f.of)].name, f.fixed.size())};
  }
  return {};
}

void result_writer::define(field& f) {
  const std::vector<int> dimensions = dimensions_of(f);
  must(nc_def_var(file_, f.name.c_str(), f.type, static_cast<int>(dimensions.size()), dimensions.data(), &f.id));
  define_storage(f);
  put(attributes_of(f), f.id, f.type);
  define_fill(f);
}

void result_writer::define_storage(const field& f) {
  const std::vector<std::size_t> chunk = chunk_shape(f, plan_);
  if (!chunk.empty()) {
    // The library's default cache of 16 MiB for each variable is too much for many variables. Data come in order, so
    // one chunk being filled and one being started are enough.
    must(nc_def_var_chunking(file_, f.id, NC_CHUNKED, chunk.data()));
    must(nc_set_var_chunk_cache(file_, f.id, 2 * bytes_of_chunk(f, chunk), 11, 1.0f));
    if (plan_.compression > 0) must(nc_def_var_deflate(file_, f.id, 1, 1, plan_.compression));
    must(nc_def_var_fletcher32(file_, f.id, NC_FLETCHER32));
  } else {
    // in the object header, for which HDF5 itself keeps a checksum
    must(nc_def_var_chunking(file_, f.id, NC_COMPACT, nullptr));
  }
}

/// Sets the value for instances that are never written.
void result_writer::define_fill(const field& f) {
  if (f.type == NC_DOUBLE) {
    constexpr double nan = std::numeric_limits<double>::quiet_NaN();
    const bool is_given =
        f.shape == shape::time || f.shape == shape::bin || f.shape == shape::knots || f.shape == shape::quantile;
    if (!is_given) must(nc_def_var_fill(file_, f.id, NC_FILL, &nan));
  } else {
    // Counters and status need a fill value, but no attribute _FillValue: readers would take that number for missing
    // (and xarray would convert the integers to floating point).
    const auto byte = static_cast<unsigned char>(f.unset);
    must(nc_def_var_fill(file_, f.id, NC_FILL, f.type == NC_UBYTE ? static_cast<const void*>(&byte) : &f.unset));
    must(nc_del_att(file_, f.id, "_FillValue"));
  }
}

/// Reserves space before it is needed: HDF5 (1.10.8) can neither write nor close a file on a full disk.
void result_writer::make_room(std::int64_t instances, std::int64_t event_rows) {
  constexpr std::int64_t spare = 256 * 1024;
  std::int64_t bytes = stored_bytes(plan_, event_rows, instances);
  if (plan_.compression > 0 && instances > 0) {
    // Compression enlarges no chunk. But a chunk that has grown since it was written moves in the file, so the buffered
    // data add to the size on disk: now, or at every earlier synchronisation.
    std::error_code ignored;
    const auto now = static_cast<std::int64_t>(std::filesystem::file_size(part_.own_name(), ignored));
    const std::int64_t before = stored_bytes(plan_, event_rows_, reached_), buffers = buffer_bytes(plan_);
    bytes = std::min(bytes + syncs_ * buffers, now + bytes - before + buffers);
  }
  if (const std::string why = part_.reserve(bytes + texts_ + spare); !why.empty())
    throw error(exit_failure, fmt::format("cannot write {}: {}", path_.string(), why));
}

void result_writer::write(const chunk_data& chunk, const tally& counts) {
  const hdf5_silence silent;
  if (chunk.first_id < 0 || written_ + chunk.count > plan_.count || chunk.first_id + chunk.count > plan_.count)
    throw std::logic_error("result_writer: more instances than the plan has");
  const std::int64_t rows = plan_.log_events ? chunk.log.rows() : 0;
  reached_ = std::max(reached_, chunk.first_id + chunk.count);
  make_room(reached_, event_rows_ + waiting_.rows() + rows);
  errno = 0;
  write_columns(chunk, detail::derive(chunk, plan_), chunk.first_id, chunk.count);
  written_ += chunk.count;
  tally_.add(counts);
  if (plan_.log_events) {
    waiting_.put({chunk.first_id, chunk.count, chunk.log});
    while (const auto next = waiting_.take_next()) write_events(*next);
  }
  // Synchronises regularly, so that a killed run leaves its results so far.
  constexpr auto at_most = std::chrono::seconds(30);
  if (clock::now() - synced_ > at_most) sync();
}

void result_writer::count(std::int64_t instances, const tally& counts) {
  written_ += instances;
  tally_.add(counts);
}

/// Writes in pieces, since the log may exceed memory.
void result_writer::write_events(const waiting_logs::chunk_log& chunk) {
  const chunk_data none;
  derived_columns some;
  some.before.resize(logged_numbers(plan_));
  some.after.resize(logged_numbers(plan_));
  const auto put = [&] {
    const std::int64_t rows = std::ssize(some.time);
    write_columns(none, some, event_rows_, rows, true);
    event_rows_ += rows;
    some.clear_events();
  };
  errno = 0;
  chunk.log.for_each([&](const event_row& row) {
    some.add(row, chunk.first);
    if (some.time.size() == max_chunk_rows) put();
  });
  put();
}

void result_writer::write_columns(const chunk_data& chunk, const derived_columns& derived, std::int64_t first,
                                  std::int64_t rows, bool of_events) {
  const std::size_t start[] = {static_cast<std::size_t>(first), 0};
  const std::size_t count[] = {static_cast<std::size_t>(rows), static_cast<std::size_t>(plan_.sample_count)};
  if (rows == 0) return;
  for (const field& f : fields_)
    if (f.numbers && (f.shape == shape::event) == of_events)
      must(nc_put_vara(file_, f.id, start, count, f.numbers(chunk, derived)));
}

void result_writer::write_final(const statistics& all, const sensitivity_indices& indices) {
  for (const field& f : fields_) {
    const auto numbers = detail::final_numbers_of(f, plan_, all, indices);
    if (!numbers.empty()) must(nc_put_var(file_, f.id, numbers.data()));
    put(attributes_of_final(f, plan_, all), f.id);
  }
  if (!indices.outcomes.empty()) put(attributes_of(indices), NC_GLOBAL, NC_INT64);
}

/// Writes the events of all chunks that have arrived, even if earlier chunks are missing.
void result_writer::write_waiting_events() {
  while (const auto next = waiting_.take_first()) write_events(*next);
}

void result_writer::write_counts() {
  tally_.by_status[static_cast<std::size_t>(status::not_run)] += plan_.count - written_;
  put(attributes_of(plan_, tally_));
}

void result_writer::close(double wall_time_s, const statistics& all, const sensitivity_indices& indices) {
  const hdf5_silence silent;
  write_waiting_events();
  errno = 0;
  write_final(all, indices);
  put({{"wall_time_s", wall_time_s}});
  write_counts();
  finish(tally_.not_finished() > 0 ? "interrupted" : "complete");
  part_.publish(older_);
}

std::int64_t result_writer::keep(const std::string& reason) {
  const hdf5_silence silent;
  if (closed_) return 0;
  const std::int64_t ended = written_ - tally_.not_finished();
  if (!failed_ && plan_.rows && ended > 0) {
    try {
      write_waiting_events();
      write_counts();
      finish("cut short: " + reason);
      part_.settle();
      return ended;
    } catch (const error&) {
      if (!failed_) throw;
    }
  }
  closed_ = true;
  if (!plan_.rows || on_disk_ == 0) {
    discard();
    return 0;
  }
  return on_disk_;  // as at the last synchronisation; the file cannot be closed (see discard)
}

void result_writer::sync() {
  must(nc_sync(file_));
  on_disk_ = written_ - tally_.not_finished();
  synced_ = clock::now();
  syncs_ += written_ > 0;
  part_.was_truncated();  // nc_sync truncates the file to its content (H5FD_truncate)
  make_room(reached_, event_rows_ + waiting_.rows());
}

void result_writer::finish(const std::string& state) {
  put({{"state", state}});
  // Flushes buffered data: after a failure the file must not be closed (see discard).
  must(nc_sync(file_));
  must(nc_close(std::exchange(file_, -1)));
  closed_ = true;
}

void result_writer::discard() {
  const hdf5_silence silent;
  std::error_code ignored;
  // HDF5 (1.10.8) crashes when it closes a file that it could not write: such a file stays open, but is emptied.
  if (failed_) std::filesystem::resize_file(part_.own_name(), 0, ignored);
  else if (file_ >= 0) nc_abort(file_);
  part_.remove();
}

void result_writer::put(const std::vector<attribute>& all, int variable, int type) {
  for (const auto& [name, value] : all) {
    if (const auto* text = std::get_if<std::string>(&value)) texts_ += static_cast<std::int64_t>(text->size());
    must(std::visit(put_attribute{file_, variable, type, name.c_str()}, value));
  }
}

void result_writer::must(int netcdf_status) {
  const int system = errno;
  if (netcdf_status == NC_NOERR) return;
  failed_ = true;
  std::string reason = nc_strerror(netcdf_status);
  if (netcdf_status == NC_EHDFERR)
    reason += ", and no reason: is there too little memory, or a limit of it (ulimit -v)?";
  for (int telling : {ENOSPC, EDQUOT, EFBIG, EIO, EROFS, ENOMEM})
    if (system == telling) reason = std::strerror(system);
  throw error(exit_failure, fmt::format("cannot write {}: {}", path_.string(), reason));
}

}  // namespace saltus::host
