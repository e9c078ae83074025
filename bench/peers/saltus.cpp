// saltus on the ensembles of bench/beside, run as the saltus program runs them.
//
//     peer_saltus MODEL METHOD T_END SMALL [KEY=VALUE ...]
//     peer_saltus --about
//
// KEY=VALUE is as in `saltus run --set`. The program answers requests from stdin as server.hpp describes; atol of state i is
// rtol times entry i of the comma list SMALL. The header of a table names the parameters and initial states in its columns.
// The time excludes compiling the model and reading the table. Operations are counted by host/bench/flops.hpp.
#include <fmt/format.h>

#include "bench/flops.hpp"
#include "machine.hpp"
#include "server.hpp"
#include "testing/ensemble.hpp"

namespace peers {
namespace {

using namespace saltus;

/// Settings of an ensemble that a request does not contain.
struct setup {
  std::string model, method, t_end;
  std::vector<double> small;
  std::vector<std::string> more;
};

std::vector<std::string> settings_of(const request& r, const setup& s) {
  std::vector<std::string> all = s.more;
  all.insert(all.end(), {"method=" + s.method, fmt::format("rtol={:e}", r.rtol), fmt::format("t=[0.0, {}]", s.t_end)});
  std::string atol;
  for (const double y : s.small) atol += fmt::format("{}{:e}", atol.empty() ? "" : ", ", r.rtol * y);
  all.push_back(fmt::format("atol=[{}]", atol));
  std::ifstream in(r.table);
  std::string header;
  std::getline(in, header);
  std::istringstream columns(header);
  for (std::string name; std::getline(columns, name, ',');)
    all.push_back(fmt::format("sweep.zip.{}={{csv=\"{}\", column=\"{}\"}}", name, r.table, name));
  return all;
}

answer measure(const request& r, const setup& s) {
  const host::plan plan = test::plan_of(s.model, settings_of(r, s));
  answer a;
  const auto where = host::make_cpu_backend(plan);
  const host::cancellation stop;
  const auto n = static_cast<double>(plan.count);
  if (r.states) {
    const auto run = test::run(plan);
    a.events.assign(run.events.begin(), run.events.end());
    for (std::int64_t i = 0; i < plan.count; ++i) {
      const auto id = static_cast<std::size_t>(i);
      a.y.emplace_back();
      if (!is_ok(static_cast<status>(run.status[id]))) continue;
      for (std::size_t at = id; at < run.final_state.size(); at += static_cast<std::size_t>(plan.count))
        a.y.back().push_back(run.final_state[at]);
    }
  }
  const stopwatch time;
  int passes = 0;
  do {
    const auto run = host::run_ensemble(plan, *where, stop);
    ++passes;
    a.steps = static_cast<double>(run.counts.steps + run.counts.rejected) / n;
    a.rescued = run.counts.rescued();
    a.failed = plan.count - run.counts.ok() - a.rescued;
    a.flops = host::operations_of(plan, run.counts).value_or(host::operations{}).all() / n;
  } while (time.cpu() < r.seconds);
  a.us = 1e6 * time.cpu() / passes / n;
  a.wall = 1e6 * time.wall() / passes / n;
  return a;
}

void run(int argc, char** argv) {
  if (argc == 2 && std::string(argv[1]) == "--about") {
    fmt::print("{{\"version\": \"{}\", \"lanes\": {}, \"compiler\": \"{}\", \"peak\": {:e}}}\n", SALTUS_VERSION,
               host::native_lanes(), host::find_compiler().version, bench::peak_flops());
    return;
  }
  if (argc < 5) throw std::runtime_error("usage: peer_saltus MODEL METHOD T_END SMALL [KEY=VALUE ...]");
  const setup s{argv[1], argv[2], argv[3], numbers(argv[4]), {argv + 5, argv + argc}};
  serve([&](const request& r) { return measure(r, s); });
}

}  // namespace
}  // namespace peers

int main(int argc, char** argv) {
  return peers::guarded("peer_saltus", [&] { peers::run(argc, argv); });
}
