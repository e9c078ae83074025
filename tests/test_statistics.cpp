// Statistics of an ensemble: against sums in long double, against known properties of distributions, and bit by bit against
// themselves with other chunks, threads, lanes and blocks.
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <limits>
#include <random>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <netcdf.h>

#include "base/error.hpp"
#include "cli/show_command.hpp"
#include "emulated_grid.hpp"
#include "ensemble/run_statistics.hpp"
#include "result/netcdf_writer.hpp"
#include "same_bits.hpp"
#include "statistics/cuda_statistics.cuh"
#include "testing/ensemble.hpp"

namespace saltus::test {
namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr double infinity = std::numeric_limits<double>::infinity();

const auto finished = static_cast<unsigned char>(status::finished);
const auto stopped = static_cast<unsigned char>(status::stopped);
const auto failed = static_cast<unsigned char>(status::step_budget);

/// The plain definition in long double, in two passes.
struct reference {
  std::int64_t count = 0, min_id = -1, max_id = -1;
  long double mean = 0, squares = 0;
  double min = infinity, max = -infinity;

  reference(const std::vector<double>& x, const std::vector<unsigned char>& status) {
    const auto kept = [&](std::size_t i) {
      return (status[i] == finished || status[i] == stopped) && std::isfinite(x[i]);
    };
    for (std::size_t i = 0; i < x.size(); ++i) {
      if (!kept(i)) continue;
      ++count;
      mean += x[i];
      if (x[i] < min) min = x[i], min_id = static_cast<std::int64_t>(i);
      if (x[i] > max) max = x[i], max_id = static_cast<std::int64_t>(i);
    }
    mean /= static_cast<long double>(std::max<std::int64_t>(count, 1));
    for (std::size_t i = 0; i < x.size(); ++i)
      if (kept(i)) squares += (x[i] - mean) * (x[i] - mean);
  }
};

/// Means have errors of a few units in the last place of numbers of size `scale`, and so have those of blocks, whose
/// distances from each other, a sixteenth of the deviation, enter the squares.
void expect_near(const reference& expected, const summary& s, double scale) {
  const double n = static_cast<double>(expected.count), squares = static_cast<double>(expected.squares);
  const double off = 4e-16 * scale, deviation = std::sqrt(squares / std::max(n, 1.0));
  EXPECT_EQ(expected.count, s.count);
  EXPECT_NEAR(static_cast<double>(expected.mean), s.mean, off);
  EXPECT_NEAR(squares, s.squares, 2e-15 * squares + (n > statistics_block ? n * off * deviation / 8 : 0.0));
  if (expected.count == 0) return;
  EXPECT_EQ(expected.min, s.min);
  EXPECT_EQ(expected.max, s.max);
  EXPECT_EQ(expected.min_id, s.min_id);
  EXPECT_EQ(expected.max_id, s.max_id);
}

void expect_same_summary(const summary& a, const summary& b) {
  EXPECT_EQ(a.count, b.count);
  EXPECT_EQ(bits(a.mean), bits(b.mean));
  EXPECT_EQ(bits(a.squares), bits(b.squares));
  EXPECT_EQ(bits(a.min), bits(b.min));
  EXPECT_EQ(bits(a.max), bits(b.max));
  EXPECT_EQ(a.min_id, b.min_id);
  EXPECT_EQ(a.max_id, b.max_id);
}

void expect_same_statistics(const host::statistics& a, const host::statistics& b) {
  ASSERT_EQ(a.summaries.size(), b.summaries.size());
  ASSERT_FALSE(a.summaries.empty());
  for (std::size_t j = 0; j < a.summaries.size(); ++j) {
    SCOPED_TRACE(a.columns[j].name);
    expect_same_summary(a.summaries[j], b.summaries[j]);
  }
  ASSERT_EQ(a.histograms.size(), b.histograms.size());
  for (std::size_t j = 0; j < a.histograms.size(); ++j) {
    EXPECT_EQ(a.histograms[j].counts, b.histograms[j].counts);
    EXPECT_EQ(a.histograms[j].below, b.histograms[j].below);
    EXPECT_EQ(a.histograms[j].above, b.histograms[j].above);
  }
}

std::vector<double> normal_values(std::size_t n, double mean, double deviation, unsigned seed = 1) {
  std::mt19937_64 from(seed);
  std::normal_distribution<double> draw(mean, deviation);
  std::vector<double> r(n);
  for (double& x : r) x = draw(from);
  return r;
}

summary of_block(const std::vector<double>& x, const std::vector<unsigned char>& status) {
  return summary_of_block(whole_warp{}, {x.data(), nullptr}, status.data(), 0, static_cast<int>(x.size()), 0);
}

// ---- a block

TEST(statistics, of_a_block_are_those_of_the_definition) {
  for (const std::size_t n : {1u, 2u, 31u, 32u, 33u, 255u, 256u})
    for (const auto& [mean, deviation] : {std::pair(0.0, 1.0), {-1e9, 1.0}, {3e-300, 1e-301}}) {
      SCOPED_TRACE(fmt::format("{} of {} +- {}", n, mean, deviation));
      const auto x = normal_values(n, mean, deviation);
      const std::vector<unsigned char> all(n, finished);
      const reference expected(x, all);
      const summary s = of_block(x, all);
      if (deviation > 1e-200) expect_near(expected, s, std::abs(mean) + deviation);
      else EXPECT_NEAR(1.0, s.mean / static_cast<double>(expected.mean), 1e-15);
    }
}

TEST(statistics, count_only_finite_values_of_instances_that_ended_well) {
  auto x = normal_values(200, 5.0, 2.0);
  std::vector<unsigned char> status(200, finished);
  status[3] = stopped;
  status[7] = failed, x[7] = 1e6;
  status[8] = static_cast<unsigned char>(status::not_run), x[8] = -1e6;
  status[9] = static_cast<unsigned char>(status::interrupted), x[9] = -1e6;
  x[40] = nan, x[41] = infinity, x[42] = -infinity;
  expect_near(reference(x, status), of_block(x, status), 7.0);
  EXPECT_EQ(194, of_block(x, status).count);
}

TEST(statistics, of_nothing_are_nothing) {
  const std::vector<unsigned char> all_failed(50, failed);
  const summary s = of_block(normal_values(50, 1.0, 1.0), all_failed);
  EXPECT_EQ(0, s.count);
  EXPECT_EQ(-1, s.min_id);
  const auto numbers = host::statistic_numbers(s);
  EXPECT_EQ(0.0, numbers[0]);
  for (std::size_t k = 1; k < numbers.size(); ++k) EXPECT_TRUE(std::isnan(numbers[k]));
  const summary one = of_block({4.0}, {finished});
  EXPECT_EQ(4.0, host::statistic_numbers(one)[1]);
  EXPECT_TRUE(std::isnan(host::statistic_numbers(one)[2])) << "one value has no deviation";
}

TEST(statistics, name_the_first_of_instances_with_equal_values) {
  std::vector<double> x(256, 1.0);
  x[77] = x[70] = x[102] = 0.5;
  x[201] = x[169] = 2.0;
  const summary s = of_block(x, std::vector<unsigned char>(256, finished));
  EXPECT_EQ(70, s.min_id);
  EXPECT_EQ(169, s.max_id);
  std::vector<double> zeros(256, 0.0);
  for (std::size_t i = 0; i < zeros.size(); i += 3) zeros[i] = -0.0;
  const summary z = of_block(zeros, std::vector<unsigned char>(256, finished));
  EXPECT_EQ(0, z.min_id);
  EXPECT_EQ(0, z.max_id);
  EXPECT_EQ(bits(0.0), bits(z.min));
  EXPECT_EQ(bits(0.0), bits(z.max));
}

TEST(statistics, of_32_lanes_that_meet_have_the_bits_of_a_loop) {
  const auto x = normal_values(700, 1e3, 7.0);
  std::vector<unsigned char> status(700, finished);
  for (std::size_t i = 0; i < status.size(); i += 11) status[i] = failed;
  std::vector<long long> counter(700);
  for (std::size_t i = 0; i < counter.size(); ++i) counter[i] = static_cast<long long>(i * 7919 % 1013);
  const number_column columns[] = {{x.data(), nullptr}, {nullptr, counter.data()}};

  // The whole kernel: three blocks, the last with 188 instances; the second is left to the host.
  status[300] = static_cast<unsigned char>(status::not_located);
  struct made {
    summary summaries[3][2];
    abi::block_costs costs[3];
    std::vector<long long> counters = std::vector<long long>(12, 0);
  } one, other;
  const auto work_for = [&](made& m, abi::device_histogram& h) {
    h = {0, {980.0, 1020.0, 10}, m.counters.data()};
    abi::device_statistics w{};
    w.count = 700, w.first_id = 2560, w.status = status.data();
    w.carried_on = 1u << static_cast<int>(status::not_located);
    w.columns = 2, w.histograms = 1, w.column = columns, w.summaries = &m.summaries[0][0], w.costs = m.costs;
    w.histogram = &h;
    for (auto& c : w.counters) c = columns[1];
    return w;
  };
  abi::device_histogram h_one, h_other;
  const auto w_one = work_for(one, h_one), w_other = work_for(other, h_other);
  const whole_warp loop;
  for (const int number : {1, 0}) statistics_of_chunk<whole_warp>(w_one, loop).make(number, 2);
  // Runs the kernel like SALTUS_CUDA_STATISTICS.
  grid(1).run(2, 64, [&] {
    const lane_of_warp warp;
    statistics_of_chunk<lane_of_warp>(w_other, warp).make(static_cast<int>((64 * blockIdx.x + threadIdx.x) / 32), 4);
  });
  for (int b = 0; b < 3; ++b) {
    for (int j = 0; j < 2; ++j) expect_same_summary(one.summaries[b][j], other.summaries[b][j]);
    EXPECT_EQ(b == 1, one.costs[b].is_left == 1);
    EXPECT_EQ(one.costs[b].is_left, other.costs[b].is_left);
    const auto sum = std::accumulate(counter.begin() + b * 256, counter.begin() + std::min(700, b * 256 + 256), 0LL);
    for (int j = 0; j < abi::counter_count; ++j) {
      EXPECT_EQ(sum, one.costs[b].counters[j]) << "instances of every status count";
      EXPECT_EQ(sum, other.costs[b].counters[j]);
    }
  }
  EXPECT_EQ(one.counters, other.counters);
  long long counted = 0, expected = 0;
  for (const long long n : one.counters) counted += n;
  for (std::size_t i = 0; i < 700; ++i) expected += (i < 256 || i >= 512) && status[i] == finished;
  EXPECT_EQ(expected, counted);
  // Compares with the definition, too.
  const std::vector<double> first(x.begin(), x.begin() + 256);
  const std::vector<unsigned char> its(status.begin(), status.begin() + 256);
  const reference expected_first(first, its);
  EXPECT_NEAR(static_cast<double>(expected_first.mean), one.summaries[0][0].mean, 1e-12);
  EXPECT_EQ(2560 + expected_first.min_id, one.summaries[0][0].min_id);
}

// ---- histograms

TEST(statistics, bins_have_their_lower_edge_and_the_last_one_both) {
  // Tenths are not binary fractions: 0.3 is in the bin that begins there if the edge is the same number.
  const histogram_bins tenths{0.0, 1.0, 10};
  for (int k = 0; k < 10; ++k) {
    EXPECT_EQ(k, tenths.counter_of(tenths.edge(k))) << k;
    EXPECT_EQ(k, tenths.counter_of(std::nextafter(tenths.edge(k + 1), 0.0))) << k;
  }
  EXPECT_EQ(1.0, tenths.edge(10));
  EXPECT_EQ(9, tenths.counter_of(1.0));
  EXPECT_EQ(10, tenths.counter_of(std::nextafter(0.0, -1.0))) << "below";
  EXPECT_EQ(11, tenths.counter_of(std::nextafter(1.0, 2.0))) << "above";
  const histogram_bins odd{-3.7, 11.3, 97};
  for (int k = 0; k < 97; ++k) {
    EXPECT_LT(odd.edge(k), odd.edge(k + 1));
    EXPECT_EQ(k, odd.counter_of(odd.edge(k)));
    EXPECT_EQ(k, odd.counter_of(0.5 * odd.edge(k) + 0.5 * odd.edge(k + 1)));
  }
}

// ---- many blocks

/// An invented run with one state and one output.
host::plan made_up_plan(std::int64_t count) {
  host::plan p;
  p.model.states = {{"x", 0, "m", ""}};
  p.model.outputs = {{"z", 0, "", ""}};
  p.parameters = {};
  p.initial = {nan};
  p.count = count;
  p.statistics = true;
  p.histograms = {{"final_z", 1, -2.0, 2.0, 7}};
  return p;
}

struct made_up {
  std::vector<double> x, z;
  std::vector<unsigned char> status;

  explicit made_up(std::size_t n)
      : x(normal_values(n, 1e6, 3.0)), z(normal_values(n, 0.0, 1.0, 2)), status(n, finished) {
    for (std::size_t i = 5; i < n; i += 97) status[i] = failed;
    for (std::size_t i = 6; i < n; i += 101) z[i] = nan;
  }
  host::chunk_data chunk(const host::plan& p, std::int64_t first, std::int64_t count) const {
    host::chunk_data c(p, first, count);
    for (std::int64_t i = 0; i < count; ++i) {
      const auto to = static_cast<std::size_t>(i), from = static_cast<std::size_t>(first + i);
      c.final_state[to] = x[from], c.final_output[to] = z[from], c.status[to] = status[from];
      c.t_final[to] = 1.0, c.steps[to] = static_cast<long long>(from);
    }
    return c;
  }
};

host::statistics in_chunks(const host::plan& p, const made_up& data, const std::vector<std::int64_t>& sizes) {
  host::statistics_sum sum(p);
  std::int64_t first = 0;
  for (std::size_t k = 0; first < p.count; ++k) {
    auto c = data.chunk(p, first, std::min(sizes[k % sizes.size()], p.count - first));
    host::make_statistics(p, c);
    sum.add(c);
    first += c.count;
  }
  return sum.finish();
}

TEST(statistics, have_the_same_bits_whatever_the_chunks) {
  for (const std::int64_t count : {1, 255, 256, 257, 5000, 4096}) {
    SCOPED_TRACE(count);
    const auto p = made_up_plan(count);
    const made_up data(static_cast<std::size_t>(count));
    const auto whole = in_chunks(p, data, {count});
    for (const std::vector<std::int64_t>& sizes : std::vector<std::vector<std::int64_t>>{
             {1}, {7}, {255}, {256}, {257}, {512}, {1000}, {100, 612, 256, 3}, {300, 1, 800}}) {
      SCOPED_TRACE(fmt::format("{}", fmt::join(sizes, " ")));
      expect_same_statistics(whole, in_chunks(p, data, sizes));
    }
  }
}

TEST(statistics, have_the_same_bits_in_whatever_order_chunks_come) {
  const std::int64_t count = 10'000;
  const auto p = made_up_plan(count);
  const made_up data(static_cast<std::size_t>(count));
  const auto whole = in_chunks(p, data, {count});
  for (const std::int64_t size : {7, 100, 256, 700, 1024}) {
    SCOPED_TRACE(size);
    std::vector<std::int64_t> firsts;
    for (std::int64_t first = 0; first < count; first += size) firsts.push_back(first);
    std::mt19937 chance(3);
    for (int round = 0; round < 5; ++round) {
      if (round == 0) std::reverse(firsts.begin(), firsts.end());
      else std::shuffle(firsts.begin(), firsts.end(), chance);
      host::statistics_sum sum(p);
      for (const std::int64_t first : firsts) {
        auto c = data.chunk(p, first, std::min(size, count - first));
        host::make_statistics(p, c);
        sum.add(c);
      }
      expect_same_statistics(whole, sum.finish());
    }
  }
}

TEST(statistics, of_many_blocks_are_those_of_the_definition) {
  const std::int64_t count = 100'000;
  const auto p = made_up_plan(count);
  const made_up data(static_cast<std::size_t>(count));
  const auto s = in_chunks(p, data, {4096});
  expect_near(reference(data.x, data.status), s.summaries[0], 1e6);
  expect_near(reference(data.z, data.status), s.summaries[1], 1.0);
  EXPECT_EQ("final_x", s.columns[0].name);
  EXPECT_EQ("final_z", s.columns[1].name);
  EXPECT_EQ(0.0, s.summaries[2].squares) << "t_final is 1 everywhere";
  ASSERT_EQ("steps", s.columns[3].name);
  std::vector<double> steps(static_cast<std::size_t>(count));
  std::iota(steps.begin(), steps.end(), 0.0);
  expect_near(reference(steps, data.status), s.summaries[3], 1e5);

  std::vector<long long> counts(7, 0);
  long long below = 0, above = 0;
  for (std::size_t i = 0; i < data.z.size(); ++i) {
    if (data.status[i] != finished || std::isnan(data.z[i])) continue;
    if (data.z[i] < -2.0) ++below;
    else if (data.z[i] > 2.0) ++above;
    else ++counts[static_cast<std::size_t>((data.z[i] + 2.0) / 4.0 * 7)];  // none of these values is near an edge
  }
  ASSERT_EQ(1u, s.histograms.size());
  EXPECT_EQ(counts, s.histograms[0].counts);
  EXPECT_EQ(below, s.histograms[0].below);
  EXPECT_EQ(above, s.histograms[0].above);
}

// ---- runs

summary called(const host::statistics& s, const std::string& name) {
  for (std::size_t j = 0; j < s.columns.size(); ++j)
    if (s.columns[j].name == name) return s.summaries[j];
  throw std::runtime_error("no column " + name);
}

TEST(statistics, of_a_run_have_the_moments_of_its_samples) {
  // A ball that falls for a tenth of a second from a height between 5 and 20: exact for the method, without events.
  const auto p =
      plan_of("bouncing_ball", {"t=[0.0,0.1]", "sample.count=20000", "sample.height={uniform=[5.0,20.0]}",
                                "output.rows=false", "output.histogram.final_height={from=5.0,to=20.0,bins=3}"});
  EXPECT_TRUE(p.statistics);
  const auto r = run(p);
  const auto& s = r.summary.statistics;
  const auto height = host::statistic_numbers(called(s, "final_height"));
  const double fall = 9.81 * 0.1 * 0.1 / 2;
  const double deviation = 15.0 / std::sqrt(12.0);
  // Five standard errors: of the mean, deviation / sqrt(n); of the deviation, with the kurtosis 9/5 of the uniform
  // distribution, deviation sqrt((9/5 - 1) / (4 n)).
  EXPECT_EQ(20000.0, height[0]);
  EXPECT_NEAR(12.5 - fall, height[1], 5 * deviation / std::sqrt(20000.0));
  EXPECT_NEAR(deviation, height[2], 5 * deviation * std::sqrt(0.8 / 80000.0));
  EXPECT_NEAR(5.0 - fall, height[3], 15.0 * 10 / 20000);
  EXPECT_NEAR(20.0 - fall, height[4], 15.0 * 10 / 20000);
  EXPECT_EQ(height[3], r.final("height", static_cast<std::int64_t>(height[5])));
  EXPECT_EQ(height[4], r.final("height", static_cast<std::int64_t>(height[6])));
  const auto velocity = host::statistic_numbers(called(s, "final_velocity"));
  EXPECT_NEAR(-0.981, velocity[1], 1e-14);
  EXPECT_NEAR(0.0, velocity[2], 1e-14);
  EXPECT_EQ(0.0, called(s, "events").max);
  // Each bin has a third of the heights but for `fall`, with a standard deviation of sqrt(n 2/9) = 67.
  const auto& h = s.histograms.at(0);
  EXPECT_EQ(20000, h.below + h.above + h.counts[0] + h.counts[1] + h.counts[2]);
  for (const long long n : h.counts) EXPECT_NEAR(20000 / 3.0, static_cast<double>(n), 5 * 67 + 20000 * fall / 15);
  EXPECT_NEAR(20000 * fall / 15, static_cast<double>(h.below), 5 * 8);
}

TEST(statistics, of_a_run_have_the_same_bits_whatever_lanes_threads_and_chunks) {
  // Lanes give up some instances, and the host rescues them.
  const auto with = [](const std::vector<std::string>& more) {
    std::vector<std::string> settings = {"rtol=1e-6", "inject_exceptions=0.4", "sample.count=1205",
                                         "sample.height={uniform=[0.5,2.0]}", "output.statistics=true"};
    settings.insert(settings.end(), more.begin(), more.end());
    return run("ball_drag", settings);
  };
  const auto one = with({"run.lanes=1", "run.threads=1"});
  EXPECT_GT(one.summary.counts.rescued(), 100);
  const auto count = one.summary.counts.ok() + one.summary.counts.rescued();
  EXPECT_EQ(count, called(one.summary.statistics, "t_final").count);
  for (const auto& more : std::vector<std::vector<std::string>>{
           {}, {"run.chunk=1"}, {"run.chunk=100"}, {"run.chunk=256", "run.threads=1"}, {"output.rows=false"}}) {
    SCOPED_TRACE(fmt::format("{}", fmt::join(more, " ")));
    expect_same_statistics(one.summary.statistics, with(more).summary.statistics);
  }
  const std::vector<unsigned char> status(one.status.begin(), one.status.end());
  expect_near(reference(one.t_final, status), called(one.summary.statistics, "t_final"), 10.0);
}

// ---- the spec

std::string refused(const std::vector<std::string>& settings) {
  try {
    plan_of("lorenz", settings);
  } catch (const host::error& e) {
    EXPECT_EQ(host::exit_usage, e.exit_code);
    return e.what();
  }
  return "accepted";
}

TEST(statistics, a_spec_says_which) {
  EXPECT_FALSE(plan_of("lorenz", {}).statistics);
  EXPECT_TRUE(plan_of("lorenz", {}).rows);
  EXPECT_TRUE(plan_of("lorenz", {"output.statistics=true"}).rows);
  EXPECT_TRUE(plan_of("lorenz", {"output.rows=false"}).statistics);
  const auto p =
      plan_of("lorenz", {"output.reduce=['max(x)']", "output.histogram={'max(x)'={from=0.0,to=30.0,bins=6}}"});
  EXPECT_TRUE(p.statistics);
  ASSERT_EQ(1u, p.histograms.size());
  EXPECT_EQ("max(x)", host::statistic_columns(p)[static_cast<std::size_t>(p.histograms[0].column)].name);
  EXPECT_EQ(6, p.histograms[0].bins);
}

TEST(statistics, a_spec_that_cannot_be_is_refused) {
  EXPECT_EQ(
      "--set output.rows=false: output.rows = false: must be true without statistics, or nothing of the instances "
      "would be kept",
      refused({"output.rows=false", "output.statistics=false"}));
  EXPECT_EQ(
      "--set output.rows=false: output.rows = false: must be true with events, which are kept for each "
      "instance; count(...), first(...) and last(...) in reduce are counted in statistics",
      refused({"output.rows=false", "output.events=true"}));
  EXPECT_EQ("--set output.statistics=false: output.statistics = false: must be true with a histogram",
            refused({"output.statistics=false", "output.histogram.final_x={from=0,to=1,bins=2}"}));
  EXPECT_NE(std::string::npos,
            refused({"output.histogram.x={from=0,to=1,bins=2}"}).find("unknown key; allowed: final_x, final_y"));
  EXPECT_NE(std::string::npos, refused({"output.histogram.final_x={from=1,to=1,bins=2}"}).find("must have from < to"));
  EXPECT_NE(std::string::npos,
            refused({"output.histogram.final_x={from=0,to=1,bins=0}"}).find("must be a whole number from 1"));
  EXPECT_NE(std::string::npos, refused({"output.histogram.final_x={from=0,to=1}"}).find("bins is missing"));
}

// ---- the file

std::string shown(const host::show_options& options) {
  char* text = nullptr;
  std::size_t size = 0;
  std::FILE* out = open_memstream(&text, &size);
  host::show(options, out);
  std::fclose(out);
  std::string r(text, size);
  std::free(text);
  return r;
}

TEST(statistics, are_in_the_file_and_shown) {
  const auto path = (std::filesystem::temp_directory_path() / fmt::format("statistics_{}.nc", getpid())).string();
  auto p = made_up_plan(1000);
  const made_up data(1000);
  p.rows = false;
  const auto s = in_chunks(p, data, {300});
  host::netcdf_writer writer(path, p, host::provenance{});
  for (const std::int64_t first : {0, 600}) writer.write(data.chunk(p, first, first == 0 ? 600 : 400));
  writer.close(1.0, s);

  int file = -1, id = -1;
  ASSERT_EQ(NC_NOERR, nc_open(path.c_str(), NC_NOWRITE, &file));
  for (const char* row : {"final_x", "status", "steps"}) EXPECT_NE(NC_NOERR, nc_inq_varid(file, row, &id)) << row;
  ASSERT_EQ(NC_NOERR, nc_inq_varid(file, "statistic", &id));
  char* names[host::statistic_names.size()];
  ASSERT_EQ(NC_NOERR, nc_get_var_string(file, id, names));
  for (std::size_t k = 0; k < host::statistic_names.size(); ++k) EXPECT_STREQ(host::statistic_names[k], names[k]);
  nc_free_string(host::statistic_names.size(), names);
  ASSERT_EQ(NC_NOERR, nc_inq_varid(file, "statistics_final_x", &id));
  double numbers[host::statistic_names.size()];
  ASSERT_EQ(NC_NOERR, nc_get_var_double(file, id, numbers));
  const reference expected(data.x, data.status);
  EXPECT_EQ(static_cast<double>(expected.count), numbers[0]);
  EXPECT_NEAR(static_cast<double>(expected.mean), numbers[1], 4e-10);
  EXPECT_NEAR(std::sqrt(static_cast<double>(expected.squares) / static_cast<double>(expected.count - 1)), numbers[2],
              1e-12);
  EXPECT_EQ(expected.min, numbers[3]);
  EXPECT_EQ(expected.max, numbers[4]);
  EXPECT_EQ(static_cast<double>(expected.min_id), numbers[5]);
  EXPECT_EQ(static_cast<double>(expected.max_id), numbers[6]);
  char unit[2] = {};
  ASSERT_EQ(NC_NOERR, nc_get_att_text(file, id, "units", unit));
  EXPECT_STREQ("m", unit);
  long long counts[7], below = -1;
  double middle[7];
  ASSERT_EQ(NC_NOERR, nc_inq_varid(file, "histogram_final_z", &id));
  ASSERT_EQ(NC_NOERR, nc_get_var_longlong(file, id, counts));
  EXPECT_EQ(s.histograms[0].counts, std::vector<long long>(counts, counts + 7));
  ASSERT_EQ(NC_NOERR, nc_get_att_longlong(file, id, "below", &below));
  EXPECT_EQ(s.histograms[0].below, below);
  ASSERT_EQ(NC_NOERR, nc_inq_varid(file, "bin_final_z", &id));
  ASSERT_EQ(NC_NOERR, nc_get_var_double(file, id, middle));
  EXPECT_NEAR(0.0, middle[3], 1e-15) << "seven bins from -2 to 2";
  nc_close(file);

  const std::string text = shown({.file = path});
  EXPECT_NE(std::string::npos, text.find("step_budget   11   1.10 %")) << text;
  EXPECT_NE(std::string::npos, text.find(fmt::format("{:.6g}", numbers[2]))) << text;
  EXPECT_NE(std::string::npos, text.find("output.rows = false")) << text;
  const std::string json = shown({.file = path, .json = true});
  EXPECT_NE(std::string::npos, json.find("\"max_instance\"")) << json;
  EXPECT_THROW(shown({.file = path, .instance = 3}), host::error);
  EXPECT_THROW(shown({.file = path, .failed = true}), host::error);
  std::filesystem::remove(path);
}

}  // namespace
}  // namespace saltus::test
