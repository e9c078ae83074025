// The host's half of the CUDA backend - memory, copies, launches, rounds, errors - on a driver that has no device
// (fake_cuda_driver.hpp). Kernels are emulated, so that results must have the bits of CPU lanes.
#include <gtest/gtest.h>

#if !defined(SALTUS_WITH_CUDA)

TEST(cuda_backend, runs_chunks) { GTEST_SKIP() << "the CUDA toolkit was not found when this was built"; }

#else

#include <algorithm>
#include <atomic>
#include <cmath>
#include <map>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "../problems/lorenz.hpp"
#include "../problems/relief_valve.hpp"
#include "backend/cpu.hpp"
#include "backend/cuda/plugin.hpp"
#include "backend/shared.hpp"
#include "base/paths.hpp"
#include "compile/nvrtc.hpp"
#include "emulated_cuda.hpp"
#include "ensemble/backend.hpp"
#include "ensemble/pipeline.hpp"
#include "ensemble/sampler.hpp"
#include "ensemble/settings.hpp"
#include "fake_cuda_driver.hpp"

// What the program would find by dlsym.
extern "C" saltus::host::cuda_absent_function saltus_cuda_absent;
extern "C" saltus::host::cuda_backend_function saltus_cuda_backend;

namespace saltus::test {
namespace {

template <options Options>
using valve_engine_of = engine<form_of<relief_valve>, methods::by_name<"dp5">, double, Options,
                               reduction<reduce::max, false, relief_valve::pressure> >;

using valve_engine = valve_engine_of<options{.samples = true}>;
using shaken_engine = valve_engine_of<options{.samples = true, .inject = true}>;
using lorenz_engine = engine<form_of<lorenz>, methods::by_name<"dp5">, float, options{}>;

host::plan valve_plan() {
  host::plan p = plan_of<relief_valve>(6.0, 1e-8);
  p.model.name = "relief_valve";
  p.model.header = host::find_model("relief_valve");
  p.sample_count = 9;
  p.reductions = {{host::reduction::kind::max, false, relief_valve::pressure, "max(pressure)"}};
  return p;
}
host::plan lorenz_plan() {
  host::plan p = plan_of<lorenz>(2.0, 1e-4);
  p.model.name = "lorenz";
  p.model.header = host::find_model("lorenz");
  p.precision = "float";
  return p;
}

template <class E>
std::unique_ptr<host::backend> backend_for(const host::plan& p, std::size_t memory = std::size_t{1} << 30) {
  the_fake_cuda() = {};
  the_fake_cuda().run_kernel = emulate<E>;
  the_fake_cuda().memory = memory;
  return std::unique_ptr<host::backend>(saltus_cuda_backend(p, 0));
}

const auto go_on = [](std::int64_t) { return true; };

/// Returns how many instances ended with which status.
template <class E>
std::map<int, int> expect_same_as_lanes(host::plan p, int swept, double from, double to,
                                        std::size_t memory = std::size_t{1} << 30) {
  p.count = 900;
  // What scattered_chunk scatters.
  p.random = {{{host::target::kind::parameter, swept, "swept"}, {}}, {{host::target::kind::t_end, 0, "t_end"}, {}}};
  const auto device = backend_for<E>(p, memory);
  std::map<int, int> seen;
  abi::usage used{};
  // A chunk of 900 takes several rounds of the fake device's 256 places; smaller and larger ones follow in its memory.
  for (const std::int64_t count : {900, 1, 300, 1000}) {
    auto reference = scattered_chunk(p, swept, from, to, count), here = reference;
    on_lanes<E, 8>(host::settings_of(p), reference);
    std::int64_t finished = 0;
    device->integrate(
        here,
        [&](std::int64_t more) {
          finished += more;
          return true;
        },
        used);
    EXPECT_EQ("", differences(reference, here)) << count;
    EXPECT_EQ(count, finished);
    for (const unsigned char s : here.status) seen[s] += 1;
  }
  EXPECT_GT(used.turns, 0);
  EXPECT_GE(used.turns, used.lane_turns);
  return seen;
}

TEST(cuda_backend, relief_valve_with_everything_has_the_bits_of_lanes) {
  expect_same_as_lanes<valve_engine>(valve_plan(), relief_valve::flow, 0.2, 10.0);
  EXPECT_EQ(0, fake_cuda_done().blocks_held);
}
TEST(cuda_backend, given_sample_times_have_the_bits_of_lanes) {
  auto p = valve_plan();
  p.sample_times = {0.0, 0.5, 1.0, 1.5, 2.0, 2.5, 3.0, 3.5, 9.0};
  expect_same_as_lanes<valve_engine>(p, relief_valve::flow, 0.2, 10.0);
}
TEST(cuda_backend, lorenz_in_float_has_the_bits_of_lanes) {
  auto p = lorenz_plan();
  p.log_events = false;
  expect_same_as_lanes<lorenz_engine>(p, lorenz::rho, 0.0, 28.0);
}

TEST(cuda_backend, an_instance_that_fails_leaves_others_unharmed_and_its_samples_empty) {
  auto p = valve_plan();
  p.max_steps = 400;
  const auto seen = expect_same_as_lanes<valve_engine>(p, relief_valve::flow, 0.2, 10.0);
  EXPECT_GT(seen.at(static_cast<int>(status::finished)), 0);
  EXPECT_GT(seen.at(static_cast<int>(status::step_budget)), 0);
}

TEST(cuda_backend, a_short_event_log_is_emptied_in_time) {
  // An eighth of a chunk's 115 kB has room for some 200 rows of the log, where a landing of 256 places may log 4096.
  expect_same_as_lanes<valve_engine>(valve_plan(), relief_valve::flow, 0.2, 10.0, 1 << 18);
}

TEST(cuda_backend, stopped_early_each_instance_is_finished_interrupted_or_not_run) {
  auto p = valve_plan();
  p.count = 900;
  const auto device = backend_for<valve_engine>(p);
  auto whole = scattered_chunk(p, relief_valve::flow, 0.2, 10.0, p.count), cut = whole;
  on_lanes<valve_engine, 8>(host::settings_of(p), whole);
  abi::usage used{};
  device->integrate(
      cut, [](std::int64_t) { return false; }, used);
  std::map<int, int> seen;
  for (std::size_t i = 0; i < cut.status.size(); ++i) {
    seen[cut.status[i]] += 1;
    if (cut.status[i] == static_cast<int>(status::not_run)) {
      EXPECT_TRUE(std::isnan(cut.t_final[i]));
      EXPECT_EQ(0, cut.steps[i]);
    } else if (cut.status[i] == static_cast<int>(status::interrupted)) {
      EXPECT_LT(cut.t_final[i], cut.t_end[i]);
      EXPECT_LT(cut.steps[i], whole.steps[i]);
    } else {
      EXPECT_EQ(whole.status[i], cut.status[i]);
      EXPECT_EQ(whole.t_final[i], cut.t_final[i]);
      EXPECT_EQ(whole.steps[i], cut.steps[i]);
      EXPECT_EQ(whole.final_state[i], cut.final_state[i]);
    }
  }
  // The fake device has 256 places and the first look is after one round.
  EXPECT_GT(seen[static_cast<int>(status::interrupted)], 0);
  EXPECT_GE(seen[static_cast<int>(status::not_run)], 900 - 256);
  // What is left of a stopped chunk must not get into the next one.
  auto again = scattered_chunk(p, relief_valve::flow, 0.2, 10.0, p.count);
  device->integrate(again, go_on, used);
  EXPECT_EQ("", differences(whole, again));
}

// ---- what lanes cannot settle

/// Flows without chaos, of which a share is given up somewhere.
host::plan shaken_plan(double share, std::int64_t count) {
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
host::chunk_data only_chunk(const host::plan& p, host::backend& where) {
  host::chunk_data all;
  const host::cancellation stop;
  const auto s = host::run_ensemble(
      p, where, [&](const host::chunk_data& c) { all = c; }, [](std::int64_t) {}, stop);
  EXPECT_EQ(p.count, s.counts.ok() + s.counts.rescued());
  return all;
}

using rows_by_slot = std::map<long long, std::pair<std::vector<double>, std::vector<long long> > >;

rows_by_slot by_slot(const host::exception_list& list, const abi::cuda_module& module) {
  rows_by_slot rows;
  for (std::size_t i = 0; i < list.slot.size(); ++i) {
    const auto part = [i](const auto& v, int width) {
      const auto first = v.begin() + static_cast<long>(i) * width;
      return std::vector(first, first + width);
    };
    rows[list.slot[i]] = {part(list.reals, module.record_reals), part(list.integers, module.record_integers)};
  }
  EXPECT_EQ(rows.size(), list.slot.size()) << "one exception for each";
  return rows;
}

/// Two NaNs are the same: a state may be one.
bool same_rows(const rows_by_slot& a, const rows_by_slot& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const auto& x, const auto& y) {
    return x.first == y.first && same_bits(x.second.first, y.second.first) && x.second.second == y.second.second;
  });
}

TEST(cuda_backend, exceptions_are_the_snapshots_of_lanes) {
  const auto p = shaken_plan(0.25, 900);
  const auto device = backend_for<shaken_engine>(p);
  auto lanes = scattered_chunk(p, relief_valve::flow, 2.0, 10.0, 900), here = lanes;
  abi::usage used{};
  on_lanes<shaken_engine, 8>(host::settings_of(p), lanes);
  device->integrate(here, go_on, used);
  EXPECT_EQ("", differences(lanes, here));
  const auto expected = by_slot(lanes.exceptions, cuda_module_of<shaken_engine>);
  EXPECT_TRUE(same_rows(expected, by_slot(here.exceptions, cuda_module_of<shaken_engine>)));
  std::size_t stopped = 0;
  for (const unsigned char s : here.status) stopped += rescuable(static_cast<status>(s));
  EXPECT_EQ(stopped, expected.size());
  EXPECT_NEAR(static_cast<double>(stopped), 0.25 * 900, 60) << "four and a half standard deviations, 13 each";

  // What is given up depends on the id of an instance, not on its place.
  auto late = scattered_chunk(p, relief_valve::flow, 2.0, 10.0, 900);
  late.first_id = 900;
  device->integrate(late, go_on, used);
  EXPECT_NE(here.status, late.status);

  auto q = p;
  q.rescue = false;
  auto left_alone = scattered_chunk(p, relief_valve::flow, 2.0, 10.0, 900);
  backend_for<shaken_engine>(q)->integrate(left_alone, go_on, used);
  EXPECT_EQ(here.status, left_alone.status);
  EXPECT_TRUE(left_alone.exceptions.slot.empty());
}

TEST(cuda_backend, the_host_rescues_what_a_device_gives_up_as_what_lanes_give_up) {
  const auto p = shaken_plan(0.25, 900);
  const auto device = backend_for<shaken_engine>(p);
  const auto on_device = only_chunk(p, *device), on_cpu = only_chunk(p, *host::make_cpu_backend(p));
  EXPECT_EQ("", differences(on_cpu, on_device));
  EXPECT_EQ(on_cpu.exception, on_device.exception);
  EXPECT_EQ(900, std::count_if(on_device.status.begin(), on_device.status.end(),
                               [](unsigned char s) { return is_ok(static_cast<status>(s)); }));
}

TEST(cuda_backend, a_device_has_room_for_all_that_it_gives_up) {
  const auto p = shaken_plan(1.0, 1500);
  const auto device = backend_for<shaken_engine>(p);
  auto raw = scattered_chunk(p, relief_valve::flow, 2.0, 10.0, 1500);
  abi::usage used{};
  device->integrate(raw, go_on, used);
  auto lanes = scattered_chunk(p, relief_valve::flow, 2.0, 10.0, 1500);
  on_lanes<shaken_engine, 8>(host::settings_of(p), lanes);
  // All but those that were to be given up at an event and have none.
  EXPECT_GT(raw.exceptions.slot.size(), 1024u);
  EXPECT_TRUE(same_rows(by_slot(lanes.exceptions, cuda_module_of<shaken_engine>),
                        by_slot(raw.exceptions, cuda_module_of<shaken_engine>)));
  EXPECT_EQ("", differences(only_chunk(p, *host::make_cpu_backend(p)), only_chunk(p, *backend_for<shaken_engine>(p))));
}

// ---- copies

TEST(cuda_backend, what_is_copied_while_a_chunk_is_integrated_goes_through_pinned_memory) {
  const auto p = valve_plan();
  const auto device = backend_for<valve_engine>(p);
  auto first = scattered_chunk(p, relief_valve::flow, 0.2, 10.0, 900), second = first;
  abi::usage used{};
  device->integrate(first, go_on, used);
  const long long pageable = fake_cuda_done().pageable_bytes;
  const int allocations = fake_cuda_done().allocations;
  device->integrate(second, go_on, used);
  EXPECT_EQ(pageable, fake_cuda_done().pageable_bytes);
  EXPECT_EQ(allocations, fake_cuda_done().allocations) << "to allocate would wait for what others do";
  EXPECT_EQ("", differences(first, second));
}

TEST(cuda_backend, columns_that_are_the_same_for_all_are_copied_once) {
  auto p = shaken_plan(0.0, 900);
  p.samples = p.count = 1800;  // the flow varies, another five parameters do not
  p.axes.clear();
  p.random = {
      {{host::target::kind::parameter, relief_valve::flow, "flow"}, {host::distribution::kind::uniform, 2.0, 10.0, 0}}};
  p.chunk = 900;
  const auto device = backend_for<shaken_engine>(p);
  const auto bytes_up_for = [&](std::int64_t first) {
    host::chunk_data c(p, first, 900);
    host::sampler(p).fill(first, 900, c);
    auto lanes = c;
    const auto before = fake_cuda_done().up_bytes.load();
    abi::usage used{};
    device->integrate(c, go_on, used);
    on_lanes<shaken_engine, 8>(host::settings_of(p), lanes);
    EXPECT_EQ("", differences(lanes, c));
    return fake_cuda_done().up_bytes - before;
  };
  const auto first = bytes_up_for(0), second = bytes_up_for(900);
  const auto columns = static_cast<long long>(p.model.parameters.size() + p.model.states.size() + 2);
  EXPECT_GE(first - second, (columns - 1) * 900 * 8) << "all inputs but the flow";
  EXPECT_LT(second, 4 * 900 * 8) << "the flow, the list of places, what the host looks at";
}

// ---- several devices, and the CPU with them

/// All results of a run in the order of the ids.
std::vector<host::chunk_data> all_chunks(const host::plan& p, host::backend& where, host::run_summary& summary) {
  std::vector<host::chunk_data> all;
  const host::cancellation stop;
  std::int64_t next = 0;
  summary = host::run_ensemble(
      p, where, [&](const host::chunk_data& c) { all.push_back(c); }, [](std::int64_t) {}, stop);
  std::sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.first_id < b.first_id; });
  for (const auto& c : all) {
    EXPECT_EQ(next, c.first_id);
    next += c.count;
  }
  EXPECT_EQ(p.count, next);
  return all;
}

/// The same instances in other chunks: the results, and the log by instance.
void expect_same_results(const host::plan& p, const std::vector<host::chunk_data>& a,
                         const std::vector<host::chunk_data>& b) {
  const auto gather = [&](const std::vector<host::chunk_data>& chunks) {
    std::vector<std::vector<double> > rows(static_cast<std::size_t>(p.count));
    for (const auto& c : chunks) {
      const auto n = static_cast<std::size_t>(c.count);
      for (std::size_t i = 0; i < n; ++i) {
        auto& row = rows[static_cast<std::size_t>(c.first_id) + i];
        for (std::size_t j = 0; j < p.model.states.size(); ++j) row.push_back(c.final_state[j * n + i]);
        row.insert(row.end(), {c.t_final[i], double(c.status[i]), double(c.exception[i])});
        for (const auto counter : abi::counter_members<std::vector<long long> >) row.push_back(double((c.*counter)[i]));
      }
      for (std::size_t k = 0; k < c.log.slot.size(); ++k) {
        auto& row = rows[static_cast<std::size_t>(c.first_id + c.log.slot[k])];
        row.insert(row.end(), {c.log.time[k], double(c.log.guard[k])});
      }
    }
    return rows;
  };
  const auto one = gather(a), other = gather(b);
  for (std::size_t i = 0; i < one.size(); ++i) EXPECT_TRUE(same_bits(one[i], other[i])) << i;
}

host::plan shared_plan() {
  auto p = shaken_plan(0.02, 12'000);
  p.chunk = 0;
  return p;
}

TEST(cuda_backend, two_devices_are_served_by_one_queue) {
  const auto p = shared_plan();
  auto first = backend_for<shaken_engine>(p);
  the_fake_cuda().devices = 2;
  std::vector<std::unique_ptr<host::backend> > devices;
  devices.push_back(std::move(first));
  devices.emplace_back(saltus_cuda_backend(p, 1));
  const auto both = host::make_shared_backend(std::move(devices));
  EXPECT_NE(std::string::npos, both->device().find("device 0, fake device"));
  EXPECT_NE(std::string::npos, both->device().find("device 1, other fake device"));
  const int before[] = {fake_cuda_done().launches[0], fake_cuda_done().launches[1]};
  host::run_summary s, reference;
  const auto here = all_chunks(p, *both, s);
  const auto there = all_chunks(p, *host::make_cpu_backend(p), reference);
  expect_same_results(p, there, here);
  ASSERT_EQ(2u, s.parts.size());
  EXPECT_EQ(p.count, s.parts[0].instances + s.parts[1].instances);
  for (int i = 0; i < 2; ++i) {
    EXPECT_GT(s.parts[static_cast<std::size_t>(i)].instances, 0);
    EXPECT_GT(fake_cuda_done().launches[i], before[i]);
  }
}

TEST(cuda_backend, a_device_and_the_cpu_share_one_queue) {
  auto p = shared_plan();
  p.threads = 2;
  std::vector<std::unique_ptr<host::backend> > parts;
  parts.push_back(backend_for<shaken_engine>(p));
  parts.push_back(host::make_cpu_backend(p));
  const auto all = host::make_shared_backend(std::move(parts));
  host::run_summary s, reference;
  const auto here = all_chunks(p, *all, s);
  const auto there = all_chunks(p, *host::make_cpu_backend(p), reference);
  expect_same_results(p, there, here);
  ASSERT_EQ(2u, s.parts.size());
  EXPECT_EQ(p.count, s.parts[0].instances + s.parts[1].instances);
  EXPECT_GT(s.parts[0].instances, 0);
  EXPECT_GT(s.parts[1].instances, 0);
  EXPECT_EQ(reference.counts.by_status, s.counts.by_status);
  EXPECT_EQ(reference.counts.by_rescue, s.counts.by_rescue);
}

TEST(cuda_backend, an_error_of_one_of_several_ends_the_run) {
  const auto p = shared_plan();
  std::vector<std::unique_ptr<host::backend> > parts;
  parts.push_back(backend_for<shaken_engine>(p));
  parts.push_back(host::make_cpu_backend(p));
  const auto all = host::make_shared_backend(std::move(parts));
  the_fake_cuda().failing = "cuLaunchKernel";
  the_fake_cuda().failure = CUDA_ERROR_OUT_OF_MEMORY;
  host::run_summary s;
  const host::cancellation stop;
  EXPECT_THROW(host::run_ensemble(
                   p, *all, [](const host::chunk_data&) {}, [](std::int64_t) {}, stop),
               host::error);
}

// ---- statistics, and the order in which instances begin

/// Statistics alone, of instances in random order; a share of them is given up somewhere. The module is that of the
/// tests above, with samples.
host::plan summed_plan(double share) {
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
      not_fetched;  ///< first id of a chunk -> instances that left no more than their status
  int ordered = 0;  ///< chunks
};

summed run_summed(const host::plan& p, host::backend& where) {
  summed r;
  const host::cancellation stop;
  r.summary = host::run_ensemble(
      p, where,
      [&](const host::chunk_data& c) {
        r.not_fetched[c.first_id] = std::count_if(c.t_final.begin(), c.t_final.end(), [](double t) { return t != t; });
        r.ordered += c.order.empty() ? 0 : 1;
      },
      [](std::int64_t) {}, stop);
  return r;
}

void expect_same_statistics(const host::run_summary& a, const host::run_summary& b) {
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

// A share of 0.001 leaves a few blocks to the host, 0.1 leaves all of them.
TEST(cuda_backend, statistics_made_on_a_device_have_the_bits_of_the_host) {
  for (const double share : {0.001, 0.1}) {
    SCOPED_TRACE(share);
    const auto p = summed_plan(share);
    const auto device = backend_for<shaken_engine>(p);
    auto q = p;
    q.rows = true, q.chunk = 777;
    const auto here = run_summed(p, *device), there = run_summed(q, *host::make_cpu_backend(q));
    expect_same_statistics(there.summary, here.summary);
    EXPECT_GT(here.summary.counts.rescued(), 0);
    ASSERT_EQ(6u, here.not_fetched.size()) << "chunks of 512, the last of 340";
    std::int64_t all = 0;
    for (const auto& [first, n] : here.not_fetched) all += n;
    if (share > 0.01) { EXPECT_EQ(0, all); }
    for (const int chunk : {256, 300, 2900}) {
      auto other = p;
      other.chunk = chunk;
      expect_same_statistics(here.summary, run_summed(other, *backend_for<shaken_engine>(other)).summary);
    }
  }
}

TEST(cuda_backend, columns_stay_on_the_device_but_for_blocks_that_the_host_needs) {
  auto p = summed_plan(0.001);
  p.by_work = false;
  p.chunk = 2900;  // of which 2816 are whole blocks
  const auto here = run_summed(p, *backend_for<shaken_engine>(p));
  ASSERT_EQ(2u, here.not_fetched.size());
  const auto blocks = static_cast<std::int64_t>(here.summary.counts.rescued());  // at most one each
  EXPECT_GE(here.not_fetched.at(0), 2816 - 256 * blocks);
  EXPECT_LT(here.not_fetched.at(0), 2816);
  EXPECT_EQ(0, here.ordered);
}

TEST(cuda_backend, instances_begin_in_the_order_of_predicted_work_and_end_with_the_same_bits) {
  auto p = summed_plan(0.0);
  p.inject_exceptions = 1e-9;  // the same module
  p.chunk = 300;
  p.rows = true, p.log_events = true;
  const auto run = [](const host::plan& q) {
    const auto device = backend_for<shaken_engine>(q);
    std::vector<host::chunk_data> r;
    const host::cancellation stop;
    host::run_ensemble(
        q, *device, [&](const host::chunk_data& c) { r.push_back(c); }, [](std::int64_t) {}, stop);
    std::sort(r.begin(), r.end(), [](const auto& a, const auto& b) { return a.first_id < b.first_id; });
    return r;
  };
  auto as_they_stand = p;
  as_they_stand.by_work = false;
  const auto a = run(p), b = run(as_they_stand);
  ASSERT_EQ(10u, a.size());
  for (std::size_t k = 0; k < a.size(); ++k) EXPECT_EQ("", differences(b[k], a[k]));
  // At most six chunks are under way at once: those after them know of the first.
  EXPECT_TRUE(a[0].order.empty());
  EXPECT_EQ(300u, a[8].order.size());
  EXPECT_TRUE(b[8].order.empty());
}

TEST(cuda_backend, stopped_early_in_another_order_each_instance_is_finished_interrupted_or_not_run) {
  auto p = summed_plan(0.0);
  p.inject_exceptions = 1e-9;
  p.rows = true, p.count = 900;
  const auto device = backend_for<shaken_engine>(p);
  auto whole = scattered_chunk(p, relief_valve::flow, 2.0, 10.0, p.count), cut = whole;
  on_lanes<shaken_engine, 8>(host::settings_of(p), whole);
  cut.order.resize(900);
  for (int i = 0; i < 900; ++i) cut.order[static_cast<std::size_t>(i)] = i * 7 % 900;
  abi::usage used{};
  device->integrate(
      cut, [](std::int64_t) { return false; }, used);
  std::map<int, int> seen;
  for (std::size_t k = 0; k < 900; ++k) {
    const auto i = static_cast<std::size_t>(cut.order[k]);
    seen[cut.status[i]] += 1;
    if (cut.status[i] == static_cast<int>(status::not_run)) {
      EXPECT_TRUE(std::isnan(cut.t_final[i]));
      EXPECT_EQ(0, cut.steps[i]);
      EXPECT_GE(k, 256u) << "the first ones have begun";
    } else if (is_ok(static_cast<status>(cut.status[i]))) {
      EXPECT_EQ(whole.t_final[i], cut.t_final[i]);
      EXPECT_EQ(whole.steps[i], cut.steps[i]);
    }
  }
  EXPECT_GT(seen[static_cast<int>(status::interrupted)], 0);
  EXPECT_GT(seen[static_cast<int>(status::not_run)], 0);
}

// ---- rounds

TEST(cuda_backend, the_first_round_is_short) {
  // Kernels of a device that drives a display are ended after some seconds, and nothing is known of a turn yet.
  auto p = valve_plan();
  p.count = 900;
  const auto device = backend_for<valve_engine>(p);
  std::vector<int> turns;
  the_fake_cuda().run_kernel = [&](std::string_view kernel, int threads, void** arguments) {
    if (kernel == "saltus_sail") turns.push_back(static_cast<const abi::cuda_chunk*>(arguments[0])->turn_budget);
    emulate<valve_engine>(kernel, threads, arguments);
  };
  auto chunk = scattered_chunk(p, relief_valve::flow, 0.2, 10.0, p.count);
  abi::usage used{};
  device->integrate(chunk, go_on, used);
  ASSERT_GT(turns.size(), 3u);
  EXPECT_GE(turns[0], 128);
  EXPECT_LE(turns[0], 256);
  for (std::size_t i = 1; i < turns.size(); ++i) EXPECT_TRUE(turns[i] == turns[i - 1] || turns[i] == 2 * turns[i - 1]);
  EXPECT_GE(turns.back(), 1024) << "a launch of the fake device takes no time";

  // Where rounds take longer than a look should, they have fewer turns, but not fewer than 64.
  // One look is at the end of each short chunk.
  the_fake_cuda().seconds_per_launch = 0.1;
  for (int i = 0; i < 20; ++i) device->integrate(chunk, go_on, used);
  EXPECT_EQ(64, turns.back());
}

TEST(cuda_backend, time_in_kernels_is_measured_by_the_device) {
  auto p = valve_plan();
  p.count = p.chunk = 900;
  const auto device = backend_for<valve_engine>(p);
  auto chunk = scattered_chunk(p, relief_valve::flow, 0.2, 10.0, p.count);
  abi::usage used{};
  ASSERT_TRUE(device->busy_seconds());
  EXPECT_EQ(0.0, *device->busy_seconds());
  // Less than the host takes: what is said to have been at the same time is counted once.
  the_fake_cuda().seconds_per_launch = 1e-6;
  const int before = fake_cuda_done().launches[0];
  device->integrate(chunk, go_on, used);
  // Launches of rounds alone: the description of the module was before.
  EXPECT_NEAR(1e-6 * (fake_cuda_done().launches[0] - before), *device->busy_seconds(), 1e-8);
}

TEST(cuda_backend, rows_for_which_the_event_log_has_no_room_are_an_error_and_not_written) {
  auto p = valve_plan();
  p.count = 900;
  const auto device = backend_for<valve_engine>(p, 1 << 18);
  // As if landings logged more than they say.
  the_fake_cuda().run_kernel = [&](std::string_view kernel, int threads, void** arguments) {
    const auto& chunk = *static_cast<const abi::cuda_chunk*>(arguments[0]);
    if (kernel == "saltus_land") chunk.progress->landable = chunk.pool.places;
    const auto slots = [&] { return std::vector(chunk.exceptions.slot, chunk.exceptions.slot + chunk.in.count); };
    // In the device's memory the exceptions follow the log.
    if (kernel == "saltus_begin" && chunk.progress->stored == 0) std::fill_n(chunk.exceptions.slot, chunk.in.count, -1);
    const auto before = slots();
    emulate<valve_engine>(kernel, threads, arguments);
    EXPECT_EQ(before, slots());
  };
  auto chunk = scattered_chunk(p, relief_valve::flow, 0.2, 10.0, p.count);
  abi::usage used{};
  try {
    device->integrate(chunk, go_on, used);
    FAIL() << "no error";
  } catch (const host::error& e) {
    EXPECT_NE(std::string::npos, std::string(e.what()).find("rows of an event log")) << e.what();
  }
}

// ---- memory

/// The chunk that a device is given, and in how many instances at a time it went: by their first ids.
struct in_pieces {
  std::map<long long, long long> count;
  std::mutex mutex;

  template <class E>
  auto kernels() {
    return [this](std::string_view kernel, int threads, void** arguments) {
      if (kernel == "saltus_begin") {
        const auto& chunk = *static_cast<const abi::cuda_chunk*>(arguments[0]);
        const std::lock_guard lock(mutex);
        count[chunk.in.first_id] = chunk.in.count;
      }
      emulate<E>(kernel, threads, arguments);
    };
  }
};

/// 900 valves, a quarter of which are given up, on a device whose memory shrinks once its chunks are chosen.
std::map<long long, long long> integrate_in(std::size_t memory, bool in_order = true) {
  const auto p = shaken_plan(0.25, 900);
  const auto device = backend_for<shaken_engine>(p);
  auto lanes = host::chunk_data(p, 0, 900);
  host::sampler(p).fill(0, 900, lanes);
  auto here = lanes;
  on_lanes<shaken_engine, 8>(host::settings_of(p), lanes);
  if (!in_order)
    for (int i = 0; i < 900; ++i) here.order.push_back(i * 7 % 900);
  in_pieces seen;
  the_fake_cuda().memory = memory;
  the_fake_cuda().run_kernel = seen.kernels<shaken_engine>();
  abi::usage used{};
  std::int64_t finished = 0;
  device->integrate(
      here,
      [&](std::int64_t more) {
        finished += more;
        return true;
      },
      used);
  EXPECT_EQ(900, finished);
  EXPECT_EQ("", differences(lanes, here));
  const auto& module = cuda_module_of<shaken_engine>;
  EXPECT_TRUE(same_rows(by_slot(lanes.exceptions, module), by_slot(here.exceptions, module)));
  return seen.count;
}

/// The device memory that so many of these valves take at once.
std::size_t bytes_of(std::int64_t count) {
  const auto p = shaken_plan(0.25, 900);
  const auto device = backend_for<shaken_engine>(p);
  auto chunk = host::chunk_data(p, 0, count);
  host::sampler(p).fill(0, count, chunk);
  abi::usage used{};
  device->integrate(chunk, go_on, used);
  return static_cast<std::size_t>(fake_cuda_done().bytes_held);
}

TEST(cuda_backend, where_memory_runs_out_a_chunk_goes_in_halves_with_the_same_bits) {
  EXPECT_GT(bytes_of(900), bytes_of(450));
  EXPECT_EQ((std::map<long long, long long>{{0, 900}}), integrate_in(std::size_t{1} << 30));
  EXPECT_EQ((std::map<long long, long long>{{0, 450}, {450, 450}}), integrate_in(bytes_of(450)));
  // The last one is what is left.
  EXPECT_EQ((std::map<long long, long long>{{0, 225}, {225, 225}, {450, 225}, {675, 225}}),
            integrate_in(bytes_of(450) - 1));
  EXPECT_EQ(8u, integrate_in(bytes_of(113), false).size()) << "in another order";
  EXPECT_EQ(0, fake_cuda_done().blocks_held);
}

TEST(cuda_backend, a_piece_that_is_stopped_leaves_the_others_as_not_run) {
  const auto enough = bytes_of(225);
  auto p = shaken_plan(0.0, 900);
  p.inject_exceptions = 1e-9;
  const auto device = backend_for<shaken_engine>(p);
  auto chunk = host::chunk_data(p, 0, 900);
  host::sampler(p).fill(0, 900, chunk);
  the_fake_cuda().memory = enough;
  abi::usage used{};
  device->integrate(
      chunk, [](std::int64_t) { return false; }, used);
  std::map<int, int> first, others;
  for (std::size_t i = 0; i < 900; ++i) (i < 225 ? first : others)[chunk.status[i]] += 1;
  EXPECT_EQ((std::map<int, int>{{static_cast<int>(status::not_run), 675}}), others);
  EXPECT_GT(first[static_cast<int>(status::interrupted)], 0);
}

TEST(cuda_backend, statistics_of_a_chunk_in_pieces_have_the_bits_of_the_host) {
  const auto p = summed_plan(0.001);
  const auto device = backend_for<shaken_engine>(p);
  auto q = p;
  q.rows = true;
  in_pieces seen;
  the_fake_cuda().memory = 600'000;
  the_fake_cuda().run_kernel = seen.kernels<shaken_engine>();
  const auto here = run_summed(p, *device);
  expect_same_statistics(run_summed(q, *host::make_cpu_backend(q)).summary, here.summary);
  EXPECT_GT(seen.count.size(), 6u) << "more than chunks";
}

TEST(cuda_backend, memory_that_runs_out_at_a_launch_is_given_back_and_tried_with_less) {
  const auto p = shaken_plan(0.0, 900);
  const auto device = backend_for<shaken_engine>(p);
  auto chunk = host::chunk_data(p, 0, 900);
  host::sampler(p).fill(0, 900, chunk);
  in_pieces seen;
  auto& fake = the_fake_cuda();
  fake.run_kernel = seen.kernels<shaken_engine>();
  fake.failing = "cuLaunchKernel", fake.failure = CUDA_ERROR_OUT_OF_MEMORY, fake.fails = 1;
  abi::usage used{};
  device->integrate(chunk, go_on, used);
  EXPECT_EQ((std::map<long long, long long>{{0, 450}, {450, 450}}), seen.count);
  // Another error is not tried again.
  fake.failure = CUDA_ERROR_ILLEGAL_ADDRESS, fake.fails = 1;
  EXPECT_THROW(device->integrate(chunk, go_on, used), host::error);
}

/// More instances than fit; three chunks of them at once must.
host::plan endless_plan() {
  auto p = shaken_plan(0.0, 1'000'000);
  p.inject_exceptions = 1e-9;
  p.chunk = 0;
  return p;
}
void expect_whole_chunks(const host::plan& p, host::backend& device, in_pieces& seen) {
  seen.count.clear();
  const std::int64_t size = device.chunk_size();
  std::map<long long, long long> whole;
  std::vector<std::thread> at_once;
  for (int i = 0; i < device.concurrency(); ++i) {
    whole[i * size] = size;
    at_once.emplace_back([&, i] {
      auto chunk = host::chunk_data(p, i * size, size);
      host::sampler(p).fill(i * size, size, chunk);
      abi::usage used{};
      device.integrate(chunk, go_on, used);
    });
  }
  for (auto& t : at_once) t.join();
  EXPECT_EQ(whole, seen.count);
}

TEST(cuda_backend, local_memory_of_kernels_is_planned_for) {
  const auto p = endless_plan();
  auto device = backend_for<shaken_engine>(p, 2'000'000);
  const auto ample = device->chunk_size();
  device.reset();
  // The driver takes 1000 bytes for each of the 2048 threads that the device may hold.
  the_fake_cuda().memory = 4'048'000;
  the_fake_cuda().local_bytes = 1000;
  device.reset(saltus_cuda_backend(p, 0));
  EXPECT_NEAR(static_cast<double>(ample), static_cast<double>(device->chunk_size()), 2);
  in_pieces seen;
  the_fake_cuda().run_kernel = seen.kernels<shaken_engine>();
  expect_whole_chunks(p, *device, seen);
}

TEST(cuda_backend, two_backends_share_the_memory_of_a_device) {
  const auto p = endless_plan();
  auto first = backend_for<shaken_engine>(p, 8'000'000);
  in_pieces seen;
  the_fake_cuda().run_kernel = seen.kernels<shaken_engine>();
  std::unique_ptr<host::backend> second(saltus_cuda_backend(p, 0));
  EXPECT_LT(second->chunk_size(), first->chunk_size()) << "the first has planned for most of it";
  for (int i = 0; i < 2; ++i) {
    expect_whole_chunks(p, *second, seen);
    expect_whole_chunks(p, *first, seen);
  }
  const auto size = first->chunk_size();
  first.reset(), second.reset();
  first.reset(saltus_cuda_backend(p, 0));
  EXPECT_EQ(size, first->chunk_size()) << "what is planned is given back";
  // A small run leaves the rest to others.
  first.reset(saltus_cuda_backend(shaken_plan(0.25, 300), 0));
  second.reset(saltus_cuda_backend(p, 0));
  EXPECT_GT(second->chunk_size(), size / 2);
}

// ---- drivers and architectures

TEST(cuda_backend, a_driver_that_is_too_old_for_what_nvrtc_makes_is_named) {
  the_fake_cuda() = {};
  the_fake_cuda().version = 12080;
  std::string reason;
  std::vector<std::string> names;
  saltus_cuda_absent(reason, names);
  EXPECT_NE(std::string::npos, reason.find("CUDA 12.8")) << reason;
  EXPECT_NE(std::string::npos, reason.find(host::nvrtc_version())) << reason;
  EXPECT_NE(std::string::npos, reason.find("driver R580 or newer")) << reason;
  // A newer one of the same major version, and of the next.
  for (const int version : {13000, 13020, 14000}) {
    the_fake_cuda().version = version;
    reason.clear(), names.clear();
    saltus_cuda_absent(reason, names);
    EXPECT_EQ("", reason) << version;
  }
}

TEST(cuda_backend, a_device_newer_than_nvrtc_is_given_ptx) {
  const auto p = lorenz_plan();
  the_fake_cuda() = {};
  the_fake_cuda().run_kernel = emulate<lorenz_engine>;
  const int before = fake_cuda_done().ptx_modules;
  the_fake_cuda().capability = 97;  // has the code of 9.0
  std::unique_ptr<host::backend>(saltus_cuda_backend(p, 0));
  EXPECT_EQ(before, fake_cuda_done().ptx_modules);
  the_fake_cuda().capability = 990;
  std::unique_ptr<host::backend> device(saltus_cuda_backend(p, 0));
  EXPECT_EQ(before + 3, fake_cuda_done().ptx_modules) << "begin, sail, land";
  EXPECT_NE(std::string::npos, device->device().find("as PTX for the driver")) << device->device();
  // PTX of a minor version that the driver does not know it cannot compile.
  the_fake_cuda().version = 13000 - 10;
  EXPECT_THROW(std::unique_ptr<host::backend>(saltus_cuda_backend(p, 0)), host::error);
}

TEST(cuda_backend, an_error_of_the_driver_names_the_call_and_the_error) {
  const auto p = lorenz_plan();
  const auto device = backend_for<lorenz_engine>(p);
  auto chunk = scattered_chunk(p, lorenz::rho, 0.0, 28.0, 10);
  abi::usage used{};
  the_fake_cuda().failing = "cuMemAlloc";
  the_fake_cuda().failure = CUDA_ERROR_OUT_OF_MEMORY;
  try {
    device->integrate(chunk, go_on, used);
    FAIL() << "no error";
  } catch (const host::error& e) {
    EXPECT_EQ(host::exit_failure, e.exit_code);
    EXPECT_EQ(0u, std::string(e.what()).find("CUDA: cuMemAlloc: CUDA_ERROR_OUT_OF_MEMORY (as the test wants)"));
    EXPECT_NE(std::string::npos, std::string(e.what()).find("too little for 10 instances")) << e.what();
  }
}

TEST(cuda_backend, absence_of_a_device_has_a_reason) {
  the_fake_cuda() = {};
  std::string reason;
  std::vector<std::string> names;
  the_fake_cuda().devices = 2;
  saltus_cuda_absent(reason, names);
  EXPECT_EQ("", reason);
  EXPECT_EQ((std::vector<std::string>{"fake device", "other fake device"}), names);
  the_fake_cuda().failing = "cuInit";
  the_fake_cuda().failure = CUDA_ERROR_NO_DEVICE;
  saltus_cuda_absent(reason, names);
  EXPECT_EQ("CUDA: cuInit: CUDA_ERROR_NO_DEVICE (as the test wants)", reason);
}

TEST(cuda_backend, chunks_fit_into_memory) {
  auto p = valve_plan();
  p.count = 100'000'000;
  // The fake device has 1 GiB; a sixth of it, less a reserve, is for one chunk.
  auto device = backend_for<valve_engine>(p);
  EXPECT_EQ(6, device->concurrency());
  EXPECT_GT(device->chunk_size(), 100'000);
  EXPECT_LE(device->chunk_size(), 1 << 18);
  device.reset();
  p.sample_count = 100'000;  // 2.4 MB each
  const auto few = backend_for<valve_engine>(p)->chunk_size();
  EXPECT_GT(few, 25);
  EXPECT_LT(few, 75);  // a sixth of 1 GiB / 2.4 MB
}

}  // namespace
}  // namespace saltus::test

#endif
