// Event times with a relative error of 1e-12 at rtol = atol = 1e-13, on problems whose times are known by analysis: those of
// the reference cases, and sequences in closed form.
#include <cmath>
#include <functional>
#include <set>

#include <gtest/gtest.h>

#include "event_runs.hpp"
#include "reference_events.hpp"
#include "reference_more_events.hpp"

namespace saltus::test {
namespace {

const char* const methods[] = {"dp5", "dop853"};

std::vector<std::string> sharp(const char* method) {
  return {"rtol=1e-13", "atol=1e-13", "output.events=true", std::string("method=") + method};
}

/// The largest relative error of the times of a log against f(k), k = 1, 2, ...
double worst(const outcome& r, const std::function<double(int)>& f) {
  double w = 0;
  for (std::size_t k = 0; k < r.log.size(); ++k) {
    const double t = f(static_cast<int>(k) + 1);
    w = std::fmax(w, std::fabs(r.log[k].time - t) / std::fabs(t));
  }
  return w;
}

struct series {
  const char* model;
  std::vector<std::string> settings;
  std::size_t events;
  std::function<double(int)> time;
};

std::vector<series> all_series() {
  const double fall = std::sqrt(2 / 9.81), ln2 = std::log(2.0), ln3 = std::log(3.0), pi = std::acos(-1.0);
  return {
      // Bounce k at T (1 + 2 (e + ... + e^(k-1))).
      {"bouncing_ball", {}, 11, [=](int k) { return fall * (1 + 2 * 0.7 * (1 - std::pow(0.7, k - 1)) / 0.3); }},
      {"bouncing_ball",
       {"restitution=0.95", "v_min=1e-3", "t=[0.0, 17.6]"},
       147,
       [=](int k) { return fall * (1 + 2 * 0.95 * (1 - std::pow(0.95, k - 1)) / 0.05); }},
      // Clocks that depend on time alone.
      {"carver_1", {}, 3, [](int k) { return 0.25 * k; }},
      {"mao_1", {}, 69, [](int k) { return 0.05 * k; }},
      {"sine_roots", {}, 999, [](int k) { return 1e-3 * k; }},
      {"two_roots", {}, 2, [](int k) { return 0.4 + 0.1 * k; }},
      // sin(3.5 t) = 1/2 and -1/2 in turn: at pi/6, 5 pi/6, 7 pi/6, ...
      {"carver_2a", {}, 7, [=](int k) { return pi * (k / 2 + (k % 2 == 1 ? 1.0 : -1.0) / 6) / 3.5; }},
      {"carver_2b", {}, 7, [=](int k) { return 2 * ln2 + (k - 1) * ln3; }},
      {"bok_3", {}, 20, [=](int k) { return 0.5 * ln2 + 1.5 * ln2 * (1 - std::ldexp(1.0, 1 - k)); }},
      // Cold first, then the heating is on for 10 ln(31/29) and off for 10 ln(21/19).
      {"thermostat",
       {},
       12,
       [](int k) {
         const double off = 10 * std::log(21.0 / 19), on = 10 * std::log(31.0 / 29);
         return 10 * std::log(20.0 / 19) + k / 2 * on + (k - 1) / 2 * off;
       }},
  };
}

TEST(EventTimes, OfSeriesInClosedForm) {
  for (const auto& s : all_series())
    for (const char* method : methods) {
      const auto r = run(s.model, with(sharp(method), s.settings));
      EXPECT_EQ(r.log.size(), s.events) << s.model << " " << method;
      const double error = worst(r, s.time);
      fmt::print("{:<20} {:<7} {:4} events to {:.1e}\n", s.model, method, r.log.size(), error);
      EXPECT_LT(error, 1e-12) << s.model << " " << method;
    }
}

// A series that ends limits no step: after the first one, each flight is one step.
TEST(EventTimes, OfFlightsThatAreOneStepEach) {
  const auto all = all_series();
  for (const auto& s : {all[0], all[1]}) {
    const auto r = run(s.model, with(sharp("taylor8"), s.settings));
    EXPECT_EQ(r.log.size(), s.events);
    EXPECT_LT(worst(r, s.time), 1e-12);
    EXPECT_LE(r.steps[0], static_cast<long long>(s.events) + 2);
    EXPECT_EQ(r.rejected[0], 0);
  }
}

TEST(EventTimes, OfTheReferenceCases) {
  struct allowance {
    const char* model;
    double rtol;
  };
  const allowance analytic[] = {{"bouncing_ball", 1e-12},
                                {"ball_drag", 1e-12},
                                {"impact_oscillator", 1e-12},
                                {"thermostat", 1e-12},
                                {"bok_1", 1e-12},
                                {"bok_2", 1e-12},
                                {"bok_3", 1e-12},
                                {"carver_2a", 1e-12},
                                {"carver_2b", 1e-12},
                                {"carver_3", 1e-12},
                                {"mao_4", 1e-12},
                                {"filippov_plane", 1e-12},
                                {"relay", 1e-12},
                                {"coulomb_oscillator", 1e-12},
                                {"rimless_wheel", 1e-12},
                                {"newtons_cradle", 1e-12},
                                {"pulsed_dose", 1e-12},
                                {"pwm_boost_converter", 1e-12},
                                {"bouncing_balls_100", 1e-12},
                                {"bouncing_balls_100_impact", 1e-12}};
  for (const auto* cases : {&reference_cases(), &event_cases(), &more_event_cases()})
    for (const auto& c : *cases) {
      double allowed = 0;
      for (const auto& a : analytic)
        if (std::string(a.model) == c.model) allowed = a.rtol;
      if (allowed == 0 || c.log.empty()) continue;
      for (const char* method : {"dp5"}) {
        auto settings = with(sharp(method), {fmt::format("t=[{:.17e}, {:.17e}]", c.t_begin, c.t_end)});
        for (const auto& p : c.parameters) settings.push_back(set(std::string("parameters.") + p.name, p.value));
        for (const auto& p : c.initial) settings.push_back(set(std::string("initial.") + p.name, p.value));
        const auto r = run(c.model, settings);
        double w = 0;
        for (const auto& e : c.log) {
          ASSERT_GE(r.log.size(), static_cast<std::size_t>(e.number)) << c.about;
          const auto& row = r.log[static_cast<std::size_t>(e.number) - 1];
          EXPECT_EQ(row.guard, e.guard) << c.about << ", event " << e.number;
          w = std::fmax(w, std::fabs(row.time - e.time) / e.time);
        }
        fmt::print("{:<20} {:<7} {:.1e}  {}\n", c.model, method, w, c.about);
        EXPECT_LT(w, allowed) << c.about << " " << method;
      }
    }
}

}  // namespace
}  // namespace saltus::test
