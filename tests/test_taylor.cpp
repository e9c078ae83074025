// Taylor series as methods: order, step size, and detection, certification and location of events on their own polynomials.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "saltus.hpp"

#include "../problems/relief_valve.hpp"
#include "emulated_cuda.hpp"
#include "ensemble/settings.hpp"
#include "testing/ensemble.hpp"

namespace {

using namespace saltus;
using namespace saltus::test;

template <class Method, detection Detection, bool Samples = false>
using valve_engine = engine<form_of<relief_valve>, Method, double, options{.detect = Detection, .samples = Samples}>;
using reference = valve_engine<methods::dormand_prince_8, detection::hermite, true>;
constexpr std::int64_t valve_count = 40;

/// Valves at many flow rates, some of which hit their seats repeatedly.
template <class E, int W>
host::chunk_data valves(double tolerance) {
  auto p = plan_of<relief_valve>(8.0, tolerance);
  if (E::samples) p.sample_count = 33;
  auto r = scattered_chunk(p, relief_valve::flow, 0.2, 8.0, valve_count);
  const auto pressures = r.initial.begin() + relief_valve::pressure * valve_count;
  std::fill(pressures, pressures + valve_count, 5.0);  // a square root has no series at zero
  on_lanes<E, W>(host::settings_of(p), r);
  return r;
}

TEST(taylor, has_the_same_bits_in_lanes) {
  using E = valve_engine<methods::taylor_12, detection::hermite, true>;
  static_assert(is_same<interpolant_of<E, pack<double, 8>>, step_series<methods::taylor_12, pack<double, 8>, 3>>);
  EXPECT_EQ(differences(valves<E, 1>(1e-7), valves<E, 8>(1e-7)), "");
}

double largest_difference(const std::vector<double>& a, const std::vector<double>& b) {
  double r = 0.0;
  for (std::size_t k = 0; k < a.size(); ++k) r = std::max(r, std::abs(a[k] - b[k]));
  return r;
}

/// Asserts the same events in the same order as another method; times, states and samples agree to a thousand tolerances, because impacts
/// amplify errors.
template <class E>
void expect_the_same_trajectories(double tolerance) {
  const auto here = valves<E, 8>(tolerance), exact = valves<reference, 8>(1e-12);
  const auto found = by_instance(here.log), known = by_instance(exact.log);
  ASSERT_EQ(found.slot, known.slot);
  EXPECT_EQ(found.guard, known.guard);
  EXPECT_GT(found.slot.size(), 100u);
  const double off = largest_difference(here.final_state, exact.final_state);
  EXPECT_LT(off, 1e3 * tolerance);
  EXPECT_LT(largest_difference(found.time, known.time), 1e3 * tolerance);
  if constexpr (E::samples) { EXPECT_LT(largest_difference(here.samples, exact.samples), 1e3 * tolerance); }
}

TEST(taylor, meets_the_events_of_another_method) {
  expect_the_same_trajectories<valve_engine<methods::taylor_8, detection::hermite, true>>(1e-6);
  expect_the_same_trajectories<valve_engine<methods::taylor_16, detection::hermite, true>>(1e-9);
}

TEST(taylor, is_certified_on_its_own_polynomial) {
  expect_the_same_trajectories<valve_engine<methods::taylor_12, detection::certified>>(1e-6);
}

// ---- order and steps ------------------------------------------------------------------------------------------------

/// Largest distance of the final states from those of a run with order 20 at 1e-15.
double error_of(const std::string& model, const std::string& method, double rtol,
                const std::vector<std::string>& more) {
  std::vector<std::string> settings = {fmt::format("rtol={}", rtol), fmt::format("atol={}", rtol)};
  settings.insert(settings.end(), more.begin(), more.end());
  auto exact = settings;
  settings.push_back("method=" + method);
  exact[0] = "rtol=1e-15", exact[1] = "atol=1e-15", exact.push_back("method=taylor20");
  const outcome a = run(model, settings), b = run(model, exact);
  double r = 0.0;
  for (std::size_t i = 0; i < a.plan.model.states.size(); ++i)
    r = std::max(r, std::abs(a.final_state[i] - b.final_state[i]));
  return r;
}

/// Constant steps: halving them leaves 2^-p of the error.
TEST(taylor, observed_order_is_the_order) {
  methods::for_each(methods::series_methods{}, [](auto m) {
    if (m.order > 12) return;  // no two step sizes have errors far from rounding
    const double h = m.order == 8 ? 0.2 : 0.125;
    const auto at = [&](double step) {
      return error_of("pendulum", m.name, 1e-6, {"t=[0.0,4.0]", fmt::format("step={}", step)});
    };
    const double order = std::log2(at(h) / at(h / 2));
    fmt::print("{:<8} observed {:.2f}\n", m.name, order);
    EXPECT_NEAR(order, m.order, 0.7) << m.name;
  });
}

/// Exact: theta(5), by elliptic functions (mpmath, 25 digits).
TEST(taylor, error_follows_the_tolerance) {
  const double exact = 0.3738942186662719546609582;
  methods::for_each(methods::series_methods{}, [&](auto m) {
    for (const double rtol : {1e-5, 1e-7, 1e-9, 1e-11, 1e-13}) {
      const outcome o = run("pendulum", {fmt::format("method={}", m.name), "t=[0.0,5.0]", fmt::format("rtol={}", rtol),
                                         fmt::format("atol={}", rtol)});
      EXPECT_LT(std::abs(o.final_state[0] - exact), 5.0 * rtol) << m.name << " " << rtol;
      EXPECT_EQ(o.rejected[0], 0) << m.name << " " << rtol;
    }
  });
}

/// Errors fall with the tolerance down to 1e-15, until rounding remains, which the flow magnifies like any other error. Exact:
/// 50 digits (tests/reference/series.py). Three revolutions of an orbit with e = 0.5, and a chaotic solution.
TEST(taylor, error_follows_the_tolerance_until_rounding_is_left) {
  struct solution {
    std::string model;
    std::vector<std::string> settings;
    std::vector<double> exact;
    double growth, rounding;  ///< growth of errors on the way; remaining error
  };
  const solution solutions[] = {
      {saltus::test::in_source("bench/models/two_bodies.hpp"),
       {"t=[0.0,20.0]", "initial.x=0.5", "initial.vy=1.7320508075688772"},
       {-0.5780432953035455887414, 0.8633840009194184129336, -0.9595083730380676299561, -0.06504915126712881517405},
       100.0,
       1e-13},
      {"lorenz",
       {"t=[0.0,5.0]"},
       {1.423504999369743289667, 2.151580103130975844865, 14.56207086941751297392},
       1e3,
       1e-12}};
  for (const auto& [model, more, exact, growth, rounding] : solutions)
    for (const double rtol : {1e-9, 1e-11, 1e-13, 1e-14, 1e-15}) {
      auto settings = more;
      settings.insert(settings.end(), {"method=taylor", fmt::format("rtol={}", rtol), fmt::format("atol={}", rtol)});
      const outcome o = run(model, settings);
      double error = 0.0;
      for (std::size_t i = 0; i < exact.size(); ++i) error = std::max(error, std::abs(o.final_state[i] - exact[i]));
      fmt::print("{:<8} {:g}: {:.1e} in {} steps\n", o.plan.method, rtol, error, o.steps[0]);
      EXPECT_LT(error, growth * rtol + rounding) << model << " " << rtol;
    }
}

/// Six bodies for 20,000 days, against 80-bit arithmetic (tests/reference/outer_solar_system.py): errors fall with the tolerance until
/// rounding remains.
TEST(taylor, error_of_the_outer_solar_system_follows_the_tolerance) {
  constexpr double exact[6][3] = {{0.12333221241422679, -0.058616808987360342, -0.028723538220436229},
                                  {-0.77177837187816889, 4.6105538900447611, 1.9942337301316616},
                                  {3.9051292289435555, -8.5656319840330441, -3.7061413372003457},
                                  {-17.49283446453391, 4.3435345226942667, 2.1482606925001082},
                                  {18.051465002804882, 22.146025676860078, 8.6134820030396808},
                                  {37.285949448705709, -10.728138680006213, -14.554583801118440}};
  constexpr double growth = 4e3, rounding = 5e-12;  // of errors along the orbit
  for (const double rtol : {1e-7, 1e-9, 1e-11, 1e-13, 1e-15}) {
    const outcome o =
        run(saltus::test::in_source("bench/models/six_bodies.hpp"),
            {"method=taylor", "t=[0.0,20000.0]", fmt::format("rtol={}", rtol), fmt::format("atol={}", rtol)});
    double error = 0.0;
    for (std::size_t body = 0; body < 6; ++body)
      for (std::size_t axis = 0; axis < 3; ++axis)
        error = std::max(error, std::abs(o.final_state[6 * axis + body] - exact[body][axis]));
    fmt::print("{:<8} {:g}: {:.1e} in {} steps\n", o.plan.method, rtol, error, o.steps[0]);
    EXPECT_LT(error, growth * rtol + rounding) << rtol;
    EXPECT_EQ(o.rejected[0], 0) << rtol;
  }
}

/// A model of that size computes its orders in loops, on lanes of two registers: the bits are those of one lane.
TEST(taylor, large_models_have_the_same_bits_in_lanes) {
  const auto bodies = [](int lanes, int groups) {
    return run(saltus::test::in_source("bench/models/six_bodies.hpp"),
               {"method=taylor12", "rtol=1e-8", "atol=1e-8", "sweep.jupiter={from=5e-4,to=2e-3,count=19}",
                fmt::format("run.lanes={}", lanes), fmt::format("run.groups={}", groups)});
  };
  const outcome alone = bodies(1, 1), as_usual = bodies(0, 0);
  ASSERT_EQ(alone.final_state.size(), 36u * 19u);
  EXPECT_EQ(std::memcmp(alone.final_state.data(), as_usual.final_state.data(), 36 * 19 * sizeof(double)), 0);
  EXPECT_EQ(alone.steps, as_usual.steps);
}

/// The field along a surface is blended from those on both sides by the guard's derivatives along both: against another method, and a
/// closed form (problems/filippov_plane.hpp).
TEST(taylor, slides) {
  EXPECT_NEAR(run("filippov_plane", {"method=taylor8", "rtol=1e-10", "atol=1e-10"}).final_state[0], 31.0 / 34, 1e-12);
  const auto block = [](const char* method) {
    return run("stick_slip", {fmt::format("method={}", method), "rtol=1e-11", "atol=1e-11"});
  };
  const outcome series = block("taylor16"), other = block("dop853");
  EXPECT_EQ(series.status, other.status);
  EXPECT_EQ(series.events, other.events);
  for (std::size_t i = 0; i < other.final_state.size(); ++i)
    EXPECT_NEAR(series.final_state[i], other.final_state[i], 1e-8) << i;
  // The equations are linear: without a surface the series needs no storage.
  const outcome held = run("relay", {"method=taylor16", "rtol=1e-11", "atol=1e-11"}),
                is = run("relay", {"method=dop853", "rtol=1e-11", "atol=1e-11"});
  EXPECT_EQ(held.exception[0], 0);
  EXPECT_EQ(held.events[0], 2);
  for (std::size_t i = 0; i < 2; ++i) EXPECT_NEAR(held.final_state[i], is.final_state[i], 1e-10) << i;
}

/// Steps are long, so reductions between their ends must be as accurate as the states: against samples of the same solution.
TEST(taylor, reductions_are_as_good_as_the_states) {
  const std::string reduce = "output.reduce=[\"max(angle)\",\"min(velocity)\",\"integral(velocity)\",\"mean(energy)\"]";
  const outcome fine =
      run("pendulum", {"method=dop853", "t=[0.0,5.0]", "rtol=1e-13", "atol=1e-13", "max_step=0.002", reduce});
  for (const double rtol : {1e-6, 1e-10, 1e-13}) {
    const outcome o = run("pendulum", {"method=taylor", "t=[0.0,5.0]", fmt::format("rtol={}", rtol),
                                       fmt::format("atol={}", rtol), reduce});
    for (std::size_t k = 0; k < 4; ++k)
      EXPECT_NEAR(o.reductions[k], fine.reductions[k], (3e-12 + rtol) * (1.0 + std::abs(fine.reductions[k])))
          << k << " " << rtol;
    // The integral of a time derivative is the change of its state.
    const double start = 20.0 * 3.14159265358979323846 / 180.0;
    EXPECT_NEAR(o.reductions[2], o.final_state[0] - start, 1e-13 + 0.01 * rtol) << rtol;
  }
}

/// Forward and backward: backward in time every derivative changes its sign, which takes additional places.
TEST(taylor, runs_backward) {
  const outcome there = run("pendulum", {"method=taylor", "rtol=1e-12", "atol=1e-12", "t=[0.0,5.0]"});
  const outcome back = run("pendulum", {"method=taylor", "rtol=1e-12", "atol=1e-12", "t=[5.0,0.0]",
                                        fmt::format("initial.angle={:.17g}", there.final_state[0]),
                                        fmt::format("initial.velocity={:.17g}", there.final_state[1])});
  EXPECT_EQ(back.rejected[0], 0);
  EXPECT_NEAR(back.final_state[0], 20.0 * 3.14159265358979323846 / 180.0, 1e-11);
  EXPECT_NEAR(back.final_state[1], 1.0, 1e-11);
}

/// A spec with "taylor" gets the order that suits its tolerance.
TEST(taylor, order_goes_by_the_tolerance) {
  const auto method_at = [](const char* rtol) {
    return run("pendulum", {"method=taylor", "t=[0.0,1.0]", std::string("rtol=") + rtol}).plan.method;
  };
  EXPECT_EQ(method_at("1e-4"), "taylor8");
  EXPECT_EQ(method_at("1e-7"), "taylor12");
  EXPECT_EQ(method_at("1e-9"), "taylor16");
  EXPECT_EQ(method_at("1e-13"), "taylor20");
}

}  // namespace
