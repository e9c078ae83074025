// saltus check.
#include <cmath>
#include <numeric>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "backend/cuda/cuda_report.hpp"
#include "base/error.hpp"
#include "base/files.hpp"
#include "base/json.hpp"
#include "base/text.hpp"
#include "cli/commands.hpp"
#include "cli/interrupt.hpp"
#include "spec/design.hpp"
#include "spec/methods.hpp"
#include "spec/names.hpp"
#include "study/check.hpp"

namespace saltus::host {

void print_warnings(const plan& p) {
  for (const auto& warning : p.warnings) say("saltus: warning: {}\n", warning);
}

namespace {

/// Approximate duration of a pilot, in seconds.
constexpr double pilot_seconds = 0.4;

/// "dp5", or "auto (dp5, rodas5p where stiff)".
std::string method_text(const plan& p) {
  return p.stiff_method.empty() ? p.method : fmt::format("auto ({}, {} where stiff)", p.method, stiff_methods(p));
}

json prediction_json(const plan& p, const pilot_report& r) {
  const prediction& cost = r.cost;
  json all{{"seconds", cost.seconds.value},           {"seconds_low", cost.seconds.low},
           {"seconds_high", cost.seconds.high},       {"write_seconds", cost.write_seconds},
           {"pilot_instances", cost.pilot_instances}, {"pilot_seconds", cost.pilot_seconds},
           {"pilot_cut_short", cost.cut_short},       {"memory_bytes", r.memory_bytes}};
  if (!p.file.empty()) all["file_bytes"] = std::llround(r.file_bytes.value);
  if (p.log_events) all["event_rows"] = cost.event_rows.value;
  return all;
}

json tables_json(const plan& p) {
  json all = json::array();
  for (std::size_t j = 0; j < p.model.tables.size(); ++j) {
    const auto& knots = p.tables->all()[j].knots;
    all.push_back(json{{"name", p.model.tables[j].name},
                       {"knots", knots.times.size()},
                       {"curves", knots.curves()},
                       {"t", json::array({knots.times.front(), knots.times.back()})}});
  }
  return all;
}

json records_json(const plan& p) {
  json all = json::array();
  if (p.records)
    for (const record& r : p.records->all()) all.push_back(json{{"name", r.name}, {"rows", r.rows.count()}});
  return all;
}

json check_json(const plan& p, const check_report& r) {
  json all{{"model", p.model.name},
           {"method", no_method_for(p.model).empty() ? method_name(p) : "none"},
           {"instances", p.count},
           {"t", json::array({p.t_begin, p.t_end})},
           {"guards", names_of(p.model.guards)},
           {"time_events", names_of(p.model.time_events)},
           {"tables", tables_json(p)},
           {"records", records_json(p)},
           {"file", p.file},
           {"bytes", r.result_bytes},
           {"warnings", p.warnings}};
  if (r.pilot) {
    all["chunk"] = r.pilot->chunk_size;
    all["device"] = r.pilot->device;
    all["model_hash"] = r.pilot->model_hash;
    all["compile_seconds"] = r.pilot->compile_seconds;
    all["predicted"] = prediction_json(p, *r.pilot);
    all["remarks"] = r.pilot->remarks;
    all["failures"] = r.pilot->failures;
  }
  return all;
}

void print_prediction(const plan& p, const check_report& found) {
  const pilot_report& r = *found.pilot;
  const prediction& cost = r.cost;
  tell("predicted  {} ({} .. {}), by {} run in {}{}\n", duration_text(cost.seconds.value),
       duration_text(cost.seconds.low), duration_text(cost.seconds.high),
       counted(static_cast<std::size_t>(cost.pilot_instances), "instance"), duration_text(cost.pilot_seconds),
       cost.cut_short ? ", which had not ended: a guess" : "");
  tell("           {} of memory for chunks", bytes_text(r.memory_bytes));
  if (!p.file.empty()) tell(", {} of file", bytes_text(std::llround(r.file_bytes.value)));
  if (p.log_events && cost.event_rows.low < cost.event_rows.high)
    tell(" ({} .. {})", bytes_text(std::llround(r.file_bytes.low)), bytes_text(std::llround(r.file_bytes.high)));
  if (const std::int64_t free = found.free_bytes;
      !p.file.empty() && free >= 0 && std::llround(r.file_bytes.value) > free)
    tell("; {} are free in {}: it does not fit", bytes_text(free), folder_of(p.file).string());
  tell("\n");
}

void print_plan(const plan& p) {
  tell("model      {} ({}, {}, {})\n", p.model.name, counted(p.model.states.size(), "state"),
       counted(p.model.parameters.size(), "parameter"), counted(p.model.outputs.size(), "output"));
  if (const auto none = no_method_for(p.model); !none.empty()) tell("method     none: {}\n", none);
  else
    tell("method     {}, {}\n", method_text(p),
         p.fixed_step > 0
             ? fmt::format("fixed step {:g}", p.fixed_step)
             : fmt::format("{} controller, {} norm, rtol {:g}", word_of(p.controller), word_of(p.norm), p.rtol));
  tell("t          {:g} .. {:g}{}\n", p.t_begin, p.t_end, p.backward ? ", backward" : "");
  tell("instances  {}", p.count);
  for (const auto& axis : p.axes) {
    std::vector<std::string> columns;
    for (const auto& c : axis.columns) columns.push_back(c.what.name);
    tell("{}{} ({})", &axis == p.axes.data() ? " = " : " x ", fmt::join(columns, "+"), axis.count);
  }
  if (p.samples > 1 || !p.random.empty())
    tell("{}{} samples{}, seed {}", p.axes.empty() ? " = " : " x ", p.samples,
         p.design.which == design::kind::random ? "" : fmt::format(" ({})", name_of(p.design.which)), p.seed);
  if (p.design.half_width > 0)
    tell(", doubled until all indices are known to +-{:g}, up to {} pairs", p.design.half_width, p.design.max_count);
  std::vector<std::string> guards;
  for (const auto& g : p.model.guards) guards.push_back(fmt::format("{} ({})", g.name, name_of(g.direction)));
  tell("\nguards     {}\n", guards.empty() ? "none" : fmt::format("{}", fmt::join(guards, ", ")));
  if (!p.model.time_events.empty()) tell("times      {}\n", fmt::join(names_of(p.model.time_events), ", "));
  for (std::size_t j = 0; j < p.model.tables.size(); ++j) {
    const auto& knots = p.tables->all()[j].knots;
    tell("table      {}: {}{} knots from {:g} to {:g}, {}{}\n", p.model.tables[j].name,
         p.model.tables[j].choice < 0 ? "" : fmt::format("{} curves, ", knots.curves()), knots.times.size(),
         knots.times.front(), knots.times.back(), name_of(p.model.tables[j].between),
         p.model.tables[j].beyond == at_ends::none ? "" : fmt::format(", {}", name_of(p.model.tables[j].beyond)));
  }
  if (p.records)
    for (const record& r : p.records->all()) tell("record     {}: {} rows\n", r.name, r.rows.count());
}

void print_report(const plan& p, const check_report& r) {
  if (p.file.empty()) tell("output     no file\n");
  else {
    tell("output     {}, {}{}{}\n", p.file, bytes_text(r.result_bytes),
         p.log_events ? " and the event log"
         : !p.rows    ? ", statistics alone"
                      : "",
         r.fits ? std::string()
                : fmt::format("; {} are free in {}: it does not fit", bytes_text(r.free_bytes),
                              folder_of(p.file).string()));
  }
  if (!r.pilot) return;
  tell("device     {}, chunks of {}\n", r.pilot->device, r.pilot->chunk_size);
  tell("compiled   {}\n",
       r.pilot->compile_seconds > 0 ? fmt::format("in {:.1f} s", r.pilot->compile_seconds) : "before (cached)");
  print_prediction(p, r);
  for (const auto& remark : r.pilot->remarks) tell("remark     of {} tried: {}\n", r.pilot->cost.pilot_ended, remark);
  const auto& by_status = r.pilot->cost.by_status;
  for (const auto& failure : r.pilot->failures)
    tell("failures   of {} tried: {}\n", std::accumulate(by_status.begin(), by_status.end(), std::int64_t{0}), failure);
}

constexpr int schedulers = 4, max_warps = 64;  // of a multiprocessor

std::string bound_text(const cuda_report& r) {
  if (r.candidates == 1) return "as the compiler likes them";
  return r.sailing_warps == 0
             ? fmt::format("as the compiler likes them, the best of {} bounds", r.candidates)
             : fmt::format("bounded for {} warps, the best of {} bounds", schedulers * r.sailing_warps, r.candidates);
}

std::string text_of(const cuda_report& r) {
  if (r.ptx_of != 0)
    return fmt::format(
        "{} knows no sm_{}: PTX of compute_{}, {}; the driver will compile it, and choose its registers\n", r.compiler,
        r.capability, r.ptx_of, r.seconds > 0 ? fmt::format("made in {:.1f} s", r.seconds) : "from the cache");
  std::string text = fmt::format("{} for sm_{}, {}\n  {:<6} {:>9} {:>12} {:>6} {:>9} {:>6} {:>13}\n", r.compiler,
                                 r.capability, r.seconds > 0 ? fmt::format("in {:.1f} s", r.seconds) : "from the cache",
                                 "kernel", "registers", "warps", "", "spilled", "local", "instructions");
  for (const kernel_report& k : r.kernels)
    text += fmt::format("  {:<6} {:>9} {:>12} {:>4} % {:>7} B {:>4} B {:>13}\n", k.name.substr(k.name.find('_') + 1),
                        k.registers, fmt::format("{} of {}", schedulers * k.warps, max_warps),
                        100 * schedulers * k.warps / max_warps, k.spill_store_bytes + k.spill_load_bytes, k.local_bytes,
                        k.instructions);
  return text + fmt::format("registers of sail: {}; warps: those that a multiprocessor holds\n", bound_text(r));
}

json json_of(const cuda_report& r) {
  json kernels = json::array();
  for (const kernel_report& k : r.kernels)
    kernels.push_back(json{{"kernel", k.name},
                           {"registers", k.registers},
                           {"warps", schedulers * k.warps},
                           {"occupancy", static_cast<double>(schedulers * k.warps) / max_warps},
                           {"spill_store_bytes", k.spill_store_bytes},
                           {"spill_load_bytes", k.spill_load_bytes},
                           {"local_bytes", k.local_bytes},
                           {"instructions", k.instructions}});
  return json{{"compiler", r.compiler},
              {"architecture", fmt::format("sm_{}", r.capability)},
              {"compile_seconds", r.seconds},
              {"sailing_bounded_for_warps", schedulers * r.sailing_warps},
              {"bounds_tried", r.candidates},
              {"ptx_of", r.ptx_of},
              {"kernels", kernels}};
}

}  // namespace

int check(const run_arguments& a, bool with_pilot, bool with_lint) {
  const plan p = plan_of(a, interrupted);
  print_warnings(p);
  const check_report r = check(p, with_pilot ? pilot_seconds : 0.0, interrupted);
  const auto found = with_lint ? lint(p.model) : std::vector<std::string>();
  if (a.as_json) {
    json all = check_json(p, r);
    if (with_lint) all["lint"] = found;
    tell("{}\n", json_text(all));
    return exit_ok;
  }
  print_plan(p);
  print_report(p, r);
  for (const auto& one : found) tell("lint       {}\n", one);
  if (with_lint && found.empty()) tell("lint       nothing found\n");
  return exit_ok;
}

int check_cuda(const run_arguments& a, const std::string& architecture) {
  const cuda_report r = report_on_cuda(plan_of(a, interrupted), architecture);
  if (a.as_json) tell("{}\n", json_text(json_of(r)));
  else tell("{}", text_of(r));
  return exit_ok;
}

}  // namespace saltus::host
