// The measurements of `saltus bench` as text for people and as JSON for programs.
#include <algorithm>
#include <cmath>
#include <functional>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "bench/bench.hpp"

namespace saltus::host {

namespace {

constexpr const char* dash = "-";

double ratio(double part, double whole) { return whole > 0 ? part / whole : 0.0; }

std::string si(double x, const char* unit) {
  const char* const prefixes[] = {"", "k", "M", "G", "T", "P"};
  int i = 0;
  while (std::abs(x) >= 1000 && i < 5) x /= 1000, ++i;
  return fmt::format("{:.4g} {}{}", x, prefixes[i], unit);
}

std::string seconds_text(const spread& s) {
  const double unit = s.median < 1e-3 ? 1e6 : s.median < 1 ? 1e3 : 1;
  return fmt::format("{:.4g} {} ({:.4g} .. {:.4g})", s.median * unit,
                     unit == 1     ? "s"
                     : unit == 1e3 ? "ms"
                                   : "us",
                     s.low * unit, s.high * unit);
}

std::string percent(double part, double whole) {
  return whole > 0 ? fmt::format("{:.1f} %", 100 * part / whole) : dash;
}

/// Derived numbers of a result, with readable names.
struct bench_numbers {
  double trials, events, sailing, landing;
  explicit bench_numbers(const bench_result& r)
      : trials(static_cast<double>(r.counts.steps + r.counts.rejected)),
        events(static_cast<double>(r.counts.events)),
        sailing(ratio(static_cast<double>(r.usage.lane_turns), static_cast<double>(r.usage.turns * r.lanes))),
        landing(ratio(static_cast<double>(r.usage.landed), static_cast<double>(r.usage.landings * r.lanes))) {}
};

using row = std::pair<std::string, std::function<std::string(const bench_result&)>>;

std::vector<row> rows_of(const plan& p) {
  const auto n = static_cast<double>(p.count);
  return {
      {"compiled",
       [](const auto& r) {
         return r.compile_seconds > 0 ? fmt::format("in {:.2f} s", r.compile_seconds) : std::string("before (cached)");
       }},
      {"end to end", [](const auto& r) { return seconds_text(r.end_to_end()); }},
      {"in kernels", [](const auto& r) { return seconds_text(r.kernel()); }},
      {"instances/s", [=](const auto& r) { return si(ratio(n, r.end_to_end().median), ""); }},
      {"trial steps/s", [=](const auto& r) { return si(ratio(bench_numbers(r).trials, r.end_to_end().median), ""); }},
      {"lanes used: sailing",
       [](const auto& r) { return r.usage.turns * r.lanes > 0 ? percent(bench_numbers(r).sailing, 1) : dash; }},
      {"lanes used: landing",
       [](const auto& r) { return r.usage.landings * r.lanes > 0 ? percent(bench_numbers(r).landing, 1) : dash; }},
      {"rejected steps",
       [](const auto& r) { return percent(static_cast<double>(r.counts.rejected), bench_numbers(r).trials); }},
      {"events/instance", [=](const auto& r) { return fmt::format("{:.4g}", bench_numbers(r).events / n); }},
      {"bytes moved", [](const auto& r) { return si(static_cast<double>(r.bytes), "B"); }},
      {"operations/step",
       [](const auto& r) {
         return r.flops ? fmt::format("{:.0f}", ratio(r.flops->all(), bench_numbers(r).trials)) : dash;
       }},
      {"of peak",
       [](const auto& r) {
         const auto part = r.of_peak();
         return part ? fmt::format("{} of {}", percent(*part, 1), si(r.peak, "FLOP/s")) : dash;
       }},
      {"energy",
       [=](const auto& r) {
         const auto joules = r.joules();
         return joules ? fmt::format("{:.4g} J, {} per instance", *joules, si(1e6 * *joules / n, "uJ")) : dash;
       }},
      {"not as the first",
       [](const auto& r) {
         if (!r.against_first) return std::string(dash);
         const auto& d = *r.against_first;
         return fmt::format("{} of {}, by {:.2g} at most", d.instances, d.compared, d.largest);
       }},
  };
}

constexpr int first_width = 20, width = 32;

std::string heading(const bench_report& report) {
  const plan& p = report.measured;
  const auto rounds = report.results.front().rounds.size();
  std::string text = fmt::format("{}: {} instances{}, t {:g} .. {:g}\n", p.model.name, p.count,
                                 has_varied_inputs(p) ? "" : ", all alike", p.t_begin, p.t_end);
  text += fmt::format("{}, {}, {}\n",
                      method_name(p) == "auto" ? fmt::format("auto ({}, {})", p.method, stiff_methods(p)) : p.method,
                      p.fixed_step > 0 ? fmt::format("fixed step {:g}", p.fixed_step)
                                       : fmt::format("rtol {:g}, {} controller", p.rtol, word_of(p.controller)),
                      word_of(p.precision));
  for (const auto& r : report.results)
    text += fmt::format("{}{}\n", r.backend == "cpu" ? "" : r.backend + ": ", r.device);
  return text + fmt::format("{} round{}: median (lowest .. highest)\n\n", rounds, rounds == 1 ? "" : "s");
}

std::string text_of(const std::vector<growth_curve>& curves) {
  std::string text = fmt::format("\n{:>12}", "instances");
  std::size_t points = 0;
  for (const auto& c : curves) {
    text += fmt::format("{:>20}", c.backend + ", per s");
    points = std::max(points, c.points.size());
  }
  text += "\n";
  for (std::size_t i = 0; i < points; ++i) {
    const auto any =
        std::find_if(curves.begin(), curves.end(), [&](const growth_curve& c) { return i < c.points.size(); });
    text += fmt::format("{:>12}", any->points[i].instances);
    for (const auto& c : curves)
      text += fmt::format("{:>20}", i < c.points.size() ? si(c.points[i].rate.median, "") : dash);
    text += "\n";
  }
  for (std::size_t j = 1; j < curves.size(); ++j) {
    const auto at = overtakes(curves.front(), curves[j]);
    text += fmt::format("{} {}\n", curves[j].backend,
                        at ? fmt::format("overtakes {} at {} instances", curves.front().backend, si(*at, ""))
                           : fmt::format("does not overtake {}", curves.front().backend));
  }
  return text;
}

/// A line for each kernel, timed in a run of its own.
std::string text_of(const std::string& backend, const launches& l) {
  std::string text = fmt::format("\n{}: {} rounds, {} of them with work, in {} looks that took {:.4g} ms\n", backend,
                                 l.rounds, l.worked, l.looks, 1e3 * l.waited);
  for (std::size_t k = 0; k < launches::kernels.size(); ++k)
    text += fmt::format("{:<{}}{:>12.4g} ms{:>12.4g} us a launch\n", launches::kernels[k], first_width,
                        1e3 * l.seconds[k], ratio(1e6 * l.seconds[k], static_cast<double>(l.rounds)));
  return text;
}

json json_of(const launches& l) {
  json o{{"rounds", l.rounds}, {"rounds_with_work", l.worked}, {"looks", l.looks}, {"seconds_of_looks", l.waited}};
  for (std::size_t k = 0; k < launches::kernels.size(); ++k) o["seconds"][launches::kernels[k]] = l.seconds[k];
  return o;
}

/// Inserts a number, or nothing if it is unknown.
void insert_known(json& to, const char* name, const std::optional<double>& value) {
  if (value) to[name] = *value;
}

json result_json(const plan& p, const bench_result& r) {
  const bench_numbers numbers(r);
  const double n = static_cast<double>(p.count), seconds = r.end_to_end().median;
  json o{{"backend", r.backend},
         {"device", r.device},
         {"threads", r.threads},
         {"rounds", r.rounds.size()},
         {"compile_seconds", r.compile_seconds},
         {"end_to_end_seconds", json_of(r.end_to_end())},
         {"kernel_seconds", json_of(r.kernel())},
         {"instances_per_second", ratio(n, seconds)},
         {"trial_steps_per_second", ratio(numbers.trials, seconds)}};
  abi::each_named_counter(r.counts, [&](const abi::counter_row& counter, auto value) { o[counter.name] = value; });
  o["failed"] = r.counts.failed();
  o["bytes_moved"] = r.bytes;
  if (r.usage.turns * r.lanes > 0) o["lane_use_sailing"] = numbers.sailing;
  if (r.usage.landings * r.lanes > 0) o["lane_use_landing"] = numbers.landing;
  if (r.flops)
    o["flops"] = json{{"all", r.flops->all()},
                      {"right_hand_sides", r.flops->rhs},
                      {"guards", r.flops->guards},
                      {"sums_of_stages", r.flops->sums},
                      {"linear_algebra", r.flops->linear}};
  if (r.peak > 0) o["peak_flops"] = r.peak;
  insert_known(o, "of_peak", r.of_peak());
  insert_known(o, "joules", r.joules());
  if (r.launched) o["launches"] = json_of(*r.launched);
  if (const auto& d = r.against_first)
    o["against_first"] = json{
        {"compared", d->compared}, {"instances_with_other_bits", d->instances}, {"largest_difference", d->largest}};
  return o;
}

json curve_json(const growth_curve& c) {
  json points = json::array();
  for (const auto& p : c.points)
    points.push_back(json{{"instances", p.instances}, {"instances_per_second", json_of(p.rate)}});
  return json{{"backend", c.backend}, {"device", c.device}, {"points", points}};
}

}  // namespace

std::string text_of(const bench_report& report) {
  std::string text = heading(report) + fmt::format("{:<{}}", "", first_width);
  for (const auto& r : report.results) text += fmt::format("{:>{}}", r.backend, width);
  text += "\n";
  for (const auto& [name, cell] : rows_of(report.measured)) {
    if (name == "not as the first" && report.results.size() < 2) continue;
    text += fmt::format("{:<{}}", name, first_width);
    for (const auto& r : report.results) text += fmt::format("{:>{}}", cell(r), width);
    text += "\n";
  }
  for (const auto& r : report.results)
    if (r.launched) text += text_of(r.backend, *r.launched);
  return report.curves.empty() ? text : text + text_of(report.curves);
}

json json_of(const bench_report& report) {
  const plan& p = report.measured;
  json all{{"model", p.model.name},          {"method", method_name(p)},          {"rtol", p.rtol},
           {"fixed_step", p.fixed_step},     {"precision", word_of(p.precision)}, {"instances", p.count},
           {"alike", !has_varied_inputs(p)}, {"rhs_flops", p.model.rhs_flops},    {"guard_flops", p.model.guard_flops},
           {"results", json::array()}};
  for (const auto& r : report.results) all["results"].push_back(result_json(p, r));
  if (report.curves.empty()) return all;
  const auto& curves = report.curves;
  for (const auto& c : curves) all["curves"].push_back(curve_json(c));
  for (std::size_t j = 1; j < curves.size(); ++j)
    if (const auto at = overtakes(curves.front(), curves[j])) all[curves[j].backend + "_overtakes_at"] = *at;
  return all;
}

}  // namespace saltus::host
