// saltus on the ensembles of bench/stiff, by the same path as the program: one thread, as many lanes as the machine has.
//
//     stiff_saltus MODEL METHOD T_END SMALL...
//     stiff_saltus --about
//
// Answers requests from stdin as server.hpp says; atol of state i is rtol times the i-th SMALL. The header of a table names
// the parameters that its columns hold. Compiling the model and reading the table are not in the time.
#include <fmt/format.h>

#include "ensemble.hpp"
#include "server.hpp"

namespace peers {
namespace {

using namespace saltus;

std::vector<std::string> settings_of(const request& r, const std::string& method, const std::string& t_end,
                                     const std::vector<double>& small) {
  std::vector<std::string> all = {"method=" + method, fmt::format("rtol={:e}", r.rtol),
                                  fmt::format("t=[0.0, {}]", t_end), "run.threads=1"};
  std::string              atol;
  for (const double s : small) atol += fmt::format("{}{:e}", atol.empty() ? "" : ", ", r.rtol * s);
  all.push_back(fmt::format("atol=[{}]", atol));
  std::ifstream in(r.table);
  std::string   header;
  std::getline(in, header);
  std::istringstream columns(header);
  for (std::string name; std::getline(columns, name, ',');)
    all.push_back(fmt::format("sweep.zip.{}={{csv=\"{}\", column=\"{}\"}}", name, r.table, name));
  return all;
}

answer measure(const request& r, const host::plan& plan) {
  answer                  a;
  const auto              where = host::make_cpu_backend(plan);
  const std::atomic<bool> stop{false};
  const auto              n = static_cast<double>(plan.count);
  if (r.states) {
    const auto run = test::run(plan);
    for (std::int64_t i = 0; i < plan.count; ++i) {
      const auto id = static_cast<std::size_t>(i);
      a.y.emplace_back();
      if (!is_ok(static_cast<status>(run.status[id]))) continue;
      for (std::size_t at = id; at < run.final_state.size(); at += static_cast<std::size_t>(plan.count))
        a.y.back().push_back(run.final_state[at]);
    }
  }
  const double begin  = cpu_seconds();
  double       passed = 0;
  int          passes = 0;
  do {
    const auto run = host::run_ensemble(
        plan, *where, [](const host::chunk_data&) {}, [](std::int64_t) {}, stop);
    passed = cpu_seconds() - begin;
    ++passes;
    a.steps   = static_cast<double>(run.counts.steps + run.counts.rejected) / n;
    a.rescued = run.counts.rescued();
    a.failed  = plan.count - run.counts.ok() - a.rescued;
  } while (passed < r.seconds);
  a.us = 1e6 * passed / passes / n;
  return a;
}

int run(int argc, char** argv) {
  if (argc == 2 && std::string(argv[1]) == "--about") {
    fmt::print("{{\"version\": \"{}\", \"lanes\": {}, \"compiler\": \"{}\"}}\n", SALTUS_VERSION,
               host::native_lanes("double"), host::find_compiler().version);
    return 0;
  }
  if (argc < 5) throw std::runtime_error("usage: stiff_saltus MODEL METHOD T_END SMALL...");
  const std::string   model = argv[1], method = argv[2], t_end = argv[3];
  std::vector<double> small;
  for (int i = 4; i < argc; ++i) small.push_back(std::stod(argv[i]));
  serve([&](const request& r) { return measure(r, test::plan_of(model, settings_of(r, method, t_end, small))); });
  return 0;
}

}  // namespace
}  // namespace peers

int main(int argc, char** argv) {
  try {
    return peers::run(argc, argv);
  } catch (const std::exception& e) {
    fmt::print(stderr, "stiff_saltus: {}\n", e.what());
    return 1;
  }
}
