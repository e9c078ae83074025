// The randomised hunt (testing/hunt.hpp) with many cases, as a Markdown table on stdout.
//
//     bench_hunt [--cases=N] [--dynamic=N] [--slow=N] [--threads=N] [--seed=N] [--revision=TEXT] [--only=DETECTION]
//
// The hunt runs N polynomials over one step by dp5 with certified detection, a hundredth as many by bs3 and dop853, and
// that hundredth again with hermite; N cases of real dynamics with every method that certifies, and with hermite; N slow
// thresholds beside a fast mode with every explicit method. --cases=0, --dynamic=0 or --slow=0 leaves a part out;
// --only=hermite restricts the real dynamics to that detection.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <string>
#include <string_view>

#include <fmt/chrono.h>
#include <fmt/format.h>

#include "method/list.hpp"
#include "testing/dynamic_hunt.hpp"

namespace saltus::bench {
namespace {

double option(int argc, char** argv, std::string_view name, double otherwise) {
  for (int i = 1; i < argc; ++i)
    if (std::string_view(argv[i]).substr(0, name.size()) == name) return std::atof(argv[i] + name.size());
  return otherwise;
}

std::string text_option(int argc, char** argv, std::string_view name) {
  for (int i = 1; i < argc; ++i)
    if (std::string_view(argv[i]).substr(0, name.size()) == name) return argv[i] + name.size();
  return "";
}

std::string rate(std::int64_t part, std::int64_t whole) {
  return part == 0 ? "0" : fmt::format("{} ({:.1e})", part, static_cast<double>(part) / static_cast<double>(whole));
}

/// Multiple roots take longest, since the search runs to its limits; their share is therefore smaller.
double share_of(test::shape s) {
  switch (s) {
    case test::shape::scattered: return 0.40;
    case test::shape::pair: return 0.24;
    case test::shape::near_miss: return 0.24;
    default: return 0.04;
  }
}

void print_row(const char* method, const std::string& detection, const char* about, const test::bag& b,
               double seconds) {
  fmt::print("| {} | {} | {} | {:.3g} | {:.3g} | {} | {} | {} | {} | {} | {} | {:.1f} |\n", method, detection, about,
             static_cast<double>(b.cases), static_cast<double>(b.events), rate(b.missed, b.cases),
             rate(b.repeated, b.cases), rate(b.out_of_order, b.cases), rate(b.late, b.cases), rate(b.failed, b.cases),
             rate(b.undetermined, b.cases), seconds * 1e6 / static_cast<double>(b.cases));
  std::fflush(stdout);
  if (detection.starts_with("hermite")) return;
  for (const auto number : b.wrong) fmt::print(stderr, "{} {} {}: case {}\n", method, detection, about, number);
}

/// The name of a kind of detection in the tables.
std::string name_of(const char* detection, test::heard which) {
  return which == test::heard::one_way ? fmt::format("{}, one way", detection) : detection;
}

void hunt(const char* method, const char* detection, double cases, int threads, std::uint64_t seed,
          test::heard which = test::heard::both) {
  test::hunter hunter(method, detection, threads, 1.0, which);
  const auto name = name_of(detection, which);
  test::bag all;
  double seconds = 0;
  for (const auto s : test::all_shapes) {
    const auto begin = std::chrono::steady_clock::now();
    const auto bag = hunter(s, static_cast<std::int64_t>(cases * share_of(s)), seed);
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
    seconds += took.count();
    print_row(method, name, test::name_of(s), bag, took.count());
    all.add(bag);
  }
  all.wrong.clear();
  print_row(method, name, "**all**", all, seconds);
}

/// Events that `hermite` misses, by degree and by length of the steps.
void print_by_degree(double cases, int threads, std::uint64_t seed) {
  fmt::print("\nShare of cases with scattered roots in which `hermite` misses any, by degree:\n\n| method, steps |");
  for (std::size_t k = 1; k < 9; ++k) fmt::print(" {} |", k);
  fmt::print("\n|---|---|---|---|---|---|---|---|---|\n");
  for (const char* method : {"dp5", "dop853"})
    for (const int steps : {1, 4, 16}) {
      const auto b = test::hunter(method, "hermite", threads, 1.0 / steps)(test::shape::scattered,
                                                                           static_cast<std::int64_t>(cases), seed);
      fmt::print("| {}, {} |", method, steps);
      for (std::size_t k = 1; k < b.of_degree.size(); ++k)
        fmt::print(" {} |", b.missed_of[k] == 0 ? "0"
                                                : fmt::format("{:.1e}", static_cast<double>(b.missed_of[k]) /
                                                                            static_cast<double>(b.of_degree[k])));
      fmt::print("\n");
    }
}

void print_dynamic_row(const char* method, const std::string& detection, const test::bag& b, double seconds) {
  fmt::print("| {} | {} | {:.3g} | {:.3g} | {} | {} | {} | {} | {} | {} | {} | {:.1f} |\n", method, detection,
             static_cast<double>(b.cases), static_cast<double>(b.events), rate(b.missed, b.cases),
             rate(b.repeated, b.cases), rate(b.out_of_order, b.cases), rate(b.late, b.cases),
             rate(b.wrong_side, b.cases), rate(b.failed, b.cases), rate(b.open, b.cases),
             seconds * 1e6 / static_cast<double>(b.cases));
  std::fflush(stdout);
}

/// One row: the sum of `part(rtol)` over three tolerances.
template <class Part>
void hunt_at_tolerances(const char* method, const std::string& detection, const Part& part) {
  const auto begin = std::chrono::steady_clock::now();
  test::bag all;
  for (const double rtol : {1e-4, 1e-6, 1e-8}) {
    const auto b = part(rtol);
    if (b.all_wrong() > 0 && detection.starts_with("certified"))
      for (const auto number : b.wrong) fmt::print(stderr, "{} {} rtol {}: case {}\n", method, detection, rtol, number);
    all.add(b);
  }
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
  print_dynamic_row(method, detection, all, took.count());
}

/// `cases` is the total over methods, tolerances and kinds of dynamics.
void hunt_dynamics(double cases, int threads, std::uint64_t seed, const std::string& only,
                   test::heard which = test::heard::both) {
  const char* const model = which == test::heard::one_way ? "one_way_oscillator" : "oscillating_guards";
  for (const char* detection : {"certified", "hermite"}) {
    if (!only.empty() && only != detection) continue;
    methods::for_each(methods::all_methods{}, [&](auto m) {
      if constexpr (methods::certifies<decltype(m)> && !m.for_mechanics)
        hunt_at_tolerances(m.name, name_of(detection, which), [&](double rtol) {
          auto hunt = test::dynamic_hunt<test::oscillator_prey>(model, m.name, detection, rtol, threads);
          test::bag all;
          for (const auto d : test::all_dynamics)
            all.add(hunt(test::oscillator_prey(d, rtol, seed, which), static_cast<std::int64_t>(cases / 216)));
          return all;
        });
    });
  }
}

void hunt_slow_thresholds(double cases, int threads, std::uint64_t seed) {
  methods::for_each(methods::explicit_methods{}, [&](auto m) {
    if constexpr (m.embedded_order > 0)
      hunt_at_tolerances(m.name, "slow threshold", [&](double rtol) {
        auto hunt = test::dynamic_hunt<test::slow_prey>("slow_guard", m.name, "hermite", rtol, threads);
        return hunt(test::slow_prey(rtol, seed), static_cast<std::int64_t>(cases / 21));
      });
  });
}

int run(int argc, char** argv) {
  const double cases = option(argc, argv, "--cases=", 1e8);
  const int threads = static_cast<int>(option(argc, argv, "--threads=", 2));
  const auto seed = static_cast<std::uint64_t>(option(argc, argv, "--seed=", 1));
  const auto revision = text_option(argc, argv, "--revision=");
  fmt::print("saltus {}{}, {:%Y-%m-%d}, seed {}, {} threads.\n\n", SALTUS_VERSION,
             revision.empty() ? "" : " (" + revision + ")", fmt::gmtime(std::time(nullptr)), seed, threads);
  if (const double dynamic = option(argc, argv, "--dynamic=", 1e6), slow = option(argc, argv, "--slow=", 1e7);
      dynamic + slow > 0) {
    fmt::print(
        "| method | detection | cases | events in them | missed | repeated | out of order | late | wrong side | failed "
        "| open | µs per case |\n|---|---|---|---|---|---|---|---|---|---|---|---|\n");
    if (slow > 0) hunt_slow_thresholds(slow, threads, seed);
    const auto only = text_option(argc, argv, "--only=");
    if (dynamic > 0) hunt_dynamics(dynamic, threads, seed, only);
    if (dynamic > 0) hunt_dynamics(dynamic, threads, seed, only, test::heard::one_way);
    fmt::print("\n");
  }
  if (cases <= 0) return 0;
  fmt::print(
      "| method | detection | shape | cases | events in them | missed | repeated | out of order | late | failed "
      "| undetermined | µs per case |\n|---|---|---|---|---|---|---|---|---|---|---|---|\n");
  hunt("dp5", "certified", cases, threads, seed);
  for (const char* method : {"bs3", "dop853"}) hunt(method, "certified", 0.01 * cases, threads, seed);
  for (const char* method : {"dp5", "bs3", "dop853"}) hunt(method, "hermite", 0.01 * cases, threads, seed);
  for (const char* detection : {"certified", "hermite"})
    for (const char* method : {"dp5", "bs3", "dop853"})
      hunt(method, detection, 0.01 * cases, threads, seed, test::heard::one_way);
  print_by_degree(0.01 * cases, threads, seed);
  return 0;
}

}  // namespace
}  // namespace saltus::bench

int main(int argc, char** argv) {
  try {
    return saltus::bench::run(argc, argv);
  } catch (const std::exception& e) {
    fmt::print(stderr, "bench_hunt: {}\n", e.what());
    return 1;
  }
}
