// The host's half of the CUDA backend - memory, copies, launches, rounds, errors - on a driver without a device
// (fake_cuda_driver.hpp). Kernels are emulated, so results must be bit-identical to those of CPU lanes.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "../../problems/lorenz.hpp"
#include "../../problems/relief_valve.hpp"
#include "../emulated_cuda.hpp"
#include "backend/cuda/plugin.hpp"
#include "backend/make.hpp"
#include "base/error.hpp"
#include "base/paths.hpp"
#include "ensemble/backend.hpp"
#include "ensemble/pipeline.hpp"
#include "ensemble/sampler.hpp"
#include "ensemble/settings.hpp"
#include "testing/fake_cuda_driver.hpp"

// The symbol that the program would find by dlsym.
extern "C" saltus::host::cuda_absent_function saltus_cuda_absent;
extern "C" saltus::host::cuda_backend_function saltus_cuda_backend;

namespace saltus::test {

template <options Options>
using valve_engine_of = engine<form_of<relief_valve>, methods::by_name<"dp5">, double, Options,
                               reduction<reduce::max, false, relief_valve::pressure> >;

using valve_engine = valve_engine_of<options{.samples = true}>;
using shaken_engine = valve_engine_of<options{.samples = true, .inject = true}>;
using lorenz_engine = engine<form_of<lorenz>, methods::by_name<"dp5">, float, options{}>;

inline host::plan valve_plan() {
  host::plan p = plan_of<relief_valve>(6.0, 1e-8);
  p.model.name = "relief_valve";
  p.model.header = host::find_model("relief_valve");
  p.sample_count = 9;
  p.reductions = {{host::reduction::kind::max, false, relief_valve::pressure, "max(pressure)"}};
  return p;
}
inline host::plan lorenz_plan() {
  host::plan p = plan_of<lorenz>(2.0, 1e-4);
  p.model.name = "lorenz";
  p.model.header = host::find_model("lorenz");
  p.precision = host::precision_kind::single_precision;
  return p;
}

// Compiled once, with test_cuda_backend.cpp.
extern template void emulate<valve_engine>(std::string_view, int, void**);
extern template void emulate<shaken_engine>(std::string_view, int, void**);
extern template void on_lanes<valve_engine, 8>(const abi::settings&, host::chunk_data&);
extern template void on_lanes<shaken_engine, 8>(const abi::settings&, host::chunk_data&);

template <class E>
std::unique_ptr<host::backend> backend_for(const host::plan& p, std::size_t memory = std::size_t{1} << 30) {
  the_fake_cuda() = {};
  the_fake_cuda().run_kernel = emulate<E>;
  the_fake_cuda().memory = memory;
  return std::unique_ptr<host::backend>(saltus_cuda_backend(p, 0));
}

inline const auto go_on = [](std::int64_t) { return true; };

/// Integrates a chunk and returns the number of instances that were reported as finished.
inline std::int64_t finished_of(host::backend& device, host::chunk_data& chunk, abi::usage& used) {
  std::int64_t finished = 0;
  device.integrate(
      chunk, [&](std::int64_t more) { return finished += more, true; }, used);
  return finished;
}

/// Flows without chaos; a share of the instances is given up somewhere.
inline host::plan shaken_plan(double share, std::int64_t count) {
  auto p = valve_plan();
  for (const auto& q : p.model.parameters) p.parameters.push_back(q.value);
  p.initial.assign(p.model.states.size(), std::nan(""));
  p.axes = {
      {{{{host::target::kind::parameter, relief_valve::flow, "flow"}, host::ranged{2.0, 10.0, count, false}}}, count}};
  p.count = p.chunk = count;
  p.inject_exceptions = share;
  p.seed = 7;
  return p;
}

/// The only chunk of a run.
inline host::chunk_data only_chunk(const host::plan& p, host::backend& where) {
  host::chunk_data all;
  const host::cancellation stop;
  const auto s =
      host::run_ensemble(p, where, stop, {.write = [&](const host::chunk_data& c, const host::tally&) { all = c; }});
  EXPECT_EQ(p.count, s.counts.ok() + s.counts.rescued());
  return all;
}

using rows_by_slot = std::map<long long, std::pair<std::vector<double>, std::vector<long long> > >;

inline rows_by_slot by_slot(const host::exception_list& list, const abi::device_module& module) {
  rows_by_slot rows;
  for (std::size_t i = 0; i < list.slot.size(); ++i) {
    const auto part = [i](const auto& v, int width) {
      const auto first = v.begin() + static_cast<long>(i) * width;
      return std::vector(first, first + width);
    };
    rows[list.slot[i]] = {part(list.reals, module.snapshot_reals), part(list.integers, module.record_integers)};
  }
  EXPECT_EQ(rows.size(), list.slot.size()) << "one exception for each";
  return rows;
}

/// Rows are the same bit for bit; two NaNs count as the same, since a state may be NaN.
inline bool same_rows(const rows_by_slot& a, const rows_by_slot& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const auto& x, const auto& y) {
    return x.first == y.first && same_bits(x.second.first, y.second.first) && x.second.second == y.second.second;
  });
}

/// Statistics alone, of instances in random order; a share of them is given up somewhere. The module is that of the other
/// tests, with samples.
inline host::plan summed_plan(double share) {
  auto p = shaken_plan(share, 1);
  p.log_events = false;
  p.axes.clear();
  p.random = {
      {{host::target::kind::parameter, relief_valve::flow, "flow"}, {host::distribution::kind::uniform, 2.0, 10.0, 0}}};
  p.count = p.samples = 2900;
  p.chunk = 512;
  p.rows = false;
  p.statistics = true;
  p.histograms = {{"final_lift", 0, 0.0, 4.0, 9}, {"events", host::statistic_column_called(p, "events"), 0, 8, 4}};
  return p;
}

struct summed {
  host::run_summary summary;
  std::map<std::int64_t, std::int64_t>
      not_fetched;  ///< first id of a chunk -> instances of which only the status was fetched
  int ordered = 0;  ///< ordered chunks
};

inline summed run_summed(const host::plan& p, host::backend& where) {
  summed r;
  const host::cancellation stop;
  r.summary = host::run_ensemble(p, where, stop, {.write = [&](const host::chunk_data& c, const host::tally&) {
                                   r.not_fetched[c.first_id] = std::count_if(c.t_final.begin(), c.t_final.end(),
                                                                             [](double t) { return t != t; });
                                   r.ordered += c.order.empty() ? 0 : 1;
                                 }});
  return r;
}

inline void expect_same_statistics(const host::run_summary& a, const host::run_summary& b) {
  ASSERT_EQ(a.statistics.summaries.size(), b.statistics.summaries.size());
  for (std::size_t j = 0; j < a.statistics.summaries.size(); ++j) {
    const auto x = host::statistic_numbers(a.statistics.summaries[j]),
               y = host::statistic_numbers(b.statistics.summaries[j]);
    EXPECT_TRUE(same_bits(std::vector<double>(x.begin(), x.end()), std::vector<double>(y.begin(), y.end())))
        << a.statistics.columns[j].name;
  }
  for (std::size_t j = 0; j < a.statistics.histograms.size(); ++j) {
    EXPECT_EQ(a.statistics.histograms[j].counts, b.statistics.histograms[j].counts);
    EXPECT_EQ(a.statistics.histograms[j].below, b.statistics.histograms[j].below);
    EXPECT_EQ(a.statistics.histograms[j].above, b.statistics.histograms[j].above);
  }
  EXPECT_EQ(a.counts.by_status, b.counts.by_status);
  EXPECT_EQ(a.counts.by_rescue, b.counts.by_rescue);
  for (const auto counter : abi::counter_members<std::int64_t>) EXPECT_EQ(a.counts.*counter, b.counts.*counter);
}

}  // namespace saltus::test
