// Chunks to run on the kernels of run/on_cuda.cuh as ordinary functions (testing/emulated_kernels.hpp), and on CPU lanes.
#pragma once

#include <algorithm>
#include <limits>
#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "chunk_difference.hpp"
#include "ensemble/chunk_data.hpp"
#include "form/of_model.hpp"
#include "method/by_name.hpp"
#include "model/describe.hpp"
#include "run/on_cpu.hpp"
#include "testing/emulated_kernels.hpp"

namespace saltus::test {

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
