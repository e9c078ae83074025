// The command line: saltus list | describe | check | run | bench | show | doctor.
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <thread>
#include <utility>

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "backend/cpu.hpp"
#include "backend/cuda/devices.hpp"
#include "backend/cuda/report.hpp"
#include "backend/make.hpp"
#include "base/cancellation.hpp"
#include "base/error.hpp"
#include "base/files.hpp"
#include "base/json.hpp"
#include "base/paths.hpp"
#include "base/version.hpp"
#include "bench/advise.hpp"
#include "bench/bench.hpp"
#include "cli/progress.hpp"
#include "compile/compiler.hpp"
#include "compile/lane_shape.hpp"
#include "ensemble/model_call.hpp"
#include "ensemble/pipeline.hpp"
#include "ensemble/statistics.hpp"
#include "ensemble/tally.hpp"
#include "result/hdf5.hpp"
#include "result/part_file.hpp"
#include "result/provenance.hpp"
#include "result/result.hpp"
#include "result/show.hpp"
#include "spec/spec.hpp"
#include "study/cost.hpp"
#include "study/measure.hpp"
#include "study/tune.hpp"

namespace saltus::host {
namespace {

const cancellation interrupted;
volatile std::sig_atomic_t signals_came = 0;

/// The first Ctrl-C asks what is under way to end, and a run to write what is finished; the second ends the program at once.
/// A terminal that goes away may say so more than once.
extern "C" void on_signal(int number) {
  if (signals_came != 0 && number != SIGHUP) std::signal(number, SIG_DFL), std::raise(number);
  signals_came = 1;
  interrupted.cancel();
}

/// From now on a signal ends what is under way rather than the program; so does a terminal that goes away, unless nohup
/// has been told to let it go.
void listen_to_signals() {
  std::signal(SIGINT, on_signal);
  std::signal(SIGTERM, on_signal);
  if (std::signal(SIGHUP, on_signal) == SIG_IGN) std::signal(SIGHUP, SIG_IGN);
}

/// A message to stderr. That it cannot be written there must not end a run.
template <class... Args>
void say(fmt::format_string<Args...> form, Args&&... args) {
  std::fputs(fmt::format(form, std::forward<Args>(args)...).c_str(), stderr);
}

const char* direction_name(abi::direction d) {
  return d == abi::rising ? "rising" : d == abi::falling ? "falling" : "both";
}

/// "1 state", "3 states".
std::string counted(std::size_t n, const char* noun) { return fmt::format("{} {}{}", n, noun, n == 1 ? "" : "s"); }

const char* equations_name(abi::equations e) {
  const char* const names[] = {"plain", "semi_explicit", "with_mass", "implicit"};
  return names[e];
}

/// "1 algebraic state", "2 algebraic states"; empty without any.
std::string algebraic_text(const model& m) {
  const auto n = std::count_if(m.states.begin(), m.states.end(), [](const quantity& q) { return q.index > 0; });
  return n > 0 ? counted(static_cast<std::size_t>(n), "algebraic state") : std::string();
}

/// What is not plain about the equations of a model, for a list: ", 1 algebraic state, mass matrix".
std::string special_text(const model& m) {
  std::string text;
  if (const auto algebraic = algebraic_text(m); !algebraic.empty()) text += ", " + algebraic;
  if (m.equations == abi::with_mass) text += ", mass matrix";
  if (m.equations == abi::implicit) text += ", implicit";
  return text;
}

/// The equations of a model as one writes them.
std::string equations_text(const model& m) {
  const char* const forms[] = {"dy/dt = f(t, y)", "dy/dt = f(t, y), 0 = g(t, y)", "M dy/dt = f(t, y)",
                               "0 = r(t, y, dy/dt)"};
  std::string text = forms[m.equations];
  if (m.singular_mass) text += ", M singular";
  if (highest_index(m) > 0) text += fmt::format("; {} of index {}", algebraic_text(m), highest_index(m));
  return text;
}

void print_quantities(const char* title, const std::vector<quantity>& list, bool with_value) {
  if (list.empty()) return;
  fmt::print("\n{}\n", title);
  for (const auto& q : list)
    fmt::print("  {:<18} {:>12} {:<10} {}{}\n", q.name, with_value ? fmt::format("{:g}", q.value) : "",
               q.unit == "1" ? "" : q.unit, q.about,
               q.index > 0 ? fmt::format(" (algebraic, index {})", q.index) : std::string());
}

json describe_json(const model& m) {
  const auto quantities = [](const std::vector<quantity>& list, bool are_states = false) {
    json a = json::array();
    for (const auto& q : list) {
      json entry{{"name", q.name}, {"default", q.value}, {"unit", q.unit}, {"about", q.about}};
      if (are_states) entry["index"] = q.index;
      a.push_back(std::move(entry));
    }
    return a;
  };
  json guards = json::array();
  for (const auto& g : m.guards)
    guards.push_back(json{{"name", g.name},
                          {"direction", direction_name(g.direction)},
                          {"sidedness", g.sidedness == abi::unilateral ? "unilateral" : "bilateral"},
                          {"terminal", g.terminal},
                          {"may_slide", g.slides},
                          {"about", g.about}});
  json time_events = json::array();
  for (const auto& i : m.time_events) time_events.push_back(json{{"name", i.name}, {"about", i.about}});
  return json{{"model", m.name},
              {"title", m.title},
              {"source", m.source},
              {"header", m.header.string()},
              {"t", json::array({m.t_begin, m.t_end})},
              {"equations", equations_name(m.equations)},
              {"singular_mass", m.singular_mass},
              {"states", quantities(m.states, true)},
              {"parameters", quantities(m.parameters)},
              {"discretes", quantities(m.discretes)},
              {"guards", guards},
              {"time_events", time_events},
              {"outputs", quantities(m.outputs)}};
}

int list_models(bool as_json) {
  json all = json::array();
  for (const auto& name : builtin_names()) {
    const model m = describe_model(find_model(name));
    if (as_json)
      all.push_back(json{{"model", m.name},
                         {"title", m.title},
                         {"equations", equations_name(m.equations)},
                         {"states", m.states.size()},
                         {"guards", m.guards.size()},
                         {"time_events", m.time_events.size()}});
    else
      fmt::print("{:<26} {} ({}{}, {}{})\n", m.name, m.title, counted(m.states.size(), "state"), special_text(m),
                 counted(m.guards.size(), "guard"),
                 m.time_events.empty() ? "" : ", " + counted(m.time_events.size(), "time event"));
  }
  if (as_json) fmt::print("{}\n", json_text(json{{"models", all}}));
  return exit_ok;
}

int describe(const std::string& name, bool as_json) {
  const model m = describe_model(find_model(name), interrupted);
  if (as_json) {
    fmt::print("{}\n", json_text(describe_json(m)));
    return exit_ok;
  }
  fmt::print("{}: {}\n  source: {}\n  file:   {}\n  t:      {:g} .. {:g}\n  form:   {}\n", m.name, m.title, m.source,
             m.header.string(), m.t_begin, m.t_end, equations_text(m));
  print_quantities("states (initial value, unit, meaning)", m.states, true);
  print_quantities("parameters (default, unit, meaning)", m.parameters, true);
  print_quantities("discrete variables (initial value, unit, meaning)", m.discretes, true);
  print_quantities("outputs (unit, meaning)", m.outputs, false);
  if (!m.guards.empty()) fmt::print("\nguards (direction, sidedness, meaning)\n");
  for (const auto& g : m.guards)
    fmt::print("  {:<18} {:<8} {:<11}{}{} {}\n", g.name, direction_name(g.direction),
               g.sidedness == abi::unilateral ? "unilateral" : "bilateral", g.terminal ? " terminal" : "",
               g.slides ? " may slide" : "", g.about);
  if (!m.time_events.empty()) fmt::print("\ntime events (meaning)\n");
  for (const auto& i : m.time_events) fmt::print("  {:<18} {}\n", i.name, i.about);
  return exit_ok;
}

/// What `run` and `check` are given: a spec file or a model, and flags that change it.
struct run_arguments {
  std::string subject;
  std::vector<flag> flags;
  bool as_json = false, quiet = false;
  bool force = false;  ///< an older result is replaced
};

/// The plan of a command line; `more` flags follow those of the command line, and win.
plan plan_of(run_arguments a, const std::vector<flag>& more = {}) {
  a.flags.insert(a.flags.end(), more.begin(), more.end());
  const bool is_spec = std::filesystem::path(a.subject).extension() == ".toml";
  const spec_document spec = is_spec ? read_spec(a.subject, a.flags) : from_model(a.subject, a.flags);
  const std::string place = is_spec ? spec.model_place : std::string();
  const model m = describe_model(find_model(spec.model_header.empty() ? spec.model : spec.model_header.string(), place),
                                 interrupted);
  plan p = validate(spec, m);
  check_names(p);
  return p;
}

std::string bytes(std::int64_t n) {
  if (n == std::numeric_limits<std::int64_t>::max()) return "more than 9.2 EB (2^63 bytes)";
  const char* const units[] = {"B", "kB", "MB", "GB", "TB", "PB", "EB"};
  double x = static_cast<double>(n);
  int i = 0;
  while (x >= 1000 && i < 6) x /= 1000, ++i;
  return fmt::format("{:.{}f} {}", x, i == 0 ? 0 : 1, units[i]);
}

/// "3.2 s", "4 min", "1.5 h": as well as it is known.
std::string duration_text(double seconds) {
  if (seconds < 1e-3) return fmt::format("{:.2g} us", 1e6 * seconds);
  if (seconds < 0.995) return fmt::format("{:.2g} ms", 1e3 * seconds);
  if (seconds < 99.5) return fmt::format("{:.2g} s", seconds);
  if (seconds < 99.5 * 60) return fmt::format("{:.2g} min", seconds / 60);
  if (seconds < 99.5 * 3600) return fmt::format("{:.2g} h", seconds / 3600);
  return fmt::format("{:.3g} days", seconds / 86400);
}

double rows_per_instance(const plan& p, const prediction& cost) {
  return cost.event_rows.value / static_cast<double>(p.count);
}

/// Of the result file, compressed as the pilot's was.
std::int64_t predicted_file_bytes(const plan& p, const prediction& cost, double event_rows) {
  constexpr double most = 9e18;  // rows and bytes beyond are not counted: their type ends there
  const auto size = file_bytes(p, std::llround(std::min(event_rows, most)));
  return cost.compression < 1 ? std::llround(cost.compression * static_cast<double>(size)) : size;
}

json prediction_json(const plan& p, const backend& b, const prediction& cost) {
  json all{{"seconds", cost.seconds.value},
           {"seconds_low", cost.seconds.low},
           {"seconds_high", cost.seconds.high},
           {"write_seconds", cost.write_seconds},
           {"pilot_instances", cost.pilot_instances},
           {"pilot_seconds", cost.pilot_seconds},
           {"pilot_cut_short", cost.cut_short},
           {"memory_bytes", memory_bytes(p, b.chunk_size(), b.concurrency(), rows_per_instance(p, cost))}};
  if (!p.file.empty()) all["file_bytes"] = predicted_file_bytes(p, cost, cost.event_rows.value);
  if (p.log_events) all["event_rows"] = cost.event_rows.value;
  return all;
}

void print_prediction(const plan& p, const backend& b, const prediction& cost) {
  fmt::print("predicted  {} ({} .. {}), by {} run in {}{}\n", duration_text(cost.seconds.value),
             duration_text(cost.seconds.low), duration_text(cost.seconds.high),
             counted(static_cast<std::size_t>(cost.pilot_instances), "instance"), duration_text(cost.pilot_seconds),
             cost.cut_short ? ", which had not ended: a guess" : "");
  fmt::print("           {} of memory for chunks",
             bytes(memory_bytes(p, b.chunk_size(), b.concurrency(), rows_per_instance(p, cost))));
  if (!p.file.empty()) fmt::print(", {} of file", bytes(predicted_file_bytes(p, cost, cost.event_rows.value)));
  if (p.log_events && cost.event_rows.low < cost.event_rows.high)
    fmt::print(" ({} .. {})", bytes(predicted_file_bytes(p, cost, cost.event_rows.low)),
               bytes(predicted_file_bytes(p, cost, cost.event_rows.high)));
  if (const std::int64_t free = free_bytes(p.file);
      !p.file.empty() && free >= 0 && predicted_file_bytes(p, cost, cost.event_rows.value) > free)
    fmt::print("; {} are free in {}: it does not fit", bytes(free), folder_of(p.file).string());
  fmt::print("\n");
}

/// "dp5", or "auto (dp5, rodas5p where stiff)".
std::string method_text(const plan& p) {
  return p.stiff_method.empty() ? p.method : fmt::format("auto ({}, {} where stiff)", p.method, p.stiff_method);
}

/// About how long a pilot takes, in seconds.
constexpr double pilot_seconds = 0.4;

/// What the compiler says of the kernels for a CUDA device.
int check_cuda(const run_arguments& a, const std::string& architecture) {
  const cuda_report r = report_on_cuda(plan_of(a), architecture);
  if (a.as_json) fmt::print("{}\n", json_text(json_of(r)));
  else fmt::print("{}", text_of(r));
  return exit_ok;
}

void print_warnings(const plan& p) {
  for (const auto& warning : p.warnings) say("saltus: warning: {}\n", warning);
}

int check(const run_arguments& a, bool with_pilot) {
  const plan p = plan_of(a);
  print_warnings(p);
  const std::unique_ptr<backend> b = with_pilot ? make_backend(p, interrupted) : nullptr;
  const std::optional<prediction> cost = b ? std::optional(predict(p, *b, pilot_seconds, interrupted)) : std::nullopt;
  if (a.as_json) {
    json guards = json::array(), time_events = json::array();
    for (const auto& g : p.model.guards) guards.push_back(g.name);
    for (const auto& i : p.model.time_events) time_events.push_back(i.name);
    json all{{"model", p.model.name}, {"method", method_name(p)},
             {"instances", p.count},  {"t", json::array({p.t_begin, p.t_end})},
             {"guards", guards},      {"time_events", time_events},
             {"file", p.file},        {"bytes", expected_bytes(p)},
             {"warnings", p.warnings}};
    if (b) {
      all["chunk"] = b->chunk_size();
      all["device"] = b->device();
      all["model_hash"] = b->model_hash();
      all["compile_seconds"] = b->compile_seconds();
      all["predicted"] = prediction_json(p, *b, *cost);
      all["remarks"] = remarks_on_guards(p.model, cost->guards);
    }
    fmt::print("{}\n", json_text(all));
    return exit_ok;
  }
  fmt::print("model      {} ({}, {}, {})\n", p.model.name, counted(p.model.states.size(), "state"),
             counted(p.model.parameters.size(), "parameter"), counted(p.model.outputs.size(), "output"));
  fmt::print("method     {}, {}\n", method_text(p),
             p.fixed_step > 0 ? fmt::format("fixed step {:g}", p.fixed_step)
                              : fmt::format("{} controller, {} norm, rtol {:g}", p.controller, p.norm, p.rtol));
  fmt::print("t          {:g} .. {:g}{}\n", p.t_begin, p.t_end, p.backward ? ", backward" : "");
  fmt::print("instances  {}", p.count);
  for (const auto& axis : p.axes) {
    std::vector<std::string> columns;
    for (const auto& c : axis.columns) columns.push_back(c.what.name);
    fmt::print("{}{} ({})", &axis == p.axes.data() ? " = " : " x ", fmt::join(columns, "+"), axis.count);
  }
  if (p.samples > 1 || !p.random.empty())
    fmt::print("{}{} samples, seed {}", p.axes.empty() ? " = " : " x ", p.samples, p.seed);
  std::vector<std::string> guards;
  for (const auto& g : p.model.guards) guards.push_back(fmt::format("{} ({})", g.name, direction_name(g.direction)));
  fmt::print("\nguards     {}\n", guards.empty() ? "none" : fmt::format("{}", fmt::join(guards, ", ")));
  std::vector<std::string> time_events;
  for (const auto& i : p.model.time_events) time_events.push_back(i.name);
  if (!time_events.empty()) fmt::print("times      {}\n", fmt::join(time_events, ", "));
  if (p.file.empty()) fmt::print("output     no file\n");
  else {
    const std::int64_t free = free_bytes(p.file);
    const bool fits = p.compression > 0 || free < 0 || stored_bytes(p, 0) <= free;
    fmt::print("output     {}, {}{}{}\n", p.file, bytes(expected_bytes(p)),
               p.log_events ? " and the event log"
               : !p.rows    ? ", statistics alone"
                            : "",
               fits ? std::string()
                    : fmt::format("; {} are free in {}: it does not fit", bytes(free), folder_of(p.file).string()));
  }
  if (!b) return exit_ok;
  fmt::print("device     {}, chunks of {}\n", b->device(), b->chunk_size());
  fmt::print("compiled   {}\n",
             b->compile_seconds() > 0 ? fmt::format("in {:.1f} s", b->compile_seconds()) : "before (cached)");
  print_prediction(p, *b, *cost);
  for (const auto& remark : remarks_on_guards(p.model, cost->guards))
    fmt::print("remark     of {} tried: {}\n", cost->pilot_ended, remark);
  return exit_ok;
}

json statistics_json(const statistics& s) {
  json all = json::object();
  for (std::size_t j = 0; j < s.columns.size(); ++j) {
    json one = json::object();
    const auto numbers = statistic_numbers(s.summaries[j]);
    for (std::size_t k = 0; k < numbers.size(); ++k) one[statistic_names[k]] = numbers[k];
    all[s.columns[j].name] = std::move(one);
  }
  return all;
}

json histograms_json(const statistics& s) {
  json all = json::object();
  for (const auto& h : s.histograms) {
    all[h.name] =
        json{{"from", h.bins.from}, {"to", h.bins.to}, {"counts", h.counts}, {"below", h.below}, {"above", h.above}};
  }
  return all;
}

void print_statistics(const statistics& s) {
  if (s.columns.empty()) return;
  fmt::print("  over those that ended well:\n  {:<24} {:>12} {:>12} {:>12} {:>12}\n", "", "mean", "deviation", "min",
             "max");
  for (std::size_t j = 0; j < s.columns.size(); ++j) {
    const auto n = statistic_numbers(s.summaries[j]);  // in the order of statistic_names
    fmt::print("  {:<24} {:>12.6g} {:>12.6g} {:>12.6g} {:>12.6g}\n", s.columns[j].name, n[1], n[2], n[3], n[4]);
  }
}

json guards_json(const plan& p, const tally& counts) {
  json all = json::object();
  for (std::size_t i = 0; i < counts.guards.size(); ++i)
    all[p.model.guards[i].name] = json{{"fired", counts.guards[i].fired},
                                       {"began_beyond", counts.guards[i].began_beyond},
                                       {"crossed_against", counts.guards[i].crossed_against}};
  return all;
}

json summary_json(const plan& p, const backend& b, const run_summary& s, int code) {
  const auto named = [](const auto& counts) {
    json by = json::object();
    for (const auto& row : status_table)
      if (const auto n = counts[static_cast<std::size_t>(row.id)]; n > 0) by[row.name] = n;
    return by;
  };
  json parts = json::array();
  for (const part_of_run& part : s.parts)
    parts.push_back(json{{"device", part.device},
                         {"instances", part.instances},
                         {"chunks", part.chunks},
                         {"chunk_seconds", part.chunk_seconds}});
  json all{{"model", p.model.name},
           {"method", method_name(p)},
           {"instances", p.count},
           {"status", named(s.counts.by_status)},
           {"ok", s.counts.ok()},
           {"rescued", s.counts.rescued()},
           {"rescued_from", named(s.counts.by_rescue)},
           {"switched", s.counts.switched},
           {"failed", s.counts.failed()},
           {"not_finished", s.counts.not_finished()}};
  abi::each_named_counter(s.counts, [&](const abi::counter_row& counter, auto n) { all[counter.name] = n; });
  all.update(
      json{{"wall_seconds", s.wall_seconds},
           {"compile_seconds", b.compile_seconds()},
           {"stiff_compile_seconds", s.stiff_compile_seconds},
           {"rescue_compile_seconds", s.rescue_compile_seconds},
           {"instances_per_second", s.wall_seconds > 0 ? static_cast<double>(p.count) / s.wall_seconds : 0.0},
           {"lane_use",
            s.usage.turns > 0 ? static_cast<double>(s.usage.lane_turns) / static_cast<double>(s.usage.turns) : 0.0},
           {"device", b.device()},
           {"parts", parts},
           {"guards", guards_json(p, s.counts)},
           {"remarks", remarks_on_guards(p.model, s.counts.guards)},
           {"file", p.file},
           {"warnings", p.warnings},
           {"exit_code", code}});
  if (!s.trouble.empty()) all["model_threw"] = s.trouble;
  if (!s.crash.empty()) all["model_crashed"] = s.crash;
  if (p.statistics) {
    all["statistics"] = statistics_json(s.statistics);
    all["histograms"] = histograms_json(s.statistics);
  }
  return all;
}

/// What statistics are made of by its mean, the others by their sums.
void print_counters(const tally& counts, double instances) {
  std::string means, sums;
  abi::each_named_counter(counts, [&](const abi::counter_row& counter, std::int64_t sum) {
    std::string name = counter.name;
    std::replace(name.begin(), name.end(), '_', ' ');
    const auto add = [&](std::string& to, const std::string& what) { to += (to.empty() ? "" : ", ") + what; };
    if (counter.in_statistics) add(means, fmt::format("{:.2f} {}", static_cast<double>(sum) / instances, name));
    else if (sum > 0) add(sums, fmt::format("{} {}", sum, name));
  });
  fmt::print("  per instance: {}\n", means);
  if (!sums.empty()) fmt::print("  of all instances: {}\n", sums);
}

void print_summary(const plan& p, const backend& b, const run_summary& s) {
  const double n = static_cast<double>(p.count);
  fmt::print("{} {} in {:.2f} s: {:.4g} instances/s, {:.4g} trial steps/s\n", p.count, p.model.name, s.wall_seconds,
             n / s.wall_seconds, static_cast<double>(s.counts.steps + s.counts.rejected) / s.wall_seconds);
  fmt::print("  on {}\n", b.device());
  for (const part_of_run& part : s.parts)
    if (s.parts.size() > 1)
      fmt::print("  {:<16} {:>12}   in {} chunks\n", part.device.substr(0, part.device.find(',')), part.instances,
                 part.chunks);
  if (s.stiff_compile_seconds > 0)
    fmt::print("  {:.2f} s of it compiling {}\n", s.stiff_compile_seconds, p.stiff_method);
  if (s.rescue_compile_seconds > 0) fmt::print("  {:.2f} s of it compiling rescue\n", s.rescue_compile_seconds);
  for (const auto& row : status_table) {
    const auto some = s.counts.by_status[static_cast<std::size_t>(row.id)];
    if (some == 0) continue;
    fmt::print("  {:<16} {:>12}   {}\n", row.name, some, row.meaning);
    if (row.group != status_group::ok) fmt::print("  {:<16} {:>12}   -> {}\n", "", "", row.remedy);
    if (row.id == status::model_threw) fmt::print("  {:<16} {:>12}   {}\n", "", "", s.trouble);
  }
  for (const auto& row : status_table)
    if (const auto some = s.counts.by_rescue[static_cast<std::size_t>(row.id)]; some > 0)
      fmt::print("  {:<16} {:>12}   of these; lanes gave up: {}\n", "(rescued)", some, row.name);
  if (s.counts.switched > 0)
    fmt::print("  {:<16} {:>12}   of these; went over to {}\n", "(stiff)", s.counts.switched, p.stiff_method);
  print_counters(s.counts, n);
  for (const auto& remark : remarks_on_guards(p.model, s.counts.guards)) fmt::print("  {}\n", remark);
  print_statistics(s.statistics);
  if (p.file.empty()) fmt::print("no result file: -o FILE writes one\n");
  else
    fmt::print("wrote {}\n  look at it:  saltus show {}\n  in Python:   xarray.open_dataset(\"{}\")\n", p.file, p.file,
               p.file);
}

/// Before anything is compiled: what cannot be written must not be found out after an hour.
void check_output(const plan& p, existing older) {
  if (p.file.empty()) return;
  auto inputs = p.inputs;
  for (const auto& file : files_of_model(p.model)) inputs.push_back(file);
  check_result_path(p.file, older, inputs);
  const std::int64_t needed = stored_bytes(p, 0), free = free_bytes(p.file);
  if (free < 0 || needed <= free) return;
  const auto folder = folder_of(p.file).string();
  if (p.compression > 0)
    say("{} will have {} before it is compressed, and {} are free in {}\n", p.file, bytes(needed), bytes(free), folder);
  else
    throw error(exit_failure,
                fmt::format("cannot write {}: it will have {}{}, and {} are free in {}; fewer instances or samples, "
                            "output.rows = false or output.compression make it smaller",
                            p.file, bytes(needed), p.log_events ? " and the event log" : "", bytes(free), folder));
}

/// After an error: what the file has of finished instances stays.
void keep_what_is_finished(result_writer& file, const plan& p, const std::string& reason) {
  std::int64_t kept = 0;
  try {
    kept = file.keep(reason);
  } catch (const std::exception& e) { say("saltus: {}\n", e.what()); }
  if (kept > 0) say("saltus: {} of {} instances are kept in {}\n", kept, p.count, file.part().path().string());
}

/// "1 instance (7313) for 1:20": where a few are far slower than all others, these are named.
std::string lone_slow_text() {
  constexpr double long_time = 10;  // seconds
  constexpr std::size_t few = 3;
  const auto slow = slow_instances(long_time);
  if (slow.empty() || slow.size() > few) return {};
  std::vector<std::int64_t> ids;
  for (const auto& one : slow) ids.push_back(one.id);
  return fmt::format("{} ({}) for {}", counted(slow.size(), "instance"), fmt::join(ids, ", "),
                     hours(slow.front().seconds));
}

/// What the progress line says instead of the rate.
std::string progress_note() {
  const std::string compiling = compiling_now();
  return compiling.empty() ? lone_slow_text() : compiling;
}

int run(const run_arguments& a, const std::vector<std::string>& command) {
  plan p = plan_of(a);
  const auto older = a.force ? existing::replaced : existing::refused;
  print_warnings(p);
  check_output(p, older);
  if (p.file.empty()) p.log_events = false;  // there is nobody to read it
  std::signal(SIGPIPE, SIG_IGN);             // whoever reads messages may go, the run goes on
  auto b = make_backend(p, interrupted);
  if (b->compile_seconds() > 0 && !a.quiet)
    say("compiled {} with {} in {:.1f} s\n", p.model.name, p.method, b->compile_seconds());
  if (tune_long_run(p, *b, interrupted)) b = make_backend(p, interrupted);
  std::unique_ptr<result_writer> file;
  if (!p.file.empty()) {
    file = std::make_unique<result_writer>(p.file, p, provenance_of(p, *b, shell_line(command)), older);
    if (const auto& old = file->part().set_aside(); !old.empty())
      say("a run that did not end has left finished instances: they are now in {}\n", old.string());
  }

  auto beside = measure_beside(p, *b, command);
  progress bar(p.count, p.model.name, a.quiet, stderr, progress_note);
  run_summary s;
  try {
    s = run_ensemble(
        p, *b,
        [&](const chunk_data& chunk) {
          try {
            if (file) file->write(chunk);
          } catch (...) {
            interrupted.cancel();  // what is under way cannot be kept
            throw;
          }
        },
        [&](std::int64_t some) { bar.add(some); }, interrupted);
  } catch (const std::exception& e) {
    bar.finish();
    if (file) keep_what_is_finished(*file, p, e.what());
    throw;
  }
  bar.finish();
  beside.reset();
  if (file) file->close(s.wall_seconds, s.statistics);

  const auto failed = s.counts.failed();
  int code = exit_ok;
  if (!s.crash.empty()) code = exit_failure;
  else if (s.interrupted && s.counts.not_finished() > 0) code = exit_interrupted;
  else if (static_cast<double>(failed) > p.allowed_failed * static_cast<double>(p.count)) code = exit_failed_instances;
  if (a.as_json) fmt::print("{}\n", json_text(summary_json(p, *b, s, code)));
  else print_summary(p, *b, s);
  if (!s.crash.empty())
    say("saltus: {}\n  the run was ended: {} instances did not finish{}\n", s.crash, s.counts.not_finished(),
        p.file.empty() ? "" : "; those that did are in " + p.file);
  if (code == exit_failed_instances)
    say("{} of {} instances failed, {:g} % allowed (run.allowed_failed)\n", failed, p.count, 100 * p.allowed_failed);
  if (code == exit_interrupted) say("interrupted: {} instances did not finish\n", s.counts.not_finished());
  return code;
}

/// What a run has started beside itself, with its own arguments.
int measure_beside_run(const run_arguments& a) {
  end_with_parent();
  measure_lanes(plan_of(a), interrupted);
  return exit_ok;
}

/// What was looked up, or why it is not there.
struct finding {
  std::string text, trouble;
  const std::string& either() const { return trouble.empty() ? text : trouble; }
};

finding look_up(const std::function<std::string()>& what) {
  try {
    return {what(), {}};
  } catch (const std::exception& e) { return {{}, e.what()}; }
}

int clear_cache(bool as_json) {
  const auto removed = clear_module_cache();
  if (as_json)
    fmt::print("{}\n", json_text(json{{"cache", cache_folder().string()},
                                      {"removed_files", removed.files},
                                      {"removed_bytes", removed.bytes}}));
  else fmt::print("removed {} files, {}, from {}\n", removed.files, bytes(removed.bytes), cache_folder().string());
  return exit_ok;
}

int doctor(bool as_json, bool measure) {
  const unsigned threads = std::thread::hardware_concurrency();
  const finding house = look_up([] { return home().string(); });
  const finding folder = look_up([] { return cache_folder().string(); });
  const finding compiler =
      look_up([] { return find_compiler().version + " (" + find_compiler().program.string() + ")"; });
  cache_size cached;
  if (folder.trouble.empty()) cached = module_cache_size();
  const bool equipped = house.trouble.empty() && folder.trouble.empty() && compiler.trouble.empty();
  const finding unit = look_up([&] {
    if (!equipped) return "no";
    make_cpu_backend(validate(from_model("lorenz"), describe_model(find_model("lorenz"))), interrupted);
    return "yes";
  });
  if (measure && unit.text == "yes") {
    measure_machine(interrupted, [](const std::string& text) { say("{}", text); });
  }
  const auto shapes = equipped ? machine_shapes() : std::vector<machine_shape>();
  std::int64_t files = 0, size = 0;
  std::error_code gone;  // another saltus may be at work in there
  if (folder.trouble.empty())
    for (const auto& entry : std::filesystem::directory_iterator(folder.text, gone))
      if (const auto n = entry.file_size(gone); !gone) ++files, size += static_cast<std::int64_t>(n);
  std::string device;
  const std::string absent = cuda_absent(&device);
  const bool works = unit.text == "yes";
  if (as_json) {
    json troubles = json::array();
    for (const finding* f : {&house, &folder, &compiler, &unit})
      if (!f->trouble.empty()) troubles.push_back(f->trouble);
    fmt::print("{}\n", json_text(json{{"version", version_with_commit()},
                                      {"home", house.text},
                                      {"compiler", compiler.text},
                                      {"compiles", works},
                                      {"troubles", troubles},
                                      {"threads", threads},
                                      {"lanes_double", native_lanes("double")},
                                      {"lanes_float", native_lanes("float")},
                                      {"lane_shapes", json_of(shapes)},
                                      {"cuda_device", device},
                                      {"cuda_absent", absent},
                                      {"cache", folder.text},
                                      {"cache_files", cached.files},
                                      {"cache_bytes", cached.bytes}}));
  } else {
    fmt::print("saltus     {}\nhome       {}\n", version_with_commit(), house.either());
    fmt::print("compiler   {}\n", compiler.either());
    fmt::print("compiles   {}\n", (unit.trouble.empty() ? "" : "no: ") + unit.either());
    fmt::print("cpu        {}, {} lanes of double, {} of float\n", counted(threads, "thread"), native_lanes("double"),
               native_lanes("float"));
    const char* title = "shapes";
    for (const auto& line : text_of(shapes)) fmt::print("{:<10} {}\n", std::exchange(title, ""), line);
    fmt::print("cuda       {}\n", absent.empty() ? device : "none: " + absent);
    fmt::print("cache      {}\n", folder.trouble.empty()
                                      ? fmt::format("{}: {} files, {} of {}", folder.text, cached.files,
                                                    bytes(cached.bytes), bytes(module_cache_limit()))
                                      : folder.trouble);
  }
  return works ? exit_ok : exit_failure;
}

template <class Findings>
void print_findings(const Findings& found, bool as_json) {
  fmt::print("{}{}", as_json ? json_text(json_of(found)) : text_of(found), as_json ? "\n" : "");
}

int run_bench(const run_arguments& a, bench_options options, bool advises) {
  options.quiet = a.quiet;
  options.make_plan = [&](const std::vector<flag>& more) { return plan_of(a, more); };
  std::signal(SIGPIPE, SIG_IGN);
  if (advises) print_findings(advise(options, interrupted), a.as_json);
  else print_findings(bench(options, interrupted), a.as_json);
  return interrupted ? exit_interrupted : exit_ok;
}

/// What is wrong with a command line, in one sentence.
std::string usage_error(const CLI::App& app, const CLI::ParseError& complaint) {
  const auto commands = app.get_subcommands();
  const CLI::App& command = commands.empty() || app.remaining_size() > 0 ? app : *commands.front();
  // What was not understood comes first: that something is missing may follow from it.
  const auto extras = command.remaining();
  if (extras.empty()) return complaint.what();
  const auto flag =
      std::find_if(extras.begin(), extras.end(), [](const auto& extra) { return extra.starts_with('-'); });
  const auto& said = flag != extras.end() ? *flag : extras.front();

  std::vector<std::string> names;
  if (flag != extras.end()) {
    for (const auto* option : command.get_options())
      for (const auto& name : option->get_lnames()) names.push_back("--" + name);
  } else if (&command == &app) {
    for (const auto* known : app.get_subcommands([](const CLI::App* one) { return !one->get_group().empty(); }))
      names.push_back(known->get_name());
  } else {
    return said + ": one argument too many";
  }
  return fmt::format("{}: unknown {}; {}", said, flag != extras.end() ? "flag" : "command",
                     suggest(said, {names.begin(), names.end()}));
}

int main_program(int argc, char** argv) {
  own_hdf5();
  guard_process();
  std::signal(SIGXFSZ, SIG_IGN);  // a file that may not grow is an error of writing, as a full disk is
  CLI::App app{"saltus: ensembles of discontinuous ODEs, on CPU lanes and CUDA threads", "saltus"};
  app.set_version_flag("--version", version_with_commit());
  app.require_subcommand(1);
  app.fallthrough(false);
  app.footer(
      "saltus COMMAND --help tells more. Exit codes: 0 ok, 1 error at run time, 2 error in the spec or on the command\n"
      "line, 3 more failed instances than allowed, 4 the model does not compile, 5 no such device, 130 interrupted.");

  bool as_json = false;
  std::string name;
  show_options showing;
  run_arguments arguments;

  const auto add_json = [](CLI::App* command, bool& as_object) {
    command->add_flag("--json", as_object, "one JSON object to stdout");
  };

  auto* list = app.add_subcommand("list", "the built-in models");
  add_json(list, as_json);
  auto* describing = app.add_subcommand("describe", "states, parameters, guards and outputs of a model");
  describing->add_option("MODEL", name, "a built-in's name, or a header ./my_model.hpp")->required()->type_name("");
  add_json(describing, as_json);

  const auto add_run_options = [&](CLI::App* command) {
    command
        ->add_option("SPEC|MODEL", arguments.subject,
                     "a spec ./my_sweep.toml, a built-in's name, or a header ./my_model.hpp")
        ->required()
        ->type_name("");
    const auto take = [&](const char* flags, const char* kept, const char* value, const char* help) {
      command
          ->add_option_function<std::vector<std::string>>(
              flags,
              [&arguments, kept](const std::vector<std::string>& values) {
                for (const auto& v : values) arguments.flags.push_back({kept, v});
              },
              help)
          ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
          ->expected(1)
          ->allow_extra_args(false)  // what follows its value is the next argument: a vector takes all it can get
          ->type_name(value)
          ->trigger_on_parse();
    };
    take("--set", "--set", "KEY=VALUE", "a key of the spec, a parameter or an initial value: --set rtol=1e-9");
    take("-n", "-n", "COUNT",
         "number of instances: of samples, of the one range that is swept, or of rows of a CSV file");
    take("--seed", "--seed", "N", "seed of the random samples");
    take("--method", "--method", "NAME", "integration method");
    take("--backend", "--backend", "NAME", "auto, cpu, cuda or all");
    take("--devices", "--devices", "LIST", "numbers of CUDA devices: 0,1; or all");
    take("--threads", "--threads", "N", "CPU threads; 0: all cores");
    take("--lanes", "--lanes", "N", "instances per vector; 0: as wide as the machine, 1: the scalar reference");
    take("--chunk", "--chunk", "N", "instances per chunk; 0: chosen");
    take("-o,--output", "-o", "FILE", "result file (NetCDF)");
    add_json(command, arguments.as_json);
    command->add_flag("-q,--quiet", arguments.quiet, "no progress on stderr");
  };
  auto* checking =
      app.add_subcommand("check", "validate a spec, compile its model, print the plan and what it will cost");
  add_run_options(checking);
  bool no_pilot = false;
  std::string architecture;
  checking
      ->add_option("--cuda", architecture, "say what its kernels need on such a CUDA device, which need not be there")
      ->type_name("sm_90");
  checking->add_flag("--no-pilot", no_pilot, "compile nothing, integrate nothing, predict no times");
  auto* running = app.add_subcommand("run", "run an ensemble");
  add_run_options(running);
  running->add_flag("--force", arguments.force, "replace an older result");
  running->footer(
      "saltus run relief_valve --set 'sweep.flow={from=0.2,to=10,count=1000}' -o valve.nc\n"
      "saltus run ./my_sweep.toml -n 100000 --threads 8");

  auto* measuring = app.add_subcommand(measuring_command, "")->group("");  // not for people
  add_run_options(measuring);

  bench_options benching;
  auto* bench_command =
      app.add_subcommand("bench", "how fast a model or a spec runs here, and how it could run faster");
  add_run_options(bench_command);
  bench_command->add_option("--backends", benching.backends, "which, one beside the other: cpu,cuda,all")
      ->type_name("LIST");
  bench_command->add_option("--rounds", benching.rounds, "how often each is run")
      ->type_name("N")
      ->capture_default_str();
  bench_command->add_option("--limit", benching.limit, "after so long nothing new is begun")
      ->type_name("SECONDS")
      ->capture_default_str();
  bench_command->add_flag("--growth", benching.growth, "throughput against the number of instances, too");
  bool advises = false;
  bench_command->add_flag("--advise", advises, "which method reaches the accuracy asked for in the shortest time");
  bench_command->add_option("--methods", benching.methods, "with --advise: compare these methods alone")
      ->type_name("LIST");
  bench_command->footer(
      "saltus bench lorenz\n"
      "saltus bench ./my_sweep.toml --backends cpu,cuda --growth --json > growth.json\n"
      "saltus bench ./my_sweep.toml --advise");

  auto* show_command = app.add_subcommand("show", "what is in a result file");
  show_command->add_option("FILE", showing.file, "a result file")->required()->type_name("");
  std::int64_t instance = -1;
  auto* one = show_command->add_option("--instance", instance, "everything about one instance")->type_name("I");
  show_command->add_flag("--failed", showing.failed, "the instances that failed, and why");
  add_json(show_command, showing.json);
  auto* health = app.add_subcommand("doctor", "compiler, lanes, CUDA, device, cache");
  bool measure = false;
  health->add_flag("--measure", measure, "measure anew which lane shapes suit this machine: half a minute");
  add_json(health, as_json);
  bool clears_cache = false;
  health->add_flag("--clear-cache", clears_cache, "remove all compiled models and what was measured of them");

  if (argc == 1) {
    say("{}", app.help());
    return exit_usage;
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    if (e.get_exit_code() == 0) return app.exit(e);  // --help, --version
    const auto commands = app.get_subcommands();
    const std::string command = commands.empty() ? "saltus" : "saltus " + commands.front()->get_name();
    say("{0}: {1}\n{0} --help tells more\n", command, usage_error(app, e));
    return exit_usage;
  }
  if (*one) showing.instance = instance;

  if (*show_command) return show(showing, stdout);
  listen_to_signals();
  if (*list) return list_models(as_json);
  if (*describing) return describe(name, as_json);
  if (*checking && !architecture.empty()) return check_cuda(arguments, architecture);
  if (*checking) return check(arguments, !no_pilot);
  if (*running) return run(arguments, {argv, argv + argc});
  if (*measuring) return measure_beside_run(arguments);
  if (*bench_command) return run_bench(arguments, benching, advises);
  return clears_cache ? clear_cache(as_json) : doctor(as_json, measure);
}

}  // namespace
}  // namespace saltus::host

int main(int argc, char** argv) {
  using namespace saltus::host;
  int code = exit_failure;
  try {
    code = main_program(argc, argv);
  } catch (const error& e) {
    say("saltus: {}\n", e.what());
    code = e.exit_code;
  } catch (const std::exception& e) { say("saltus: {}\n", e.what()); }
  if (std::fflush(stdout) != 0) {
    say("saltus: cannot write to stdout: {}\n", std::strerror(errno));
    if (code == exit_ok) code = exit_failure;
  }
  if (a_model_called_exit()) ::_exit(code);
  return code;
}
