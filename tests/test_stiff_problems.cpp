// The stiff built-in models and those with constraints against numbers known without saltus (reference_stiff.hpp), to 1e-8 and with
// the exact count of events, at rtol = 1e-10.
#include <cmath>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "reference_stiff.hpp"
#include "testing/ensemble.hpp"

namespace saltus::test {
namespace {

class StiffProblem : public ::testing::TestWithParam<std::tuple<std::size_t, const char*>> {};

/// Text of a number for TOML, which distinguishes 1 from 1.0.
std::string real(double value) {
  std::string text = fmt::format("{:.17g}", value);
  if (text.find_first_of(".en") == std::string::npos) text += ".0";
  return text;
}

std::vector<std::string> settings_of(const stiff_case& c, const char* method) {
  std::vector<std::string> s = {"rtol=1e-10",
                                fmt::format("atol={}", c.atol),
                                fmt::format("method={}", method),
                                fmt::format("t=[{}, {}]", real(c.base.t_begin), real(c.base.t_end)),
                                "output.events=true",
                                "rescue=false",
                                "max_steps=10000000"};
  for (const auto& p : c.base.parameters) s.push_back(fmt::format("parameters.{}={}", p.name, real(p.value)));
  for (const auto& p : c.base.initial) s.push_back(fmt::format("initial.{}={}", p.name, real(p.value)));
  return s;
}

/// Final value of a state or discrete variable.
double final_value(const outcome& r, const std::string& name) {
  for (std::size_t i = 0; i < r.plan.model.discretes.size(); ++i)
    if (r.plan.model.discretes[i].name == name) return r.final_discrete[i];
  return r.final(name);
}

TEST_P(StiffProblem, MeetsItsReference) {
  const auto& c = stiff_cases()[std::get<0>(GetParam())];
  const auto& b = c.base;
  const char* method = std::get<1>(GetParam());
  SCOPED_TRACE(b.about + " with " + method);
  const outcome r = run(b.model, settings_of(c, method));

  EXPECT_STREQ(status_table[r.status[0]].name, b.status);
  EXPECT_NEAR(r.t_final[0], b.t_final, 1e-9 * std::fabs(b.t_final));
  EXPECT_EQ(r.events[0], b.events);
  EXPECT_EQ(static_cast<std::int64_t>(r.log.size()), r.events[0]);
  for (const auto& e : b.final_values) EXPECT_NEAR(final_value(r, e.name), e.value, e.allowed()) << e.name;
  for (const auto& e : b.log) {
    ASSERT_GE(r.log.size(), static_cast<std::size_t>(e.number));
    const auto& row = r.log[static_cast<std::size_t>(e.number) - 1];
    EXPECT_EQ(row.guard, e.guard) << "event " << e.number;
    EXPECT_NEAR(row.time, e.time, e.rtol * std::fabs(e.time)) << "event " << e.number;
    for (const auto& before : e.before)
      for (std::size_t i = 0; i < r.plan.model.states.size(); ++i)
        if (r.plan.model.states[i].name == before.name) {
          EXPECT_NEAR(row.before[i], before.value, before.allowed()) << before.name << " before event " << e.number;
        }
  }
  for (std::size_t i = 1; i < r.log.size(); ++i)
    EXPECT_GE(r.log[i].time, r.log[i - 1].time) << "the log is in time order";

  if (c.constraint_terms > 0.0) {
    EXPECT_LE(r.residual[0], 1e-12 * c.constraint_terms) << "constraint " << r.residual_of[0];
  } else {
    EXPECT_EQ(r.residual_of[0], -1) << "no state is algebraic";
  }
}

/// Every case with Radau IIA, and with a Rosenbrock method or, if none applies, sdirk4, which solves the other cases as well but
/// slowly.
std::vector<std::tuple<std::size_t, const char*>> cases_and_methods() {
  std::vector<std::tuple<std::size_t, const char*>> all;
  for (std::size_t i = 0; i < stiff_cases().size(); ++i) {
    const auto& c = stiff_cases()[i];
    const std::string model = c.base.model;
    // Modules with 15 and 20 states take long to compile, so they get one method each.
    const bool is_large = model.rfind("ring_modulator", 0) == 0 || model == "pollu";
    if (!is_large) all.emplace_back(i, "radau5");
    if (c.rosenbrock) all.emplace_back(i, "rodas5p");
    if (!c.only_radau && c.affordable && (!c.rosenbrock || model == "robertson")) all.emplace_back(i, "sdirk4");
  }
  return all;
}

INSTANTIATE_TEST_SUITE_P(All, StiffProblem, ::testing::ValuesIn(cases_and_methods()), [](const auto& one) {
  return fmt::format("{}_{}_{}", std::get<0>(one.param), stiff_cases()[std::get<0>(one.param)].base.model,
                     std::get<1>(one.param));
});

}  // namespace
}  // namespace saltus::test
