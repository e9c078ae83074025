#include "study/tune.hpp"

#include <time.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>
#include <limits>
#include <memory>
#include <optional>
#include <string>

#include <fmt/format.h>

#include "backend/make.hpp"
#include "base/by_turns.hpp"
#include "base/child.hpp"
#include "base/error.hpp"
#include "base/paths.hpp"
#include "compile/chosen_shape.hpp"
#include "compile/compiler.hpp"
#include "compile/machine_shapes.hpp"
#include "ensemble/model_call.hpp"
#include "ensemble/pilot.hpp"
#include "spec/spec.hpp"

namespace saltus::host {

namespace {

/// Least number of instances in a pilot: some for each lane.
constexpr std::int64_t fewest = 64;

/// Seconds after which a measurement is given up: one slow instance must not hold up a run.
constexpr double budget = 20;

using clock = std::chrono::steady_clock;

clock::time_point from_now(double seconds) {
  return clock::now() + std::chrono::duration_cast<clock::duration>(std::chrono::duration<double>(seconds));
}

/// Processor seconds of this thread for a chunk, which it leaves after `longest`. Infinity if the chunk is not done
/// `by_then`.
double time_of(backend& where, chunk_data& chunk, clock::time_point by_then, const cancellation& stop,
               double longest = std::numeric_limits<double>::infinity()) {
  const auto now = [] {
    timespec t;
    ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
  };
  const cancellation over = stop.within();
  const call_watch watch(over, [&] {
    if (clock::now() >= by_then) over.cancel();
  });
  abi::usage used{};
  const double begin = now();
  where.integrate(
      chunk, [&](std::int64_t) { return !over && now() - begin < longest; }, used);
  return over ? std::numeric_limits<double>::infinity() : now() - begin;
}

plan with_shape(plan p, const lane_shape& shape) {
  p.lanes = shape.lanes;
  p.groups = shape.groups;
  return p;
}

/// Seconds after which a pilot is given up: longer ones would not be repeated a dozen times.
constexpr double longest_pilot = 1;

/// A number of instances that runs for a measurable time and fills the lanes of all shapes many times over; nothing if
/// the fewest take too long.
std::optional<std::int64_t> pilot_count(const plan& p, backend& where, const cancellation& stop, double& seconds,
                                        clock::time_point by_then) {
  constexpr double enough = 0.03;
  chunk_data chunk;
  for (std::int64_t count = std::min(p.count, fewest);; count *= 2) {
    fill_spread(p, count, 0.5, chunk);
    seconds = time_of(where, chunk, by_then, stop, longest_pilot);
    if (seconds >= longest_pilot || stop) return {};
    if (seconds >= enough || 2 * count > std::min<std::int64_t>(p.count, 65536)) return count;
  }
}

/// Times the shapes in turns on the plan's instances, the best shape first. Empty if there is no time for that.
std::vector<timed_shape> timed(const plan& p, const std::vector<lane_shape>& shapes,
                               const std::vector<std::unique_ptr<backend>>& where, const cancellation& stop) {
  const auto by_then = from_now(budget);
  double seconds = 0;
  const auto count = pilot_count(p, *where.front(), stop, seconds, by_then);
  if (!count) return {};
  chunk_data chunk;
  bool late = false;
  const int rounds = seconds > longest_pilot / 4 ? 3 : 9;
  const auto times = time_by_turns(
      shapes.size(), rounds,
      [&](std::size_t k) {
        fill_spread(p, *count, 0.5, chunk);
        const double taken = time_of(*where[k], chunk, by_then, stop);
        late = late || std::isinf(taken);
        return taken / static_cast<double>(*count);
      },
      stop);
  if (stop || late) return {};
  std::vector<timed_shape> all;
  for (std::size_t k = 0; k < shapes.size(); ++k) all.push_back({shapes[k], median_of(times[k])});
  const std::size_t best = fastest_beyond_doubt(times);
  all[best].gain = times_as_long(times, 0, best);
  std::swap(all[0], all[best]);
  std::sort(all.begin() + 1, all.end(), [](const auto& a, const auto& b) { return a.seconds < b.seconds; });
  return all;
}

/// The same in a child process; empty if the model fails there.
std::vector<timed_shape> measured_shapes(const plan& p, const std::vector<lane_shape>& shapes,
                                         const cancellation& stop) {
  static_assert(std::is_trivially_copyable_v<timed_shape>);
  std::vector<std::unique_ptr<backend>> where;
  for (const lane_shape& shape : shapes) {
    if (stop) return {};
    where.push_back(make_cpu_backend(with_shape(p, shape), stop));
  }
  try {
    const std::string bytes = in_child(
        [&] {
          const auto all = timed(p, shapes, where, stop);
          return std::string(reinterpret_cast<const char*>(all.data()), all.size() * sizeof(timed_shape));
        },
        0, stop);
    std::vector<timed_shape> all(bytes.size() / sizeof(timed_shape));
    std::memcpy(all.data(), bytes.data(), bytes.size());
    if (stop) all.clear();
    return all;
  } catch (const child_failure&) { return {}; } catch (const model_crash&) {
    return {};
  } catch (const error& e) {
    if (e.exit_code != exit_interrupted) throw;
    return {};
  }
}

}  // namespace

plan reference_plan(const plan& p) {
  struct reference {
    const char *model, *varied;
  };
  // Steps of similar length over the whole span; events at a few per cent of the steps; four decades of stiffness.
  constexpr reference of_kind[] = {{"lorenz", "sweep.rho={from=0, to=21, count=65536}"},
                                   {"ball_drag", "sweep.height={from=5, to=20, count=65536}"},
                                   {"robertson", "sweep.k1={from=0.01, to=0.1, count=65536}"}};
  const auto [name, varied] = of_kind[static_cast<int>(kind_of(p))];
  const std::vector<flag> flags = {
      {"--method", p.method},
      {"--backend", "cpu"},
      {"--set", varied},
      {"--set", fmt::format("precision=\"{}\"", word_of(p.precision))},
      {"--set", p.precision == precision_kind::single_precision ? "rtol=1e-4" : "rtol=1e-6"}};
  return validate(from_model(name, flags), describe_model(find_model(name)));
}

std::vector<timed_shape> tune_lanes(const plan& p, const cancellation& stop) {
  if (p.lanes > 0 || p.groups > 0) return {};
  auto shapes = shapes_to_try(p);
  const auto usual = std::find(shapes.begin(), shapes.end(), usual_shape(p));
  std::rotate(shapes.begin(), usual, usual + 1);
  auto all = measured_shapes(p, shapes, stop);
  if (!all.empty()) remember(p, all.front().shape);
  return all;
}

std::vector<timed_shape> tune_machine(const plan& p, const cancellation& stop) {
  const plan reference = reference_plan(p);
  auto all = measured_shapes(reference, shapes_to_try(reference), stop);
  if (!all.empty()) keep({p.method, word_of(p.precision), kind_of(p), all.front().shape, all.front().gain});
  return all;
}

}  // namespace saltus::host
