// A CUDA device for tests on machines without one: the kernels of run/on_cuda.cuh as ordinary functions, whose threads run
// one after another, and chunks to run on it and on CPU lanes.
#pragma once

#include <algorithm>
#include <bit>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "chunk_difference.hpp"
#include "ensemble/chunk_data.hpp"
#include "form/of_model.hpp"
#include "method/by_name.hpp"
#include "model/describe.hpp"
#include "run/on_cpu.hpp"
#include "run/on_cuda.cuh"
#include "statistics/cuda_statistics.cuh"

namespace saltus::test {

/// One thread's part in a kernel.
template <class E, class Warp>
void emulate_thread(std::string_view kernel, const abi::device_chunk& chunk,
                    const tolerances<E, pack<typename E::T, 1>>& tol, const Warp& warp) {
  const cuda_rounds<E, Warp> rounds(chunk, tol, warp);
  if (kernel == "saltus_begin") rounds.begin_fresh();
  else if (kernel == "saltus_sail") rounds.sail_ready();
  else if (kernel == "saltus_land") rounds.land_parked();
  else if (kernel == "saltus_land_quickly")
    cuda_rounds<quick<E>, Warp>(chunk, std::bit_cast<tolerances<quick<E>, pack<typename E::T, 1>>>(tol), warp)
        .land_quickly();
  else if (kernel == "saltus_turn_over") rounds.turn_over();
  else throw host::error(host::exit_failure, "no kernel " + std::string(kernel));
}

/// Runs a kernel of a module of engine E; `arguments` are as for cuLaunchKernel. Every thread is a warp of its own.
template <class E>
void emulate(std::string_view kernel, int threads, void** arguments) {
  if (kernel == "saltus_describe") {
    **static_cast<abi::device_module**>(arguments[0]) = cuda_module_of<E>;
    return;
  }
  if (kernel == "saltus_tolerances") {
    using Tolerances = tolerances<E, pack<typename E::T, 1>>;
    **static_cast<Tolerances**>(arguments[1]) =
        tolerances_from<E, pack<typename E::T, 1>>(*static_cast<const abi::settings*>(arguments[0]));
    return;
  }
  if (kernel == "saltus_statistics") {
    const auto& work = *static_cast<const abi::device_statistics*>(arguments[0]);
    const whole_warp warp;
    for (int i = 0; i < threads / statistics_lanes; ++i)
      statistics_of_chunk<whole_warp>(work, warp).make(i, threads / statistics_lanes);
    return;
  }
  const auto& chunk = *static_cast<const abi::device_chunk*>(arguments[0]);
  const auto& tol = *static_cast<const tolerances<E, pack<typename E::T, 1>>*>(arguments[1]);
  for (int i = 0; i < threads; ++i) emulate_thread<E>(kernel, chunk, tol, lone_warp(i, threads));
}

/// The tables of a model with the values that it declares.
inline std::vector<host::run_tables::table> own_tables(const abi::description& d) {
  std::vector<host::run_tables::table> all;
  for (int i = 0; i < d.table_count; ++i) {
    const abi::declared_table& t = d.tables[i];
    host::knots k;
    for (int j = 0; j < t.knot_count; ++j) k.times.push_back(t.knots[j].t), k.values.push_back(t.knots[j].value);
    auto coefficients =
        host::coefficients_of(k, static_cast<interpolation>(t.interpolation), static_cast<at_ends>(t.at_ends));
    all.push_back({t.name, std::move(k), std::move(coefficients)});
  }
  return all;
}

/// The part of a plan that backends need for Model: its numbers of states and parameters with their defaults, and settings.
template <class Model>
host::plan plan_of(double t_end, double tolerance) {
  const abi::description& d = *describe<Model>::get("model");
  host::plan p;
  const auto list = [](const abi::quantity* from, int count) {
    std::vector<host::quantity> r;
    for (int i = 0; i < count; ++i)
      r.push_back({from[i].name, from[i].value, from[i].unit, from[i].about, from[i].index});
    return r;
  };
  p.model.states = list(d.states, d.state_count);
  p.model.parameters = list(d.parameters, d.parameter_count);
  p.model.discretes = list(d.discretes, d.discrete_count);
  p.model.outputs = list(d.outputs, d.output_count);
  p.model.guards.resize(static_cast<std::size_t>(d.guard_count));
  p.model.time_events.resize(static_cast<std::size_t>(d.time_event_count));
  for (int i = 0; i < d.delay_count; ++i) p.model.delays.push_back({d.delays[i].name, d.delays[i].about});
  p.model.kept = d.kept_count;
  p.model.random_key = d.random_key;
  p.model.reaches = d.reaches != 0;
  p.model.equations = static_cast<abi::equations>(d.equations);
  p.model.singular_mass = d.singular_mass != 0;
  if (d.table_count > 0) p.tables = std::make_shared<const host::run_tables>(own_tables(d));
  p.rtol = tolerance;
  p.atol.assign(p.model.states.size(), tolerance);
  p.t_end = t_end;
  p.log_events = true;
  return p;
}

/// A chunk of `count` instances whose parameter number `swept` covers `from` to `to` in scattered order; each instance has
/// its own end time, and its own key of random streams.
inline host::chunk_data scattered_chunk(const host::plan& p, int swept, double from, double to, std::int64_t count) {
  host::chunk_data c(p, 0, count);
  std::fill(c.discrete.begin(), c.discrete.end(), std::numeric_limits<double>::quiet_NaN());
  for (std::int64_t i = 0; i < count; ++i) {
    const auto slot = static_cast<std::size_t>(i);
    const double scatter = static_cast<double>(i * 611953 % 1000003) / 1000003.0;
    for (std::size_t j = 0; j < p.model.parameters.size(); ++j)
      c.parameters[j * static_cast<std::size_t>(count) + slot] =
          static_cast<int>(j) == swept ? from + scatter * (to - from) : p.model.parameters[j].value;
    for (int part = 0; p.model.random_key >= 0 && part < 4; ++part)
      c.discrete[static_cast<std::size_t>((p.model.random_key + part) * count + i)] =
          static_cast<double>(i * (part + 40503) % 65536);
    c.t_begin[slot] = p.t_begin;
    c.t_end[slot] = p.t_begin + (p.t_end - p.t_begin) * (1.0 - 0.25 * scatter);
    for (std::size_t k = 0; p.records && k < p.records->all().size(); ++k)
      std::tie(c.first_row[k * static_cast<std::size_t>(count) + slot],
               c.end_row[k * static_cast<std::size_t>(count) + slot]) = p.records->rows_of(k, i);
  }
  return c;
}

/// Integrates a chunk on W CPU lanes.
template <class E, int W>
void on_lanes(const abi::settings& how, host::chunk_data& c) {
  const abi::sink sink{&c,
                       [](void* to, long long slot, double t, int guard, const double* before, const double* after) {
                         static_cast<host::chunk_data*>(to)->log.append(slot, t, guard, before, after);
                       },
                       [](void* to, long long slot, const abi::snapshot* last) {
                         static_cast<host::chunk_data*>(to)->exceptions.append(slot, *last, cpu_module<E, W>);
                       },
                       [](void*, long long) { return 1; }};
  const abi::batch in = c.batch();
  const abi::results out = c.results();
  abi::usage used{};
  run_chunk<E, W>(&how, &in, &out, &sink, &used);
}

}  // namespace saltus::test
