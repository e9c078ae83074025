// Tables: functions of time given by values at knots. Numbers from SciPy are those printed by tests/reference/tables.py; solutions
// of linear equations are written down piece by piece.
#include <unistd.h>

#include <cmath>
#include <complex>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <numbers>

#include <gtest/gtest.h>

#include "abi/sensitivity.hpp"
#include "base/error.hpp"
#include "event_runs.hpp"
#include "result/provenance.hpp"
#include "same_bits.hpp"

namespace saltus::test {
namespace {

const std::string tabled = test_model("tabled"), looped = test_model("looped"), knot_events = test_model("knot_events"),
                  wall = test_model("wall");

const std::vector<double> times = {-1.5, -1.0, 0.25, 0.5, 2.0, 2.125, 4.0};
const std::vector<double> values = {1.0, 3.0, 2.5, -0.75, -0.75, 1.5, 1.0};
const std::vector<double> some_times = {-1.25, -0.9, 0.3, 1.1, 2.05, 3.7};

struct given_knots {
  std::vector<double> times, values;
};

std::string table(const std::string& name, const given_knots& k) {
  const auto list = [](const std::vector<double>& all) { return set("", all).substr(1); };
  return fmt::format("tables.{}={{ times = {}, values = {} }}", name, list(k.times), list(k.values));
}

std::vector<std::string> tables(const std::vector<std::string>& names, const given_knots& k) {
  std::vector<std::string> all;
  for (const auto& name : names) all.push_back(table(name, k));
  return all;
}

const auto four = tables({"steps", "line", "monotone", "smooth"}, {times, values});
// No error test limits these steps; results are exact because no step crosses a knot.
const std::vector<std::string> loose = {"rtol=0.1", "atol=10.0"};

TEST(Tables, HaveTheValuesOfSciPy) {
  const auto r = run(tabled, with(with(loose, four), {set("t", {-1.5, 4.0}), set("output.samples.times", some_times)}));
  const std::vector<std::vector<double>> expected = {
      {1.0, 3.0, 2.5, -0.75, -0.75, 1.5},
      {2.0, 2.96, 1.85, -0.75, 0.1499999999999968, 1.08},
      {2.3285714285714287, 2.9981331320754716, 2.1306037735849057, -0.75, 0.041999999999995374, 1.2036479999999998},
      {1.9667741668405725, 3.4421797522978235, 1.9075090778764756, -6.092070703093102, 0.1459167593659516,
       3.6653392460054643}};
  for (std::size_t i = 0; i < 4; ++i)
    for (std::size_t k = 0; k < some_times.size(); ++k)
      EXPECT_NEAR(r.sample(4 + i, 0, static_cast<std::int64_t>(k)), expected[i][k], 2e-14)
          << i << " at " << some_times[k];
}

/// Integrals of the four tables over all of their knots, forward and backward.
void expect_integrals(const std::vector<std::string>& more, double tolerance, int most_steps) {
  const std::vector<double> expected = {6.46875, 5.921875, 6.3884153189577715, 10.000192961268445};
  const char* const states[] = {"of_steps", "of_line", "of_monotone", "of_smooth"};
  for (const double sign : {1.0, -1.0}) {
    const auto span = sign > 0 ? set("t", {-1.5, 4.0}) : set("t", {4.0, -1.5});
    const auto r = run(tabled, with(with(loose, four), with(more, {span, "output.samples.count=2"})));
    ASSERT_EQ(name_of(r.status[0]), "finished") << more[0];
    EXPECT_LE(r.steps[0], most_steps) << more[0];
    for (std::size_t i = 0; i < 4; ++i)
      EXPECT_NEAR(r.final(states[i]), sign * expected[i], tolerance) << more[0] << " " << states[i] << " " << sign;
  }
}

TEST(Tables, AreIntegratedExactlyHoweverLongStepsMayBe) { expect_integrals({"method=dp5"}, 4e-14, 14); }

TEST(Tables, AreIntegratedExactlyByOtherMethods) {
  expect_integrals({"method=taylor"}, 4e-14, 20);
  expect_integrals({"method=radau5"}, 4e-14, 30);
  expect_integrals({"method=rodas5p"}, 1e-12, 30);  // coefficients with 16 digits, and cancellation
}

TEST(Tables, OfDifferentKnotsKeepToTheirOwn) {
  auto other = four;
  other[1] = table("line", {{-3.0, 0.125, 5.0}, {-3.0, 0.125, -4.75}});  // |t - 1/8| reflected
  const auto r = run(tabled, with(with(loose, other), {set("t", {-1.5, 4.0})}));
  EXPECT_NEAR(r.final("of_line"), 0.125 * 5.5 - 0.5 * (1.625 * 1.625 + 3.875 * 3.875), 4e-14);
  EXPECT_NEAR(r.final("of_steps"), 6.46875, 4e-14);
  EXPECT_NEAR(r.final("of_smooth"), 10.000192961268445, 4e-14);
}

TEST(Tables, BeginAnewAndAreHeld) {
  auto closed = tables({"line", "monotone", "smooth"}, {times, values});
  closed.push_back(table("held", {{0.0, 1.0}, {2.0, 6.0}}));
  const double period = 5.5;
  for (const double shift : {0.0, -3 * period, 7 * period, 1000 * period}) {
    // From the middle of one period to the middle of another, eight periods later.
    const double from = -1.25 + shift, to = 3.7 + shift + 8 * period;
    const double tolerance = 1e-13 * (100 + std::abs(shift));
    const auto r = run(looped, with(with(loose, closed), {set("t", {from, to})}));
    EXPECT_NEAR(r.final("of_monotone"), 5.397233709433962 + 8 * 6.044516509433962, tolerance) << shift;
    EXPECT_NEAR(r.final("of_smooth"), 6.390603354252609 + 8 * 7.05908017433443, tolerance) << shift;
    EXPECT_NEAR(r.output(1), 1.0343040000000001, tolerance);
    EXPECT_NEAR(r.output(2), 1.5741628061294186, tolerance);
    const auto integral_of_held = [](double t) { return t < 0 ? 2 * t : t > 1 ? 4 + 6 * (t - 1) : 2 * t + 2 * t * t; };
    EXPECT_NEAR(r.final("of_held"), integral_of_held(to) - integral_of_held(from), tolerance);
  }
}

TEST(Tables, BeginAnewAndAreHeldBackwardInTime) {
  auto closed = tables({"line", "monotone", "smooth"}, {times, values});
  closed.push_back(table("held", {{0.0, 1.0}, {2.0, 6.0}}));
  for (const double shift : {0.0, -16.5, 5500.0}) {
    const auto there = run(looped, with(with(loose, closed), {set("t", {-1.25 + shift, 47.7 + shift})}));
    const auto back = run(looped, with(with(loose, closed), {set("t", {47.7 + shift, -1.25 + shift})}));
    for (const char* state : {"of_line", "of_monotone", "of_smooth", "of_held"})
      EXPECT_NEAR(back.final(state), -there.final(state), 1e-13 * (100 + std::abs(shift))) << state;
  }
}

TEST(Tables, AtAKnotShowWhatFollowsIt) {
  const auto r = run(tabled, with(with(loose, four), {set("t", {-1.5, 4.0}), set("output.samples.times", times)}));
  for (std::size_t k = 0; k < times.size(); ++k) {
    const auto row = static_cast<std::int64_t>(k);
    // The table ends here.
    EXPECT_EQ(r.sample(4, 0, row), k + 1 < times.size() ? values[k] : values[k - 1]) << times[k];
    for (std::size_t i = 5; i < 8; ++i) EXPECT_NEAR(r.sample(i, 0, row), values[k], 1e-14) << times[k];
  }
  const auto part = run(tabled, with(with(loose, four), {set("t", {-1.0, 0.25})}));  // from knot to knot
  EXPECT_EQ(part.final("of_steps"), 3.75);
  EXPECT_EQ(part.output(0), 3.0);
  EXPECT_EQ(part.events[0], 0);
}

// ---- knots and events. The clock is at `t` while the slope is 1.

const std::string runs = table("slope", {{0.0, 10.0}, {1.0, 1.0}});

TEST(Tables, AGuardThatJumpsFiresAtTheKnot) {
  const auto falls = run(knot_events, with(tight, {runs, table("mark", {{0.0, 1.0}, {5.0, 0.5}}), "t=[0.0,2.0]"}));
  EXPECT_EQ(names_of(falls), std::vector<std::string>{"passes"});
  EXPECT_EQ(times_of(falls), std::vector<double>{1.0});
  EXPECT_EQ(discrete(falls, "seen"), 0.5);
  EXPECT_EQ(falls.root_finding_steps[0], 0);
  const auto rises = run(knot_events, with(tight, {runs, table("mark", {{0.0, 1.0}, {0.5, 5.0}}), "t=[0.0,6.0]"}));
  EXPECT_EQ(names_of(rises), (std::vector<std::string>{"passes", "falls_back", "passes"}));
  EXPECT_NEAR(times_of(rises)[0], 0.5, 1e-14);
  EXPECT_EQ(times_of(rises)[1], 1.0);
  EXPECT_NEAR(times_of(rises)[2], 5.0, 1e-14);
  EXPECT_EQ(discrete(rises, "seen"), 5.0);
}

TEST(Tables, AGuardThatJumpsBackwardInTime) {
  // clock = t - 2: backward from 2 to 0 it is at -1 when the mark jumps between 0 and -5.
  const auto r = run(knot_events, with(tight, {runs, table("mark", {{0.0, 1.0}, {-5.0, 0.0}}), "t=[2.0,0.0]"}));
  EXPECT_EQ(names_of(r), std::vector<std::string>{"passes"});
  EXPECT_EQ(times_of(r), std::vector<double>{1.0});
  EXPECT_EQ(discrete(r, "seen"), -5.0);
}

TEST(Tables, AKnotAtEitherEndIsNone) {
  const auto from = run(knot_events, with(tight, {runs, table("mark", {{0.0, 1.0}, {5.0, -0.5}}), "t=[1.0,2.0]"}));
  EXPECT_EQ(from.events[0], 0);
  EXPECT_EQ(name_of(from.status[0]), "finished");
  const auto to = run(knot_events, with(tight, {runs, table("mark", {{0.0, 1.0}, {5.0, 0.5}}), "t=[0.0,1.0]"}));
  EXPECT_EQ(to.events[0], 0);
  EXPECT_NEAR(to.final("clock"), 1.0, 1e-15);
}

TEST(Tables, ATimeEventOnAKnotComesWithWhatJumps) {
  const auto mark = table("mark", {{0.0, 1.0}, {5.0, 0.5}});
  const auto r = run(knot_events, with(tight, {runs, mark, "tick_at=1.0", "t=[0.0,2.0]"}));
  EXPECT_EQ(names_of(r), (std::vector<std::string>{"passes", "tick"}));
  EXPECT_EQ(times_of(r), (std::vector<double>{1.0, 1.0}));
  EXPECT_EQ(discrete(r, "transitions"), 1);
  EXPECT_EQ(discrete(r, "seen"), 0.5);
  const auto alone =
      run(knot_events, with(tight, {runs, table("mark", {{0.0, 1.0}, {5.0, 4.0}}), "tick_at=1.0", "t=[0.0,2.0]"}));
  EXPECT_EQ(names_of(alone), std::vector<std::string>{"tick"});
  EXPECT_EQ(discrete(alone, "seen"), 4.0);
}

TEST(Tables, ARootOnAKnotFiresOnce) {
  // The clock reaches the mark when it slows down.
  const auto slows = table("slope", {{0.0, 2.0}, {1.0, 0.5}});
  for (const double at : {2.0, 2.0 + 1e-15, 2.0 - 1e-15, 2.0 + 1e-12, 2.0 - 1e-12}) {
    const auto mark = table("mark", {{0.0, 5.0}, {at, at}});
    const auto r = run(knot_events, with(tight, {slows, mark, "t=[0.0,3.0]"}));
    ASSERT_EQ(names_of(r), std::vector<std::string>{"passes"}) << at;
    EXPECT_NEAR(times_of(r)[0], 2.0, 4e-12) << at;
    EXPECT_NEAR(r.final("clock"), 2.5, 1e-13);
  }
}

TEST(Tables, KnotsAreNoEvents) {
  given_knots many;
  for (int k = 0; k <= 1000; ++k) {
    many.times.push_back(1e-3 * k);
    many.values.push_back(10.0 + k % 7);
  }
  const auto r = run(knot_events, with(tight, {runs, table("mark", many), "t=[0.0,1.0]", "max_events=1"}));
  EXPECT_EQ(name_of(r.status[0]), "finished");
  EXPECT_EQ(r.events[0], 0);
  EXPECT_EQ(r.log.size(), 0u);
  EXPECT_GE(r.steps[0], 1000);
}

TEST(Tables, AlgebraicStatesJumpWithThem) {
  const auto r = run(test_model("jumping_algebraic"), tight);
  EXPECT_EQ(times_of(r), (std::vector<double>{1.0, 2.0}));
  double y = 0;
  for (const double mark : {1.0, 3.0, 2.0}) y = mark + (y - mark) * std::exp(-1.0);
  EXPECT_NEAR(r.final("y"), y, 1e-8);
  EXPECT_NEAR(r.final("z"), 2.0, 1e-14);
}

TEST(Tables, ASlideEndsWhereAJumpEndsIt) {
  // From -3/4 by 3/2 to zero at 1/2; at zero until the push is 2 at 1; by 1 to 1 at 2; by -4, and by -2 from 9/4 on, to -3/2 at 3; by 1.
  const auto r = run(test_model("pushed_slide"), tight);
  EXPECT_EQ(names_of(r), (std::vector<std::string>{"zero", "leaves_zero", "zero"}));
  EXPECT_NEAR(times_of(r)[0], 0.5, 1e-14);
  EXPECT_EQ(times_of(r)[1], 1.0);
  EXPECT_NEAR(times_of(r)[2], 2.25, 1e-14);
  EXPECT_NEAR(r.final("x"), -0.5, 1e-13);
}

// ---- a year of weather

/// Degrees for every hour of two years, irregular: days, seasons and random deviations.
const given_knots& weather() {
  static const given_knots made = [] {
    given_knots k;
    std::uint64_t state = 1;
    double drift = 0;
    for (int hour = 0; hour <= 8760; ++hour) {
      state = state * 6364136223846793005ull + 1442695040888963407ull;
      drift = 0.97 * drift + 2.0 * (static_cast<double>(state >> 11) * 0x1p-53 - 0.5);
      const double turn = 2 * std::numbers::pi;
      k.times.push_back(hour);
      k.values.push_back(7 - 11 * std::cos(turn * hour / 8760) - 4 * std::cos(turn * (hour - 3) / 24) + drift);
    }
    k.values.back() = k.values.front();  // so that another year can follow
    return k;
  }();
  return made;
}

/// y' = (source + line - y) / lag on one piece, where the line starts at a with slope b.
template <class Number>
struct relaxing {
  Number lag, source, a, b, y;
  Number goal(double u) const { return source + a + b * (u - lag); }
  Number at(double u) const { return goal(u) + (y - goal(0)) * std::exp(-u / lag); }
  Number turning() const { return -lag * std::log(b * lag / (y - goal(0))); }  ///< where its slope is zero
};

/// The first u in (from, h] at which a solution crosses `level` upwards (+1) or downwards (-1); h + 1 if there is none.
double first_root(const relaxing<double>& y, double from, double h, double level, int way) {
  const double turn = y.turning();
  const auto crossing = [&](double lo, double hi) {
    if (!(way * (y.at(lo) - level) < 0 && way * (y.at(hi) - level) >= 0)) return h + 1;
    for (int i = 0; i < 60; ++i) {
      const double middle = 0.5 * (lo + hi);
      (way * (y.at(middle) - level) < 0 ? lo : hi) = middle;
    }
    return hi;
  };
  if (!(turn > from && turn < h)) return crossing(from, h);
  const double first = crossing(from, turn);
  return first <= h ? first : crossing(turn, h);
}

/// Closed form of tests/models/wall.hpp after a year.
template <class Number>
Number wall_after_a_year(Number lag) {
  const auto& w = weather();
  Number y = 5.0;
  for (std::size_t k = 0; k + 1 < w.times.size(); ++k) {
    const double h = w.times[k + 1] - w.times[k], b = (w.values[k + 1] - w.values[k]) / h;
    y = relaxing<Number>{lag, 0.0, w.values[k], b, y}.at(h);
  }
  return y;
}

/// Settings that all houses share, so that one module serves several cases.
const std::vector<std::string> observed = {"output.reduce=['max(outside)', 'min(outside)', 'mean(outside)']",
                                           "output.samples.count=33", "output.events=true"};

TEST(Tables, AYearOfWeatherInAThousandHouses) {
  const auto r =
      run("house", with({"rtol=1e-10", "t=[0.0,8760.0]", table("outdoor", weather()),
                         "sweep.resistance={from=3.0,to=8.0,count=40}", "sweep.capacity={from=2.0,to=12.0,count=25}"},
                        with(observed, {"output.events=false"})));
  ASSERT_EQ(r.plan.count, 1000);
  const auto& w = weather();
  std::int64_t switched = 0;
  for (std::int64_t i = 0; i < r.plan.count; ++i) {
    const double R = 3.0 + 5.0 * (static_cast<double>(i / 25) / 39.0),
                 C = 2.0 + 10.0 * (static_cast<double>(i % 25) / 24.0);
    bool on = false;
    double y = 20.0, heat = 0.0;
    for (std::size_t k = 0; k + 1 < w.times.size(); ++k) {
      double u = 0.0;
      while (u < 1.0) {
        const double left = 1.0 - u, b = w.values[k + 1] - w.values[k];
        const relaxing<double> piece{R * C, on ? 6.0 * R : 0.0, w.values[k] + b * u, b, y};
        // A cold house may go on cooling while the heater is on, and a summer house needs no heating.
        const double cold = first_root(piece, 0.0, left, 19.0, -1), hot = first_root(piece, 0.0, left, 21.0, 1);
        const double root = std::min(cold, hot), step = std::min(root, left);
        y = piece.at(step);
        heat += on ? 6.0 * step : 0.0;
        u = root <= left ? u + root : 1.0;
        if (root > left) continue;
        switched += on != (cold < hot);
        on = cold < hot;
        y = on ? 19.0 : 21.0;
      }
    }
    const auto slot = static_cast<std::size_t>(i);
    ASSERT_EQ(name_of(r.status[slot]), "finished") << i;
    ASSERT_NEAR(r.final("temperature", i), y, 1e-6) << i;
    ASSERT_NEAR(r.final("heat", i), heat, 1e-4) << i;  // of some 30000
  }
  EXPECT_GT(switched, 100'000);
}

TEST(Tables, AYearByOtherMethods) {
  const std::vector<std::string> year = {"rtol=1e-8", "atol=1e-8", "t=[0.0,8760.0]", table("outdoor", weather()),
                                         "sweep.lag=[0.5, 3.0, 40.0]"};
  const double lags[] = {0.5, 3.0, 40.0};
  const auto known = run(wall, year);
  for (const auto& more : std::vector<std::vector<std::string>>{
           {}, {"method=dop853"}, {"method=taylor"}, {"method=rodas5p"}, {"method=radau5"}, {"detection=certified"}}) {
    const auto r = run(wall, with(year, more));
    for (std::size_t i = 0; i < 3; ++i) {
      const auto what = fmt::format("{} lag {}", fmt::join(more, " "), lags[i]);
      EXPECT_EQ(name_of(r.status[i]), "finished") << what;
      EXPECT_NEAR(r.final("temperature", static_cast<std::int64_t>(i)), wall_after_a_year(lags[i]), 1e-6) << what;
      EXPECT_EQ(r.events[i], known.events[i]) << what;
    }
  }
  EXPECT_GT(known.events[0], 50);
  const auto rough = run(wall, with(year, {"precision=float", "rtol=1e-5", "atol=1e-5", "t=[0.0,500.0]"}));
  const auto fine = run(wall, with(year, {"t=[0.0,500.0]"}));
  for (std::int64_t i = 0; i < 3; ++i)
    EXPECT_NEAR(rough.final("temperature", i), fine.final("temperature", i), 2e-3) << "in single precision";
}

TEST(Tables, HaveDerivatives) {
  for (const double lag : {0.5, 3.0, 40.0}) {
    const auto r = run(wall, {"rtol=1e-10", "atol=1e-10", "t=[0.0,8760.0]", table("outdoor", weather()),
                              set("lag", lag), "sensitivity.parameters=['lag']"});
    // A derivative by a complex step has no cancellation.
    const double expected = wall_after_a_year(std::complex<double>(lag, 1e-30)).imag() / 1e-30;
    EXPECT_EQ(r.sensitivity[0], 0);
    EXPECT_NEAR(r.derivative(0), expected, 1e-6 * (1 + std::abs(expected))) << lag;
  }
}

TEST(Tables, HaveDerivativesThroughJumps) {
  // y' = mark - rate y with a mark that steps from 1 to 3 at 1 and to 2 at 2: linear in y, so the derivative is that of a sum.
  const auto steps = given_knots{{0.0, 1.0, 2.0, 3.0}, {1.0, 3.0, 2.0, 2.0}};
  const auto r = run(tabled, with(tables({"steps", "line", "monotone", "smooth"}, steps),
                                  {"rtol=1e-11", "t=[0.0,3.0]", "rate=0.7", "sensitivity.parameters=['rate']"}));
  const auto exact = [&](std::complex<double> rate) {
    std::complex<double> y = 0;
    for (std::size_t k = 0; k < 3; ++k) y = steps.values[k] / rate + (y - steps.values[k] / rate) * std::exp(-rate);
    return y;
  };
  EXPECT_NEAR(r.final("of_steps"), exact(0.7).real(), 1e-9);
  EXPECT_NEAR(r.derivative(0), exact({0.7, 1e-30}).imag() / 1e-30, 1e-9);
  // An event caused by a jump has a fixed time.
  const auto fires = run(knot_events, with(tight, {runs, table("mark", {{0.0, 1.0}, {5.0, 0.5}}), "t=[0.0,2.0]",
                                                   "initial.clock=0.1", "sensitivity.parameters=['initial.clock']"}));
  ASSERT_EQ(names_of(fires), std::vector<std::string>{"passes"});
  EXPECT_EQ(fires.sensitivity[0], 0);
  EXPECT_EQ(fires.log[0].derivative[0], 0.0);
  EXPECT_EQ(fires.derivative(0), 1.0);
}

// 2.1 + 4.6 is an ulp less than 6.7: the knot is at the end, or at the start, of a span that ends or starts there.
TEST(Tables, AKnotAnUlpFromAnEndIsNone) {
  const auto tariff = table("tariff", {{2.1, 3.0, 5.0, 6.7}, {1.0, 0.25, -2.0, 1.0}});
  const auto to =
      run(test_model("hourly"),
          with(tight, {tariff, "t=[3.0,6.7]", "period=100.0", "first=50.0", "output.reduce=['max(now_due)']"}));
  EXPECT_EQ(to.output(0), -2.0);
  EXPECT_EQ(to.events[0], 0);
  EXPECT_EQ(to.reductions[0], 0.25);
  const auto from =
      run(test_model("hourly"), with(tight, {tariff, "t=[6.7,3.0]", "period=100.0", "first=50.0",
                                             "output.samples=[6.7,3.0]", "output.reduce=['max(now_due)']"}));
  EXPECT_EQ(from.sample(2, 0, 0), -2.0);
  EXPECT_EQ(from.events[0], 0);
  EXPECT_EQ(from.reductions[0], 0.25);
}

// Hours of a day, 24 k / 24 of them an ulp from those of the samples.
TEST(Tables, AtAKnotShowWhatFollowsItToRounding) {
  given_knots hours;
  for (int k = 0; k <= 24; ++k) {
    hours.times.push_back(k / 24.0);
    hours.values.push_back(k % 24);
  }
  const auto r = run(test_model("hourly"), with(tight, {table("tariff", hours), "t=[0.0,3.0]", "period=100.0",
                                                        "first=50.0", "level=-1.0", "output.samples.count=73"}));
  for (std::int64_t k = 0; k < 72; ++k) EXPECT_EQ(r.sample(2, 0, k), static_cast<double>(k % 24)) << k;
}

// Before the jump of the tariff the derivative is 1, after it 5.
TEST(Tables, ATimeEventThatMovesOverAJumpHasNoDerivative) {
  for (const char* method : {"dp5", "taylor8", "rodas5p"}) {
    const auto r =
        run(test_model("hourly_dose"), with(tight, {fmt::format("method={}", method), "sweep.doubled_at=[2.9,3.0,3.1]",
                                                    "sensitivity.parameters=['doubled_at']"}));
    EXPECT_EQ(r.sensitivity[0], 0) << method;
    EXPECT_NEAR(r.derivative(0, 0, 0), 1.0, 1e-9) << method;
    EXPECT_EQ(r.sensitivity[1], static_cast<int>(saltus::sensitivity::order)) << method;
    EXPECT_TRUE(std::isnan(r.derivative(0, 0, 1))) << method;
    EXPECT_EQ(r.sensitivity[2], 0) << method;
    EXPECT_NEAR(r.derivative(0, 0, 2), 5.0, 1e-9) << method;
  }
}

/// Thirty-seven houses and the same in other ways of running: the same bits.
void expect_same_houses(const std::vector<std::vector<std::string>>& ways) {
  std::vector<double> sizes;
  for (int i = 0; i < 37; ++i) sizes.push_back(2.0 + 0.3 * (i * 17 % 37));
  const auto common = with({"rtol=1e-7", "t=[0.0,240.0]", table("outdoor", weather())}, observed);
  const auto base = run("house", with(common, {set("sweep.capacity", sizes), "run.threads=1", "run.lanes=1"}));
  for (const auto& how : ways) {
    const auto r = run("house", with(with(common, {set("sweep.capacity", sizes)}), how));
    expect_same_log(base, r);
    for (std::int64_t i = 0; i < 37; ++i) expect_same(base, i, r, i);
    const std::vector<double> reversed(sizes.rbegin(), sizes.rend());
    const auto back = run("house", with(with(common, {set("sweep.capacity", reversed)}), how));
    for (std::int64_t i = 0; i < 37; ++i) expect_same(base, i, back, 36 - i);
  }
}

TEST(Tables, HaveTheSameBitsHoweverTheyAreRun) {
  expect_same_houses({{"run.threads=2"}, {"run.threads=2", "run.chunk=5"}});
}

TEST(Tables, HaveTheSameBitsOnLanesOfEveryWidth) {
  expect_same_houses({{"run.lanes=2", "run.groups=2"}, {"run.lanes=4"}, {"run.lanes=8"}});
}

TEST(Tables, ModelsWithoutValuesUseTheirOwn) {
  const auto r = run("house", with({"rtol=1e-9"}, observed));
  EXPECT_EQ(name_of(r.status[0]), "finished");
  EXPECT_EQ(r.reductions[0], 13.0);
  EXPECT_EQ(r.reductions[1], 1.5);
  // Trapezoids over the knots of the day in problems/house.hpp.
  EXPECT_NEAR(r.reductions[2], (9.75 + 6.0 + 5.5 + 12.0 + 19.0 + 36.0 + 35.25 + 25.5 + 15.75) / 24, 1e-12);
  EXPECT_GT(r.events[0], 5);
}

// ---- rejected cases

std::string refused(const std::string& model, const std::vector<std::string>& settings) {
  try {
    plan_of(model, settings);
  } catch (const host::error& e) { return e.what(); }
  return "";
}

TEST(Tables, AreCheckedBeforeTheRun) {
  const auto with_knots = [&](const std::vector<double>& t, const std::vector<double>& v) {
    return refused(wall, {"t=[0.0,2.0]", table("outdoor", {t, v})});
  };
  const auto says = [](const std::string& complaint, const char* words) {
    EXPECT_NE(complaint.find(words), std::string::npos) << complaint << "\nlacks: " << words;
  };
  EXPECT_EQ(with_knots({0, 2}, {1, 1}), "");
  says(refused(wall, {}), "tables.outdoor is missing: outdoor (temperature outside) has no values of its own");
  says(refused("lorenz", {table("outdoor", {{0, 1}, {1, 1}})}), "must be left out, as lorenz reads no tables");
  says(refused(wall, {table("outdor", {{0, 1}, {1, 1}})}), "unknown key; did you mean outdoor");
  says(with_knots({0, 1}, {1, 1}), "must cover the time span 0 .. 2, as outdoor is neither held nor periodic");
  says(with_knots({0.5, 2}, {1, 1}), "it has values from 0.5 to 2");
  says(with_knots({0, 2, 1}, {1, 1, 1}), "ascending order; number 1 is 2, and number 2 is 1");
  says(with_knots({0, 1, 1, 2}, {1, 1, 3, 1}), "one value at each time; numbers 1 and 2 are both at 1");
  says(with_knots({0, 1, 2}, {1, 1}), "as many values as times; it has 2 and 3");
  says(with_knots({0}, {1}), "two knots or more; it has 1");
  says(refused(wall, {"tables.outdoor={times=[0.0, 2.0], values=[1.0, nan]}"}), "finite");
  says(refused(wall, {"tables.outdoor={csv='nowhere.csv', time='hour', column='T'}"}), "nowhere.csv");
  says(refused("house", {table("outdoor", {{0, 24}, {1, 2}})}),
       "is periodic and must end with the value that it begins with: it is 1 at 0 and 2 at 24");
}

TEST(Tables, AreColumnsOfAFile) {
  const auto folder = std::filesystem::temp_directory_path() / fmt::format("saltus_tables_{}", ::getpid());
  std::filesystem::create_directory(folder);
  const auto write = [&](const char* name, const std::string& text) {
    std::ofstream(folder / name) << text;
    return (folder / name).string();
  };
  const auto file = write("weather.csv", "hour,outdoor,T\n0,1,4\n1,3,4\n2,2,4\n");
  const auto one =
      plan_of(wall, {"t=[0.0,2.0]", fmt::format("tables.outdoor={{csv='{}', time='hour', column='T'}}", file)});
  EXPECT_EQ(one.tables->all()[0].knots.times, (std::vector<double>{0, 1, 2}));
  EXPECT_EQ(one.tables->all()[0].knots.values, (std::vector<double>{4, 4, 4}));
  const auto whole = plan_of(wall, {"t=[0.0,2.0]", fmt::format("tables.csv='{}'", file), "tables.time='hour'"});
  EXPECT_EQ(whole.tables->all()[0].knots.values, (std::vector<double>{1, 3, 2}));
  EXPECT_EQ(whole.inputs, std::vector<std::filesystem::path>{file});
  const auto twice = write("twice.csv", "hour,T\n0,1\n1,3\n1,2\n");
  EXPECT_NE(refused(wall, {"t=[0.0,1.0]", fmt::format("tables.outdoor={{csv='{}', time='hour', column='T'}}", twice)})
                .find("both at 1"),
            std::string::npos);
  std::filesystem::remove_all(folder);
}

TEST(Tables, BelongToWhatARunIs) {
  const auto of = [&](double last) {
    return plan_of(wall, {"t=[0.0,2.0]", table("outdoor", {{0, 1, 2}, {1, 1, last}})});
  };
  EXPECT_EQ(host::settings_text(of(1)), host::settings_text(of(1)));
  EXPECT_NE(host::settings_text(of(1)), host::settings_text(of(1.0 + 1e-15)));
  EXPECT_NE(host::settings_text(of(1)).find("# tables.outdoor: 3 knots, "), std::string::npos);
}

// ---- several curves

const std::string curved = test_model("curved");
constexpr auto curves_of_lines =
    "tables.line={times=[1.0, 2.0, 4.0], values=[[1.0, 3.0, -1.0], [0.0, 0.0, 8.0], [2.0, 2.0, 2.0]]}";
constexpr auto curves_of_steps =
    "tables.steps={times=[0.0, 1.5, 2.0], values=[[1.0, 3.0, 1.0], [2.0, 0.5, 2.0], [0.0, 4.0, 0.0]]}";
const std::vector<std::string> of_curves = {curves_of_lines, curves_of_steps,
                                            "tables.common={times=[0.0, 4.0], values=[1.0, 3.0]}"};
// Over [0, 4]; before its first knot a line is held. Two periods of the steps.
constexpr double areas_of_lines[] = {1 + 2 + 2, 0 + 0 + 8, 8}, areas_of_steps[] = {6, 6.5, 4};

TEST(Curves, AreChosenByAParameter) {
  for (const char* method : {"dp5", "taylor8", "rodas5p"}) {
    const auto r =
        run(curved, with(with(loose, of_curves), {std::string("method=") + method, "output.events=true",
                                                  "sweep.number=[0.0, 1.0, 2.0]", "sweep.gain=[1.0, -2.5]"}));
    for (std::int64_t i = 0; i < 6; ++i) {
      const std::int64_t curve = i / 2;
      EXPECT_EQ(name_of(r.status[static_cast<std::size_t>(i)]), "finished");
      EXPECT_NEAR(r.final("of_line", i), (i % 2 == 0 ? 1.0 : -2.5) * areas_of_lines[curve], 3e-13) << method << i;
      EXPECT_NEAR(r.final("of_steps", i), areas_of_steps[curve], 1e-13) << method << i;
      EXPECT_NEAR(r.final("of_common", i), 8.0, 1e-13) << method << i;
      const auto jumps = times_of(r, "high", i);
      EXPECT_EQ(jumps, (curve == 1 ? std::vector<double>{} : std::vector<double>{1.5, 3.5})) << method << i;
    }
  }
}

TEST(Curves, OfBackwardRunsAndOfFloats) {
  const auto back = run(curved, with(with(loose, of_curves), {"t=[4.0, 0.0]", "sweep.number=[0.0, 1.0, 2.0]"}));
  const auto floats = run(curved, with(with(loose, of_curves), {"precision=float", "sweep.number=[0.0, 1.0, 2.0]"}));
  for (std::int64_t i = 0; i < 3; ++i) {
    EXPECT_NEAR(back.final("of_line", i), -areas_of_lines[i], 1e-13) << i;
    EXPECT_NEAR(back.final("of_steps", i), -areas_of_steps[i], 1e-13) << i;
    EXPECT_NEAR(floats.final("of_line", i), areas_of_lines[i], 1e-5) << i;
    EXPECT_NEAR(floats.final("of_steps", i), areas_of_steps[i], 1e-5) << i;
  }
}

TEST(Curves, ThatAreNoneEndTheirInstancesAlone) {
  const auto r = run(curved, with(of_curves, {"sweep.number=[-1.0, 0.0, 0.5, 1.0, 3.0, 1e300, 2.0]"}));
  const std::vector<std::string> expected = {"bad_start", "finished",  "bad_start", "finished",
                                             "bad_start", "bad_start", "finished"};
  for (std::size_t i = 0; i < expected.size(); ++i) EXPECT_EQ(name_of(r.status[i]), expected[i]) << i;
}

TEST(Curves, HaveDerivativesWithRespectToOtherParameters) {
  const auto r = run(curved, with(with(loose, of_curves),
                                  {"sweep.number=[0.0, 1.0, 2.0]", "gain=2.0", "sensitivity.parameters=['gain']"}));
  for (std::int64_t i = 0; i < 3; ++i) EXPECT_NEAR(r.derivative(0, 0, i), areas_of_lines[i], 1e-12) << i;
}

TEST(Curves, HaveTheSameBitsHoweverTheyAreRun) {
  const auto common = with(of_curves, {"sample.count=100", "sample.number={discrete=[0.0, 1.0, 2.0]}",
                                       "sample.gain={uniform=[-1.0, 1.0]}", "output.samples.count=9"});
  const auto base = run(curved, with(common, {"run.threads=1", "run.lanes=1"}));
  for (const auto& how : std::vector<std::vector<std::string>>{{"run.threads=2", "run.chunk=7"}, {"run.lanes=4"}}) {
    const auto r = run(curved, with(common, how));
    expect_same_log(base, r);
    for (std::int64_t i = 0; i < 100; ++i) expect_same(base, i, r, i);
  }
}

/// A switch whose set point touches or crosses its threshold exactly at knots, its own or others': it is on above the threshold and off below,
/// and its guards fire in turn, as often as the lines cross the threshold. A touch counts twice or not at all.
void expect_the_switch_right(const std::vector<std::string>& more) {
  const std::vector<double> thresholds = {1, 0.5, 1 - 1e-7, 1 + 1e-7};
  const std::vector<std::vector<double>> shapes = {{1, 1, 3, 1, 1}, {3, 1, 2, 1, 3}, {3, 0, 3, 1, 3},
                                                   {0, 1, 1, 2, 0}, {0, 1, 0, 1, 0}, {2, 1, 0, 1, 2}};
  for (const bool beside_steps : {false, true})
    for (const auto& shape : shapes) {
      auto settings = with(more, {"rtol=1e-8", "output.events=true", set("sweep.threshold", thresholds),
                                  table("aim", {{0, 1, 2, 3, 4}, shape})});
      if (beside_steps) settings.push_back(table("steps", {{-1, 0.5, 2, 3.5, 6, 8}, {5, 4, 5, 4, 5, 4}}));
      const auto r = run(test_model(beside_steps ? "set_point_beside_steps" : "set_point"), settings);
      std::vector<double> line(shape.begin(), shape.end() - 1);
      line.insert(line.end(), shape.begin(), shape.end() - 1);
      line.push_back(shape[3] + 0.7 * (shape[4] - shape[3]));
      for (std::size_t i = 0; i < thresholds.size(); ++i) {
        const double c = thresholds[i];
        const auto what =
            fmt::format("{}, {} at {}", fmt::join(shape, " "), beside_steps ? "beside steps" : "alone", c);
        ASSERT_EQ(name_of(r.status[i]), "finished") << what;
        std::vector<std::string> fired;
        for (const auto& e : r.log)
          if (e.instance == static_cast<std::int64_t>(i)) fired.push_back(e.guard);
        for (std::size_t k = 1; k < fired.size(); ++k) EXPECT_NE(fired[k - 1], fired[k]) << what;
        if (line.front() == c || line.back() == c) continue;
        int crossings = 0, touches = 0;
        for (double before = line.front(); const double here : line) {
          touches += here == c;
          if (here == c) continue;
          crossings += (before > c) != (here > c);
          before = here;
        }
        const auto often = static_cast<int>(fired.size());
        EXPECT_EQ((often - crossings) % 2, 0) << what;
        EXPECT_GE(often, crossings) << what;
        if (touches == 0) { EXPECT_EQ(often, crossings) << what; }
        if (!fired.empty()) { EXPECT_EQ(r.final_discrete[i], line.back() > c ? 1.0 : 0.0) << what; }
      }
    }
}

TEST(SetPoints, AreSwitchedAtKnots) { expect_the_switch_right({"method=dp5"}); }

TEST(SetPoints, AreSwitchedWhereWindowsEndSteps) {
  expect_the_switch_right({"method=radau5", "output.reduce=['mean(square) from 2 to 3.5']"});
}

TEST(SetPoints, AreSwitchedAtKnotsByOtherMethods) {
  for (const char* method : {"bs3", "dop853", "taylor12", "rodas5p", "radau5"})
    expect_the_switch_right({std::string("method=") + method});
  expect_the_switch_right({"method=dp5", "detection=certified"});
  expect_the_switch_right({"method=dp5", "sensitivity.parameters=['initial.level']", "initial.level=0.5"});
}

TEST(Curves, AreCheckedBeforeTheRun) {
  const auto says = [&](const std::vector<std::string>& settings, const char* words) {
    const auto complaint = refused(curved, settings);
    EXPECT_NE(complaint.find(words), std::string::npos) << complaint << "\nlacks: " << words;
  };
  says({of_curves[0], of_curves[1], "tables.common={times=[0.0, 4.0], values=[[1.0, 2.0], [2.0, 3.0]]}"},
       "finite number");
  says({of_curves[0], of_curves[1], "tables.common={times=[0.0, 4.0], values=[1.0, 2.0, 2.0, 3.0]}"},
       "must have as many values as times; it has 4 and 2");
  says({"tables.line={times=[0.0, 1.0], values=[1.0, 2.0, 3.0]}", of_curves[1], of_curves[2]},
       "must have as many values as times, for each curve; it has 3 and 2");
  says({"tables.line={times=[0.0, 1.0], values=[[1.0, 2.0], [3.0]]}", of_curves[1], of_curves[2]},
       "must have as many values as times, 2; it has 1");
  says({of_curves[0], "tables.steps={times=[0.0, 1.0], values=[[1.0, 1.0], [3.0, 2.0]]}", of_curves[2]},
       "it, of curve 1, is 3 at 0 and 2 at 1");
  says(with(of_curves, {"sensitivity.parameters=['number']"}),
       "number is the number of a curve of line: there is no derivative");
  const auto all = plan_of(curved, with(of_curves, {"gradient.of={final_of_line=1.0}"}));
  ASSERT_EQ(all.gradient.size(), 1u);
  EXPECT_EQ(all.gradient[0].name, "gain");
}

TEST(Curves, AreColumnsOfAFile) {
  const auto folder = std::filesystem::temp_directory_path() / fmt::format("saltus_curves_{}", ::getpid());
  std::filesystem::create_directory(folder);
  std::ofstream(folder / "loads.csv") << "first,hour,second\n1,0,4\n3,1,4\n2,2,5\n";
  const auto of = [&](const std::string& columns) {
    return with({of_curves[1], of_curves[2]},
                {fmt::format("tables.line={{csv='{}', time='hour'{}}}", (folder / "loads.csv").string(), columns)});
  };
  const auto values_of = [&](const std::string& columns) {
    return plan_of(curved, of(columns)).tables->all()[0].knots.values;
  };
  EXPECT_EQ(values_of(""), (std::vector<double>{1, 3, 2, 4, 4, 5}));
  EXPECT_EQ(values_of(", columns=['second', 'first']"), (std::vector<double>{4, 4, 5, 1, 3, 2}));
  EXPECT_EQ(values_of(", column='second'"), (std::vector<double>{4, 4, 5}));
  EXPECT_NE(refused(curved, of(", columns=['third']")).find("third"), std::string::npos);
  EXPECT_NE(refused(curved, of(", columns=[]")).find("must name one column or more"), std::string::npos);
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace saltus::test
