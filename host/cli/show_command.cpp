#include "cli/show_command.hpp"

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "abi/status.hpp"
#include "base/error.hpp"
#include "base/json.hpp"
#include "base/text.hpp"
#include "cli/tell.hpp"
#include "ensemble/run_statistics.hpp"
#include "result/journal.hpp"
#include "result/reader.hpp"

namespace saltus::host {

namespace {

constexpr std::size_t shown_rows = 50;   // of failed instances and events, in text output
constexpr std::size_t shown_times = 10;  // of samples, in text output

std::string percent(std::int64_t part, std::size_t all) {
  return fmt::format("{:.2f} %", 100.0 * static_cast<double>(part) / static_cast<double>(all));
}

/// A table with columns as wide as their widest cell; the first `left` columns, and the last if it holds words, are
/// aligned left.
class text_table {
 public:
  text_table(std::size_t left, bool words_last) : left_(left), words_last_(words_last) {}
  void add(std::vector<std::string> row) {
    for (std::string& cell : row) cell = printable_line(cell);
    rows_.push_back(std::move(row));
  }
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
      tell(out, "{}\n", line);
    }
  }

 private:
  std::size_t left_;
  bool words_last_;
  std::vector<std::vector<std::string>> rows_;
};

void print_json(const json& o, std::FILE* out) { tell(out, "{}\n", json_text(o)); }

// ------------------------------------------------------------------------------------------------------ the whole file

/// The name of a statistics variable without its prefix.
constexpr std::string_view statistics_prefix = "statistics_", histogram_prefix = "histogram_";
std::string name_behind(std::string_view prefix, const result_variable& v) {
  return v.name.starts_with(prefix) ? v.name.substr(prefix.size()) : v.name;
}

json statistics_as_json(const result_file& f) {
  json all = json::object();
  for (const result_variable* v : f.with_role("statistics")) {
    const auto numbers = f.reals(*v, {0, 0}, {statistic_names.size(), 1});
    json one = json::object();
    for (std::size_t k = 0; k < numbers.size(); ++k) one[statistic_names[k]] = numbers[k];
    all[name_behind(statistics_prefix, *v)] = std::move(one);
  }
  return all;
}

json histograms_as_json(const result_file& f) {
  json all = json::object();
  for (const result_variable* v : f.with_role("histogram")) {
    json one{{"counts", f.integers(*v, 0, f.length(*v))}};
    for (const char* name : {"from", "to", "below", "above"}) one[name] = f.number(name, *v);
    all[name_behind(histogram_prefix, *v)] = std::move(one);
  }
  return all;
}

void statistics_as_text(const result_file& f, std::FILE* out) {
  text_table table(1, false);
  table.add({"", "mean", "deviation", "min", "of", "max", "of", "count"});
  for (const result_variable* v : f.with_role("statistics")) {
    const auto n = f.reals(*v, {0, 0}, {statistic_names.size(), 1});  // in the order of statistic_names
    table.add({name_behind(statistics_prefix, *v), fmt::format("{:.6g}", n[1]), fmt::format("{:.6g}", n[2]),
               fmt::format("{:.6g}", n[3]), fmt::format("{:.0f}", n[5]), fmt::format("{:.6g}", n[4]),
               fmt::format("{:.0f}", n[6]), fmt::format("{:.0f}", n[0])});
  }
  table.print(out);
  for (const result_variable* v : f.with_role("histogram"))
    tell(out, "  {}: a histogram of {} bins from {} to {}; {:.0f} below, {:.0f} above\n", v->name, f.length(*v),
         f.number("from", *v), f.number("to", *v), f.number("below", *v), f.number("above", *v));
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
  for (const result_variable& v : f.variables()) {
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
           {"seed", std::to_string(f.seed())}};  // a string, since it is a 64-bit unsigned number
  if (f.find("switched") || (c.switched > 0 && !f.has_rows())) all["switched"] = c.switched;
  all["rows"] = f.has_rows();
  if (f.find("statistic")) {
    all["statistics"] = statistics_as_json(f);
    all["histograms"] = histograms_as_json(f);
  }
  for (const char* name : {"model", "title", "model_hash", "module_hash", "sources", "method", "created",
                           "saltus_version", "compiler", "device", "spec", "settings", "history", "state", "remarks"})
    all[name] = f.text(name);
  print_json(all, out);
}

void head_as_text(const result_file& f, std::FILE* out) {
  tell(out, "{}\n", printable_line(f.path()));
  text_table head(2, false);
  head.add({"model", fmt::format("{}: {}", f.text("model"), f.text("title"))});
  head.add({"method", f.text("method")});
  head.add({"instances", std::to_string(f.instances())});
  const double seconds = f.number("wall_time_s");  // NaN if the run did not end normally
  head.add({"run", fmt::format("{}, {}on {}, saltus {}", f.text("created"),
                               seconds == seconds ? fmt::format("{:.4g} s ", seconds) : "", f.text("device"),
                               f.text("saltus_version"))});
  // Files of older versions have no state.
  if (const std::string state = f.text("state"); !state.empty() && state != "complete")
    head.add({"state", state == "unfinished" ? "unfinished: its run is under way, or was killed" : state});
  head.print(out);
  if (const std::string remarks = f.text("remarks"); !remarks.empty()) tell(out, "\n{}\n", remarks);
}

void statuses_as_text(const result_file& f, const census& c, std::FILE* out) {
  tell(out, "\nstatus\n");
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
}

void counters_as_text(const result_file& f, const census& c, std::FILE* out) {
  const auto counters = f.with_role("counter");
  tell(out, "\nper instance\n");
  text_table table(1, false);
  table.add({"", "min", "mean", "max"});
  for (std::size_t j = 0; j < counters.size(); ++j)
    table.add({counters[j]->name, fmt::format("{:.0f}", c.counters[j].min),
               fmt::format("{:.1f}", c.counters[j].sum / static_cast<double>(c.started)),
               fmt::format("{:.0f}", c.counters[j].max)});
  table.print(out);
}

void variables_as_text(const result_file& f, std::FILE* out) {
  tell(out, "\nvariables\n");
  text_table variables(2, true);
  std::size_t kept = 0;
  for (const result_variable& v : f.variables()) {
    if (v.role == "kept") {
      ++kept;
      continue;
    }
    const std::string name = v.dimensions.empty() ? fmt::format("{} = {}", v.name, f.value(v, 0))
                                                  : fmt::format("{}({})", v.name, fmt::join(v.dimensions, ", "));
    variables.add({name, v.bracketed_unit(), v.about});
  }
  variables.print(out);
  if (kept > 0)
    tell(out, "  and {} of scheduled events and random streams, from which a run goes on\n", counted(kept, "variable"));
}

/// Prints hints for further commands.
void hints_as_text(const result_file& f, std::FILE* out) {
  const std::string opening = !journal::named(f.path()).empty() ? "import saltus; data = saltus.so_far("
                                                                : "import xarray; data = xarray.open_dataset(";
  const std::string python = opening + quoted(f.path()) + ")", word = shell_word_to_type(f.path());
  if (!f.has_rows()) {
    tell(out,
         "\nopen it; it has no results of single instances (output.rows = false)\n"
         "  python3: {}; data[\"statistics_t_final\"]\n",
         python);
    return;
  }
  tell(out,
       "\nopen it\n"
       "  saltus show {0} --instance 0     one instance\n"
       "  saltus show {0} --failed         the failed ones\n"
       "  python3: {1}; data[\"status\"]\n",
       word, python);
}

void summary_as_text(const result_file& f, const census& c, std::FILE* out) {
  head_as_text(f, out);
  statuses_as_text(f, c, out);
  if (c.started > 0) counters_as_text(f, c, out);
  if (f.find("statistic")) {
    tell(out, "\nover the instances that ended well\n");
    statistics_as_text(f, out);
  }
  variables_as_text(f, out);
  hints_as_text(f, out);
}

// -------------------------------------------------------------------------------------------------------- one instance

/// The variables of a role with one value per instance; excludes sensitivity indices, which have the role of
/// derivatives.
std::vector<const result_variable*> values_with_role(const result_file& f, std::string_view role) {
  auto all = f.with_role(role);
  std::erase_if(all, [](const result_variable* v) { return !v->dimensions.empty() && !v->per_instance(); });
  return all;
}

void instance_as_json(const result_file& f, std::size_t instance, std::FILE* out) {
  const status_row row = row_of(f.integers(f.at("status"), instance, 1)[0]);
  json all{{"file", f.path()},
           {"instance", static_cast<std::int64_t>(instance)},
           {"status", json{{"name", row.name}, {"meaning", row.meaning}, {"remedy", row.remedy}}}};
  if (const auto e = exceptions_of(f, instance, 1)[0]; e != 0) all["exception"] = row_of(e).name;
  if (const result_variable* v = f.find("switched")) {
    all["switched"] = f.value(*v, instance);
    all["switched_to"] = switched_to(f, instance);
  }
  if (const result_variable* v = f.find("residual")) {
    all["residual"] = f.value(*v, instance);
    all["residual_of"] = residual_of(f, instance);
  }
  if (const auto names = dependent_of(f, instance); !names.empty()) all["dependent"] = names;
  for (const char* role :
       {"parameter", "initial", "span", "record", "final", "counter", "reduction", "sensitivity", "lyapunov"}) {
    json values = json::object();
    for (const result_variable* v : values_with_role(f, role))
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

/// Prints how the instance ended, and unusual events.
void end_as_text(const result_file& f, std::size_t instance, std::FILE* out) {
  const status_row row = row_of(f.integers(f.at("status"), instance, 1)[0]);
  tell(out, "{}, instance {} of {}\n", f.path(), instance, f.instances());
  tell(out, "  status   {}: {}\n", row.name, row.meaning);
  if (row.group != status_group::ok) tell(out, "  remedy   {}\n", row.remedy);
  if (const auto e = exceptions_of(f, instance, 1)[0]; e != 0)
    tell(out, "  rescue   took over; lanes gave up with {}: {}\n", row_of(e).name, row_of(e).meaning);
  if (const auto to = switched_to(f, instance); !to.empty())
    tell(out, "  stiff    went over to {} at t = {}\n", to, f.value(f.at("switched"), instance));
  if (const auto of = residual_of(f, instance); !of.empty())
    tell(out, "  residual {:.3g} in the equation of {}{}\n", f.value(f.at("residual"), instance), of,
         row.id == status::inconsistent ? ", the worst" : ", the largest after any step");
  if (const auto names = dependent_of(f, instance); !names.empty())
    tell(out, "  depend on each other: {}\n", fmt::join(names, ", "));
}

void values_as_text(const result_file& f, std::size_t instance, std::FILE* out) {
  constexpr std::pair<const char*, const char*> parts[] = {
      {"parameter", "parameters"},    {"initial", "initial values"},
      {"span", "time span"},          {"record", "records"},
      {"final", "at the end"},        {"reduction", "reductions"},
      {"sensitivity", "derivatives"}, {"lyapunov", "Lyapunov exponents"},
      {"counter", "counters"}};
  for (const auto& [role, title] : parts) {
    text_table table(3, true);
    for (const result_variable* v : values_with_role(f, role))
      table.add({v->name, fmt::format("{}", f.value(*v, instance)), v->bracketed_unit(), v->about});
    if (table.empty()) continue;
    tell(out, "\n{}\n", title);
    table.print(out);
  }
}

void events_as_text(const result_file& f, std::size_t instance, std::FILE* out) {
  const instance_events e = events_of(f, instance);
  tell(out, "\nevents: {}\n", e.time.size());
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
  if (e.time.size() > shown_rows) tell(out, "  and {} more\n", e.time.size() - shown_rows);
}

void samples_as_text(const result_file& f, std::size_t instance, std::FILE* out) {
  const auto samples = samples_of(f, instance);
  if (samples.empty()) return;
  const std::size_t times = samples[0].second.size();
  tell(out, "\nsamples: {}\n", times);
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
  if (times > shown_times) tell(out, "  and {} more\n", times - shown_times);
}

void instance_as_text(const result_file& f, std::size_t instance, std::FILE* out) {
  end_as_text(f, instance, out);
  values_as_text(f, instance, out);
  if (f.find("event_row_size")) events_as_text(f, instance, out);
  samples_as_text(f, instance, out);
}

// ---------------------------------------------------------------------------------------------------- failed instances

void failed_as_json(const result_file& f, const failures& found, std::FILE* out) {
  json list = json::array();
  for (std::size_t k = 0; k < found.first.size(); ++k) {
    const std::size_t i = found.first[k];
    const status_row row = row_of(found.status[k]);
    json inputs = json::object();
    for (const result_variable* v : varied_inputs(f)) inputs[v->name] = f.value(*v, i);
    json one{{"instance", static_cast<std::int64_t>(i)},
             {"status", row.name},
             {"t_final", f.value(f.at("t_final"), i)},
             {"inputs", inputs},
             {"meaning", row.meaning},
             {"remedy", row.remedy}};
    if (const result_variable* v = f.find("residual")) {
      one["residual"] = f.value(*v, i);
      one["residual_of"] = residual_of(f, i);
    }
    if (const auto names = dependent_of(f, i); !names.empty()) one["dependent"] = names;
    list.push_back(std::move(one));
  }
  print_json(
      json{{"file", f.path()}, {"failed", found.count}, {"not_finished", found.not_finished}, {"instances", list}},
      out);
}

void failed_as_text(const result_file& f, const failures& found, std::FILE* out) {
  tell(out, "{}: {} of {} instances failed", f.path(), found.count, f.instances());
  if (found.not_finished > 0) tell(out, ", {} did not finish", found.not_finished);
  tell(out, "\n");
  if (found.count == 0) return;
  const auto inputs = varied_inputs(f);
  text_table table(0, true);
  std::vector<std::string> header = {"instance"};
  for (const result_variable* v : inputs) header.push_back(v->name);
  const bool residuals = f.find("residual") != nullptr;
  if (residuals) header.insert(header.end(), {"residual", "of"});
  header.insert(header.end(), {"t_final", "status"});
  table.add(header);
  for (std::size_t k = 0; k < found.first.size(); ++k) {
    const std::size_t i = found.first[k];
    std::vector<std::string> cells = {std::to_string(i)};
    for (const result_variable* v : inputs) cells.push_back(fmt::format("{}", f.value(*v, i)));
    if (residuals) {
      cells.push_back(fmt::format("{:.3g}", f.value(f.at("residual"), i)));
      cells.push_back(residual_of(f, i));
    }
    cells.push_back(fmt::format("{:.9g}", f.value(f.at("t_final"), i)));
    cells.push_back(row_of(found.status[k]).name);
    table.add(cells);
  }
  table.print(out);
  if (static_cast<std::size_t>(found.count) > found.first.size())
    tell(out, "  and {} more\n", static_cast<std::size_t>(found.count) - found.first.size());
  tell(out, "\nwhat it means and what to do\n");
  for (std::size_t s = 0; s < found.by_status.size(); ++s)
    if (found.by_status[s] > 0) {
      const status_row row = row_of(static_cast<long long>(s));
      tell(out, "  {} ({}): {}\n    {}\n", row.name, found.by_status[s], row.meaning, row.remedy);
    }
}

}  // namespace

int show(const show_options& options, std::FILE* out) {
  if (options.instance && options.failed) throw error(exit_usage, "show: give either --instance or --failed, not both");
  result_file file(options.file);
  if (!options.called.empty()) file.call(options.called);
  if ((options.instance || options.failed) && !file.has_rows() && file.find("statistic"))
    throw error(exit_usage, fmt::format("{} has no results of single instances (output.rows = false)", file.path()));
  if (options.instance) {
    const std::int64_t i = *options.instance;
    if (i < 0 || static_cast<std::size_t>(i) >= file.instances())
      throw error(exit_usage, fmt::format("--instance {}: {} has instances 0 to {}", i, file.path(),
                                          static_cast<std::int64_t>(file.instances()) - 1));
    (options.json ? instance_as_json : instance_as_text)(file, static_cast<std::size_t>(i), out);
  } else if (options.failed) {
    (options.json ? failed_as_json : failed_as_text)(file, find_failures(file, shown_rows), out);
  } else {
    (options.json ? summary_as_json : summary_as_text)(file, take_census(file), out);
  }
  return exit_ok;
}

}  // namespace saltus::host
