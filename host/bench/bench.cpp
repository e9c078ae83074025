#include "bench/bench.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <limits>
#include <memory>
#include <sstream>

#include <unistd.h>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "backend/cuda/devices.hpp"
#include "backend/make.hpp"
#include "base/error.hpp"
#include "base/files.hpp"
#include "base/json.hpp"
#include "bench/peak.hpp"
#include "compile/chosen_shape.hpp"
#include "compile/compiler.hpp"
#include "ensemble/settings.hpp"
#include "result/provenance.hpp"
#include "result/result.hpp"
#include "study/tune.hpp"

namespace saltus::host {

namespace {

using clock = std::chrono::steady_clock;

constexpr const char* dash = "-";

/// A file that goes when this does.
struct temporary_file {
  std::filesystem::path path;
  ~temporary_file() {
    std::error_code ignored;
    std::filesystem::remove(path, ignored);
  }
};

double ratio(double part, double whole) { return whole > 0 ? part / whole : 0.0; }

}  // namespace

spread spread_of(std::vector<double> v) {
  if (v.empty()) return {};
  std::sort(v.begin(), v.end());
  const std::size_t n = v.size();
  return {n % 2 == 1 ? v[n / 2] : 0.5 * (v[n / 2 - 1] + v[n / 2]), v.front(), v.back()};
}

std::vector<std::string> backends_of(const std::string& typed) {
  if (typed.empty()) {
    if (cuda_absent().empty()) return {"cpu", "cuda"};
    return {"cpu"};
  }
  std::vector<std::string> r;
  std::stringstream text(typed);
  for (std::string name; std::getline(text, name, ',');) {
    if (name != "cpu" && name != "cuda" && name != "all")
      throw error(exit_usage, fmt::format("--backends {}: {}", typed, suggest(name, {"cpu", "cuda", "all"})));
    if (std::find(r.begin(), r.end(), name) != r.end())
      throw error(exit_usage, fmt::format("--backends {}: {} stands there twice", typed, name));
    r.push_back(name);
  }
  if (r.empty()) throw error(exit_usage, "--backends: names of backends, as in cpu,cuda; allowed: cpu, cuda, all");
  return r;
}

// ------------------------------------------------------------------------------------------------- what is compared

kept_results::kept_results(const plan& p) {
  constexpr std::int64_t enough = std::int64_t{1} << 30;  // bytes
  const auto states = std::ssize(p.model.states);
  kept_ = std::min(p.count, enough / (8 * (states + 3) + 1));
  const auto n = static_cast<std::size_t>(kept_);
  final_state_.resize(n * static_cast<std::size_t>(states));
  t_final_.resize(n), status_.resize(n), steps_.resize(n), events_.resize(n);
}

void kept_results::keep(const chunk_data& c) {
  const auto n = static_cast<std::size_t>(kept_);
  const auto count = static_cast<std::size_t>(c.count);
  for (std::size_t i = 0; i < count; ++i) {
    const auto id = static_cast<std::size_t>(c.first_id) + i;
    if (id >= n) return;
    for (std::size_t j = 0; j * n < final_state_.size(); ++j) final_state_[j * n + id] = c.final_state[j * count + i];
    t_final_[id] = c.t_final[i], status_[id] = c.status[i], steps_[id] = c.steps[i], events_[id] = c.events[i];
  }
}

difference kept_results::compare(const chunk_data& c) const {
  difference r;
  const auto n = static_cast<std::size_t>(kept_);
  const auto count = static_cast<std::size_t>(c.count);
  // Which NaN an operation gives is not promised: devices and processors differ.
  const auto same = [](double a, double b) { return std::memcmp(&a, &b, sizeof a) == 0 || (a != a && b != b); };
  for (std::size_t i = 0; i < count; ++i) {
    const auto id = static_cast<std::size_t>(c.first_id) + i;
    if (id >= n) break;
    ++r.compared;
    bool differs = !same(t_final_[id], c.t_final[i]) || status_[id] != c.status[i] || steps_[id] != c.steps[i] ||
                   events_[id] != c.events[i];
    for (std::size_t j = 0; j * n < final_state_.size(); ++j) {
      const double a = final_state_[j * n + id], b = c.final_state[j * count + i];
      if (same(a, b)) continue;
      differs = true;
      const double apart = std::abs(a - b) / std::max(1.0, std::abs(a));
      if (std::isfinite(apart)) r.largest = std::max(r.largest, apart);
      else if (std::isfinite(a) != std::isfinite(b)) r.largest = std::numeric_limits<double>::infinity();
    }
    r.instances += differs ? 1 : 0;
  }
  return r;
}

// -------------------------------------------------------------------------------------------------- what is measured

namespace {

std::vector<double> values(const std::vector<bench_round>& rounds, double bench_round::*what) {
  std::vector<double> r;
  for (const auto& round : rounds) r.push_back(round.*what);
  return r;
}

}  // namespace

spread bench_result::end_to_end() const { return spread_of(values(rounds, &bench_round::end_to_end)); }
spread bench_result::kernel() const { return spread_of(values(rounds, &bench_round::kernel)); }

std::optional<double> bench_result::of_peak() const {
  if (!flops || peak <= 0 || rounds.empty()) return {};
  // Of CPUs each chunk has one thread; a device works at all of its chunks at once.
  const double seconds =
      backend == "cpu" ? spread_of(values(rounds, &bench_round::chunks)).median / threads : kernel().median;
  return seconds > 0 ? std::optional(flops->all() / seconds / peak) : std::nullopt;
}

std::optional<double> bench_result::joules() const {
  std::vector<double> v;
  for (const auto& round : rounds)
    if (round.joules) v.push_back(*round.joules);
  return v.empty() ? std::nullopt : std::optional(spread_of(v).median);
}

namespace {

/// Runs the ensemble once, writing a file if the plan has one.
run_summary run_once(const plan& p, backend& where, const std::function<void(const chunk_data&)>& look,
                     const std::atomic<bool>& stop) {
  const temporary_file there{p.file.empty() ? std::string() : fmt::format("{}.bench.{}", p.file, ::getpid())};
  std::unique_ptr<result_writer> file;
  const auto begin = clock::now();
  if (!p.file.empty())
    file = std::make_unique<result_writer>(there.path, p, provenance_of(p, where, "saltus bench"), existing::replaced);
  auto summary = run_ensemble(
      p, where,
      [&](const chunk_data& chunk) {
        if (file) file->write(chunk);
        if (look) look(chunk);
      },
      [](std::int64_t) {}, stop);
  if (!summary.crash.empty()) throw error(exit_failure, summary.crash);
  if (file) file->close(summary.wall_seconds, summary.statistics);
  summary.wall_seconds = std::chrono::duration<double>(clock::now() - begin).count();
  return summary;
}

/// Of all parts of a backend together; 0: one of them is not known.
double peak_of(const std::vector<backend*>& parts, const std::string& precision) {
  double sum = 0;
  for (const backend* part : parts) {
    const bool is_cpu = part->uses_host_threads();
    const double peak = is_cpu ? cpu_peak_flops(precision, part->concurrency()) : part->peak_flops();
    if (peak <= 0) return 0;
    sum += peak;
  }
  return sum;
}

/// Measures backend after backend, round by round.
class bench_of_backends {
 public:
  bench_of_backends(const bench_options& options, const std::atomic<bool>& stop) : options_(options), stop_(stop) {}

  std::vector<bench_result> run(const std::vector<std::string>& backends, const std::vector<flag>& more) {
    for (const auto& name : backends) {
      auto flags = more;
      flags.push_back({"--backend", name});
      entries_.push_back({options_.make_plan(flags), {}, {}});
      auto& e = entries_.back();
      say("{}: compiling\n", name);
      if (name != "cuda" && !remembered_shape(e.what))
        for (const auto& tried : tune_lanes(e.what, stop_))
          say("{}: {:.4g} us per instance and thread in {}\n", name, 1e6 * tried.seconds, name_of(tried.shape));
      e.where = make_backend(e.what);
      e.result.backend = name;
      e.result.device = e.where->device();
      e.result.compile_seconds = e.where->compile_seconds();
      const auto parts = e.where->parts();
      e.result.lanes = parts.size() == 1 ? e.where->lanes() : 0;
      e.result.threads = e.where->concurrency();
      e.result.peak = peak_of(parts, e.what.precision);
    }
    begin_ = clock::now();
    // One round after the other, so that what disturbs the machine disturbs all backends.
    for (int round = 0; round < options_.rounds && !stop_; ++round) {
      if (round > 0 && seconds() + seconds() / round > options_.limit) {
        say("stopped after {} of {} rounds: another would go beyond --limit {:g}\n", round, options_.rounds,
            options_.limit);
        break;
      }
      for (auto& e : entries_) measure(e, round);
    }
    std::vector<bench_result> results;
    for (auto& e : entries_) results.push_back(std::move(e.result));
    return results;
  }

  const plan& first_plan() const { return entries_.front().what; }

 private:
  struct entry {
    plan what;
    std::unique_ptr<backend> where;
    bench_result result;
  };

  template <class... Args>
  void say(fmt::format_string<Args...> form, Args&&... args) const {
    if (!options_.quiet) fmt::print(stderr, form, std::forward<Args>(args)...);
  }
  double seconds() const { return std::chrono::duration<double>(clock::now() - begin_).count(); }

  void measure(entry& e, int round) {
    const bool first = &e == entries_.data();
    const bool looks = round == 0 && entries_.size() > 1;
    difference differ;
    if (looks && first) kept_.emplace(e.what);
    const auto look = [&](const chunk_data& chunk) {
      if (first) return kept_->keep(chunk);
      const difference d = kept_->compare(chunk);
      differ = {differ.compared + d.compared, differ.instances + d.instances, std::max(differ.largest, d.largest)};
    };
    const auto before = energy_.read();
    const auto summary = run_once(e.what, *e.where, looks ? look : std::function<void(const chunk_data&)>(), stop_);
    const auto after = energy_.read();
    if (summary.interrupted) return;
    auto& r = e.result;
    const double compiled = summary.stiff_compile_seconds + summary.rescue_compile_seconds;
    bench_round one{summary.wall_seconds - compiled, summary.kernel_seconds, summary.chunk_seconds, {}};
    const auto cpu = energy_.cpu_joules(before, after), cuda = energy_.cuda_joules(before, after);
    if (r.backend == "cpu") one.joules = cpu;
    else if (cpu && cuda) one.joules = *cpu + *cuda;
    else if (!cpu) one.joules = cuda;
    r.compile_seconds += compiled;
    r.counts = summary.counts, r.usage = summary.usage, r.bytes = summary.bytes;
    r.flops = operations_of(e.what, summary.counts);
    if (looks && !first) r.against_first = differ;
    r.rounds.push_back(one);
    say("{}: round {} of {}: {:.4g} s\n", r.backend, round + 1, options_.rounds, one.end_to_end);
  }

  const bench_options& options_;
  const std::atomic<bool>& stop_;
  clock::time_point begin_ = clock::now();
  std::vector<entry> entries_;
  std::optional<kept_results> kept_;
  energy_meter energy_;
};

bool varies(const plan& p) { return !p.axes.empty() || !p.random.empty(); }

/// How many instances of a model, all alike, take about a quarter of a second.
std::int64_t enough_instances(const bench_options& options, const std::string& backend, const std::atomic<bool>& stop) {
  constexpr double wanted = 0.25;
  constexpr std::int64_t most = 1 << 20;
  for (std::int64_t n = 64;; n *= 8) {
    const plan p = options.make_plan({{"-n", std::to_string(n), true}, {"--backend", backend}});
    const auto where = make_backend(p);
    const auto s = run_once(p, *where, {}, stop);
    const double took = s.wall_seconds - s.stiff_compile_seconds - s.rescue_compile_seconds;
    if (stop || n >= most) return n;
    if (took < 0.02 && n < most / 8) continue;
    const auto fits = static_cast<std::int64_t>(static_cast<double>(n) * wanted / took);
    std::int64_t r = 64;
    while (2 * r <= std::clamp<std::int64_t>(fits, 64, most)) r *= 2;
    return r;
  }
}

// ------------------------------------------------------------------------------------------------------- what is told

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

/// Its numbers, by names that people and machines read.
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

void print_table(const plan& p, const std::vector<bench_result>& results) {
  fmt::print("{}: {} instances{}, t {:g} .. {:g}\n", p.model.name, p.count, varies(p) ? "" : ", all alike", p.t_begin,
             p.t_end);
  fmt::print("{}, {}, {}\n",
             method_name(p) == "auto" ? fmt::format("auto ({}, {})", p.method, p.stiff_method) : p.method,
             p.fixed_step > 0 ? fmt::format("fixed step {:g}", p.fixed_step)
                              : fmt::format("rtol {:g}, {} controller", p.rtol, p.controller),
             p.precision);
  for (const auto& r : results) fmt::print("{}{}\n", r.backend == "cpu" ? "" : r.backend + ": ", r.device);
  fmt::print("{} round{}: median (lowest .. highest)\n\n", results.front().rounds.size(),
             results.front().rounds.size() == 1 ? "" : "s");
  constexpr int first = 20, width = 32;
  fmt::print("{:<{}}", "", first);
  for (const auto& r : results) fmt::print("{:>{}}", r.backend, width);
  fmt::print("\n");
  for (const auto& [name, text] : rows_of(p)) {
    if (name == "not as the first" && results.size() < 2) continue;
    fmt::print("{:<{}}", name, first);
    for (const auto& r : results) fmt::print("{:>{}}", text(r), width);
    fmt::print("\n");
  }
}

json spread_json(const spread& s) { return json{{"median", s.median}, {"low", s.low}, {"high", s.high}}; }

/// A number that may not be known: then it is left out, which in JSON says so.
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
         {"end_to_end_seconds", spread_json(r.end_to_end())},
         {"kernel_seconds", spread_json(r.kernel())},
         {"instances_per_second", ratio(n, seconds)},
         {"trial_steps_per_second", ratio(numbers.trials, seconds)},
         {"failed", r.counts.failed()},
         {"bytes_moved", r.bytes}};
  abi::each_named_counter(r.counts, [&](const abi::counter_row& counter, auto n) { o[counter.name] = n; });
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
  if (const auto& d = r.against_first)
    o["against_first"] = json{
        {"compared", d->compared}, {"instances_with_other_bits", d->instances}, {"largest_difference", d->largest}};
  return o;
}

json curve_json(const curve& c) {
  json points = json::array();
  for (const auto& p : c.points)
    points.push_back(json{{"instances", p.instances}, {"instances_per_second", spread_json(p.rate)}});
  return json{{"backend", c.backend}, {"device", c.device}, {"points", points}};
}

void print_curves(const std::vector<curve>& curves, const std::string& file) {
  fmt::print("\n{:>12}", "instances");
  for (const auto& c : curves) fmt::print("{:>20}", c.backend + ", per s");
  fmt::print("\n");
  std::size_t longest = 0;
  for (const auto& c : curves) longest = std::max(longest, c.points.size());
  for (std::size_t i = 0; i < longest; ++i) {
    const auto any = std::find_if(curves.begin(), curves.end(), [&](const curve& c) { return i < c.points.size(); });
    fmt::print("{:>12}", any->points[i].instances);
    for (const auto& c : curves) fmt::print("{:>20}", i < c.points.size() ? si(c.points[i].rate.median, "") : dash);
    fmt::print("\n");
  }
  for (std::size_t j = 1; j < curves.size(); ++j) {
    const auto at = overtakes(curves.front(), curves[j]);
    fmt::print("{} {}\n", curves[j].backend,
               at ? fmt::format("overtakes {} at {} instances", curves.front().backend, si(*at, ""))
                  : fmt::format("does not overtake {}", curves.front().backend));
  }
  fmt::print("wrote {}\n", file);
}

}  // namespace

int bench(const bench_options& options, const std::atomic<bool>& stop) {
  if (options.rounds < 1) throw error(exit_usage, fmt::format("--rounds {}: must be at least 1", options.rounds));
  if (!(options.limit > 0))
    throw error(exit_usage, fmt::format("--limit {:g}: must be a positive number", options.limit));
  if (options.advise) return advise(options, stop);
  const auto backends = backends_of(options.backends);
  std::vector<flag> more;
  if (const plan asked = options.make_plan({}); asked.count == 1 && !varies(asked) && asked.samples == 1)
    more.push_back({"-n", std::to_string(enough_instances(options, backends.front(), stop)), true});

  bench_of_backends meter(options, stop);
  const auto results = meter.run(backends, more);
  const bool whole = std::all_of(results.begin(), results.end(), [](const auto& r) { return !r.rounds.empty(); });
  if (!whole) {
    fmt::print(stderr, "interrupted: no round has ended\n");
    return exit_interrupted;
  }
  const plan& p = meter.first_plan();
  if (!options.json) print_table(p, results);
  std::vector<curve> curves;
  if (!options.plot.empty() && !stop) {
    curves = measure_curves(options, backends, stop);
    write_file(options.plot, chart_of(p, curves));
    if (!options.json) print_curves(curves, options.plot);
  }
  if (options.json) {
    json all = json::array(), lines = json::array();
    for (const auto& r : results) all.push_back(result_json(p, r));
    for (const auto& c : curves) lines.push_back(curve_json(c));
    json o{{"model", p.model.name},
           {"method", method_name(p)},
           {"rtol", p.rtol},
           {"precision", p.precision},
           {"instances", p.count},
           {"alike", !varies(p)},
           {"rhs_flops", p.model.rhs_flops},
           {"guard_flops", p.model.guard_flops},
           {"results", all}};
    if (!curves.empty()) {
      o["curves"] = lines;
      o["plot"] = options.plot;
      for (std::size_t j = 1; j < curves.size(); ++j)
        if (const auto at = overtakes(curves.front(), curves[j])) o[curves[j].backend + "_overtakes_at"] = *at;
    }
    fmt::print("{}\n", json_text(o));
  }
  return stop ? exit_interrupted : exit_ok;
}

}  // namespace saltus::host
