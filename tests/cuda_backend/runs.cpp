// Whole runs: instances that lanes give up, several devices, devices together with the CPU, statistics, the order of the instances.
#ifdef SALTUS_WITH_CUDA

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "../../problems/van_der_pol.hpp"
#include "backend/shared.hpp"
#include "valves.hpp"

namespace saltus::test {
namespace {

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
  EXPECT_NEAR(static_cast<double>(stopped), 0.25 * 900, 60) << "4.5 standard deviations of 13";

  // Whether an instance is given up depends on its id, not on its place.
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
  // All instances that were to be given up at an event, except those without an event.
  EXPECT_GT(raw.exceptions.slot.size(), 1024u);
  EXPECT_TRUE(same_rows(by_slot(lanes.exceptions, cuda_module_of<shaken_engine>),
                        by_slot(raw.exceptions, cuda_module_of<shaken_engine>)));
  EXPECT_EQ("", differences(only_chunk(p, *host::make_cpu_backend(p)), only_chunk(p, *backend_for<shaken_engine>(p))));
}

// A driver that finds an address of the host among the arguments of a kernel ends the run (fake_cuda_driver.cpp).
TEST(cuda_backend, kernels_read_all_settings_from_device_memory) {
  using oscillator = engine<form_of<van_der_pol>, methods::by_name<"rodas4">, double, options{.samples = true},
                            reduction<reduce::max, false, van_der_pol::x, true>>;
  host::plan p = plan_of<van_der_pol>(20.0, 1e-6);
  p.method = "rodas4";
  p.model.name = "van_der_pol";
  p.model.header = host::find_model("van_der_pol");
  p.sample_times = {1.0, 7.5, 20.0};
  p.sample_count = 3;
  p.windows = {3.0, 9.0, 0.0};
  p.reductions = {{host::reduction::kind::max, false, van_der_pol::x, "max(x) from 3 to 9"}};
  const auto device = backend_for<oscillator>(p);
  auto lanes = scattered_chunk(p, van_der_pol::mu, 1.0, 20.0, 100), here = lanes;
  abi::usage used{};
  on_lanes<oscillator, 8>(host::settings_of(p), lanes);
  device->integrate(here, go_on, used);
  EXPECT_EQ("", differences(lanes, here));
}

// ---- several devices, and the CPU with them

/// All results of a run in the order of the ids.
std::vector<host::chunk_data> all_chunks(const host::plan& p, host::backend& where, host::run_summary& summary) {
  std::vector<host::chunk_data> all;
  const host::cancellation stop;
  std::int64_t next = 0;
  summary = host::run_ensemble(p, where, stop,
                               {.write = [&](const host::chunk_data& c, const host::tally&) { all.push_back(c); }});
  std::sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.first_id < b.first_id; });
  for (const auto& c : all) {
    EXPECT_EQ(next, c.first_id);
    next += c.count;
  }
  EXPECT_EQ(p.count, next);
  return all;
}

/// The same instances in other chunks must have the same results, and the same log by instance.
void expect_same_results(const host::plan& p, const std::vector<host::chunk_data>& a,
                         const std::vector<host::chunk_data>& b) {
  const auto gather = [&](const std::vector<host::chunk_data>& chunks) {
    std::vector<std::vector<double>> rows(static_cast<std::size_t>(p.count));
    for (const auto& c : chunks) {
      const auto n = static_cast<std::size_t>(c.count);
      for (std::size_t i = 0; i < n; ++i) {
        auto& row = rows[static_cast<std::size_t>(c.first_id) + i];
        for (std::size_t j = 0; j < p.model.states.size(); ++j) row.push_back(c.final_state[j * n + i]);
        row.insert(row.end(), {c.t_final[i], double(c.status[i]), double(c.exception[i])});
        for (const auto counter : abi::counter_members<std::vector<long long>>) row.push_back(double((c.*counter)[i]));
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

// Chunks keep their memory, and are not preset where lanes write. Rescued instances write more than lanes do.
TEST(cuda_backend, chunks_used_again_hold_nothing_of_their_last_instances) {
  auto p = shaken_plan(0.05, 3000);
  p.chunk = 250;
  const auto device = backend_for<shaken_engine>(p);
  host::run_summary first, again, reference;
  const auto once = all_chunks(p, *device, first), twice = all_chunks(p, *device, again),
             there = all_chunks(p, *host::make_cpu_backend(p), reference);
  EXPECT_GT(first.counts.rescued(), 100);
  for (const auto* run : {&once, &twice}) expect_same_results(p, there, *run);
  for (const auto* s : {&first, &again}) {
    EXPECT_EQ(reference.counts.by_status, s->counts.by_status);
    EXPECT_EQ(reference.counts.by_rescue, s->counts.by_rescue);
    abi::each_counter(reference.counts, s->counts, [](std::int64_t a, std::int64_t b) { EXPECT_EQ(a, b); });
  }
}

// Rounds that have nothing to do cost launches.
TEST(cuda_backend, few_rounds_are_launched_in_vain) {
  auto p = valve_plan();
  p.log_events = false;  // so that landings may be quick
  p.count = p.chunk = 900;
  const auto device = backend_for<valve_engine>(p);
  auto chunk = scattered_chunk(p, relief_valve::flow, 0.2, 10.0, p.count);
  abi::usage used{};
  for (int i = 0; i < 10; ++i) device->integrate(chunk, go_on, used);
  ASSERT_TRUE(device->launches_so_far().has_value());
  const host::launches before = *device->launches_so_far();
  EXPECT_EQ(before.seconds[1], 0.0) << "nobody has asked";
  device->time_launches();
  the_fake_cuda().seconds_per_launch = 1e-6;
  for (int i = 0; i < 10; ++i) device->integrate(chunk, go_on, used);
  host::launches l = *device->launches_so_far();
  l.subtract(before);
  EXPECT_GE(l.worked, 10);
  EXPECT_LE(l.rounds, 2 * l.worked + 20);
  EXPECT_GE(l.looks, 10);
  for (const double seconds : l.seconds)
    EXPECT_NEAR(seconds, 1e-6 * static_cast<double>(l.rounds), 1e-7 * static_cast<double>(l.rounds));
}

TEST(cuda_backend, two_devices_are_served_by_one_queue) {
  const auto p = shared_plan();
  auto first = backend_for<shaken_engine>(p);
  the_fake_cuda().devices = 2;
  std::vector<std::unique_ptr<host::backend>> devices;
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
  std::vector<std::unique_ptr<host::backend>> parts;
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
  std::vector<std::unique_ptr<host::backend>> parts;
  parts.push_back(backend_for<shaken_engine>(p));
  parts.push_back(host::make_cpu_backend(p));
  const auto all = host::make_shared_backend(std::move(parts));
  the_fake_cuda().failing = "cuLaunchKernel";
  the_fake_cuda().failure = CUDA_ERROR_OUT_OF_MEMORY;
  host::run_summary s;
  const host::cancellation stop;
  EXPECT_THROW(host::run_ensemble(p, *all, stop), host::error);
}

// ---- statistics, and the order in which instances begin

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
  p.chunk = 2900;  // 2816 of them are in whole blocks
  const auto here = run_summed(p, *backend_for<shaken_engine>(p));
  ASSERT_EQ(2u, here.not_fetched.size());
  const auto blocks = static_cast<std::int64_t>(here.summary.counts.rescued());  // at most one in each
  EXPECT_GE(here.not_fetched.at(0), 2816 - 256 * blocks);
  EXPECT_LT(here.not_fetched.at(0), 2816);
  EXPECT_EQ(0, here.ordered);
}

TEST(cuda_backend, instances_begin_in_the_order_of_predicted_work_and_end_with_the_same_bits) {
  auto p = summed_plan(0.0);
  p.inject_exceptions = 1e-9;  // the same module
  p.chunk = 150;
  p.rows = true, p.log_events = true;
  double seconds_per_launch = 1e-3;
  const auto run = [&](const host::plan& q) {
    const auto device = backend_for<shaken_engine>(q);
    the_fake_cuda().seconds_per_launch = seconds_per_launch;
    std::vector<host::chunk_data> r;
    const host::cancellation stop;
    host::run_ensemble(q, *device, stop,
                       {.write = [&](const host::chunk_data& c, const host::tally&) { r.push_back(c); }});
    std::sort(r.begin(), r.end(), [](const auto& a, const auto& b) { return a.first_id < b.first_id; });
    return r;
  };
  auto as_they_stand = p;
  as_they_stand.by_work = false;
  const auto a = run(p), b = run(as_they_stand);
  ASSERT_EQ(20u, a.size());
  for (std::size_t k = 0; k < a.size(); ++k) EXPECT_EQ("", differences(b[k], a[k]));
  // At most eight chunks are in progress at once; later ones benefit from the first.
  EXPECT_TRUE(a[0].order.empty());
  EXPECT_EQ(150u, a[18].order.size());
  EXPECT_TRUE(b[18].order.empty());
  seconds_per_launch = 0.0;  // where kernels take no time, an order saves none
  const auto fast = run(p);
  for (std::size_t k = 0; k < fast.size(); ++k) EXPECT_EQ("", differences(b[k], fast[k]));
  EXPECT_TRUE(fast[19].order.empty());
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
      EXPECT_GE(k, 256u) << "the first instances have begun";
    } else if (is_ok(static_cast<status>(cut.status[i]))) {
      EXPECT_EQ(whole.t_final[i], cut.t_final[i]);
      EXPECT_EQ(whole.steps[i], cut.steps[i]);
    }
  }
  EXPECT_GT(seen[static_cast<int>(status::interrupted)], 0);
  EXPECT_GT(seen[static_cast<int>(status::not_run)], 0);
}

}  // namespace
}  // namespace saltus::test

#endif
