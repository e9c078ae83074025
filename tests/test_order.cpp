// The predicted order must put instances with similar work next to each other. Work is that of real runs, in steps and events;
// the fill of warps is a model (order.hpp), not a measurement. This test prints the table of docs/cuda.md.
#include <algorithm>
#include <cmath>
#include <random>
#include <set>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "ensemble/order.hpp"
#include "ensemble/sampler.hpp"
#include "testing/ensemble.hpp"

namespace saltus::test {
namespace {

std::vector<host::chunk_data> chunks_of(const host::plan& p) {
  std::vector<host::chunk_data> r;
  const host::cancellation stop;
  host::run_ensemble(p, *host::make_cpu_backend(p), stop,
                     {.write = [&](const host::chunk_data& c, const host::tally&) { r.push_back(c); }});
  std::sort(r.begin(), r.end(), [](const auto& a, const auto& b) { return a.first_id < b.first_id; });
  return r;
}

std::vector<double> work_in(const host::chunk_data& c, const std::vector<int>& order) {
  std::vector<double> r;
  for (std::int64_t k = 0; k < c.count; ++k)
    r.push_back(host::work_of(c, order.empty() ? k : order[static_cast<std::size_t>(k)]));
  return r;
}

/// A sample of `work` over two inputs, in random order.
template <class F>
host::work_sample sample_of(std::size_t count, F&& work) {
  std::mt19937_64 bits(5);
  std::uniform_real_distribution<double> draw(0.0, 1.0);
  host::work_sample r;
  r.width = 2;
  for (std::size_t i = 0; i < count; ++i) {
    const double a = draw(bits), b = draw(bits);
    r.inputs.insert(r.inputs.end(), {a, b});
    r.work.push_back(work(a, b));
  }
  return r;
}

TEST(order, warps_are_as_full_as_their_longest_lane_leaves_them) {
  EXPECT_EQ(1.0, host::warp_efficiency(std::vector<double>(64, 7.0)));
  std::vector<double> one_long(32, 1.0);
  one_long[5] = 33.0;
  EXPECT_DOUBLE_EQ((31.0 + 33.0) / (32 * 33.0), host::warp_efficiency(one_long));
  // A warp that is not full: 4 of 32 lanes.
  EXPECT_DOUBLE_EQ(4.0 / 32, host::warp_efficiency(std::vector<double>(4, 2.0)));
  EXPECT_DOUBLE_EQ((32 * 3.0 + 1.0) / (32 * 4.0), [] {
    std::vector<double> two(33, 3.0);
    two[32] = 1.0;
    return host::warp_efficiency(two);
  }());
}

TEST(order, a_tree_finds_boxes_that_differ) {
  // Two inputs, neither of which alone determines much: work is 10 if they are on the same side of a half, otherwise 1.
  const auto sample = sample_of(2000, [](double a, double b) { return (a < 0.5) == (b < 0.5) ? 10.0 : 1.0; });
  const host::work_tree tree(sample);
  const auto rank = [&](double a, double b) {
    const double inputs[] = {a, b};
    return tree.rank_of(inputs);
  };
  // The ranks with much work come first, wherever an instance is on its side of the border.
  for (const double x : {0.1, 0.3, 0.4})
    for (const double y : {0.1, 0.3, 0.4}) {
      EXPECT_LT(rank(x, y), rank(x, 1 - y));
      EXPECT_LT(rank(1 - x, 1 - y), rank(1 - x, y));
    }
}

TEST(order, a_tree_of_equal_work_has_one_box) {
  EXPECT_EQ(1, host::work_tree(sample_of(500, [](double, double) { return 3.0; })).boxes());
  host::work_sample same_inputs = sample_of(500, [](double a, double) { return a; });
  for (double& x : same_inputs.inputs) x = 1.0;
  EXPECT_EQ(1, host::work_tree(same_inputs).boxes());
}

TEST(order, ranks_descend_with_the_work) {
  const host::work_tree tree(sample_of(4000, [](double a, double) { return 1 + a * a; }));
  int before = tree.boxes();
  for (double a = 0.05; a < 1; a += 0.1) {
    const double inputs[] = {a, 0.5};
    EXPECT_LT(tree.rank_of(inputs), before) << a;
    before = tree.rank_of(inputs);
  }
}

struct problem {
  const char* what;
  const char* model;
  std::vector<std::string> settings;
  double least;  ///< share of the gain of true work over id order that the prediction reaches
};

TEST(order, warps_are_fuller_in_the_predicted_order) {
  // A single varying input determines nearly everything. With several inputs there are fewer boxes along each. Chaos is hardly
  // predictable: where rho exceeds 24.06 the work hardly varies, though.
  const problem problems[] = {
      {"lorenz, rho", "lorenz", {"sample.rho={uniform=[0.0,21.0]}"}, 0.9},
      {"lorenz, rho, x, y, z",
       "lorenz",
       {"sample.rho={uniform=[0.0,28.0]}", "sample.x={uniform=[-10.0,10.0]}", "sample.y={uniform=[-10.0,10.0]}",
        "sample.z={uniform=[0.0,20.0]}"},
       0.6},
      {"relief_valve, flow", "relief_valve", {"sample.flow={uniform=[0.2,10.0]}"}, 0.9},
      {"relief_valve, flow, restitution, preload, damping",
       "relief_valve",
       {"sample.flow={uniform=[0.2,10.0]}", "sample.restitution={uniform=[0.5,0.9]}",
        "sample.preload={uniform=[5.0,15.0]}", "sample.damping={uniform=[0.5,2.0]}"},
       0.4},
      {"bok_1, A", "bok_1", {"sample.A={uniform=[0.35,0.45]}"}, 0.7},
      {"keller_miksis, frequency_1", "keller_miksis", {"sample.frequency_1={log_uniform=[2e4,1e6]}"}, 0.9},
  };
  fmt::print("| problem | as they stand | predicted | by true work |\n|---|---|---|---|\n");
  for (const problem& which : problems) {
    auto settings = which.settings;
    settings.insert(settings.end(), {"sample.count=6144", "run.chunk=2048", "rtol=1e-6"});
    const auto p = plan_of(which.model, settings);
    const auto chunks = chunks_of(p);
    host::work_order order;
    EXPECT_TRUE(order.order(chunks[1]).empty()) << "no chunk has been learnt";
    order.learn(chunks[0]);
    double as_they_stand = 0, predicted = 0, by_work = 0;
    for (const std::size_t k : {1u, 2u}) {
      const auto slots = order.order(chunks[k]);
      ASSERT_EQ(2048u, slots.size());
      ASSERT_EQ(2048u, std::set<int>(slots.begin(), slots.end()).size());
      auto sorted = work_in(chunks[k], {});
      as_they_stand += host::warp_efficiency(sorted) / 2;
      predicted += host::warp_efficiency(work_in(chunks[k], slots)) / 2;
      std::sort(sorted.begin(), sorted.end());
      by_work += host::warp_efficiency(sorted) / 2;
    }
    fmt::print("| {} | {:.3f} | {:.3f} | {:.3f} |\n", which.what, as_they_stand, predicted, by_work);
    EXPECT_GT((predicted - as_they_stand) / (by_work - as_they_stand), which.least) << which.what;
  }
}

TEST(order, a_sweep_is_left_as_it_is) {
  const auto p = plan_of("lorenz", {"sweep.rho={from=0.0,to=21.0,count=4096}", "run.chunk=2048"});
  const auto chunks = chunks_of(p);
  host::work_order order;
  for (const auto& c : chunks) order.learn(c);
  EXPECT_TRUE(order.order(chunks[1]).empty());
}

TEST(order, work_that_no_input_predicts_is_left_as_it_is) {
  auto p = plan_of("lorenz", {"sample.count=2048", "sample.rho={uniform=[0.0,21.0]}"});
  host::chunk_data c(p, 0, p.count);
  host::sampler(p).fill(0, p.count, c);
  std::mt19937_64 bits(7);
  for (auto& steps : c.steps) steps = 10 + static_cast<long long>(bits() % 100);
  std::fill(c.status.begin(), c.status.end(), static_cast<unsigned char>(status::finished));
  host::work_order order;
  order.learn(c);
  EXPECT_TRUE(order.order(c).empty());
}

TEST(order, instances_that_were_not_run_teach_nothing) {
  auto p = plan_of("lorenz", {"sample.count=2048", "sample.rho={uniform=[0.0,21.0]}"});
  host::chunk_data c(p, 0, p.count);
  host::sampler(p).fill(0, p.count, c);
  host::work_order order;
  order.learn(c);
  EXPECT_TRUE(order.order(c).empty());
}

}  // namespace
}  // namespace saltus::test
