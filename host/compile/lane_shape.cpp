#include "compile/lane_shape.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "linear/factorised.hpp"
#include "method/list.hpp"
#include "number/series_room.hpp"
#include "spec/methods.hpp"

namespace saltus::host {

int native_lanes(precision_kind precision) {
  int bytes = 16;
#if defined(__x86_64__) || defined(__i386__)
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl"))
    bytes = 64;
  else if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) bytes = 32;
#endif
  return bytes / bytes_of(precision);
}

bool is_explicit_method(const std::string& name) {
  bool r = true;
  methods::for_each(methods::all_methods{}, [&](auto method) { r = r && (method.is_explicit || name != method.name); });
  return r;
}

namespace {
/// Series of a model that is too large to unroll its orders: address computations serve two registers as well as one,
/// as long as the numbers of both fit into the nearby cache.
bool runs_orders_in_loops(const plan& p) {
  const auto method = method_called(p.method);
  const std::int64_t in_coefficient = 1 + carried_directions(p);
  if (!method.is_series || in_coefficient * (p.model.kept_series + p.model.kept_numbers) <= max_unrolled_series)
    return false;
  constexpr std::int64_t near = 512 * 1024;
  const auto series = static_cast<std::int64_t>(p.model.states.size()) + 1 + p.model.kept_series;
  const std::int64_t numbers = in_coefficient * (series * method.order + p.model.kept_numbers);
  return 2 * native_lanes(p.precision) * numbers * bytes_of(p.precision) <= near;
}
}  // namespace

/// Do the numbers of a small model fit twice into the vector registers? AVX-512 has 32 of them.
bool has_many_registers(precision_kind precision) { return native_lanes(precision) * bytes_of(precision) == 64; }

bool carries_many_derivatives(const plan& p) {
  constexpr std::int64_t few = 8;
  return is_explicit_method(p.method) && !method_called(p.method).is_series && carried_directions(p) > 0 &&
         static_cast<std::int64_t>(p.model.states.size()) * (1 + carried_directions(p)) > few;
}

/// The rule comes from measurements on several models and machines (bench/results/shapes.md). An explicit step is a chain
/// of dependent operations, above all at its end. Two registers side by side fill its gaps on every machine, but a
/// wider batch waits longer for its events; a second group fills them where the processor looks far enough ahead.
/// Implicit steps have such gaps everywhere, and two registers side by side hide them. The data of a full width of large
/// systems does not fit into the cache; very large systems are factorised one at a time. Registers of two doubles (aarch64,
/// x86-64 without AVX) leave a turn's work for all of its lanes to few of them, so explicit steps always have two.
lane_shape shape_by_rule(const plan& p) {
  const int native = native_lanes(p.precision);
  const int wide = native * bytes_of(p.precision) == 16 ? 2 * native : native;
  const auto states = p.model.states.size();
  if (!is_explicit_method(p.method)) {
    if (states > max_rows_in_lanes) return {1, 1};
    int lanes = states > two_registers_up_to ? native : 2 * native;
    while (lanes > 1 && lanes * stack_of_lane(p.model, p.method, p.coordinates, carried_directions(p)) > largest_stack)
      lanes /= 2;
    return {lanes, 1};
  }
  // Series of equations of any order, or with derivatives, hold many numbers: as many lanes as fit on a thread's stack.
  if (const auto of_one = stack_of_lane(p.model, p.method, p.coordinates, carried_directions(p));
      2 * native * of_one > largest_stack) {
    int lanes = native;
    while (lanes > 1 && lanes * of_one > largest_stack) lanes /= 2;
    return {lanes, 1};
  }
  if (runs_orders_in_loops(p)) return {2 * native, 1};
  if (carries_many_derivatives(p)) return {native, 1};
  const bool is_smooth = !method_called(p.method).is_series && !has_events(p.model);
  if (is_smooth && has_many_registers(p.precision) && states <= doubled_up_to) return {2 * native, 2};
  return {wide, 2};
}

bool is_tried(const plan& p, const lane_shape& shape) {
  const auto all = shapes_to_try(p);
  return std::find(all.begin(), all.end(), shape) != all.end();
}

std::string name_of(const lane_shape& shape) {
  const auto lanes = fmt::format("{} lane{}", shape.lanes, shape.lanes == 1 ? "" : "s");
  return shape.groups > 1 ? fmt::format("{} x {}", shape.groups, lanes) : lanes;
}

std::vector<lane_shape> shapes_to_try(const plan& p) {
  const int native = native_lanes(p.precision), states = static_cast<int>(p.model.states.size());
  if (!is_explicit_method(p.method) && states > max_rows_in_lanes) return {{1, 1}};
  if (2 * native * stack_of_lane(p.model, p.method, p.coordinates, carried_directions(p)) > largest_stack)
    return {shape_by_rule(p)};
  std::vector<lane_shape> all = {{native, 1}, {native, 2}};
  if (2 * native <= 32) all.insert(all.end(), {{2 * native, 1}, {2 * native, 2}});
  for (int narrow = native / 2; narrow >= 1 && states * native >= 128; narrow /= 2) all.push_back({narrow, 1});
  const auto rule = std::find(all.begin(), all.end(), shape_by_rule(p));
  std::rotate(all.begin(), rule, rule + 1);
  return all;
}

}  // namespace saltus::host
