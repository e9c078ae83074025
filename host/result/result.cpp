#include "result/result.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <netcdf.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <limits>
#include <numeric>
#include <stdexcept>
#include <system_error>
#include <utility>

#include "base/error.hpp"
#include "base/files.hpp"
#include "result/hdf5.hpp"
#include "spec/statistic_columns.hpp"

namespace saltus::host {

namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

}  // namespace

double even_sample_time(double t_begin, double t_end, std::int64_t k, std::int64_t sample_count) {
  if (k + 1 >= sample_count) return t_end;
  return t_begin + (t_end - t_begin) * (static_cast<double>(k) / static_cast<double>(sample_count - 1));
}

// ------------------------------------------------------------------------------------------------ what the file holds

namespace {

using detail::derived_columns;
using detail::field;
using detail::shape;

/// Are the sample times the same for all instances?
bool common_times(const plan& p) {
  return !p.sample_times.empty() || !(varies(p, target::kind::t_begin, 0) || varies(p, target::kind::t_end, 0));
}

/// Column j of an array of a chunk; `width` numbers per instance.
template <class T, class Chunk>
auto column(std::vector<T> Chunk::*array, std::size_t j = 0, std::int64_t width = 1) {
  return [=](const chunk_data& c, const derived_columns&) -> const void* {
    return (c.*array).data() + j * static_cast<std::size_t>(c.count * width);
  };
}

template <class T, class Columns>
auto derived_column(std::vector<T> Columns::*array) {
  return [=](const chunk_data&, const derived_columns& d) -> const void* { return (d.*array).data(); };
}

auto derived_column(std::vector<std::vector<double>> derived_columns::*array, std::size_t j) {
  return [=](const chunk_data&, const derived_columns& d) -> const void* { return (d.*array)[j].data(); };
}

const std::string& about(const quantity& q) { return q.about.empty() ? q.name : q.about; }

/// Every variable of the file, in its order there.
class field_list {
 public:
  explicit field_list(const plan& p) : p_(p), m_(p.model) {
    inputs();
    if (p.rows) of_instances();
    if (p.statistics) statistics();
  }
  std::vector<field> take() { return std::move(fields_); }

 private:
  void of_instances() {
    const plan& p = p_;
    finals();
    counters();
    if (has_residuals(m_)) residuals();
    if (!p.stiff_method.empty())
      add("switched", "switched", "", "time at which the instance went over to " + p.stiff_method, shape::instance,
          NC_DOUBLE, column(&chunk_data::switched));
    reductions();
    if (p.sample_count > 0) samples();
    if (p.log_events) events();
  }

  template <class Numbers>
  field& add(std::string name, const char* role, std::string unit, std::string about, shape s, int type,
             Numbers numbers) {
    fields_.push_back({.name = std::move(name),
                       .role = role,
                       .unit = std::move(unit),
                       .about = std::move(about),
                       .shape = s,
                       .type = type,
                       .fixed = {},
                       .flags = {},
                       .unset = 0,
                       .numbers = numbers});
    return fields_.back();
  }

  void add_fixed(std::string name, const char* role, std::string unit, std::string about, double value) {
    add(std::move(name), role, std::move(unit), std::move(about), shape::scalar, NC_DOUBLE, nullptr).fixed = {value};
  }

  /// Without rows, what varies is in the spec alone.
  void inputs() {
    const auto add_varied = [&](std::string name, const char* role, const std::string& unit, const std::string& what,
                                auto numbers) {
      if (p_.rows) add(std::move(name), role, unit, what, shape::instance, NC_DOUBLE, numbers);
    };
    for (std::size_t j = 0; j < m_.parameters.size(); ++j) {
      const quantity& q = m_.parameters[j];
      if (varies(p_, target::kind::parameter, static_cast<int>(j)))
        add_varied(q.name, "parameter", q.unit, about(q), column(&chunk_data::parameters, j));
      else add_fixed(q.name, "parameter", q.unit, about(q), p_.parameters[j]);
    }
    for (std::size_t j = 0; j < m_.states.size(); ++j) {
      const quantity& q = m_.states[j];
      const std::string what = "initial value of " + q.name;
      if (varies(p_, target::kind::state, static_cast<int>(j)))
        add_varied("initial_" + q.name, "initial", q.unit, what, column(&chunk_data::initial, j));
      else if (p_.initial[j] == p_.initial[j])  // NaN: the model's own value, which the host does not know
        add_fixed("initial_" + q.name, "initial", q.unit, what, p_.initial[j]);
    }
    if (varies(p_, target::kind::t_begin, 0))
      add_varied("t_begin", "span", "", "start of the time span", column(&chunk_data::t_begin));
    else add_fixed("t_begin", "span", "", "start of the time span", p_.t_begin);
    if (varies(p_, target::kind::t_end, 0))
      add_varied("t_end", "span", "", "end of the time span", column(&chunk_data::t_end));
    else add_fixed("t_end", "span", "", "end of the time span", p_.t_end);
  }

  void finals() {
    const auto all = [&](const std::vector<quantity>& list, std::vector<double> chunk_data::*array) {
      for (std::size_t j = 0; j < list.size(); ++j)
        add("final_" + list[j].name, "final", list[j].unit, about(list[j]) + ", at t_final", shape::instance, NC_DOUBLE,
            column(array, j));
    };
    all(m_.states, &chunk_data::final_state);
    all(m_.outputs, &chunk_data::final_output);
    all(m_.discretes, &chunk_data::final_discrete);
    add("t_final", "final", "", "time at which the instance ended", shape::instance, NC_DOUBLE,
        column(&chunk_data::t_final));
  }

  void counters() {
    field& status =
        add("status", "status", "1", "how the instance ended", shape::instance, NC_UBYTE, column(&chunk_data::status));
    for (const status_row& row : status_table) status.flags.emplace_back(static_cast<int>(row.id), row.name);
    status.unset = static_cast<long long>(saltus::status::not_run);
    field& exception = add("exception", "exception", "1", "what lanes gave up with before the instance was rescued",
                           shape::instance, NC_UBYTE, column(&chunk_data::exception));
    exception.flags = {{0, "none"}};
    for (const status_row& row : status_table)
      if (rescuable(row.id)) exception.flags.emplace_back(static_cast<int>(row.id), row.name);
    for (std::size_t j = 0; j < abi::counter_count; ++j) {
      const abi::counter_row& counter = abi::counter_table[j];
      add(counter.name, "counter", "1", counter.about, shape::instance, NC_INT64,
          column(abi::counter_members<std::vector<long long>>[j]));
    }
  }

  void residuals() {
    add("residual", "residual", "", "largest residual of a constraint after an accepted step", shape::instance,
        NC_DOUBLE, column(&chunk_data::residual));
    field& of = add(
        "residual_of", "residual", "1",
        m_.constraints.empty() ? "state to whose equation that residual belongs" : "the constraint that residual is of",
        shape::instance, NC_INT64, column(&chunk_data::residual_of));
    of.unset = -1;
    of.flags = {{-1, "none"}};
    for (const std::string& name : names_of_residuals(m_))
      of.flags.emplace_back(static_cast<int>(of.flags.size()) - 1, name);
  }

  void reductions() {
    for (std::size_t j = 0; j < p_.reductions.size(); ++j) {
      const reduction& r = p_.reductions[j];
      const quantity& q = (r.of_output ? m_.outputs : m_.states)[static_cast<std::size_t>(r.index)];
      const auto [what, same_unit] = r.which == reduction::kind::min    ? std::pair("smallest value of ", true)
                                     : r.which == reduction::kind::max  ? std::pair("largest value of ", true)
                                     : r.which == reduction::kind::mean ? std::pair("mean over time of ", true)
                                                                        : std::pair("integral over time of ", false);
      add(r.name, "reduction", same_unit ? q.unit : "", what + q.name, shape::instance, NC_DOUBLE,
          column(&chunk_data::reductions, j));
    }
  }

  void samples() {
    const char* what = "time of the sample";
    if (common_times(p_)) {
      field& time = add("time", "time", "", what, shape::time, NC_DOUBLE, nullptr);
      time.fixed = p_.sample_times;
      for (std::int64_t k = static_cast<std::int64_t>(time.fixed.size()); k < p_.sample_count; ++k)
        time.fixed.push_back(even_sample_time(p_.t_begin, p_.t_end, k, p_.sample_count));
    } else {
      add("sample_time", "time", "", what, shape::instance_time, NC_DOUBLE,
          derived_column(&derived_columns::sample_time));
    }
    std::size_t j = 0;
    for (const auto* list : {&m_.states, &m_.outputs})
      for (const quantity& q : *list)
        add(q.name, "sample", q.unit, about(q), shape::instance_time, NC_DOUBLE,
            column(&chunk_data::samples, j++, p_.sample_count));
  }

  void events() {
    add("event_row_size", "event", "1", "rows of the event log that belong to the instance", shape::instance, NC_INT64,
        derived_column(&derived_columns::row_size));
    add("event_instance", "event", "1", "index of the instance of the event", shape::event, NC_INT64,
        derived_column(&derived_columns::instance));
    add("event_time", "event", "", "time of the event", shape::event, NC_DOUBLE,
        derived_column(&derived_columns::time));
    field& guard = add("event_guard", "event", "1", "guard or time event that was due", shape::event, NC_INT,
                       derived_column(&derived_columns::guard));
    for (const std::string& name : event_names(m_)) guard.flags.emplace_back(guard.flags.size(), name);
    if (guard.flags.empty()) guard.flags = {{-1, "none"}};  // nothing can happen, but a reader asks for the names
    for (std::size_t j = 0; j < m_.states.size(); ++j)
      add("before_" + m_.states[j].name, "event", m_.states[j].unit, about(m_.states[j]) + ", before the event",
          shape::event, NC_DOUBLE, derived_column(&derived_columns::before, j));
    for (std::size_t j = 0; j < m_.states.size(); ++j)
      add("event_" + m_.states[j].name, "event", m_.states[j].unit, about(m_.states[j]) + ", after the event",
          shape::event, NC_DOUBLE, derived_column(&derived_columns::after, j));
  }

  void statistics() {
    const auto columns = statistic_columns(p_);
    for (std::size_t j = 0; j < columns.size(); ++j)
      add("statistics_" + columns[j].name, "statistics", columns[j].unit, columns[j].about, shape::statistic, NC_DOUBLE,
          nullptr)
          .of = static_cast<int>(j);
    for (std::size_t j = 0; j < p_.histograms.size(); ++j) {
      const histogram_request& h = p_.histograms[j];
      const histogram_bins bins = {h.from, h.to, h.bins};
      const auto& what = columns[static_cast<std::size_t>(h.column)];
      add("histogram_" + h.name, "histogram", "1", "instances with this " + h.name, shape::bin, NC_INT64, nullptr).of =
          static_cast<int>(j);
      field& middle = add("bin_" + h.name, "bin", what.unit, "middle of the bin", shape::bin, NC_DOUBLE, nullptr);
      middle.of = static_cast<int>(j);
      for (int k = 0; k < h.bins; ++k) middle.fixed.push_back(0.5 * bins.edge(k) + 0.5 * bins.edge(k + 1));
    }
  }

  const plan& p_;
  const host::model& m_;
  std::vector<field> fields_;
};

derived_columns derive(const chunk_data& c, const plan& p) {
  derived_columns d;
  const auto n = static_cast<std::size_t>(c.count);
  if (p.sample_count > 0 && !common_times(p)) {
    d.sample_time.reserve(n * static_cast<std::size_t>(p.sample_count));
    for (std::size_t i = 0; i < n; ++i)
      for (std::int64_t k = 0; k < p.sample_count; ++k)
        d.sample_time.push_back(even_sample_time(c.t_begin[i], c.t_end[i], k, p.sample_count));
  }
  if (p.log_events) d.row_size = c.log.rows_by_slot(n);
  const std::size_t states = p.model.states.size();
  d.before.resize(states);
  d.after.resize(states);
  return d;
}

/// A sum of products that stays at the largest number it can hold.
class size_sum {
 public:
  void add(std::int64_t size, std::int64_t rows = 1, std::int64_t columns = 1) {
    std::int64_t product = 0;
    if (__builtin_mul_overflow(size, rows, &product) || __builtin_mul_overflow(product, columns, &product) ||
        __builtin_add_overflow(total_, product, &total_))
      total_ = std::numeric_limits<std::int64_t>::max();
  }
  std::int64_t total() const { return total_; }

 private:
  std::int64_t total_ = 0;
};

std::size_t size_of(int type) { return type == NC_UBYTE ? 1 : type == NC_INT ? 4 : 8; }

}  // namespace

void detail::derived_columns::add(const event_row& row, std::int64_t first_id) {
  instance.push_back(first_id + row.slot);
  time.push_back(row.time);
  guard.push_back(row.guard);
  for (std::size_t j = 0; j < before.size(); ++j) {
    before[j].push_back(row.before[j]);
    after[j].push_back(row.after[j]);
  }
}

void detail::derived_columns::clear_events() {
  instance.clear();
  time.clear();
  guard.clear();
  for (auto* states : {&before, &after})
    for (auto& column : *states) column.clear();
}

const std::vector<std::string>& reserved_names() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> all = {"instance",       "time",           "event",     "sample_time", "t_begin",
                                    "t_end",          "t_final",        "status",    "event_time",  "event_guard",
                                    "event_instance", "event_row_size", "exception", "residual",    "residual_of",
                                    "switched",       "statistic"};
    for (const abi::counter_row& counter : abi::counter_table) all.emplace_back(counter.name);
    return all;
  }();
  return names;
}

void check_names(const plan& p) {
  std::vector<std::pair<std::string, std::string>> taken = {{"instance", "the dimension of instances"}};
  if (p.sample_count > 0) taken.emplace_back("time", "the dimension of samples");
  if (p.log_events) taken.emplace_back("event", "the dimension of events");
  if (p.statistics) taken.emplace_back("statistic", "the names of statistics");
  for (const field& f : field_list(p).take()) {
    if (f.shape == shape::time) continue;  // a coordinate is called like its dimension
    const std::string what = f.role + ", " + f.about;
    for (const auto& [name, other] : taken)
      if (name == f.name)
        throw error(exit_model, fmt::format("model {}: two variables of the result file would be called `{}` ({}; {}); "
                                            "rename the state, parameter, output or discrete variable",
                                            p.model.name, name, other, what));
    taken.emplace_back(f.name, what);
  }
}

std::int64_t expected_bytes(const plan& p) {
  size_sum bytes;
  for (const field& f : field_list(p).take()) {
    const auto size = static_cast<std::int64_t>(size_of(f.type));
    switch (f.shape) {
      case shape::scalar: bytes.add(size); break;
      case shape::instance: bytes.add(size, p.count); break;
      case shape::time: bytes.add(size, p.sample_count); break;
      case shape::instance_time: bytes.add(size, p.count, p.sample_count); break;
      case shape::event: break;
      case shape::statistic: bytes.add(size, static_cast<std::int64_t>(statistic_names.size())); break;
      case shape::bin: bytes.add(size, p.histograms[static_cast<std::size_t>(f.of)].bins); break;
    }
  }
  return bytes.total();
}

namespace {

// File chunks of 512 KiB of doubles: large enough to stream, small enough for every variable to keep one in memory.
constexpr std::size_t piece = 65536;

/// The file chunks of a variable: numbers in each, by dimension; empty: it is stored in one block.
std::vector<std::size_t> chunk_shape(const field& f, const plan& p) {
  const auto n = static_cast<std::size_t>(p.count);
  const auto times = static_cast<std::size_t>(p.sample_count);
  switch (f.shape) {
    case shape::instance: return {std::min(n, piece)};
    case shape::instance_time: return {std::clamp<std::size_t>(piece / times, 1, n), std::min(times, piece)};
    case shape::event: return {std::clamp<std::size_t>(n, 1024, piece)};  // a short run has few events
    case shape::time: return {std::min(times, piece)};
    case shape::bin: return {static_cast<std::size_t>(p.histograms[static_cast<std::size_t>(f.of)].bins)};
    default: return {};
  }
}

}  // namespace

std::int64_t stored_bytes(const plan& p, std::int64_t event_rows) { return stored_bytes(p, event_rows, p.count); }

std::int64_t stored_bytes(const plan& p, std::int64_t event_rows, std::int64_t instances) {
  // Of the file itself, of a variable and of an entry in the index of its chunks: measured with NetCDF 4.9.0, HDF5 1.10.8.
  constexpr std::int64_t head = 12'000, head_of_variable = 2'100, entry = 36;
  // Of chunks as long as `to`.
  const auto number_of_chunks = [](std::int64_t n, std::size_t to) {
    const auto width = static_cast<std::int64_t>(to);
    return n / width + (n % width > 0);
  };
  size_sum bytes;
  bytes.add(head);
  for (const field& f : field_list(p).take()) {
    const auto chunk = chunk_shape(f, p);
    bytes.add(head_of_variable);
    if (chunk.empty()) continue;
    const bool one_axis = f.shape != shape::instance && f.shape != shape::instance_time && f.shape != shape::event;
    const std::int64_t rows =
        one_axis ? 1 : number_of_chunks(f.shape == shape::event ? event_rows : instances, chunk[0]);
    const std::int64_t columns = f.shape == shape::time ? number_of_chunks(p.sample_count, chunk[0])
                                 : chunk.size() > 1     ? number_of_chunks(p.sample_count, chunk[1])
                                                        : 1;
    const auto in_one = static_cast<std::int64_t>(chunk[0] * (chunk.size() > 1 ? chunk[1] : 1));
    bytes.add(static_cast<std::int64_t>(size_of(f.type)) * in_one + entry, rows, columns);
  }
  return bytes.total();
}

std::int64_t buffer_bytes(const plan& p) {
  std::int64_t bytes = 0;
  for (const field& f : field_list(p).take())
    if (const auto chunk = chunk_shape(f, p); !chunk.empty())
      bytes += 2 * static_cast<std::int64_t>(
                       std::accumulate(chunk.begin(), chunk.end(), size_of(f.type), std::multiplies<std::size_t>()));
  return bytes;
}

// --------------------------------------------------------------------------------------------------------- the writer

namespace {

/// Checked before the part is made: a result that is refused leaves no trace.
const std::filesystem::path& checked(const std::filesystem::path& path, const plan& p, existing older) {
  check_names(p);
  check_result_path(path, older, p.inputs);
  return path;
}

}  // namespace

result_writer::result_writer(const std::filesystem::path& path, const plan& p, const provenance& origin, existing older)
    : path_(checked(path, p, older)), older_(older), part_(path), plan_(p) {
  fields_ = field_list(p).take();
  try {
    must(nc_create(part_.own_name().c_str(), NC_NETCDF4 | NC_CLOBBER, &file_));
    define_dimensions();
    for (field& f : fields_) define(f);
    if (plan_.statistics) define_names_of_statistics();
    describe(origin);
    make_room(0, 0);
    must(nc_enddef(file_));
    for (const field& f : fields_)
      if (!f.fixed.empty()) must(nc_put_var(file_, f.id, f.fixed.data()));
    if (plan_.statistics) {
      auto names = statistic_names;
      int id = -1;
      must(nc_inq_varid(file_, "statistic", &id));
      must(nc_put_var_string(file_, id, names.data()));
    }
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
}

void result_writer::define_names_of_statistics() {
  int id = -1;
  must(nc_def_var(file_, "statistic", NC_STRING, 1, &statistic_, &id));
  attribute("long_name", "which number of a statistic; over the instances that ended well", id);
  attribute("role", "statistic", id);
}

void result_writer::define(field& f) {
  std::vector<int> dimensions;
  const std::vector<std::size_t> chunk = chunk_shape(f, plan_);
  switch (f.shape) {
    case shape::scalar: break;
    case shape::instance: dimensions = {instance_}; break;
    case shape::time: dimensions = {time_}; break;
    case shape::instance_time: dimensions = {instance_, time_}; break;
    case shape::event: dimensions = {event_}; break;
    case shape::statistic: dimensions = {statistic_}; break;
    case shape::bin: {
      const histogram_request& h = plan_.histograms[static_cast<std::size_t>(f.of)];
      const std::string name = "bin_" + h.name;
      dimensions = {-1};
      if (nc_inq_dimid(file_, name.c_str(), &dimensions[0]) != NC_NOERR)
        must(nc_def_dim(file_, name.c_str(), static_cast<std::size_t>(h.bins), &dimensions[0]));
      break;
    }
  }
  must(nc_def_var(file_, f.name.c_str(), f.type, static_cast<int>(dimensions.size()), dimensions.data(), &f.id));
  if (!chunk.empty()) {
    // The library's default cache of 16 MiB for each variable would be too much for many variables. Data come in order:
    // one chunk being filled and one being started are enough.
    const std::size_t bytes =
        std::accumulate(chunk.begin(), chunk.end(), size_of(f.type), std::multiplies<std::size_t>());
    must(nc_def_var_chunking(file_, f.id, NC_CHUNKED, chunk.data()));
    must(nc_set_var_chunk_cache(file_, f.id, 2 * bytes, 11, 1.0f));
    if (plan_.compression > 0) must(nc_def_var_deflate(file_, f.id, 1, 1, plan_.compression));
    must(nc_def_var_fletcher32(file_, f.id, NC_FLETCHER32));
  } else {
    must(nc_def_var_chunking(file_, f.id, NC_COMPACT, nullptr));  // among what HDF5 itself keeps a checksum of
  }

  if (!f.unit.empty()) attribute("units", f.unit, f.id);
  attribute("long_name", f.about, f.id);
  attribute("role", f.role, f.id);
  if (f.name == "event_row_size") attribute("sample_dimension", "event", f.id);
  if (!f.flags.empty()) {
    std::vector<int> values;
    std::string meanings;
    for (const auto& [value, meaning] : f.flags) {
      values.push_back(value);
      meanings += (meanings.empty() ? "" : " ") + meaning;
    }
    must(nc_put_att_int(file_, f.id, "flag_values", f.type, values.size(), values.data()));  // CF: the variable's type
    attribute("flag_meanings", meanings, f.id);
  }

  // What instances that are never written read as.
  if (f.type == NC_DOUBLE) {
    if (f.shape != shape::time && f.shape != shape::bin) must(nc_def_var_fill(file_, f.id, NC_FILL, &nan));
  } else {
    // Counters and status need a fill value too, but no attribute _FillValue: readers would take the number for missing
    // (and xarray would turn the integers into floating-point numbers).
    const auto byte = static_cast<unsigned char>(f.unset);
    must(nc_def_var_fill(file_, f.id, NC_FILL, f.type == NC_UBYTE ? static_cast<const void*>(&byte) : &f.unset));
    must(nc_del_att(file_, f.id, "_FillValue"));
  }
}

namespace {

std::string lines_of(const std::vector<source_file>& files) {
  std::string text;
  for (const source_file& f : files) text += fmt::format("{}  {}\n", f.hash, f.path);
  return text;
}

}  // namespace

void result_writer::describe(const provenance& origin) {
  const std::string created = fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr)));
  attribute("Conventions", "CF-1.10");
  attribute("title", plan_.model.title);
  attribute("model", plan_.model.name);
  attribute("model_source", plan_.model.source);
  attribute("model_file", plan_.model.header.string());
  attribute("model_text", origin.model_text);
  attribute("model_hash", origin.model_hash);
  attribute("module_hash", origin.module_hash);
  attribute("sources", lines_of(origin.sources));
  attribute("method", method_name(plan_));
  if (!plan_.stiff_method.empty()) attribute("stiff_method", plan_.stiff_method);
  attribute("spec", plan_.text);
  attribute("settings", settings_text(plan_));
  const unsigned long long seed = plan_.seed;
  must(nc_put_att_ulonglong(file_, NC_GLOBAL, "seed", NC_UINT64, 1, &seed));
  attribute("saltus_version", origin.version);
  attribute("compiler", origin.compiler);
  attribute("device", origin.device);
  attribute("created", created);
  attribute("history", created + ": " + origin.command);
  attribute("state", "unfinished");
}

/// Before anything is written that needs it: HDF5 (1.10.8) can neither write nor close a file whose disk is full.
void result_writer::make_room(std::int64_t instances, std::int64_t event_rows) {
  constexpr std::int64_t spare = 256 * 1024;
  std::int64_t bytes = stored_bytes(plan_, event_rows, instances);
  if (plan_.compression > 0 && instances > 0) {
    // No chunk becomes larger by compression. But one that has grown since it was written does not lie where it was, so
    // what is in memory comes on top of what is on the disk: now, or at every time when it was written.
    std::error_code ignored;
    const auto now = static_cast<std::int64_t>(std::filesystem::file_size(part_.own_name(), ignored));
    const std::int64_t before = stored_bytes(plan_, event_rows_, reached_), buffers = buffer_bytes(plan_);
    bytes = std::min(bytes + syncs_ * buffers, now + bytes - before + buffers);
  }
  if (const std::string why = part_.reserve(bytes + texts_ + spare); !why.empty())
    throw error(exit_failure, fmt::format("cannot write {}: {}", path_.string(), why));
}

void result_writer::write(const chunk_data& chunk) {
  const hdf5_silence silent;
  if (chunk.first_id < 0 || written_ + chunk.count > plan_.count || chunk.first_id + chunk.count > plan_.count)
    throw std::logic_error("result_writer: more instances than the plan has");
  const std::int64_t rows = plan_.log_events ? chunk.log.rows() : 0;
  reached_ = std::max(reached_, chunk.first_id + chunk.count);
  make_room(reached_, event_rows_ + waiting_.rows() + rows);
  errno = 0;
  write_columns(chunk, derive(chunk, plan_), chunk.first_id, chunk.count);
  written_ += chunk.count;
  tally_.add(chunk);
  if (plan_.log_events) {
    waiting_.put({chunk.first_id, chunk.count, chunk.log});
    while (const auto next = waiting_.take_next()) write_events(*next);
  }
  // A run that is killed leaves what it had written by then.
  constexpr auto at_most = std::chrono::seconds(30);
  if (clock::now() - synced_ > at_most) sync();
}

/// In pieces: the log may be larger than the memory.
void result_writer::write_events(const waiting_logs::chunk_log& chunk) {
  const chunk_data none;
  derived_columns some;
  some.before.resize(plan_.model.states.size());
  some.after.resize(plan_.model.states.size());
  const auto put = [&] {
    const std::int64_t rows = std::ssize(some.time);
    write_columns(none, some, event_rows_, rows, true);
    event_rows_ += rows;
    some.clear_events();
  };
  errno = 0;
  chunk.log.for_each([&](const event_row& row) {
    some.add(row, chunk.first);
    if (some.time.size() == piece) put();
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

/// Beside each histogram stand its ends and what lies beyond them.
void result_writer::write_statistics(const statistics& all) {
  for (const field& f : fields_) {
    const auto j = static_cast<std::size_t>(f.of);
    if (f.role == "statistics") must(nc_put_var_double(file_, f.id, statistic_numbers(all.summaries.at(j)).data()));
    if (f.role != "histogram") continue;
    const statistics::histogram& h = all.histograms.at(j);
    must(nc_put_var_longlong(file_, f.id, h.counts.data()));
    must(nc_put_att_double(file_, f.id, "from", NC_DOUBLE, 1, &h.bins.from));
    must(nc_put_att_double(file_, f.id, "to", NC_DOUBLE, 1, &h.bins.to));
    must(nc_put_att_longlong(file_, f.id, "below", NC_INT64, 1, &h.below));
    must(nc_put_att_longlong(file_, f.id, "above", NC_INT64, 1, &h.above));
  }
}

/// Those of all chunks that are here, although others are missing before them.
void result_writer::write_waiting_events() {
  while (const auto next = waiting_.take_first()) write_events(*next);
}

void result_writer::write_counts() {
  tally_.by_status[static_cast<std::size_t>(status::not_run)] += plan_.count - written_;
  for (const status_row& row : status_table)
    if (const std::int64_t count = tally_.by_status[static_cast<std::size_t>(row.id)])
      attribute(("count_" + std::string(row.name)).c_str(), count);
  attribute("count_ok", tally_.ok());
  attribute("count_rescued", tally_.rescued());
  attribute("count_failed", tally_.failed());
  attribute("count_not_finished", tally_.not_finished());
  for (const status_row& row : status_table)
    if (const std::int64_t count = tally_.by_rescue[static_cast<std::size_t>(row.id)])
      attribute(("count_rescued_from_" + std::string(row.name)).c_str(), count);
  if (tally_.switched > 0) attribute("count_switched", tally_.switched);
  if (const auto remarks = remarks_on_guards(plan_.model, tally_.guards); !remarks.empty())
    attribute("remarks", fmt::format("{}", fmt::join(remarks, "\n")));
}

void result_writer::close(double wall_time_s, const statistics& all) {
  const hdf5_silence silent;
  write_waiting_events();
  errno = 0;
  if (plan_.statistics) write_statistics(all);
  must(nc_put_att_double(file_, NC_GLOBAL, "wall_time_s", NC_DOUBLE, 1, &wall_time_s));
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
  return on_disk_;  // as it was when it was last synchronised; it cannot be closed (see discard)
}

void result_writer::sync() {
  must(nc_sync(file_));
  on_disk_ = written_ - tally_.not_finished();
  synced_ = clock::now();
  syncs_ += written_ > 0;
  part_.was_truncated();  // to what is in it (H5FD_truncate)
  make_room(reached_, event_rows_ + waiting_.rows());
}

void result_writer::finish(const std::string& state) {
  attribute("state", state);
  // What is still in memory goes to disk here: after a failure the file must not be closed any more (see discard).
  must(nc_sync(file_));
  must(nc_close(std::exchange(file_, -1)));
  closed_ = true;
}

void result_writer::discard() {
  const hdf5_silence silent;
  std::error_code ignored;
  // HDF5 (1.10.8) crashes when it closes a file that it could not write: such a file is left open, but empty.
  if (failed_) std::filesystem::resize_file(part_.own_name(), 0, ignored);
  else if (file_ >= 0) nc_abort(file_);
  part_.remove();
}

void result_writer::attribute(const char* name, const std::string& text, int variable) {
  texts_ += static_cast<std::int64_t>(text.size());
  must(nc_put_att_text(file_, variable, name, text.size(), text.data()));
}

void result_writer::attribute(const char* name, long long number) {
  must(nc_put_att_longlong(file_, NC_GLOBAL, name, NC_INT64, 1, &number));
}

void result_writer::must(int netcdf_status) {
  const int system = errno;
  if (netcdf_status == NC_NOERR) return;
  failed_ = true;
  std::string reason = nc_strerror(netcdf_status);
  for (int telling : {ENOSPC, EDQUOT, EFBIG, EIO, EROFS})
    if (system == telling) reason = std::strerror(system);
  throw error(exit_failure, fmt::format("cannot write {}: {}", path_.string(), reason));
}

}  // namespace saltus::host
