#include "tune.hpp"

#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <limits>
#include <memory>

#include <fmt/format.h>

#include "backend.hpp"
#include "compiler.hpp"
#include "error.hpp"
#include "files.hpp"
#include "install.hpp"
#include "linear/factorised.hpp"
#include "method/list.hpp"
#include "pilot.hpp"

namespace saltus::host {

namespace fs = std::filesystem;

namespace {

/// Implicit steps: states up to which two registers for each number are faster. Beyond, too few are left for the rest.
constexpr int two_registers_up_to = 4;
/// Instances that a pilot has at least: some for each lane.
constexpr std::int64_t fewest = 64;
/// Seconds that a run takes at least, on all threads, to be worth the compilation of other shapes.
constexpr double worth_while = 60;

bool is_explicit_method(const std::string& name) {
  bool r = true;
  methods::for_each(methods::implicit{}, [&](auto method) { r = r && name != method.name; });
  return r;
}

/// By measurements on several models (docs/benchmarks.md). An explicit step is a chain of operations that wait for each
/// other, at its end most of all: there another group goes on. Implicit ones wait everywhere, and two registers hide that
/// from each other. Of large systems a full width no longer fits into the cache, and of very large ones each is factorised
/// alone.
lane_shape usual_shape(const plan& p) {
  const int native = native_lanes(p.precision), states = static_cast<int>(p.model.states.size());
  if (!is_explicit_method(p.method)) {
    if (states > most_rows_in_lanes) return {1, 1};
    return {states > two_registers_up_to ? native : 2 * native, 1};
  }
  return {native, 2};
}

std::vector<lane_shape> shapes_to_try(const plan& p) {
  const int native = native_lanes(p.precision), states = static_cast<int>(p.model.states.size());
  if (!is_explicit_method(p.method) && states > most_rows_in_lanes) return {{1, 1}};
  std::vector<lane_shape> all = {{native, 1}, {native, 2}};
  if (2 * native <= 32) all.insert(all.end(), {{2 * native, 1}, {2 * native, 2}});
  for (int narrow = native / 2; narrow >= 1 && states * native >= 128; narrow /= 2) all.push_back({narrow, 1});
  return all;
}

/// One number pair for each model, method and way to compile; `lanes` of the plan do not matter.
fs::path file_of(const plan& p) { return cache_folder() / (cpu_unit_key(p, {0, 0}) + ".lanes"); }

void remember(const plan& p, const lane_shape& shape) {
  const fs::path file = file_of(p), fresh = file.string() + fmt::format(".{}", ::getpid());
  write_file(fresh, fmt::format("{} {}\n", shape.lanes, shape.groups));
  fs::rename(fresh, file);
}

/// Seconds of processor time that this thread takes for a chunk.
double time_of(backend& where, chunk_data& chunk, const std::atomic<bool>& stop) {
  const auto now = [] {
    timespec t;
    ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
  };
  abi::usage   used{};
  const double begin = now();
  where.integrate(
      chunk, [&](std::int64_t) { return !stop; }, used);
  return now() - begin;
}

plan with_shape(plan p, const lane_shape& shape) {
  p.lanes  = shape.lanes;
  p.groups = shape.groups;
  return p;
}

/// As many instances as last some time, and fill all shapes' lanes many times over.
std::int64_t pilot_count(const plan& p, backend& where, const std::atomic<bool>& stop, double& seconds) {
  constexpr double enough = 0.05;
  chunk_data       chunk;
  for (std::int64_t count = std::min(p.count, fewest);; count *= 2) {
    fill_spread(p, count, 0.5, chunk);
    seconds = time_of(where, chunk, stop);
    if (seconds >= enough || 2 * count > std::min<std::int64_t>(p.count, 65536) || stop) return count;
  }
}

}  // namespace

std::string name_of(const lane_shape& shape) {
  const auto lanes = fmt::format("{} lane{}", shape.lanes, shape.lanes == 1 ? "" : "s");
  return shape.groups > 1 ? fmt::format("{} x {}", shape.groups, lanes) : lanes;
}

std::optional<lane_shape> remembered_shape(const plan& p) {
  std::ifstream in(file_of(p));
  lane_shape    shape;
  if (!(in >> shape.lanes >> shape.groups)) return {};
  // A damaged file is as good as none.
  const auto all = shapes_to_try(p);
  if (std::find(all.begin(), all.end(), shape) == all.end()) return {};
  return shape;
}

lane_shape lane_shape_of(const plan& p) {
  if (p.lanes > 0) return {p.lanes, std::max(p.groups, 1)};
  lane_shape shape = usual_shape(p);
  if (const auto known = remembered_shape(p)) shape = *known;
  if (p.groups > 0) shape.groups = p.groups;
  return shape;
}

std::vector<timed_shape> tune_lanes(const plan& p, const std::atomic<bool>& stop) {
  if (p.lanes > 0 || p.groups > 0) return {};
  std::vector<timed_shape>              all;
  std::vector<std::unique_ptr<backend>> where;
  for (const lane_shape& shape : shapes_to_try(p)) {
    if (stop) return {};
    all.push_back({shape, std::numeric_limits<double>::infinity()});
    where.push_back(make_cpu_backend(with_shape(p, shape)));
  }
  double             seconds = 0;
  const std::int64_t count   = pilot_count(p, *where.front(), stop, seconds);
  chunk_data         chunk;
  constexpr int      rounds = 5;
  for (int round = 0; round < rounds; ++round)
    for (std::size_t i = 0; i < all.size() && !stop; ++i) {
      fill_spread(p, count, 0.5, chunk);
      all[i].seconds = std::min(all[i].seconds, time_of(*where[i], chunk, stop) / static_cast<double>(count));
    }
  if (stop) return {};
  std::stable_sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.seconds < b.seconds; });
  remember(p, all.front().shape);
  return all;
}

bool tune_long_run(const plan& p, backend& where, const std::atomic<bool>& stop) {
  const bool on_lanes = where.parts().size() == 1 && where.uses_host_threads();
  if (!on_lanes || p.lanes > 0 || p.groups > 0 || p.count < 64 * fewest || remembered_shape(p)) return false;
  double             seconds = 0;
  const std::int64_t count   = pilot_count(p, where, stop, seconds);
  const double       whole   = seconds / static_cast<double>(count) * static_cast<double>(p.count) / threads_of(p);
  return whole >= worth_while && !stop && !tune_lanes(p, stop).empty();
}

}  // namespace saltus::host
