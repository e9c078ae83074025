#include "bench/sample_runner.hpp"

#include <algorithm>
#include <iterator>
#include <limits>

#include "abi/status.hpp"
#include "backend/make.hpp"
#include "base/error.hpp"
#include "bench/bench.hpp"
#include "ensemble/chunk_data.hpp"

namespace saltus::host {

namespace {

constexpr const char* alike_count = "4096";  ///< instances if the spec has only one
constexpr double middle = 0.5;               ///< position of an instance within the range of ids it represents

bool ended_well(unsigned char id) {
  const auto row = std::find_if(std::begin(status_table), std::end(status_table),
                                [&](const auto& known) { return known.id == static_cast<status>(id); });
  return row->group == status_group::ok;
}

sample_results results_in(const std::vector<chunk_data>& chunks) {
  sample_results r;
  for (const auto& chunk : chunks) {
    const auto n = static_cast<std::size_t>(chunk.count);
    for (std::size_t i = 0; i < n; ++i) {
      std::vector<double> y;
      for (std::size_t at = i; at < chunk.final_state.size(); at += n) y.push_back(chunk.final_state[at]);
      r.state.push_back(std::move(y));
      r.events.push_back(chunk.events[i]);
      r.ok.push_back(ended_well(chunk.status[i]));
    }
  }
  return r;
}

}  // namespace

sample_runner::sample_runner(const bench_options& options, const cancellation& stop)
    : options_(options), stop_(stop), asked_(plan_with({})) {
  if (asked_.fixed_step > 0)
    throw error(exit_usage, "--advise: with a fixed step no accuracy is asked for: give rtol in place of step");
  if (asked_.count == 1 && !has_varied_inputs(asked_)) {
    alike_ = true;
    asked_ = plan_with({{"-n", alike_count, true}});
  }
}

plan sample_runner::plan_with(std::vector<flag> more) const {
  const auto backends = options_.backends.empty() ? std::vector<std::string>{} : backends_of(options_.backends);
  if (!backends.empty()) more.push_back({"--backend", backends.front()});
  plan p = options_.make_plan(more);
  p.file.clear();
  return p;
}

plan sample_runner::plan_of(const method_choice& choice) const {
  std::vector<flag> more = {{"--method", choice.method}};
  if (alike_) more.push_back({"-n", alike_count, true});
  plan p = plan_with(more);
  p.controller = choice.controller;
  p.detection = choice.detection;
  set_tolerance(p, choice.rtol);
  return p;
}

void sample_runner::set_tolerance(plan& p, double rtol) const {
  p.rtol = rtol;
  for (std::size_t j = 0; j < p.atol.size(); ++j) p.atol[j] = asked_.atol[j] * (rtol / asked_.rtol);
}

std::unique_ptr<backend> sample_runner::backend_of(const plan& p) const {
  auto where = make_backend(p, stop_);
  if (where->parts().size() > 1)
    throw error(exit_usage, "--advise: one device at a time: give --backends cpu, or a spec with one device");
  return where;
}

double sample_runner::limited(double longest) const {
  return counts_work() ? std::numeric_limits<double>::infinity() : longest;
}

double sample_runner::seconds_of(const pilot_round& round) const {
  if (!counts_work()) return round.seconds;
  const double taken = options_.seconds_of_round(round);
  worked_ += taken;
  return taken;
}

void sample_runner::choose_size() {
  constexpr double enough = 0.05, longest = 10;  // seconds
  constexpr std::int64_t max_instances = 8192;
  const plan p = plan_of(choice_of(asked_));
  const auto where = make_backend(p, stop_);
  const std::int64_t max_count = std::max<std::int64_t>(1, std::min(p.count, max_instances) / where->concurrency());
  is_cpu_ = where->uses_host_threads();
  device_ = where->device();
  count_ = std::min<std::int64_t>(max_count, 2 * where->lanes());
  for (;;) {
    pilot flight(p, *where, limited(longest), stop_);
    const auto round = flight.run(count_, middle);
    if (stop_ || round.progress < 1 || seconds_of(round) > enough || count_ == max_count) return;
    count_ = std::min(max_count, 4 * count_);
  }
}

std::optional<sample_results> sample_runner::results_of(const plan& p, backend& where, double longest) const {
  pilot flight(p, where, limited(longest), stop_);
  if (flight.run(count_, middle).progress < 1) return {};
  return results_in(flight.chunks());
}

double sample_runner::mean_seconds(const plan& p, backend& where) const {
  constexpr double enough = 0.03;
  double sum = 0;
  int runs = 0;
  pilot flight(p, where, std::numeric_limits<double>::infinity(), stop_);
  do sum += seconds_of(flight.run(count_, middle)), ++runs;
  while (sum < enough && !stop_);
  return sum / runs;
}

}  // namespace saltus::host
