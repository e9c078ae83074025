#include "result/show.hpp"

#include <fmt/format.h>
#include <netcdf.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <limits>
#include <sstream>
#include <string_view>
#include <utility>
#include <vector>

#include "abi/status.hpp"
#include "base/error.hpp"
#include "base/files.hpp"
#include "base/json.hpp"
#include "ensemble/statistics.hpp"

namespace saltus::host {

namespace {

constexpr std::size_t block = 1 << 20;   // instances read at a time
constexpr std::size_t shown_rows = 50;   // of failed instances and events, in a text
constexpr std::size_t shown_times = 10;  // of samples, in a text

struct variable {
  int id;
  std::string name, role, unit, about;
  std::vector<std::string> dimensions;

  bool per_instance() const { return dimensions.size() == 1 && dimensions[0] == "instance"; }
  std::string bracketed_unit() const { return unit.empty() || unit == "1" ? "" : "[" + unit + "]"; }
};

/// A result file open for reading.
class result_file {
 public:
  explicit result_file(const std::string& path) : path_(path) {
    if (const auto what = not_a_file(path); !what.empty())
      throw error(exit_failure, fmt::format("{}: {}, not a result file", path, what));
    must(nc_open(path.c_str(), NC_NOWRITE, &file_));
    try {
      read_variables();
    } catch (...) {
      nc_close(file_);
      throw;
    }
  }
  ~result_file() { nc_close(file_); }
  result_file(const result_file&) = delete;
  result_file& operator=(const result_file&) = delete;

  const std::string& path() const { return path_; }
  const std::vector<variable>& variables() const { return variables_; }
  std::size_t instances() const { return instances_; }

  std::vector<const variable*> with_role(std::string_view role) const {
    std::vector<const variable*> found;
    for (const variable& v : variables_)
      if (v.role == role) found.push_back(&v);
    return found;
  }

  const variable* find(std::string_view name) const {
    for (const variable& v : variables_)
      if (v.name == name) return &v;
    return nullptr;
  }
  const variable& at(std::string_view name) const {
    if (const variable* v = find(name)) return *v;
    throw error(exit_failure, fmt::format("{} is not a result of saltus: it has no variable {}", path_, name));
  }

  std::string text(const char* attribute, int variable = NC_GLOBAL) const {
    std::size_t length = 0;
    if (nc_inq_attlen(file_, variable, attribute, &length) != NC_NOERR) return "";
    std::string value(length, '\0');
    must(nc_get_att_text(file_, variable, attribute, value.data()));
    return value;
  }
  double number(const char* attribute, int variable = NC_GLOBAL) const {
    double value = std::numeric_limits<double>::quiet_NaN();
    nc_get_att_double(file_, variable, attribute, &value);
    return value;
  }
  unsigned long long seed() const {
    unsigned long long value = 0;
    nc_get_att_ulonglong(file_, NC_GLOBAL, "seed", &value);
    return value;
  }
  std::size_t dimension(const char* name) const {
    int id;
    std::size_t length;
    must(nc_inq_dimid(file_, name, &id));
    must(nc_inq_dimlen(file_, id, &length));
    return length;
  }

  using place = std::array<std::size_t, 2>;
  std::vector<double> reals(const variable& v, place start, place count) const {
    std::vector<double> values(count[0] * count[1]);
    if (!values.empty()) must(nc_get_vara_double(file_, v.id, start.data(), count.data(), values.data()));
    return values;
  }
  std::vector<long long> integers(const variable& v, std::size_t start, std::size_t count) const {
    std::vector<long long> values(count);
    if (count > 0) must(nc_get_vara_longlong(file_, v.id, &start, &count, values.data()));
    return values;
  }
  /// The value for one instance; of a scalar, the one there is.
  double value(const variable& v, std::size_t instance) const { return reals(v, {instance, 0}, {1, 1})[0]; }

 private:
  void must(int netcdf_status) const {
    if (netcdf_status == NC_NOERR) return;
    const char* const why = netcdf_status == NC_EHDFERR ? "; the file is damaged, or on a disk that is" : "";
    throw error(exit_failure, fmt::format("cannot read {}: {}{}", path_, nc_strerror(netcdf_status), why));
  }

  void read_variables() {
    int id;
    if (nc_inq_attid(file_, NC_GLOBAL, "saltus_version", &id) != NC_NOERR)
      throw error(exit_failure, path_ + " is not a result of saltus: it has no attribute saltus_version");
    int count = 0;
    must(nc_inq_nvars(file_, &count));
    for (int v = 0; v < count; ++v) {
      char name[NC_MAX_NAME + 1];
      int rank = 0;
      std::array<int, NC_MAX_VAR_DIMS> dimensions;
      must(nc_inq_var(file_, v, name, nullptr, &rank, dimensions.data(), nullptr));
      variables_.push_back({v, name, text("role", v), text("units", v), text("long_name", v), {}});
      for (int d = 0; d < rank; ++d) {
        must(nc_inq_dimname(file_, dimensions[static_cast<std::size_t>(d)], name));
        variables_.back().dimensions.push_back(name);
      }
    }
    instances_ = dimension("instance");
  }

  std::string path_;
  int file_ = -1;
  std::vector<variable> variables_;
  std::size_t instances_ = 0;
};

// --------------------------------------------------------------------------------------------------------------- words

/// The row of a status number; a number unknown here was written by a newer saltus.
status_row row_of(long long number) {
  if (number >= 0 && number < status_count) return status_table[number];
  return {static_cast<status>(number), "unknown", "a status this version does not know",
          "look at it with the version that wrote it", status_group::failed};
}

std::vector<std::string> words(const std::string& text) {
  std::istringstream stream(text);
  std::vector<std::string> list;
  for (std::string word; stream >> word;) list.push_back(word);
  return list;
}

std::string percent(std::int64_t part, std::size_t all) {
  return fmt::format("{:.2f} %", 100.0 * static_cast<double>(part) / static_cast<double>(all));
}

/// Columns as wide as their widest cell; the first `left` of them, and the last if it holds words, aligned to the left.
class text_table {
 public:
  text_table(std::size_t left, bool words_last) : left_(left), words_last_(words_last) {}
  void add(std::vector<std::string> row) { rows_.push_back(std::move(row)); }
  bool empty() const { return rows_.empty(); }
  void print(std::FILE* out) const {
    std::vector<std::size_t> width;
    for (const auto& row : rows_) {
      width.resize(std::max(width.size(), row.size()), 0);
      for (std::size_t j = 0; j < row.size(); ++j) width[j] = std::max(width[j], row[j].size());
    }
    for (const auto& row : rows_) {
      std::string line = " ";
      for (std::size_t j = 0; j < row.size(); ++j) {
        const bool at_left = j < left_ || (words_last_ && j + 1 == row.size());
        line += at_left ? fmt::format(" {:<{}} ", row[j], width[j]) : fmt::format(" {:>{}} ", row[j], width[j]);
      }
      line.erase(line.find_last_not_of(' ') + 1);
      fmt::print(out, "{}\n", line);
    }
  }

 private:
  std::size_t left_;
  bool words_last_;
  std::vector<std::vector<std::string>> rows_;
};

void print_json(const json& o, std::FILE* out) { fmt::print(out, "{}\n", json_text(o)); }

// ------------------------------------------------------------------------------------------------------ the whole file

struct range {
  double min = std::numeric_limits<double>::infinity(), max = -min, sum = 0;
};

/// What lanes gave up with; 0: they did not.
std::vector<long long> exceptions_of(const result_file& f, std::size_t first, std::size_t count) {
  const variable* v = f.find("exception");
  return v ? f.integers(*v, first, count) : std::vector<long long>(count, 0);
}

/// The state to whose equation the largest residual of an instance belongs; empty: none, or no state is algebraic.
std::string residual_of(const result_file& f, std::size_t instance) {
  const variable* v = f.find("residual_of");
  if (!v) return {};
  const auto number = f.integers(*v, instance, 1)[0];
  const auto names = words(f.text("flag_meanings", v->id));  // of -1, 0, 1, ...
  return number >= 0 && static_cast<std::size_t>(number) + 1 < names.size()
             ? names[static_cast<std::size_t>(number) + 1]
             : std::string();
}

struct census {
  std::vector<std::int64_t> by_status = std::vector<std::int64_t>(256, 0);
  std::vector<std::int64_t> by_rescue = std::vector<std::int64_t>(256, 0);  ///< of those rescued: after which exception
  std::vector<range> counters;  ///< in the order of the file, over the instances that were started
  std::int64_t started = 0;
  std::int64_t switched = 0;  ///< instances that went over to the stiff method
};

bool has_rows(const result_file& f) { return f.find("status") != nullptr; }

/// Of a file without rows: from its attributes. Counters are among its statistics.
census noted_census(const result_file& f) {
  census c;
  const auto noted = [&](const std::string& name) {
    const double n = f.number(("count_" + name).c_str());
    return n == n ? static_cast<std::int64_t>(n) : 0;
  };
  for (const status_row& row : status_table) {
    c.by_status[static_cast<std::size_t>(row.id)] = noted(row.name);
    c.by_rescue[static_cast<std::size_t>(row.id)] = noted("rescued_from_" + std::string(row.name));
  }
  c.switched = noted("switched");
  return c;
}

census take_census(const result_file& f) {
  if (!has_rows(f)) return noted_census(f);
  census c;
  const variable& status = f.at("status");
  const auto counters = f.with_role("counter");
  const variable* switched = f.find("switched");
  c.counters.resize(counters.size());
  for (std::size_t first = 0; first < f.instances(); first += block) {
    const std::size_t n = std::min(block, f.instances() - first);
    const auto by = f.integers(status, first, n);
    const auto was_started = [&](std::size_t i) { return by[i] != static_cast<long long>(status::not_run); };
    const auto exception = exceptions_of(f, first, n);
    for (std::size_t i = 0; i < n; ++i) {
      ++c.by_status[static_cast<std::size_t>(by[i])];
      c.started += was_started(i);
      if (exception[i] != 0 && row_of(by[i]).group == status_group::ok)
        ++c.by_rescue[static_cast<std::size_t>(exception[i])];
    }
    if (switched)
      for (const double t : f.reals(*switched, {first, 0}, {n, 1})) c.switched += t == t;
    for (std::size_t j = 0; j < counters.size(); ++j) {
      const auto values = f.integers(*counters[j], first, n);
      range& r = c.counters[j];
      for (std::size_t i = 0; i < n; ++i) {
        if (!was_started(i)) continue;
        const auto value = static_cast<double>(values[i]);
        r.min = std::min(r.min, value);
        r.max = std::max(r.max, value);
        r.sum += value;
      }
    }
  }
  return c;
}

/// The variables of statistics, without the beginnings of their names.
constexpr std::string_view statistics_prefix = "statistics_", histogram_prefix = "histogram_";

json statistics_as_json(const result_file& f) {
  json all = json::object();
  for (const variable* v : f.with_role("statistics")) {
    const auto numbers = f.reals(*v, {0, 0}, {statistic_names.size(), 1});
    json one = json::object();
    for (std::size_t k = 0; k < numbers.size(); ++k) one[statistic_names[k]] = numbers[k];
    all[v->name.substr(statistics_prefix.size())] = std::move(one);
  }
  return all;
}

json histograms_as_json(const result_file& f) {
  json all = json::object();
  for (const variable* v : f.with_role("histogram")) {
    json one{{"counts", f.integers(*v, 0, f.dimension(v->dimensions[0].c_str()))}};
    for (const char* name : {"from", "to", "below", "above"}) one[name] = f.number(name, v->id);
    all[v->name.substr(histogram_prefix.size())] = std::move(one);
  }
  return all;
}

void statistics_as_text(const result_file& f, std::FILE* out) {
  text_table table(1, false);
  table.add({"", "mean", "deviation", "min", "of", "max", "of", "count"});
  for (const variable* v : f.with_role("statistics")) {
    const auto n = f.reals(*v, {0, 0}, {statistic_names.size(), 1});  // in the order of statistic_names
    table.add({v->name.substr(statistics_prefix.size()), fmt::format("{:.6g}", n[1]), fmt::format("{:.6g}", n[2]),
               fmt::format("{:.6g}", n[3]), fmt::format("{:.0f}", n[5]), fmt::format("{:.6g}", n[4]),
               fmt::format("{:.0f}", n[6]), fmt::format("{:.0f}", n[0])});
  }
  table.print(out);
  for (const variable* v : f.with_role("histogram"))
    fmt::print(out, "  {}: a histogram of {} bins from {} to {}; {:.0f} below, {:.0f} above\n", v->name,
               f.dimension(v->dimensions[0].c_str()), f.number("from", v->id), f.number("to", v->id),
               f.number("below", v->id), f.number("above", v->id));
}

void summary_as_json(const result_file& f, const census& c, std::FILE* out) {
  json statuses = json::object(), rescued = json::object(), counters = json::object();
  for (std::size_t s = 0; s < c.by_status.size(); ++s)
    if (c.by_status[s] > 0) statuses[row_of(static_cast<long long>(s)).name] = c.by_status[s];
  for (std::size_t s = 0; s < c.by_rescue.size(); ++s)
    if (c.by_rescue[s] > 0) rescued[row_of(static_cast<long long>(s)).name] = c.by_rescue[s];
  const auto counter_list = f.with_role("counter");
  for (std::size_t j = 0; j < counter_list.size() && c.started > 0; ++j)
    counters[counter_list[j]->name] = json{{"min", c.counters[j].min},
                                           {"mean", c.counters[j].sum / static_cast<double>(c.started)},
                                           {"max", c.counters[j].max}};
  json variables = json::array();
  for (const variable& v : f.variables()) {
    json row{{"name", v.name}, {"role", v.role}, {"unit", v.unit}, {"about", v.about}, {"dimensions", v.dimensions}};
    if (v.dimensions.empty()) row["value"] = f.value(v, 0);
    variables.push_back(std::move(row));
  }
  json all{{"file", f.path()},
           {"instances", static_cast<std::int64_t>(f.instances())},
           {"status", statuses},
           {"rescued_from", rescued},
           {"counters", counters},
           {"variables", variables},
           {"wall_time_s", f.number("wall_time_s")},
           {"seed", std::to_string(f.seed())}};  // a string: 64 bits without sign
  if (f.find("switched") || (c.switched > 0 && !has_rows(f))) all["switched"] = c.switched;
  all["rows"] = has_rows(f);
  if (f.find("statistic")) {
    all["statistics"] = statistics_as_json(f);
    all["histograms"] = histograms_as_json(f);
  }
  for (const char* name : {"model", "title", "model_hash", "module_hash", "sources", "method", "created",
                           "saltus_version", "compiler", "device", "spec", "settings", "history", "state", "remarks"})
    all[name] = f.text(name);
  print_json(all, out);
}

void summary_as_text(const result_file& f, const census& c, std::FILE* out) {
  fmt::print(out, "{}\n", f.path());
  text_table head(2, false);
  head.add({"model", fmt::format("{}: {}", f.text("model"), f.text("title"))});
  head.add({"method", f.text("method")});
  head.add({"instances", std::to_string(f.instances())});
  const double seconds = f.number("wall_time_s");  // of a run that came to its end
  head.add({"run", fmt::format("{}, {}on {}, saltus {}", f.text("created"),
                               seconds == seconds ? fmt::format("{:.4g} s ", seconds) : "", f.text("device"),
                               f.text("saltus_version"))});
  // Files of older versions do not say it.
  if (const std::string state = f.text("state"); !state.empty() && state != "complete")
    head.add({"state", state == "unfinished" ? "unfinished: its run is under way, or was killed" : state});
  head.print(out);
  if (const std::string remarks = f.text("remarks"); !remarks.empty()) fmt::print(out, "\n{}\n", remarks);

  fmt::print(out, "\nstatus\n");
  text_table statuses(1, true);
  for (std::size_t s = 0; s < c.by_status.size(); ++s)
    if (c.by_status[s] > 0)
      statuses.add({row_of(static_cast<long long>(s)).name, std::to_string(c.by_status[s]),
                    percent(c.by_status[s], f.instances()), row_of(static_cast<long long>(s)).meaning});
  for (std::size_t s = 0; s < c.by_rescue.size(); ++s)
    if (c.by_rescue[s] > 0)
      statuses.add({"(rescued)", std::to_string(c.by_rescue[s]), percent(c.by_rescue[s], f.instances()),
                    fmt::format("of these; lanes gave up: {}", row_of(static_cast<long long>(s)).name)});
  if (c.switched > 0)
    statuses.add({"(stiff)", std::to_string(c.switched), percent(c.switched, f.instances()),
                  "of these; went over to " + f.text("stiff_method")});
  statuses.print(out);

  const auto counters = f.with_role("counter");
  if (c.started > 0) {
    fmt::print(out, "\nper instance\n");
    text_table table(1, false);
    table.add({"", "min", "mean", "max"});
    for (std::size_t j = 0; j < counters.size(); ++j)
      table.add({counters[j]->name, fmt::format("{:.0f}", c.counters[j].min),
                 fmt::format("{:.1f}", c.counters[j].sum / static_cast<double>(c.started)),
                 fmt::format("{:.0f}", c.counters[j].max)});
    table.print(out);
  }

  if (f.find("statistic")) {
    fmt::print(out, "\nover the instances that ended well\n");
    statistics_as_text(f, out);
  }

  fmt::print(out, "\nvariables\n");
  text_table variables(2, true);
  for (const variable& v : f.variables()) {
    const std::string name = v.dimensions.empty() ? fmt::format("{} = {}", v.name, f.value(v, 0))
                                                  : fmt::format("{}({})", v.name, fmt::join(v.dimensions, ", "));
    variables.add({name, v.bracketed_unit(), v.about});
  }
  variables.print(out);

  if (!has_rows(f)) {
    fmt::print(out,
               "\nopen it; it has no results of single instances (output.rows = false)\n"
               "  python3: import xarray; data = xarray.open_dataset(\"{0}\"); data[\"statistics_t_final\"]\n",
               f.path());
    return;
  }
  fmt::print(out,
             "\nopen it\n"
             "  saltus show {0} --instance 0     one instance\n"
             "  saltus show {0} --failed         the failed ones\n"
             "  python3: import xarray; data = xarray.open_dataset(\"{0}\"); data[\"status\"]\n",
             f.path());
}

// -------------------------------------------------------------------------------------------------------- one instance

/// The event log of one instance; states in the order of the file.
struct instance_events {
  std::vector<std::string> states;
  std::vector<std::string> guards;                 ///< of each row
  std::vector<double> time;                        ///< of each row
  std::vector<std::vector<double>> before, after;  ///< [state][row]
};

instance_events events_of(const result_file& f, std::size_t instance) {
  instance_events e;
  const variable* size = f.find("event_row_size");
  if (!size) return e;
  std::size_t start = 0;
  for (std::size_t first = 0; first < instance; first += block)
    for (long long rows : f.integers(*size, first, std::min(block, instance - first)))
      start += static_cast<std::size_t>(rows);
  const auto count = static_cast<std::size_t>(f.integers(*size, instance, 1)[0]);
  const variable& guard = f.at("event_guard");
  const auto guards = words(f.text("flag_meanings", guard.id));
  for (long long g : f.integers(guard, start, count))
    e.guards.push_back(g >= 0 && static_cast<std::size_t>(g) < guards.size() ? guards[static_cast<std::size_t>(g)]
                                                                             : std::to_string(g));
  const auto column = [&](const variable& v) { return f.reals(v, {start, 0}, {count, 1}); };
  e.time = column(f.at("event_time"));
  constexpr std::string_view prefix = "before_";
  for (const variable* v : f.with_role("event")) {
    if (!std::string_view(v->name).starts_with(prefix)) continue;
    e.states.push_back(v->name.substr(prefix.size()));
    e.before.push_back(column(*v));
    e.after.push_back(column(f.at("event_" + e.states.back())));
  }
  return e;
}

/// The samples of one instance: times first.
std::vector<std::pair<std::string, std::vector<double>>> samples_of(const result_file& f, std::size_t instance) {
  std::vector<std::pair<std::string, std::vector<double>>> columns;
  for (const char* role : {"time", "sample"})
    for (const variable* v : f.with_role(role)) {
      const std::size_t times = f.dimension("time");
      columns.emplace_back(v->name, v->dimensions.size() == 1 ? f.reals(*v, {0, 0}, {times, 1})
                                                              : f.reals(*v, {instance, 0}, {1, times}));
    }
  return columns;
}

void instance_as_json(const result_file& f, std::size_t instance, std::FILE* out) {
  const status_row row = row_of(f.integers(f.at("status"), instance, 1)[0]);
  json all{{"file", f.path()},
           {"instance", static_cast<std::int64_t>(instance)},
           {"status", json{{"name", row.name}, {"meaning", row.meaning}, {"remedy", row.remedy}}}};
  if (const auto e = exceptions_of(f, instance, 1)[0]; e != 0) all["exception"] = row_of(e).name;
  if (const variable* v = f.find("switched")) all["switched"] = f.value(*v, instance);
  if (const variable* v = f.find("residual")) {
    all["residual"] = f.value(*v, instance);
    all["residual_of"] = residual_of(f, instance);
  }
  for (const char* role : {"parameter", "initial", "span", "final", "counter", "reduction"}) {
    json values = json::object();
    for (const variable* v : f.with_role(role))
      if (v->role == "counter") values[v->name] = f.integers(*v, instance, 1)[0];
      else values[v->name] = f.value(*v, instance);
    if (!values.empty()) all[role] = std::move(values);
  }
  if (f.find("event_row_size")) {
    const instance_events e = events_of(f, instance);
    json list = json::array();
    for (std::size_t k = 0; k < e.time.size(); ++k) {
      json before = json::object(), after = json::object();
      for (std::size_t j = 0; j < e.states.size(); ++j) {
        before[e.states[j]] = e.before[j][k];
        after[e.states[j]] = e.after[j][k];
      }
      list.push_back(json{{"time", e.time[k]}, {"guard", e.guards[k]}, {"before", before}, {"after", after}});
    }
    all["events"] = std::move(list);
  }
  json samples = json::object();
  for (const auto& [name, values] : samples_of(f, instance)) samples[name] = values;
  if (!samples.empty()) all["samples"] = std::move(samples);
  print_json(all, out);
}

void instance_as_text(const result_file& f, std::size_t instance, std::FILE* out) {
  const status_row row = row_of(f.integers(f.at("status"), instance, 1)[0]);
  fmt::print(out, "{}, instance {} of {}\n", f.path(), instance, f.instances());
  fmt::print(out, "  status   {}: {}\n", row.name, row.meaning);
  if (row.group != status_group::ok) fmt::print(out, "  remedy   {}\n", row.remedy);
  if (const auto e = exceptions_of(f, instance, 1)[0]; e != 0)
    fmt::print(out, "  rescue   took over; lanes gave up with {}: {}\n", row_of(e).name, row_of(e).meaning);
  if (const variable* v = f.find("switched"); v && f.value(*v, instance) == f.value(*v, instance))
    fmt::print(out, "  stiff    went over to {} at t = {}\n", f.text("stiff_method"), f.value(*v, instance));
  if (const auto of = residual_of(f, instance); !of.empty())
    fmt::print(out, "  residual {:.3g} in the equation of {}{}\n", f.value(f.at("residual"), instance), of,
               row.id == status::inconsistent ? ", the worst" : ", the largest after any step");

  constexpr std::pair<const char*, const char*> parts[] = {{"parameter", "parameters"}, {"initial", "initial values"},
                                                           {"span", "time span"},       {"final", "at the end"},
                                                           {"reduction", "reductions"}, {"counter", "counters"}};
  for (const auto& [role, title] : parts) {
    text_table table(3, true);
    for (const variable* v : f.with_role(role))
      table.add({v->name, fmt::format("{}", f.value(*v, instance)), v->bracketed_unit(), v->about});
    if (table.empty()) continue;
    fmt::print(out, "\n{}\n", title);
    table.print(out);
  }

  if (f.find("event_row_size")) {
    const instance_events e = events_of(f, instance);
    fmt::print(out, "\nevents: {}\n", e.time.size());
    text_table table(0, false);
    std::vector<std::string> header = {"time", "guard"};
    for (const std::string& state : e.states) {
      header.push_back(state + " before");
      header.push_back("after");
    }
    if (!e.time.empty()) table.add(header);
    for (std::size_t k = 0; k < std::min(e.time.size(), shown_rows); ++k) {
      std::vector<std::string> cells = {fmt::format("{:.12g}", e.time[k]), e.guards[k]};
      for (std::size_t j = 0; j < e.states.size(); ++j) {
        cells.push_back(fmt::format("{:.9g}", e.before[j][k]));
        cells.push_back(fmt::format("{:.9g}", e.after[j][k]));
      }
      table.add(cells);
    }
    table.print(out);
    if (e.time.size() > shown_rows) fmt::print(out, "  and {} more\n", e.time.size() - shown_rows);
  }

  const auto samples = samples_of(f, instance);
  if (samples.empty()) return;
  const std::size_t times = samples[0].second.size();
  fmt::print(out, "\nsamples: {}\n", times);
  text_table table(0, false);
  std::vector<std::string> header;
  for (const auto& [name, values] : samples) header.push_back(name);
  table.add(header);
  for (std::size_t k = 0; k < std::min(times, shown_times); ++k) {
    std::vector<std::string> cells;
    for (const auto& [name, values] : samples) cells.push_back(fmt::format("{:.9g}", values[k]));
    table.add(cells);
  }
  table.print(out);
  if (times > shown_times) fmt::print(out, "  and {} more\n", times - shown_times);
}

// ---------------------------------------------------------------------------------------------------- failed instances

struct failures {
  std::vector<std::size_t> shown;  ///< the first ones
  std::vector<long long> status;
  std::vector<std::int64_t> by_status = std::vector<std::int64_t>(256, 0);
  std::int64_t count = 0, not_finished = 0;
};

failures find_failures(const result_file& f) {
  failures found;
  const variable& status = f.at("status");
  for (std::size_t first = 0; first < f.instances(); first += block) {
    const auto by = f.integers(status, first, std::min(block, f.instances() - first));
    for (std::size_t i = 0; i < by.size(); ++i) {
      const status_group group = row_of(by[i]).group;
      found.not_finished += group == status_group::not_finished;
      if (group != status_group::failed) continue;
      ++found.count;
      ++found.by_status[static_cast<std::size_t>(by[i])];
      if (found.shown.size() < shown_rows) {
        found.shown.push_back(first + i);
        found.status.push_back(by[i]);
      }
    }
  }
  return found;
}

/// What tells instances apart: the inputs that vary.
std::vector<const variable*> varied_inputs(const result_file& f) {
  std::vector<const variable*> list;
  for (const char* role : {"parameter", "initial", "span"})
    for (const variable* v : f.with_role(role))
      if (v->per_instance()) list.push_back(v);
  return list;
}

void failed_as_json(const result_file& f, const failures& found, std::FILE* out) {
  json list = json::array();
  for (std::size_t k = 0; k < found.shown.size(); ++k) {
    const std::size_t i = found.shown[k];
    const status_row row = row_of(found.status[k]);
    json inputs = json::object();
    for (const variable* v : varied_inputs(f)) inputs[v->name] = f.value(*v, i);
    json one{{"instance", static_cast<std::int64_t>(i)},
             {"status", row.name},
             {"t_final", f.value(f.at("t_final"), i)},
             {"inputs", inputs},
             {"meaning", row.meaning},
             {"remedy", row.remedy}};
    if (const variable* v = f.find("residual")) {
      one["residual"] = f.value(*v, i);
      one["residual_of"] = residual_of(f, i);
    }
    list.push_back(std::move(one));
  }
  print_json(
      json{{"file", f.path()}, {"failed", found.count}, {"not_finished", found.not_finished}, {"instances", list}},
      out);
}

void failed_as_text(const result_file& f, const failures& found, std::FILE* out) {
  fmt::print(out, "{}: {} of {} instances failed", f.path(), found.count, f.instances());
  if (found.not_finished > 0) fmt::print(out, ", {} did not finish", found.not_finished);
  fmt::print(out, "\n");
  if (found.count == 0) return;
  const auto inputs = varied_inputs(f);
  text_table table(0, true);
  std::vector<std::string> header = {"instance"};
  for (const variable* v : inputs) header.push_back(v->name);
  const bool residuals = f.find("residual") != nullptr;
  if (residuals) header.insert(header.end(), {"residual", "of"});
  header.insert(header.end(), {"t_final", "status"});
  table.add(header);
  for (std::size_t k = 0; k < found.shown.size(); ++k) {
    const std::size_t i = found.shown[k];
    std::vector<std::string> cells = {std::to_string(i)};
    for (const variable* v : inputs) cells.push_back(fmt::format("{}", f.value(*v, i)));
    if (residuals) {
      cells.push_back(fmt::format("{:.3g}", f.value(f.at("residual"), i)));
      cells.push_back(residual_of(f, i));
    }
    cells.push_back(fmt::format("{:.9g}", f.value(f.at("t_final"), i)));
    cells.push_back(row_of(found.status[k]).name);
    table.add(cells);
  }
  table.print(out);
  if (static_cast<std::size_t>(found.count) > found.shown.size())
    fmt::print(out, "  and {} more\n", static_cast<std::size_t>(found.count) - found.shown.size());
  fmt::print(out, "\nwhat it means and what to do\n");
  for (std::size_t s = 0; s < found.by_status.size(); ++s)
    if (found.by_status[s] > 0) {
      const status_row row = row_of(static_cast<long long>(s));
      fmt::print(out, "  {} ({}): {}\n    {}\n", row.name, found.by_status[s], row.meaning, row.remedy);
    }
}

}  // namespace

int show(const show_options& options, std::FILE* out) {
  if (options.instance && options.failed) throw error(exit_usage, "show: give either --instance or --failed, not both");
  const result_file file(options.file);
  if ((options.instance || options.failed) && !has_rows(file) && file.find("statistic"))
    throw error(exit_usage, fmt::format("{} has no results of single instances (output.rows = false)", options.file));
  if (options.instance) {
    const std::int64_t i = *options.instance;
    if (i < 0 || static_cast<std::size_t>(i) >= file.instances())
      throw error(exit_usage, fmt::format("--instance {}: {} has instances 0 to {}", i, options.file,
                                          static_cast<std::int64_t>(file.instances()) - 1));
    (options.json ? instance_as_json : instance_as_text)(file, static_cast<std::size_t>(i), out);
  } else if (options.failed) {
    (options.json ? failed_as_json : failed_as_text)(file, find_failures(file), out);
  } else {
    (options.json ? summary_as_json : summary_as_text)(file, take_census(file), out);
  }
  return exit_ok;
}

}  // namespace saltus::host
