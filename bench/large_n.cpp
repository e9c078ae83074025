// Models with many states per instance: the best method and number of lanes when the stages of a step no longer fit into the cache.
//
//     bench_large_n [--revision=TEXT]                        the tables of bench/results/large_n.md
//     bench_large_n equal MODEL|N,... METHOD,... [LANES]     time at equal error, over tolerances
//     bench_large_n lanes MODEL|N,... METHOD,... LANES,...   time per right-hand side and state, at one tolerance
//
// A number N denotes the chain of N states (models/parts/chain.hpp). Times are processor times of one thread; the settings of
// a row run in turns, and the fastest of five rounds counts. Pin the process (taskset -c 0), and compare within one run only.
#include <filesystem>
#include <fstream>
#include <numeric>
#include <sstream>

#include "study.hpp"
#include "testing/source_folder.hpp"

namespace saltus::bench {
namespace {

constexpr int rounds = 5;
constexpr double errors[] = {1e-4, 1e-6, 1e-8, 1e-9};

std::vector<std::string> parts_of(const std::string& text) {
  std::vector<std::string> r;
  std::istringstream in(text);
  for (std::string part; std::getline(in, part, ',');) r.push_back(part);
  return r;
}

/// The header of a model; a number `what` selects the chain with that many states.
std::string model_called(const std::string& what) {
  if (what.find_first_not_of("0123456789") != std::string::npos) return what;
  const int states = std::stoi(what);
  const auto folder = std::filesystem::temp_directory_path() / "saltus_large_n";
  const auto header = folder / fmt::format("chain_{}.hpp", states);
  std::filesystem::create_directories(folder);
  std::ofstream(header) << fmt::format(
      "#include \"{}/bench/models/parts/chain.hpp\"\n"
      "struct chain_{} : chain_of<{}> {{\n  static constexpr auto title = \"chain of {} states\";\n}};\n",
      saltus::test::in_source(), states, states / 2, states);
  return header;
}

/// An ensemble of a model whose first parameter (the amplitude of the chain) varies by a tenth.
host::plan plan_for(const std::string& model, const std::string& method, double rtol, int lanes, std::int64_t count) {
  const auto about = host::describe_model(host::find_model(model));
  const auto& first = about.parameters.at(0);
  host::plan p = test::plan_of(model, {"method=" + method, fmt::format("rtol={:e}", rtol),
                                       fmt::format("sweep.{}={{from={:e}, to={:e}, count={}}}", first.name,
                                                   0.9 * first.value, first.value, count)});
  p.lanes = lanes;
  p.threads = 1;
  return p;
}

/// One setting of an ensemble, and its shortest time.
struct way {
  std::string method;
  double rtol;
  host::plan plan;
  std::unique_ptr<host::backend> where{};
  test::outcome made{};
  double seconds = HUGE_VAL;  ///< of the whole ensemble

  void prepare() {
    where = host::make_cpu_backend(plan);
    made = test::run(plan);
  }
  void measure() { seconds = std::min(seconds, time_of(plan, *where).cpu); }
};

void measure(std::vector<way>& all) {
  for (int round = 0; round < rounds; ++round)
    for (auto& w : all) w.measure();
}

/// Enough instances for a few in every lane of the widest setting, but few enough for a short run.
std::int64_t count_for(const std::string& model) {
  const auto states = static_cast<std::int64_t>(host::describe_model(host::find_model(model)).states.size());
  return std::clamp<std::int64_t>(16 * (256 / states), 64, 1024);
}

/// Time per instance at an error, interpolated between the tolerances measured; NaN outside.
double time_at(const std::vector<std::pair<double, double>>& errors_and_times, double error) {
  for (std::size_t i = 1; i < errors_and_times.size(); ++i) {
    const auto [e0, t0] = errors_and_times[i - 1];
    const auto [e1, t1] = errors_and_times[i];
    if ((e0 - error) * (e1 - error) > 0) continue;
    const double part = std::log(error / e0) / std::log(e1 / e0);
    return t0 * std::pow(t1 / t0, part);
  }
  return std::nan("");
}

void equal_error(const std::string& what, const std::vector<std::string>& methods, int lanes) {
  const std::string model = model_called(what);
  const auto count = count_for(model);
  const auto exact = test::run(plan_for(model, "dop853", 1e-13, 0, count));
  std::vector<way> all;
  for (const auto& method : methods)
    for (double rtol = 1e-3; rtol > 1e-11; rtol /= 10)
      all.push_back({method, rtol, plan_for(model, method, rtol, lanes, count)});
  for (auto& w : all) w.prepare();
  measure(all);
  const auto states = exact.plan.model.states.size();
  for (const auto& method : methods) {
    std::vector<std::pair<double, double>> line;
    for (const auto& w : all) {
      if (w.method != method) continue;
      line.emplace_back(accuracy_of(w.made, exact).median, 1e6 * w.seconds / static_cast<double>(count));
    }
    fmt::print("| {} | {} | {} |", exact.plan.model.name, states, method);
    for (const double error : errors) fmt::print(" {:.3g} |", time_at(line, error));
    fmt::print("\n");
  }
  std::fflush(stdout);
}

void over_lanes(const std::string& what, const std::vector<std::string>& methods,
                const std::vector<std::string>& lanes) {
  const std::string model = model_called(what);
  const auto count = count_for(model);
  std::vector<way> all;
  for (const auto& method : methods)
    for (const auto& some : lanes) all.push_back({method, 1e-6, plan_for(model, method, 1e-6, std::stoi(some), count)});
  for (auto& w : all) w.prepare();
  measure(all);
  for (std::size_t i = 0; i < all.size();) {
    const auto states = static_cast<double>(all[i].plan.model.states.size());
    fmt::print("| {} | {} | {} |", all[i].plan.model.name, states, all[i].method);
    for (const std::string method = all[i].method; i < all.size() && all[i].method == method; ++i) {
      const auto& n = all[i].made.rhs_evaluations;
      const auto evals = static_cast<double>(std::accumulate(n.begin(), n.end(), 0ll));
      fmt::print(" {:.2f} |", 1e9 * all[i].seconds / evals / states);
    }
    fmt::print("\n");
  }
  std::fflush(stdout);
}

void print_head(const std::vector<std::string>& columns) {
  fmt::print("| {} |\n|", fmt::join(columns, " | "));
  for (std::size_t i = 0; i < columns.size(); ++i) fmt::print("---|");
  fmt::print("\n");
}

void print_equal_error(const std::vector<std::string>& models, const std::vector<std::string>& methods, int lanes) {
  fmt::print("Microseconds per instance at a median error, {} lanes:\n\n",
             lanes == 0 ? "the chosen" : std::to_string(lanes));
  std::vector<std::string> columns{"model", "states", "method"};
  for (const double error : errors) columns.push_back(fmt::format("{:.0e}", error));
  print_head(columns);
  for (const auto& model : models) equal_error(model, methods, lanes);
}

void print_over_lanes(const std::vector<std::string>& models, const std::vector<std::string>& methods,
                      const std::vector<std::string>& lanes) {
  fmt::print("Nanoseconds per right-hand side and state at rtol 1e-6, by lanes:\n\n");
  std::vector<std::string> columns{"model", "states", "method"};
  columns.insert(columns.end(), lanes.begin(), lanes.end());
  print_head(columns);
  for (const auto& model : models) over_lanes(model, methods, lanes);
}

void all_tables(const std::string& revision) {
  const std::string folder = saltus::test::in_source("bench/models/");
  fmt::print("- Machine: {}, one thread, {} lanes of double to a register.\n", processor_name(), widest);
  fmt::print("- saltus {}{}, {}; the fastest of {} rounds, in processor time; load average {:.1f}.\n\n", SALTUS_VERSION,
             revision.empty() ? "" : " (" + revision + ")", today(), rounds, load());
  print_equal_error({"16", "64", "200"}, {"dp5", "tsit5", "rdpk510", "dop853"}, 8);
  fmt::print("\n");
  print_over_lanes({"16", "64", "200", folder + "bouncing_balls_100_smooth.hpp", folder + "marble_jar_10_smooth.hpp"},
                   {"dp5", "rdpk510"}, {"4", "8", "16"});
  fmt::print("\n");
  print_over_lanes({"bouncing_balls_100"}, {"dp5", "rdpk510"}, {"4", "8"});
}

int run(int argc, char** argv) {
  const std::string what = argc > 1 ? argv[1] : "", revision = "--revision=";
  if (argc == 1 || what.starts_with(revision)) {
    all_tables(argc == 1 ? "" : what.substr(revision.size()));
    return 0;
  }
  if (argc < 4 || (what != "equal" && what != "lanes") || (what == "lanes" && argc < 5)) {
    fmt::print(stderr, "usage: bench_large_n [--revision=TEXT | equal|lanes MODEL|N,... METHOD,... [LANES,...]]\n");
    return 2;
  }
  const auto models = parts_of(argv[2]), methods = parts_of(argv[3]), lanes = parts_of(argc > 4 ? argv[4] : "0");
  if (what == "equal") print_equal_error(models, methods, std::stoi(lanes.front()));
  else print_over_lanes(models, methods, lanes);
  return 0;
}

}  // namespace
}  // namespace saltus::bench

int main(int argc, char** argv) {
  try {
    return saltus::bench::run(argc, argv);
  } catch (const std::exception& e) {
    fmt::print(stderr, "{}\n", e.what());
    return 1;
  }
}
