// Speed of scalar runs, of lanes and of threads on two models, as ratios within a round, with the accuracy reached.
// Tables go to stdout as Markdown, single measurements to stderr.
//
//     bench_core [--rounds=N] [--revision=TEXT] [--benchmark_filter=REGEX]
//
// One round measures everything once and runs all ways of one study directly after one another, so that other load on the
// machine affects both sides of a ratio. One thread is measured in processor time, several threads in wall time.
#include <algorithm>
#include <iostream>
#include <utility>

#include "base/error.hpp"
#include "tables.hpp"
#include "testing/source_folder.hpp"

namespace saltus::bench {
namespace {

std::vector<study> all_studies() {
  const problem lorenz{"lorenz", "lorenz", "rho", 0.0, 21.0, 10.0};
  // The valve chatters with a flow below 0.28 and never touches its seat with a flow above 7.5.
  const problem valve{"relief_valve", "relief_valve", "flow", 0.5, 10.0, 40.0};
  const problem afloat{"relief_valve_afloat", "relief_valve", "flow", 8.0, 10.0, 40.0};
  const problem no_seat{"floating_valve", saltus::test::in_source("bench/floating_valve.hpp"), "flow", 8.0, 10.0, 40.0};

  std::vector<study> all;
  for (const bool random : {false, true})
    for (const char* method : {"dp5", "dop853"}) {
      for (const double rtol : {1e-6, 1e-9}) all.push_back({lorenz, method, rtol, random, 4096});
      for (const double rtol : {1e-6, 1e-9}) all.push_back({valve, method, rtol, random, 1024});
    }
  for (const char* method : {"dp5", "dop853"}) all.push_back({valve, method, 1e-10, false, 1024});
  std::stable_sort(all.begin(), all.end(), [](const study& a, const study& b) { return a.what.label < b.what.label; });
  for (const double rtol : {1e-6, 1e-9}) {
    for (const auto& what : {afloat, no_seat}) all.push_back({what, "dp5", rtol, false, 1024});
    for (const int guards : {1, 2, 4}) {
      problem guarded = lorenz;
      guarded.label = fmt::format("lorenz_{}_guards", guards);
      guarded.model = saltus::test::in_source("bench/models/" + guarded.label + ".hpp");
      all.push_back({guarded, "dp5", rtol, false, 4096});
    }
  }
  return all;
}

void count(benchmark::State& state, const measured& e, const way& w, double seconds) {
  const auto n = static_cast<double>(e.what.count);
  const auto tried = e.counts.steps + e.counts.rejected;
  auto& c = state.counters;
  c["us"] = seconds / n * 1e6;
  c["instances/s"] = n / seconds;
  c["steps/s"] = static_cast<double>(tried) / seconds;
  c["sail"] = sailing(w);
  c["land"] = landing(w);
  c["rejected"] = share(e.counts.rejected, tried);
  c["events"] = static_cast<double>(e.counts.events) / n;
  c["median"] = e.reached.median;
  c["largest"] = e.reached.largest;
}

void measure(benchmark::State& state, measured& e, way& w) {
  prepare(e);
  for (auto _ : state) {
    w.rounds.push_back(time_of(w.plan, *w.where));
    const double seconds = w.threads == 1 ? w.rounds.back().cpu : w.rounds.back().wall;
    state.SetIterationTime(seconds);
    count(state, e, w, seconds);
  }
}

void measure_other(benchmark::State& state, measured& e, int index, other_compiler& other) {
  prepare(e);
  for (auto _ : state) {
    const auto answer = other.measure(index);
    if (!answer.ok) {
      state.SkipWithError(("no modules by " + other.name()).c_str());
      return;
    }
    if (answer.digest != e.bits)
      throw std::runtime_error(fmt::format("{}: {} gives other bits", e.what.name(), other.name()));
    e.other.push_back(answer.took);
    state.SetIterationTime(answer.took.cpu);
    count(state, e, e.wide(), answer.took.cpu);
  }
}

void add(std::vector<measured>& entries, other_compiler& other) {
  const auto once = [](benchmark::internal::Benchmark* b) {
    b->UseManualTime()->Iterations(1)->Unit(benchmark::kMillisecond);
  };
  for (std::size_t i = 0; i < entries.size(); ++i) {
    auto& e = entries[i];
    const auto name = e.what.name();
    for (auto& w : e.ways)
      once(benchmark::RegisterBenchmark(fmt::format("{}/lanes:{}/threads:{}", name, w.lanes, w.threads).c_str(),
                                        [&](benchmark::State& state) { measure(state, e, w); }));
    once(benchmark::RegisterBenchmark(
        fmt::format("{}/lanes:{}/{}", name, e.wide().lanes, other.name()).c_str(),
        [&e, i, &other](benchmark::State& state) { measure_other(state, e, static_cast<int>(i), other); }));
  }
}

/// Prints the header once instead of in every round.
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
  const auto studies = all_studies();
  const int lanes = host::native_lanes();
  other_compiler other(studies, lanes);
  const auto rounds = std::stoul(option(argc, argv, "--rounds=", "5"));
  const auto revision = option(argc, argv, "--revision=", "");
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return host::exit_usage;

  std::vector<measured> entries;
  for (const auto& s : studies) {
    entries.push_back({s, {}, {}});
    entries.back().ways.push_back({1, 1});
    if (lanes > 4) entries.back().ways.push_back({4, 1});
    entries.back().ways.push_back({lanes, 1});
    entries.back().ways.push_back({lanes, processors()});
  }
  add(entries, other);
  const double load_before = load();
  double peak = 0;
  console reporter;
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
