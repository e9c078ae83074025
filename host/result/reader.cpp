#include "result/reader.hpp"

#include <algorithm>
#include <sstream>

#include <fmt/format.h>
#include <netcdf.h>
#include <nlohmann/json.hpp>

#include "base/error.hpp"
#include "base/json.hpp"
#include "base/text.hpp"
#include "result/format.hpp"

namespace saltus::host {

namespace {

constexpr std::size_t block = 1 << 20;  // instances read at a time
constexpr long long statuses = 256;     // possible values in a file

}  // namespace

const std::string& must_be_read_here(const std::string& path) {
  if (const output_format& f = format_of(path); !f.is_read && f.is_result(path))
    throw error(exit_failure, fmt::format("{} is a {}: in Python, {}({}) reads it; here NetCDF files are read, FILE.nc",
                                          path, f.name, f.python_reader, quoted(path)));
  return path;
}

std::vector<std::string> words(const std::string& text) {
  std::istringstream stream(text);
  std::vector<std::string> list;
  for (std::string word; stream >> word;) list.push_back(word);
  return list;
}

result_file::result_file(const std::string& path) : netcdf_file(must_be_read_here(path), "not a result file") {
  if (!has_attribute("saltus_version"))
    throw error(exit_failure, path + " is not a result of saltus: it has no attribute saltus_version");
  instances_ = dimension("instance");
}

void result_file::must_be_plausible() const {
  // Values that are never written take no space, so that a file of a few kB may have any number of instances that were
  // not run.
  constexpr std::size_t many = std::size_t{1} << 27, per_byte = 64;
  if (instances_ / per_byte > many / per_byte + bytes())
    throw error(exit_failure,
                fmt::format("{} declares {} instances and has {}: it cannot have their results, and they are not "
                            "counted",
                            path(), instances_, bytes_text(static_cast<std::int64_t>(bytes()))));
}

std::vector<const result_variable*> result_file::with_role(std::string_view role) const {
  std::vector<const result_variable*> found;
  for (const result_variable& v : variables())
    if (v.role == role) found.push_back(&v);
  return found;
}

const result_variable& result_file::at(std::string_view name) const {
  if (const result_variable* v = find(name)) return *v;
  throw error(exit_failure, fmt::format("{} is not a result of saltus: it has no variable {}", path(), name));
}

unsigned long long result_file::seed() const { return whole_number("seed"); }

status_row row_of(long long number) {
  if (number >= 0 && number < status_count) return status_table[number];
  return {static_cast<status>(number), "unknown", "a status this version does not know",
          "look at it with the version that wrote it", status_group::failed};
}

std::vector<long long> exceptions_of(const result_file& f, std::size_t first, std::size_t count) {
  const result_variable* v = f.find("exception");
  return v ? f.integers(*v, first, count) : std::vector<long long>(count, 0);
}

namespace {

/// The meaning of a flag whose values begin at `first` with "none".
std::string meaning_of(const result_file& f, const char* name, std::size_t instance, long long first) {
  const result_variable* v = f.find(name);
  if (!v) return {};
  const auto number = f.integers(*v, instance, 1)[0] - first;
  const auto names = words(f.text("flag_meanings", *v));
  return number > 0 && number < std::ssize(names) ? names[static_cast<std::size_t>(number)] : std::string();
}

}  // namespace

std::string residual_of(const result_file& f, std::size_t instance) {
  return meaning_of(f, "residual_of", instance, -1);
}

std::string switched_to(const result_file& f, std::size_t instance) {
  if (f.find("switched_to")) return meaning_of(f, "switched_to", instance, 0);
  const result_variable* time = f.find("switched");  // of a file that knows one method
  return time && f.value(*time, instance) == f.value(*time, instance) ? f.text("stiff_method") : std::string();
}

std::vector<std::string> dependent_of(const result_file& f, std::size_t instance) {
  const result_variable* v = f.find("dependent");
  if (!v) return {};
  const auto bits = f.integers(*v, instance, 1)[0];
  const auto names = words(f.text("flag_meanings", *v));
  std::vector<std::string> all;
  for (std::size_t k = 0; k < std::min<std::size_t>(names.size(), 63); ++k)
    if ((bits >> k & 1) != 0) all.push_back(names[k]);
  return all;
}

namespace {

/// Statuses or exceptions of instances, each checked to be in the range of statuses.
std::vector<std::size_t> numbers_of_status(const result_file& f, const result_variable& v, std::size_t first,
                                           std::size_t n) {
  std::vector<std::size_t> all;
  for (const long long number : f.integers(v, first, n)) {
    if (number < 0 || number >= statuses)
      throw error(exit_failure, fmt::format("cannot read {}: {} of instance {} is {}, and no status", f.path(), v.name,
                                            first + all.size(), number));
    all.push_back(static_cast<std::size_t>(number));
  }
  return all;
}

/// The census of a file without rows, from its attributes. Its counters are among the statistics.
census noted_census(const result_file& f) {
  census c;
  const auto noted = [&](const std::string& name) {
    const auto n = f.whole_numbers(("count_" + name).c_str());
    return n.size() == 1 ? static_cast<std::int64_t>(n[0]) : 0;
  };
  for (const status_row& row : status_table) {
    c.by_status[static_cast<std::size_t>(row.id)] = noted(row.name);
    c.by_rescue[static_cast<std::size_t>(row.id)] = noted("rescued_from_" + std::string(row.name));
  }
  c.switched = noted("switched");
  return c;
}

}  // namespace

census take_census(const result_file& f) {
  if (!f.has_rows()) return noted_census(f);
  f.must_be_plausible();
  census c;
  const result_variable &status = f.at("status"), *rescued = f.find("exception");
  const auto counters = f.with_role("counter");
  const result_variable* switched = f.find("switched");
  c.counters.resize(counters.size());
  for (std::size_t first = 0; first < f.instances(); first += block) {
    const std::size_t n = std::min(block, f.instances() - first);
    const auto by = numbers_of_status(f, status, first, n);
    const auto was_started = [&](std::size_t i) { return by[i] != static_cast<std::size_t>(status::not_run); };
    const auto exception = rescued ? numbers_of_status(f, *rescued, first, n) : std::vector<std::size_t>(n, 0);
    for (std::size_t i = 0; i < n; ++i) {
      ++c.by_status[by[i]];
      c.started += was_started(i);
      if (exception[i] != 0 && row_of(static_cast<long long>(by[i])).group == status_group::ok)
        ++c.by_rescue[exception[i]];
    }
    if (switched)
      for (const double t : f.reals(*switched, {first, 0}, {n, 1})) c.switched += t == t;
    for (std::size_t j = 0; j < counters.size(); ++j) {
      const auto values = f.integers(*counters[j], first, n);
      value_range& r = c.counters[j];
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

std::int64_t event_rows_of(const result_file& f, std::int64_t first, std::int64_t instances, std::int64_t before) {
  const result_variable& size = f.at("event_row_size");
  const auto whole = static_cast<std::int64_t>(f.dimension("event"));
  const auto from = static_cast<std::size_t>(first), end = static_cast<std::size_t>(first + instances);
  std::int64_t count = 0;
  for (std::size_t i = from; i < end; i += block)
    for (const long long rows : f.integers(size, i, std::min(block, end - i))) {
      if (rows < 0 || rows > whole - before - count)
        throw error(exit_failure, fmt::format("cannot read {}: {} does not fit the {} rows of its event log", f.path(),
                                              size.name, whole));
      count += rows;
    }
  return count;
}

instance_events events_of(const result_file& f, std::size_t instance) {
  instance_events e;
  if (!f.find("event_row_size")) return e;
  f.must_be_plausible();
  const auto which = static_cast<std::int64_t>(instance), before = event_rows_of(f, 0, which, 0);
  const auto start = static_cast<std::size_t>(before),
             count = static_cast<std::size_t>(event_rows_of(f, which, 1, before));
  const result_variable& guard = f.at("event_guard");
  const auto guards = words(f.text("flag_meanings", guard));
  for (long long g : f.integers(guard, start, count))
    e.guards.push_back(g >= 0 && static_cast<std::size_t>(g) < guards.size() ? guards[static_cast<std::size_t>(g)]
                                                                             : std::to_string(g));
  const auto column = [&](const result_variable& v) { return f.reals(v, {start, 0}, {count, 1}); };
  e.time = column(f.at("event_time"));
  constexpr std::string_view prefix = "before_";
  for (const result_variable* v : f.with_role("event")) {
    if (!std::string_view(v->name).starts_with(prefix)) continue;
    e.states.push_back(v->name.substr(prefix.size()));
    e.before.push_back(column(*v));
    e.after.push_back(column(f.at("event_" + e.states.back())));
  }
  return e;
}

std::vector<std::pair<std::string, std::vector<double>>> samples_of(const result_file& f, std::size_t instance) {
  std::vector<std::pair<std::string, std::vector<double>>> columns;
  for (const char* role : {"time", "sample"})
    for (const result_variable* v : f.with_role(role)) {
      const std::size_t times = f.dimension("time");
      columns.emplace_back(v->name, v->dimensions.size() == 1 ? f.reals(*v, {0, 0}, {times, 1})
                                                              : f.reals(*v, {instance, 0}, {1, times}));
    }
  return columns;
}

failures find_failures(const result_file& f, std::size_t most) {
  failures found;
  f.must_be_plausible();
  const result_variable& status = f.at("status");
  for (std::size_t first = 0; first < f.instances(); first += block) {
    const auto by = numbers_of_status(f, status, first, std::min(block, f.instances() - first));
    for (std::size_t i = 0; i < by.size(); ++i) {
      const auto number = static_cast<long long>(by[i]);
      const status_group group = row_of(number).group;
      found.not_finished += group == status_group::not_finished;
      if (group != status_group::failed) continue;
      ++found.count;
      ++found.by_status[by[i]];
      if (found.first.size() < most) {
        found.first.push_back(first + i);
        found.status.push_back(number);
      }
    }
  }
  return found;
}

std::vector<const result_variable*> varied_inputs(const result_file& f) {
  std::vector<const result_variable*> list;
  for (const char* role : {"parameter", "initial", "span"})
    for (const result_variable* v : f.with_role(role))
      if (v->per_instance()) list.push_back(v);
  return list;
}

}  // namespace saltus::host
