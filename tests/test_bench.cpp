// Cost of a run: counted operations, measured peak and energy, predicted bytes, and advice on settings.
#include <unistd.h>

#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "backend/cuda/throughput.hpp"
#include "base/error.hpp"
#include "bench/advice.hpp"
#include "bench/bench.hpp"
#include "bench/energy.hpp"
#include "bench/flops.hpp"
#include "ensemble/pilot.hpp"
#include "ensemble/sampler.hpp"
#include "linear/complex.hpp"
#include "linear/factorised.hpp"
#include "number/counted.hpp"
#include "number/math.hpp"
#include "result/netcdf_writer.hpp"
#include "result/provenance.hpp"
#include "result/storage.hpp"
#include "study/cost.hpp"
#include "testing/ensemble.hpp"

namespace saltus::test {
namespace {

namespace fs = std::filesystem;
using real = pack<counted>;

const host::cancellation go_on;

template <class F>
int64 flops_of(F&& body) {
  return count_operations(body).flops;
}

/// A folder that is removed after the test.
class bench_files : public testing::Test {
 protected:
  fs::path folder = fs::path(testing::TempDir()) / ("saltus_bench_" + std::to_string(::getpid()));
  void SetUp() override { fs::create_directories(folder); }
  void TearDown() override { fs::remove_all(folder); }
  void write(const fs::path& file, const std::string& text) {
    fs::create_directories((folder / file).parent_path());
    std::ofstream(folder / file) << text;
  }
};

// ---------------------------------------------------------------------------------------------------------- counting

TEST(counting, counts_every_operation_once_and_an_fma_twice) {
  const real x(2.0), y(3.0);
  EXPECT_EQ(flops_of([&] { x + y; }), 1);
  EXPECT_EQ(flops_of([&] { x - 1.0; }), 1);
  EXPECT_EQ(flops_of([&] { x* y / 2.0; }), 2);
  EXPECT_EQ(flops_of([&] { sqrt(x); }), 1);
  EXPECT_EQ(flops_of([&] { fma(x, y, x); }), 2);
  EXPECT_EQ(flops_of([&] { abs(-x); }), 0);
  const auto c = count_operations([&] { select((x < y) & (x > 1.0), max(x, y), y); });
  EXPECT_EQ(c.flops, 0);
  EXPECT_EQ(c.comparisons, 3);
}

TEST(counting, literals_that_are_selected_count_on) {
  const real x(2.0);
  EXPECT_EQ(flops_of([&] { select(x < 1.0, -1.0, 1.0) * 2.0; }), 1);
}

TEST(counting, computes_what_it_counts) {
  for (const double x : {-0.7, 0.3, 2.5}) {
    EXPECT_EQ(sin(real(x)).v.v, sin(pack<double>(x)).v);
    EXPECT_EQ(exp(real(x)).v.v, exp(pack<double>(x)).v);
    EXPECT_EQ(atan2(real(x), real(1.5)).v.v, atan2(pack<double>(x), pack<double>(1.5)).v);
    EXPECT_EQ(pow(real(std::abs(x)), 1.3).v.v, pow(pack<double>(std::abs(x)), 1.3).v);
  }
}

// A polynomial of two Horner chains in x^2: one product, an fma for each coefficient but the first two, and one fma to join the chains.
TEST(counting, a_polynomial_costs_its_coefficients) {
  EXPECT_EQ(flops_of([] { detail::polynomial(real(0.5), 1.0, 2.0, 3.0, 4.0, 5.0); }), 1 + 2 * 3 + 2);
}

// The derivative of a product is two products and a sum: one product and an fma.
TEST(counting, a_dual_counts_its_derivatives) {
  const dual<real> x(real(2.0), real(1.0));
  EXPECT_EQ(flops_of([&] { x* x; }), 1 + 1 + 2);
  EXPECT_EQ(flops_of([&] { x + x; }), 2);
}

TEST(counting, models_are_counted_as_they_are_written) {
  const auto count = [](const char* name) {
    const auto m = host::describe_model(host::find_model(name));
    return std::pair(m.rhs_flops, m.guard_flops);
  };
  // sigma (y - x); x (rho - z) - y; x y - beta z
  EXPECT_EQ(count("lorenz"), std::pair(std::int64_t{2 + 3 + 3}, std::int64_t{0}));
  // v; p - kappa v - (x + delta); beta (q - x sqrt(p)). Guards: x, and p - delta, whose time derivative is that of p.
  EXPECT_EQ(count("relief_valve"), std::pair(std::int64_t{0 + 4 + 4}, std::int64_t{1}));
  // Nothing is computed: the derivatives are v and -g.
  EXPECT_EQ(count("bouncing_ball").second, 0);
}

class uncountable : public bench_files {};

TEST_F(uncountable, a_model_that_takes_only_numbers_of_its_own_is_described_all_the_same) {
  write("own_numbers.hpp",
        "#include <saltus.hpp>\n"
        "template <int W> saltus::pack<double, W> half(saltus::pack<double, W> x) { return x * 0.5; }\n"
        "struct own_numbers {\n"
        "  enum state { x };\n"
        "  static constexpr saltus::variable<state> state_list[] = {{x, 1.0, \"1\", \"\"}};\n"
        "  static void rhs(const auto& at, auto& dy) { dy[x] = -half(at[x]); }\n"
        "};\n");
  const auto file = folder / "own_numbers.hpp";
  for (int again = 0; again < 2; ++again) {
    const auto m = host::describe_model(file);
    EXPECT_EQ(m.states.size(), 1u);
    EXPECT_EQ(m.rhs_flops, -1);
  }
  host::tally some;
  some.steps = 1;
  auto p = plan_of("lorenz", {});
  p.model = host::describe_model(file);
  EXPECT_FALSE(host::operations_of(p, some));
}

// ------------------------------------------------------------------------------------------------------------- steps

// The classical method: three points with a product and an fma each, the sum of four weighted slopes, and the new point.
TEST(operations, of_the_classical_method_by_hand) {
  const auto rk4 = host::step_operations_of("rk4");
  ASSERT_TRUE(rk4);
  EXPECT_EQ(rk4->evaluations, 4);
  // y + h (a k): product and fma, three times; b k: a product and three fma; y + h (b k): an fma; the error estimate is zero.
  EXPECT_GE(rk4->sums_per_state, 3 * (1 + 2) + (1 + 3 * 2) + 2);
  EXPECT_LE(rk4->sums_per_state, 3 * (1 + 2) + (1 + 3 * 2) + 2 + 2);
  EXPECT_FALSE(host::step_operations_of("radau5"));
}

// Dormand and Prince: rows of 1, 2, 3, 4, 5, 5 coefficients, six in the error estimate.
TEST(operations, of_dp5_by_its_tableau) {
  const auto dp5 = host::step_operations_of("dp5");
  ASSERT_TRUE(dp5);
  EXPECT_EQ(dp5->evaluations, 6);
  int expected = 0;
  for (const int terms : {1, 2, 3, 4, 5, 5}) expected += 1 + 2 * (terms - 1) + 2;
  EXPECT_EQ(dp5->sums_per_state, expected + 1 + 2 * 5 + 1);
}

template <class Number, int n>
int64 counted_lu(bool solves) {
  matrix<Number, n> a;
  vec<Number, n> b;
  for (int i = 0; i < n; ++i) {
    b[i] = Number(real(1.0));
    for (int j = 0; j < n; ++j) a[i][j] = Number(real(i == j ? 4.0 + i : 1.0 / (1 + i + j)));
  }
  const int64 before = operations_so_far.flops;
  const lu<Number, n> w(a);
  const int64 factored = operations_so_far.flops;
  w.solve(b);
  return solves ? operations_so_far.flops - factored : factored - before;
}

TEST(operations, of_linear_algebra_as_it_is_done) {
  EXPECT_EQ((counted_lu<real, 2>(false)), host::lu_operations(2));
  EXPECT_EQ((counted_lu<real, 5>(false)), host::lu_operations(5));
  EXPECT_EQ((counted_lu<real, 2>(true)), host::solve_operations(2));
  EXPECT_EQ((counted_lu<real, 7>(true)), host::solve_operations(7));
  using z = complex<real>;
  // The formulas are lower bounds: they omit pivots and reciprocals, some 20 operations a column.
  for (const auto& [counted, formula] : {std::pair(counted_lu<z, 3>(false), host::complex_lu_operations(3)),
                                         std::pair(counted_lu<z, 6>(false), host::complex_lu_operations(6))}) {
    EXPECT_GE(static_cast<double>(counted), formula);
    EXPECT_LE(static_cast<double>(counted), formula + 6 * 20);
  }
  EXPECT_EQ((counted_lu<z, 4>(true)), host::complex_solve_operations(4));
}

TEST(operations, of_a_run_are_those_of_its_steps) {
  const auto p = plan_of("lorenz", {});
  host::tally some;
  some.steps = 90;
  some.rejected = 10;
  some.rhs_evaluations = 600;
  const auto all = host::operations_of(p, some);
  ASSERT_TRUE(all);
  EXPECT_EQ(all->rhs, 600 * 8);
  EXPECT_EQ(all->sums, 100 * 3 * host::step_operations_of("dp5")->sums_per_state);
  EXPECT_EQ(all->linear, 0);
  some.switched = 1;
  EXPECT_FALSE(host::operations_of(p, some));
}

// ----------------------------------------------------------------------------------------------------- peak, energy

// Every processor does at least a multiply-add in ten clocks of 100 MHz, and at most 64 lanes of four at 10 GHz.
TEST(peak, is_that_of_some_processor) {
  const double one = host::cpu_peak_flops(host::precision_kind::double_precision, 1);
  EXPECT_GT(one, 2e7);
  EXPECT_LT(one, 1e13);
  EXPECT_EQ(host::cuda_fma_per_clock(90, host::precision_kind::double_precision), 64);
  EXPECT_EQ(host::cuda_fma_per_clock(90, host::precision_kind::single_precision), 128);
  EXPECT_EQ(host::cuda_fma_per_clock(1, host::precision_kind::double_precision), 0);
}

class energy : public bench_files {};

TEST_F(energy, of_packages_alone_and_around_their_largest_value) {
  const auto zone = [&](const char* name, const char* called, const char* counter) {
    write(fs::path(name) / "name", called);
    write(fs::path(name) / "max_energy_range_uj", "1000000000\n");
    write(fs::path(name) / "energy_uj", counter);
  };
  zone("intel-rapl:0", "package-0\n", "999000000\n");
  zone("intel-rapl:0:0", "core\n", "5\n");
  zone("intel-rapl:1", "package-1\n", "500000\n");
  zone("intel-rapl:2", "psys\n", "7\n");
  const host::energy_meter meter(folder);
  const auto before = meter.read();
  ASSERT_EQ(before.cpu_microjoules.size(), 2u);
  write("intel-rapl:0/energy_uj", "2000000\n");
  write("intel-rapl:1/energy_uj", "1500000\n");
  EXPECT_NEAR(meter.cpu_joules(before, meter.read()).value(), 3.0 + 1.0, 1e-9);
}

TEST_F(energy, is_not_told_where_there_are_no_counters) {
  const host::energy_meter meter(folder / "nothing");
  EXPECT_FALSE(meter.cpu_joules(meter.read(), meter.read()));
}

// ------------------------------------------------------------------------------------------------------------- bytes

/// Counts the bytes of a chunk from its arrays.
std::int64_t size_of(host::chunk_data& c) {
  std::int64_t sum =
      static_cast<std::int64_t>(c.status.size() + c.exception.size() + c.switched_to.size() + c.guard_history.size());
  for (const auto* column : {&c.parameters, &c.initial, &c.t_begin, &c.t_end, &c.final_state, &c.final_output,
                             &c.final_discrete, &c.t_final, &c.residual, &c.switched, &c.samples, &c.reductions})
    sum += static_cast<std::int64_t>(8 * column->size());
  for (const auto counter : abi::counter_members<std::vector<long long>>) sum += std::ssize(c.*counter) * 8;
  return sum + static_cast<std::int64_t>(8 * c.residual_of.size());
}

TEST(cost, bytes_of_a_chunk_are_those_of_its_columns) {
  for (const auto& settings : {std::vector<std::string>{},
                               std::vector<std::string>{"output.samples.count=7", "output.reduce=[\"max(lift)\"]"}}) {
    const auto p = plan_of("relief_valve", settings);
    host::chunk_data chunk(p, 0, 13);
    EXPECT_EQ(host::chunk_bytes(p, 13), size_of(chunk));
    // The backend hands over all but the host's own columns `exception`, `switched` and `switched_to`.
    EXPECT_EQ(host::moved_bytes(chunk), size_of(chunk) - 13 * (1 + 8 + 1));
  }
}

class cost_of_files : public bench_files {};

TEST_F(cost_of_files, are_predicted_by_the_pilot_and_come_true) {
  const std::string file = (folder / "valve.nc").string();
  auto p = plan_of("relief_valve", {"sweep.flow={from=2.0, to=6.0, count=40}", "t=[0.0, 10.0]", "output.events=true"});
  p.file = file;
  const auto where = host::make_cpu_backend(p);
  const auto cost = host::predict(p, *where, 0.05, go_on);
  EXPECT_GT(cost.seconds.value, 0);
  EXPECT_LT(cost.seconds.low, cost.seconds.value);
  EXPECT_GT(cost.seconds.high, cost.seconds.value);
  EXPECT_FALSE(cost.cut_short);
  // The pilot run leaves nothing behind.
  EXPECT_TRUE(fs::is_empty(folder));

  std::int64_t rows = 0;
  {
    host::netcdf_writer writer(file, p, host::provenance{});
    const auto s =
        host::run_ensemble(p, *where, go_on, {.write = [&](const host::chunk_data& chunk, const host::tally&) {
                             rows += static_cast<std::int64_t>(chunk.log.slot.size());
                             writer.write(chunk);
                           }});
    EXPECT_GT(s.bytes, 0);
    EXPECT_GT(s.kernel_seconds, 0);
    EXPECT_LE(s.kernel_seconds, s.wall_seconds);
    EXPECT_GE(s.chunk_seconds, s.kernel_seconds);
    writer.close(0);
  }
  // The pilot has run nearly all of the 40 instances.
  EXPECT_NEAR(cost.event_rows.value, static_cast<double>(rows), 0.1 * static_cast<double>(rows));
  const auto size = static_cast<double>(fs::file_size(file));
  EXPECT_NEAR(static_cast<double>(host::file_bytes(p, rows)), size, 0.3 * size);
}

// If the chunks of the file are full, its size is that of its numbers and a header of some kilobytes.
TEST_F(cost_of_files, of_whole_pieces_are_predicted_to_the_head) {
  auto p = plan_of("lorenz", {"sweep.rho={from=0.0, to=21.0, count=65536}"});
  p.file = (folder / "lorenz.nc").string();
  {
    host::netcdf_writer writer(p.file, p, host::provenance{});
    writer.write(host::chunk_data(p, 0, p.count));
    writer.close(0);
  }
  const auto size = static_cast<double>(fs::file_size(p.file));
  EXPECT_NEAR(static_cast<double>(host::file_bytes(p, 0)), size, 30e3);
  EXPECT_LT(std::abs(static_cast<double>(host::expected_bytes(p)) - size), 100e3);
}

TEST(pilot, takes_instances_evenly_from_first_to_last) {
  const auto p = plan_of("lorenz", {"sweep.rho={from=0.0, to=999.0, count=1000}"});
  host::chunk_data chunk;
  host::fill_spread(p, 10, 0.5, chunk);
  const auto rho = std::find_if(p.model.parameters.begin(), p.model.parameters.end(),
                                [](const auto& q) { return q.name == "rho"; }) -
                   p.model.parameters.begin();
  for (std::size_t k = 0; k < 10; ++k)
    EXPECT_EQ(chunk.parameters[static_cast<std::size_t>(rho) * 10 + k], 50 + 100.0 * static_cast<double>(k));
}

TEST(pilot, has_the_inputs_that_the_run_has) {
  const auto p = plan_of("lorenz", {"sample.count=64", "sample.seed=3", "sample.rho.uniform=[0.0, 20.0]"});
  host::chunk_data all(p, 0, 64), some;
  host::sampler(p).fill(0, 64, all);
  host::fill_spread(p, 64, 0.5, some);
  EXPECT_EQ(all.parameters, some.parameters);
  EXPECT_EQ(all.t_end, some.t_end);
}

// ------------------------------------------------------------------------------------------------------------- bench

host::bench_options options_for(const std::string& model, std::vector<std::string> settings) {
  host::bench_options o;
  o.quiet = true;
  o.rounds = 2;
  o.make_plan = [=](const std::vector<host::flag>& more) {
    std::vector<host::flag> flags;
    for (const auto& s : settings) flags.push_back({"--set", s});
    flags.insert(flags.end(), more.begin(), more.end());
    return host::validate(host::from_model(model, flags), host::describe_model(host::find_model(model)));
  };
  return o;
}

TEST(bench, differences_are_found_wherever_they_are) {
  const auto p = plan_of("lorenz", {"sweep.rho={from=1.0, to=3.0, count=3}"});
  host::chunk_data a(p, 0, 3);
  for (auto& y : a.final_state) y = 2.0;
  for (auto& t : a.t_final) t = 1.0;
  host::kept_results kept(p);
  kept.keep(a);
  auto d = kept.compare(a);
  EXPECT_EQ(d.compared, 3);
  EXPECT_EQ(d.instances, 0);
  EXPECT_EQ(d.largest, 0);
  host::chunk_data b = a;
  b.final_state[1] = 2.5;  // state of instance 1
  b.events[2] = 7;
  d = kept.compare(b);
  EXPECT_EQ(d.instances, 2);
  EXPECT_EQ(d.largest, 0.25);
  b.final_state[0] = std::nan("");
  EXPECT_EQ(kept.compare(b).largest, std::numeric_limits<double>::infinity());
}

TEST(bench, two_nans_are_no_difference_whatever_their_bits) {
  const auto p = plan_of("lorenz", {"sweep.rho={from=1.0, to=3.0, count=3}"});
  host::chunk_data a(p, 0, 3);
  for (auto& y : a.final_state) y = std::nan("");
  a.t_final[0] = std::nan("");
  host::kept_results kept(p);
  kept.keep(a);
  // A processor of this kind makes negative NaNs, a device makes 0x7fffffffffffffff.
  host::chunk_data b = a;
  for (auto& y : b.final_state) y = -std::nan("1");
  b.t_final[0] = std::nan("0x7ffffffffffff");
  ASSERT_NE(0, std::memcmp(&a.final_state[0], &b.final_state[0], sizeof(double)));
  EXPECT_EQ(0, kept.compare(b).instances);
  EXPECT_EQ(0, kept.compare(b).largest);
  // Zeros of opposite signs are different numbers, and so are a NaN and a number.
  b.final_state[0] = 0.0;
  EXPECT_EQ(1, kept.compare(b).instances);
  kept.keep(b);
  b.final_state[0] = -0.0;
  EXPECT_EQ(1, kept.compare(b).instances);
}

TEST(bench, names_of_backends_are_checked) {
  EXPECT_EQ(host::backends_of("cpu"), std::vector<std::string>{"cpu"});
  for (const char* wrong : {"gpu", "cpu,cpu", "cpu,"}) try {
      host::backends_of(wrong);
      if (std::string(wrong) != "cpu,") ADD_FAILURE() << wrong;
    } catch (const host::error& e) { EXPECT_EQ(e.exit_code, host::exit_usage); }
}

TEST(bench, throughput_is_measured_until_time_is_up) {
  auto o = options_for("lorenz", {"sweep.rho={from=0.0, to=21.0, count=10}", "t=[0.0, 1.0]"});
  o.limit = 1;
  double now = 0;
  o.now = [&] { return now += 0.1; };  // every point lasts a tenth of a second
  const auto curves = host::measure_growth(o, {"cpu"}, go_on);
  ASSERT_EQ(curves.size(), 1u);
  // The next point is expected to last 3.2 times as long as the last: it fits until 0.7 s have passed.
  ASSERT_EQ(curves[0].points.size(), 7u);
  EXPECT_EQ(curves[0].points[0].instances, 10);
  EXPECT_EQ(curves[0].points[1].instances, 32);
  for (const auto& point : curves[0].points) {
    EXPECT_GT(point.rate.low, 0);
    EXPECT_LE(point.rate.low, point.rate.median);
    EXPECT_LE(point.rate.median, point.rate.high);
  }
}

TEST(bench, one_line_overtakes_another_where_they_cross) {
  const auto line = [](std::vector<std::pair<std::int64_t, double>> points) {
    host::growth_curve c;
    for (const auto& [n, rate] : points) c.points.push_back({n, {rate, rate, rate}});
    return c;
  };
  const auto flat = line({{10, 100}, {100, 100}, {1000, 100}});
  // In logarithms, half way from a tenth to tenfold.
  EXPECT_NEAR(host::overtakes(flat, line({{10, 1}, {100, 10}, {1000, 1000}})).value(), std::pow(10, 2.5), 1e-6);
  EXPECT_EQ(host::overtakes(flat, line({{10, 200}, {100, 300}, {1000, 400}})).value(), 10);
  EXPECT_FALSE(host::overtakes(flat, line({{10, 200}, {100, 300}, {1000, 50}})));
}

// The recommended setting is judged again, against a reference of its own.
TEST(advice, is_as_sharp_as_was_asked_for) {
  const std::vector<std::string> ensemble = {"sweep.rho={from=2.0, to=9.0, count=64}", "t=[0.0, 4.0]"};
  auto settings = ensemble;
  settings.push_back("rtol=1e-7");
  auto o = options_for("lorenz", settings);
  o.methods = "bs3,dop853";  // bs3 needs some thousand steps, dop853 some ten
  // Counts of right-hand sides replace seconds, so that other load on the machine does not matter.
  o.seconds_of_round = [](const host::pilot_round& round) { return 1e-6 * static_cast<double>(round.evaluations); };
  const auto found = host::advise(o, go_on);
  ASSERT_TRUE(found.is_known());
  const auto& best = found.best.what;
  EXPECT_EQ(best.method, "dop853");
  EXPECT_EQ(found.tried.size(), 3u) << "the spec's own settings, and two methods";
  EXPECT_EQ(found.with_reference, found.instances);
  EXPECT_EQ(found.lines().front(), "method = \"dop853\"");
  EXPECT_NE(host::text_of(found).find("  method = \"dop853\"\n"), std::string::npos);

  settings = ensemble;
  settings.insert(settings.end(), {"method=" + best.method, fmt::format("rtol={}", best.rtol)});
  const auto advised = run("lorenz", settings);
  settings = ensemble;
  settings.insert(settings.end(), {"method=dop853", "rtol=1e-13"});
  const auto exact = run("lorenz", settings);
  std::vector<double> errors;
  for (std::size_t id = 0; id < 64; ++id) {
    double worst = 0;
    for (std::size_t at = id; at < exact.final_state.size(); at += 64)
      worst = std::max(
          worst, std::abs(advised.final_state[at] - exact.final_state[at]) / (1 + std::abs(exact.final_state[at])));
    errors.push_back(worst);
  }
  std::sort(errors.begin(), errors.end());
  EXPECT_LE(errors[32], 1e-7);
  EXPECT_GT(errors[32], 1e-11);  // and not much more accurate than necessary
}

// Times depend on the machine, so the test only checks their presence and place.
TEST(bench, a_report_has_every_backend_and_curve) {
  auto o = options_for("lorenz", {"sweep.rho={from=0.0, to=21.0, count=10}", "t=[0.0, 1.0]"});
  o.backends = "cpu";
  o.growth = true;
  o.limit = 0.2;
  const auto report = host::bench(o, go_on);
  ASSERT_EQ(report.results.size(), 1u);
  EXPECT_GE(report.results[0].rounds.size(), 1u);
  ASSERT_EQ(report.curves.size(), 1u);
  const host::json all = host::json_of(report);
  EXPECT_EQ(all["model"], "lorenz");
  EXPECT_EQ(all["instances"], 10);
  EXPECT_EQ(all["results"][0]["backend"], "cpu");
  EXPECT_EQ(all["curves"][0]["points"][0]["instances"], 10);
  EXPECT_GT(all["curves"][0]["points"][0]["instances_per_second"]["median"], 0);
  const std::string text = host::text_of(report);
  for (const char* part : {"lorenz: 10 instances", "end to end", "instances/s", "cpu, per s"})
    EXPECT_NE(text.find(part), std::string::npos) << text;
}

TEST(advice, needs_a_tolerance) {
  auto o = options_for("lorenz", {"method=rk4", "step=0.01"});
  try {
    host::advise(o, go_on);
    FAIL() << "no such entry";
  } catch (const host::error& e) { EXPECT_NE(std::string(e.what()).find("in place of step"), std::string::npos); }
}

}  // namespace
}  // namespace saltus::test
