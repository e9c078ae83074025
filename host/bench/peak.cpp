#include <algorithm>
#include <ctime>
#include <thread>
#include <vector>

#include <fmt/format.h>

#include "base/paths.hpp"
#include "bench/flops.hpp"
#include "compile/compiler.hpp"
#include "compile/lane_shape.hpp"

namespace saltus::host {

namespace {

constexpr int chains = 16;  // more than any processor needs to hide its latency

double thread_seconds() {
  timespec t;
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

}  // namespace

double cpu_peak_flops(precision_kind precision, int threads) {
  const int lanes = native_lanes(precision);
  const std::string text = fmt::format(
      "#include \"number/pack.hpp\"\n"
      "using namespace saltus;\n"
      "extern \"C\" __attribute__((visibility(\"default\"))) double saltus_peak(long long turns, double a, double b) "
      "{{\n"
      "  using Real = pack<{0}, {1}>;\n"
      "  Real x[{2}];\n"
      "  const Real factor(a), term(b);\n"
      "  static_for<{2}>([&](auto i) {{ x[i] = Real(1.0 + i); }});\n"
      "  for (long long turn = 0; turn < turns; ++turn)\n"
      "    static_for<{2}>([&](auto i) {{ x[i] = fma(x[i], factor, term); }});\n"
      "  Real sum(0.0);\n"  // summed without taking the address of x, which thus stays in registers
      "  static_for<{2}>([&](auto i) {{ sum = sum + x[i]; }});\n"
      "  double all = 0.0;\n"
      "  for (int lane = 0; lane < {1}; ++lane) all += sum.get(lane);\n"
      "  return all;\n"
      "}}\n",
      word_of(precision), lanes, chains);
  const built module = build_module(text, home() / "kernels/number/pack.hpp");
  using function = double(long long, double, double);
  auto* const work = reinterpret_cast<function*>(module.code->symbol("saltus_peak"));

  constexpr long long turns = 2'000'000;
  constexpr int attempts = 5;
  std::vector<double> best(static_cast<std::size_t>(threads), 0.0);
  std::vector<double> sums(best.size());
  const auto measure = [&](std::size_t thread) {
    for (int i = 0; i < attempts; ++i) {
      const double begin = thread_seconds();
      sums[thread] += work(turns, 0.999, 1e-3);
      const double took = thread_seconds() - begin;
      best[thread] = std::max(best[thread], 2.0 * lanes * chains * static_cast<double>(turns) / took);
    }
  };
  std::vector<std::thread> all;
  for (std::size_t i = 0; i < best.size(); ++i) all.emplace_back(measure, i);
  for (auto& thread : all) thread.join();
  double sum = 0;
  for (const double rate : best) sum += rate;
  return sum;
}

}  // namespace saltus::host
