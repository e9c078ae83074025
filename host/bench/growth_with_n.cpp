#include "bench/growth_with_n.hpp"

#include <cmath>

#include <fmt/format.h>

#include "backend/make.hpp"
#include "base/clock.hpp"
#include "base/error.hpp"
#include "ensemble/pipeline.hpp"

namespace saltus::host {

namespace {

/// 10 .. 10^7 by decades and half decades.
std::vector<std::int64_t> counts() {
  std::vector<std::int64_t> r;
  for (int half = 2; half <= 14; ++half) r.push_back(std::llround(std::pow(10.0, 0.5 * half)));
  return r;
}

/// Seconds of one run without compilation.
double one_run(const plan& p, backend& where, const cancellation& stop) {
  const auto begin = monotonic_clock::now();
  const auto summary = run_ensemble(p, where, stop);
  if (!summary.crash.empty()) throw error(exit_failure, summary.crash);
  return seconds_since(begin) - summary.stiff_compile_seconds - summary.rescue_compile_seconds;
}

/// At least `min_runs` runs, and more while they are short.
spread rate_of(const plan& p, backend& where, const cancellation& stop) {
  constexpr int min_runs = 3, max_runs = 50;
  constexpr double enough = 0.1, long_enough = 1.0;
  const auto begin = monotonic_clock::now();
  std::vector<double> rates;
  one_run(p, where, stop);  // allocates memory and compiles fallback integrators
  do rates.push_back(static_cast<double>(p.count) / one_run(p, where, stop));
  while (!stop && std::ssize(rates) < max_runs &&
         (seconds_since(begin) < enough || (std::ssize(rates) < min_runs && seconds_since(begin) < long_enough)));
  return spread_of(rates);
}

}  // namespace

std::vector<growth_curve> measure_growth(const bench_options& options, const std::vector<std::string>& backends,
                                         const cancellation& stop) {
  const auto now = options.now ? options.now : [] {
    return std::chrono::duration<double>(monotonic_clock::now().time_since_epoch()).count();
  };
  std::vector<growth_curve> curves;
  const double share = options.limit / static_cast<double>(backends.size());
  for (const auto& name : backends) {
    growth_curve c{name, {}, {}};
    double spent = 0;   // without compilation
    double before = 0;  // for the last point: the next takes about sqrt(10) times as long
    for (const std::int64_t n : counts()) {
      if (stop || spent + 3.2 * before > share) break;
      // No file is written, since the speed of the disk is not that of the backend.
      plan p = options.make_plan({{"--backend", name}, {"-n", std::to_string(n), true}});
      p.file.clear();
      if (!c.points.empty() && p.count == c.points.back().instances) break;  // -n does not set the number of instances
      const auto where = make_backend(p, stop);
      c.device = where->device();
      const double point = now();
      const auto rate = rate_of(p, *where, stop);
      if (stop) break;
      before = now() - point;
      spent += before;
      c.points.push_back({p.count, rate});
      if (!options.quiet) fmt::print(stderr, "{}: {} instances: {:.4g}/s\n", name, p.count, rate.median);
    }
    curves.push_back(std::move(c));
  }
  return curves;
}

std::optional<double> overtakes(const growth_curve& first, const growth_curve& second) {
  // Both have points at the same numbers of instances, as far as they reach.
  const std::size_t both = std::min(first.points.size(), second.points.size());
  const auto lead = [&](std::size_t i) { return std::log(second.points[i].rate.median / first.points[i].rate.median); };
  if (both == 0 || lead(both - 1) <= 0) return {};
  std::size_t i = both - 1;
  while (i > 0 && lead(i - 1) > 0) --i;
  if (i == 0) return static_cast<double>(first.points[0].instances);
  const double a = std::log(static_cast<double>(first.points[i - 1].instances)),
               b = std::log(static_cast<double>(first.points[i].instances));
  return std::exp(a + (b - a) * lead(i - 1) / (lead(i - 1) - lead(i)));
}

}  // namespace saltus::host
