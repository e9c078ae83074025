// Speed of scalar runs, of lanes and of threads on two models, as ratios that are taken side by side, with the accuracy
// that is reached. Tables go to stdout as Markdown, single measurements to stderr.
//
//     bench_core [--rounds=N] [--revision=TEXT] [--benchmark_filter=REGEX]
//
// One round measures everything once, all ways to run one study right after one another: what disturbs a shared machine
// disturbs both sides of a ratio. One thread is measured in processor time, several in wall time.
#include <algorithm>
#include <iostream>
#include <optional>
#include <utility>

#include "error.hpp"
#include "other_compiler.hpp"

namespace saltus::bench {
namespace {

// --------------------------------------------------------------------------------------------------------- what is run

std::vector<study> all_studies() {
  const problem lorenz{"lorenz", "lorenz", "rho", 0.0, 21.0, 10.0, 8};
  // With a flow below 0.28 the valve chatters, above 7.5 it never touches its seat.
  const problem valve{"relief_valve", "relief_valve", "flow", 0.5, 10.0, 40.0, 8};
  const problem afloat{"relief_valve_afloat", "relief_valve", "flow", 8.0, 10.0, 40.0, 8};
  const problem no_seat{"floating_valve", SALTUS_SOURCE_FOLDER "/bench/floating_valve.hpp", "flow", 8.0, 10.0, 40.0, 8};

  std::vector<study> all;
  for (const bool random : {false, true})
    for (const char* method : {"dp5", "dop853"}) {
      for (const double rtol : {1e-6, 1e-9}) all.push_back({lorenz, method, rtol, random, 4096});
      for (const double rtol : {1e-6, 1e-9}) all.push_back({valve, method, rtol, random, 1024});
    }
  for (const char* method : {"dp5", "dop853"}) all.push_back({valve, method, 1e-10, false, 1024});
  std::stable_sort(all.begin(), all.end(), [](const study& a, const study& b) { return a.what.label < b.what.label; });
  for (const auto& what : {afloat, no_seat})
    for (const double rtol : {1e-6, 1e-9}) all.push_back({what, "dp5", rtol, false, 1024});
  return all;
}

/// One way to run a study, and what it took in each round.
struct way {
  int                            lanes, threads;
  host::plan                     plan{};
  std::unique_ptr<host::backend> where{};
  abi::usage                     usage{};
  std::vector<duration>          rounds{};
};

struct entry {
  study                 what;
  std::vector<way>      ways;   ///< scalar, ..., as wide as the machine, that on all threads
  std::vector<duration> other;  ///< as wide as the machine, in units of the other compiler
  bool                  prepared = false;
  host::tally           counts{};
  accuracy              reached{};
  double                evaluation_flops = 0;
  std::uint64_t         bits             = 0;

  way& scalar() { return ways.front(); }
  way& wide() { return ways[ways.size() - 2]; }
  way& threaded() { return ways.back(); }
};

/// Before a study is measured: builds its units, holds it against a reference, and makes sure that all ways agree.
void prepare(entry& e) {
  if (e.prepared) return;
  const study& s = e.what;
  static std::map<std::string, test::outcome> references;
  const std::string key = fmt::format("{} {} {} {} {}", s.what.model, s.what.from, s.what.to, s.random, s.count);
  if (!references.count(key)) references.emplace(key, test::run(s.plan("dop853", 1e-13, 0, 0)));

  std::optional<test::outcome> first;
  for (auto& w : e.ways) {
    w.plan             = s.plan(s.method, s.rtol, w.lanes, w.threads);
    w.where            = host::make_cpu_backend(w.plan);
    test::outcome here = test::run(w.plan);
    w.usage            = here.summary.usage;
    if (!first) first = std::move(here);
    else if (!same_results(*first, here))
      throw std::runtime_error(
          fmt::format("{}: {} lanes on {} threads differ from a scalar run", s.name(), w.lanes, w.threads));
  }
  e.counts = first->summary.counts;
  if (e.counts.of(status_group::ok) != s.count) throw std::runtime_error(s.name() + ": not every instance is ok");
  e.reached          = accuracy_of(*first, references.at(key));
  e.evaluation_flops = flops_per_evaluation(s, static_cast<int>(first->states.size()));
  e.bits             = digest(*first);
  e.prepared         = true;
}

// --------------------------------------------------------------------------------------------------------- measurements

double share(long long part, long long whole) { return whole > 0 ? static_cast<double>(part) / static_cast<double>(whole) : 0; }

void count(benchmark::State& state, const entry& e, const way& w, double seconds) {
  const auto n     = static_cast<double>(e.what.count);
  const auto tried = e.counts.steps + e.counts.rejected;
  auto&      c     = state.counters;
  c["us"]          = seconds / n * 1e6;
  c["instances/s"] = n / seconds;
  c["steps/s"]     = static_cast<double>(tried) / seconds;
  c["sail"]        = share(w.usage.lane_turns, w.usage.turns * w.lanes);
  c["land"]        = share(w.usage.landed, w.usage.landings * w.lanes);
  c["rejected"]    = share(e.counts.rejected, tried);
  c["events"]      = static_cast<double>(e.counts.events) / n;
  c["median"]      = e.reached.median;
  c["largest"]     = e.reached.largest;
}

void measure(benchmark::State& state, entry& e, way& w) {
  prepare(e);
  for (auto _ : state) {
    w.rounds.push_back(time_of(w.plan, *w.where));
    const double seconds = w.threads == 1 ? w.rounds.back().cpu : w.rounds.back().wall;
    state.SetIterationTime(seconds);
    count(state, e, w, seconds);
  }
}

void measure_other(benchmark::State& state, entry& e, int index, other_compiler& other) {
  prepare(e);
  for (auto _ : state) {
    const auto answer = other.measure(index);
    if (!answer.ok) {
      state.SkipWithError(("no units by " + other.name()).c_str());
      return;
    }
    if (answer.digest != e.bits) throw std::runtime_error(fmt::format("{}: {} gives other bits", e.what.name(), other.name()));
    e.other.push_back(answer.took);
    state.SetIterationTime(answer.took.cpu);
    count(state, e, e.wide(), answer.took.cpu);
  }
}

void add(std::vector<entry>& entries, other_compiler& other) {
  const auto once = [](benchmark::internal::Benchmark* b) { b->UseManualTime()->Iterations(1)->Unit(benchmark::kMillisecond); };
  for (std::size_t i = 0; i < entries.size(); ++i) {
    auto&      e    = entries[i];
    const auto name = e.what.name();
    for (auto& w : e.ways)
      once(benchmark::RegisterBenchmark(fmt::format("{}/lanes:{}/threads:{}", name, w.lanes, w.threads).c_str(),
                                        [&](benchmark::State& state) { measure(state, e, w); }));
    once(benchmark::RegisterBenchmark(fmt::format("{}/lanes:{}/{}", name, e.wide().lanes, other.name()).c_str(),
                                      [&e, i, &other](benchmark::State& state) { measure_other(state, e, static_cast<int>(i), other); }));
  }
}

/// Heads the measurements once, not in every round.
class console : public benchmark::ConsoleReporter {
 public:
  console() : ConsoleReporter(OO_Tabular) {
    SetOutputStream(&std::cerr);
    SetErrorStream(&std::cerr);
  }
  bool ReportContext(const Context& context) override {
    if (!std::exchange(headed_, true)) return ConsoleReporter::ReportContext(context);
    return true;
  }

 private:
  bool headed_ = false;
};

// --------------------------------------------------------------------------------------------------------------- tables

struct spread {
  double low, median, high;
};

std::optional<spread> spread_of(std::vector<double> v) {
  if (v.empty()) return {};
  std::sort(v.begin(), v.end());
  return spread{v.front(), v[v.size() / 2], v.back()};
}

/// How many times longer `slow` takes, round by round.
std::optional<spread> ratio(const std::vector<duration>& slow, const std::vector<duration>& fast, double duration::*time) {
  std::vector<double> v;
  for (std::size_t i = 0; i < std::min(slow.size(), fast.size()); ++i) v.push_back(slow[i].*time / (fast[i].*time));
  return spread_of(std::move(v));
}

std::string text(const std::optional<spread>& s) {
  return s ? fmt::format("{:.2f} ({:.2f} .. {:.2f})", s->median, s->low, s->high) : "-";
}

std::string label(const study& s) {
  return fmt::format("| {} | {} | {:.0e} | {} ", s.what.label, s.method, s.rtol, s.random ? "random" : "sweep");
}

/// Microseconds per instance, over the rounds.
std::optional<spread> microseconds(const entry& e, const way& w) {
  std::vector<double> v;
  for (const auto& t : w.rounds) v.push_back(t.cpu / static_cast<double>(e.what.count) * 1e6);
  return spread_of(std::move(v));
}

void print_speed(std::vector<entry>& entries, double peak) {
  fmt::print("| model | method | rtol | order | µs per instance | 10³ instances/s | 10⁶ trial steps/s | lanes in use: sailing | "
             "landing | rejected | events | error: median | 95 % below | largest | other events | of peak |\n"
             "|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|\n");
  for (auto& e : entries) {
    const auto& w  = e.wide();
    const auto  us = microseconds(e, w);
    if (!us) continue;
    const auto   n       = static_cast<double>(e.what.count);
    const auto   tried   = e.counts.steps + e.counts.rejected;
    const double seconds = us->median * n * 1e-6;
    const double flops   = static_cast<double>(e.counts.evaluations) * e.evaluation_flops / seconds;
    const auto   landing = w.usage.landings > 0 ? fmt::format("{:.1f} %", 100 * share(w.usage.landed, w.usage.landings * w.lanes)) : "-";
    fmt::print("{}| {:.2f} ({:.2f} .. {:.2f}) | {:.1f} | {:.1f} | {:.1f} % | {} | {:.2f} % | {:.1f} | {:.1e} | {:.1e} | {:.1e} | {} | {:.0f} % |\n",
               label(e.what), us->median, us->low, us->high, 1e-3 * n / seconds, 1e-6 * static_cast<double>(tried) / seconds,
               100 * share(w.usage.lane_turns, w.usage.turns * w.lanes), landing, 100 * share(e.counts.rejected, tried),
               static_cast<double>(e.counts.events) / n, e.reached.median, e.reached.most, e.reached.largest, e.reached.other_events,
               100 * flops / peak);
  }
}

void print_ratios(std::vector<entry>& entries, const other_compiler& other) {
  const auto& ways = entries.front().ways;
  fmt::print("| model | method | rtol | order ");
  for (std::size_t i = 1; i + 1 < ways.size(); ++i) fmt::print("| {} lanes over scalar ", ways[i].lanes);
  fmt::print("| {} threads over one | {} over {} |\n|---|---|---|---|", ways.back().threads, other.name(),
             host::find_compiler().program.filename().string());
  for (std::size_t i = 1; i < ways.size(); ++i) fmt::print("---|");
  fmt::print("---|\n");
  for (auto& e : entries) {
    if (e.wide().rounds.empty()) continue;
    fmt::print("{}", label(e.what));
    for (std::size_t i = 1; i + 1 < e.ways.size(); ++i)
      fmt::print("| {} ", text(ratio(e.scalar().rounds, e.ways[i].rounds, &duration::cpu)));
    fmt::print("| {} | {} |\n", text(ratio(e.wide().rounds, e.threaded().rounds, &duration::wall)),
               text(ratio(e.wide().rounds, e.other, &duration::cpu)));
  }
}

/// What a guard that never fires adds to the time of a step.
void print_guard_cost(std::vector<entry>& entries) {
  for (auto& with : entries)
    for (auto& without : entries) {
      const study &a = with.what, &b = without.what;
      if (a.what.label != "relief_valve_afloat" || b.what.label != "floating_valve" || a.rtol != b.rtol) continue;
      if (with.bits != without.bits) throw std::runtime_error("a guard that never fires changes the result");
      fmt::print("- {} at {:.0e}: {}\n", a.method, a.rtol,
                 text(ratio(with.wide().rounds, without.wide().rounds, &duration::cpu)));
    }
}

void print(std::vector<entry>& entries, const other_compiler& other, std::size_t rounds, const std::string& revision,
           double peak, double load_before) {
  const int lanes = entries.front().wide().lanes;
  fmt::print("- Machine: {}, {} processors, {} lanes of double. FP64 peak of one thread, measured by independent multiply-adds "
             "in the same run: {:.1f} GFLOP/s.\n", processor_name(), processors(), lanes, 1e-9 * peak);
  fmt::print("- Units compiled by {}; `-std=c++20 -O3 -march=native -ffp-contract=off -fno-math-errno -fno-trapping-math`.\n",
             host::find_compiler().version);
  fmt::print("- saltus {}{}, {}. {} rounds; load average {:.1f} before, {:.1f} after (this run itself makes about 1).\n", SALTUS_VERSION,
             revision.empty() ? "" : " (" + revision + ")", today(), rounds, load_before, load());

  fmt::print("\n### One thread, {} lanes\n\n", lanes);
  print_speed(entries, peak);
  fmt::print("\n### Ratios\n\n");
  print_ratios(entries, other);
  fmt::print("\n### A guard that never fires\n\n"
             "Time with the guard over time without it, relief valve with flow 8 .. 10, one thread, {} lanes:\n\n", lanes);
  print_guard_cost(entries);
}

std::string option(int& argc, char** argv, std::string_view name, std::string otherwise) {
  for (int i = 1; i < argc; ++i) {
    const std::string_view given = argv[i];
    if (given.substr(0, name.size()) != name) continue;
    otherwise = given.substr(name.size());
    std::rotate(argv + i, argv + i + 1, argv + argc--);
    --i;
  }
  return otherwise;
}

int run(int argc, char** argv) {
  const auto     studies = all_studies();
  const int      lanes   = host::native_lanes("double");
  other_compiler other(studies, lanes);
  const auto     rounds   = std::stoul(option(argc, argv, "--rounds=", "5"));
  const auto     revision = option(argc, argv, "--revision=", "");
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return host::exit_usage;

  std::vector<entry> entries;
  for (const auto& s : studies) {
    entries.push_back({s, {}, {}});
    entries.back().ways.push_back({1, 1});
    if (lanes > 4) entries.back().ways.push_back({4, 1});
    entries.back().ways.push_back({lanes, 1});
    entries.back().ways.push_back({lanes, processors()});
  }
  add(entries, other);
  const double load_before = load();
  double       peak        = 0;
  console      reporter;
  for (std::size_t round = 0; round < rounds; ++round) {
    peak = std::max(peak, peak_flops());
    benchmark::RunSpecifiedBenchmarks(&reporter);
  }
  print(entries, other, rounds, revision, peak, load_before);
  return host::exit_ok;
}

}  // namespace
}  // namespace saltus::bench

int main(int argc, char** argv) {
  try {
    return saltus::bench::run(argc, argv);
  } catch (const std::exception& e) {
    fmt::print(stderr, "bench_core: {}\n", e.what());
    return saltus::host::exit_failure;
  }
}
