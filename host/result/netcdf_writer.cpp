#include "result/netcdf_writer.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <system_error>
#include <utility>
#include <variant>

#include <fmt/format.h>
#include <netcdf.h>

#include "base/error.hpp"
#include "base/files.hpp"
#include "base/hdf5.hpp"
#include "result/reader.hpp"
#include "result/storage.hpp"

namespace saltus::host {

using detail::derived_columns;
using detail::dimension;
using detail::field;

namespace {

bool is_netcdf_result(const std::filesystem::path& file) {
  try {
    return result_file(file.string()).bytes() > 0;
  } catch (const error&) { return false; }
}

bool has_ended_instances(const std::filesystem::path& part) {
  try {
    const result_file file(part.string());
    const result_variable* const status = file.find("status");
    constexpr std::size_t block = 1 << 20;
    for (std::size_t first = 0; status && first < file.instances(); first += block)
      for (const long long one : file.integers(*status, first, std::min(file.instances() - first, block)))
        if (has_ended(static_cast<unsigned char>(one))) return true;
  } catch (const error&) {}
  return false;
}

bool has_texts(const std::filesystem::path& path, const std::map<std::string, std::string>& texts) {
  const result_file file(path.string());
  return std::all_of(texts.begin(), texts.end(),
                     [&](const auto& one) { return file.text(one.first.c_str()) == one.second; });
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

const output_format netcdf_files{
    .name = "NetCDF file",
    .is_read = true,
    .is_compressed = true,
    .make = [](const auto& path, const plan& p, const provenance& origin, existing older, abandoned part)
        -> std::unique_ptr<output_file> { return std::make_unique<netcdf_writer>(path, p, origin, older, part); },
    .bytes = [](const plan& p, std::int64_t event_rows) { return stored_bytes(p, event_rows); },
    .buffer_bytes = buffer_bytes,
    .is_result = is_netcdf_result,
    .has_ended_instances = has_ended_instances,
    .has_texts = has_texts,
};

netcdf_writer::netcdf_writer(const std::filesystem::path& path, const plan& p, const provenance& origin, existing older,
                             abandoned part)
    : output_file(path, p, older),
      path_(path),
      part_(path, part),
      log_(plan_, [this](const derived_columns& events) { put_events(events); }) {
  try {
    must(nc_create(part_.own_name().c_str(), NC_NETCDF4 | NC_CLOBBER, &file_));
    for (const dimension& d : detail::dimensions_of(plan_, fields_)) {
      const bool is_open = d.which == dimension::kind::event;
      int ignored = -1;
      must(nc_def_dim(file_, d.name.c_str(), is_open ? NC_UNLIMITED : static_cast<std::size_t>(d.length), &ignored));
    }
    for (const field& f : fields_) define(f);
    for (const auto& list : detail::name_lists_of(plan_)) define(list);
    put(attributes_of(plan_, origin), NC_GLOBAL, NC_INT64);
    put({{"state", std::string("unfinished")}}, NC_GLOBAL, NC_INT64);
    make_room(0, 0);
    must(nc_enddef(file_));
    for (std::size_t k = 0; k < fields_.size(); ++k)
      if (!fields_[k].fixed.empty()) must(nc_put_var(file_, ids_[k], fields_[k].fixed.data()));
    write_names();
    sync();
  } catch (...) {
    discard();
    throw;
  }
}

netcdf_writer::~netcdf_writer() {
  if (!closed_) discard();
}

/// Defines a variable of names; they are written once the file is defined.
void netcdf_writer::define(const detail::name_list& list) {
  int along = -1, id = -1;
  must(nc_inq_dimid(file_, list.dimension.c_str(), &along));
  must(nc_def_var(file_, list.dimension.c_str(), NC_STRING, 1, &along, &id));
  put(attributes_of(list), id, NC_STRING);
}

void netcdf_writer::write_names() {
  for (const auto& list : detail::name_lists_of(plan_)) {
    std::vector<const char*> texts;
    for (const auto& name : list.names) texts.push_back(name.c_str());
    int id = -1;
    must(nc_inq_varid(file_, list.dimension.c_str(), &id));
    must(nc_put_var_string(file_, id, texts.data()));
  }
}

void netcdf_writer::define(const field& f) {
  std::vector<int> dimensions;
  for (const dimension& d : f.axes) must(nc_inq_dimid(file_, d.name.c_str(), &dimensions.emplace_back()));
  int& id = ids_.emplace_back();
  must(nc_def_var(file_, f.name.c_str(), f.type, static_cast<int>(dimensions.size()), dimensions.data(), &id));
  define_storage(f, id);
  put(attributes_of(f), id, f.type);
  define_fill(f, id);
}

void netcdf_writer::define_storage(const field& f, int id) {
  const std::vector<std::size_t> chunk = detail::chunk_lengths(f, plan_);
  if (!chunk.empty()) {
    // The library's default cache of 16 MiB for each variable is too much for many variables. Data come in order, so
    // one chunk being filled and one being started are enough.
    must(nc_def_var_chunking(file_, id, NC_CHUNKED, chunk.data()));
    must(nc_set_var_chunk_cache(file_, id, 2 * detail::bytes_of_chunk(f, chunk), 11, 1.0f));
    if (plan_.compression > 0) must(nc_def_var_deflate(file_, id, 1, 1, plan_.compression));
    must(nc_def_var_fletcher32(file_, id, NC_FLETCHER32));
  } else {
    // in the object header, for which HDF5 itself keeps a checksum
    must(nc_def_var_chunking(file_, id, NC_COMPACT, nullptr));
  }
}

/// Sets the value for numbers that are never written. Counters and status need one, but no attribute _FillValue:
/// readers would take that number for missing (and xarray would convert the integers to floating point).
void netcdf_writer::define_fill(const field& f, int id) {
  if (f.is_given()) return;
  std::array<char, 8> unset{};
  f.put_unset(unset.data(), f.number_bytes());
  must(nc_def_var_fill(file_, id, NC_FILL, unset.data()));
  if (f.type != NC_DOUBLE) must(nc_del_att(file_, id, "_FillValue"));
}

/// Reserves space before it is needed: HDF5 (1.10.8) can neither write nor close a file on a full disk.
void netcdf_writer::make_room(std::int64_t instances, std::int64_t event_rows) {
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

/// Synchronises regularly, so that a killed run leaves its results so far.
void netcdf_writer::write(const chunk_data& chunk, const tally& counts) {
  const hdf5_silence silent;
  errno = 0;
  result_output::write(chunk, counts);
  constexpr auto at_most = std::chrono::seconds(30);
  if (clock::now() - synced_ > at_most) sync();
}

void netcdf_writer::put_rows(const chunk_data& chunk, const derived_columns& derived) {
  const std::int64_t rows = plan_.log_events ? chunk.log.rows() : 0;
  reached_ = std::max(reached_, chunk.first_id + chunk.count);
  make_room(reached_, event_rows_ + log_.waiting_rows() + rows);
  errno = 0;
  put_columns(chunk, derived, chunk.first_id, chunk.count, dimension::kind::instance);
}

void netcdf_writer::put_events(const derived_columns& events) {
  const std::int64_t rows = std::ssize(events.time);
  put_columns({}, events, event_rows_, rows, dimension::kind::event);
  event_rows_ += rows;
}

void netcdf_writer::put_columns(const chunk_data& chunk, const derived_columns& derived, std::int64_t first,
                                std::int64_t rows, dimension::kind along) {
  const std::size_t start[] = {static_cast<std::size_t>(first), 0};
  const std::size_t count[] = {static_cast<std::size_t>(rows), static_cast<std::size_t>(plan_.sample_count)};
  for (std::size_t k = 0; k < fields_.size(); ++k)
    if (const field& f = fields_[k]; f.is_along(along))
      must(nc_put_vara(file_, ids_[k], start, count, f.numbers(chunk, derived)));
}

void netcdf_writer::end_rows() {
  const hdf5_silence silent;
  errno = 0;
  log_.end();
}

void netcdf_writer::put_final(std::size_t k, const detail::final_values& values) {
  const hdf5_silence silent;
  errno = 0;
  if (!values.bytes().empty()) must(nc_put_var(file_, ids_[k], values.bytes().data()));
  put(values.attributes, ids_[k], fields_[k].type);
}

void netcdf_writer::end(const std::vector<attribute>& last) {
  const hdf5_silence silent;
  errno = 0;
  finish(last);
  part_.publish(older_);
}

std::int64_t netcdf_writer::keep(const std::string& reason) {
  const hdf5_silence silent;
  if (closed_) return 0;
  const std::int64_t to_keep = ended();
  if (!failed_ && plan_.rows && to_keep > 0) {
    try {
      end_rows();
      finish(counts_and_state("cut short: " + reason));
      part_.settle();
      return to_keep;
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

void netcdf_writer::sync() {
  must(nc_sync(file_));
  on_disk_ = ended();
  synced_ = clock::now();
  syncs_ += written_ > 0;
  part_.was_truncated();  // nc_sync truncates the file to its content (H5FD_truncate)
  make_room(reached_, event_rows_ + log_.waiting_rows());
}

void netcdf_writer::finish(const std::vector<attribute>& last) {
  put(last, NC_GLOBAL, NC_INT64);
  // Flushes buffered data: after a failure the file must not be closed (see discard).
  must(nc_sync(file_));
  must(nc_close(std::exchange(file_, -1)));
  closed_ = true;
}

void netcdf_writer::discard() {
  const hdf5_silence silent;
  std::error_code ignored;
  // HDF5 (1.10.8) crashes when it closes a file that it could not write: such a file stays open, but is emptied.
  if (failed_) std::filesystem::resize_file(part_.own_name(), 0, ignored);
  else if (file_ >= 0) nc_abort(file_);
  part_.remove();
}

void netcdf_writer::put(const std::vector<attribute>& all, int variable, int type) {
  for (const auto& [name, value] : all) {
    if (const auto* text = std::get_if<std::string>(&value)) texts_ += static_cast<std::int64_t>(text->size());
    must(std::visit(put_attribute{file_, variable, type, name.c_str()}, value));
  }
}

void netcdf_writer::must(int netcdf_status) {
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
