// Every built-in model against numbers known without saltus (reference_problems.hpp), to the given tolerance and with the exact
// count of events, at rtol = atol = 1e-12.
#include <cmath>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "reference_events.hpp"
#include "reference_more_events.hpp"
#include "reference_problems.hpp"
#include "testing/ensemble.hpp"

namespace saltus::test {
namespace {

/// All tables in one list.
const std::vector<reference_case>& all_cases() {
  static const std::vector<reference_case> cases = [] {
    std::vector<reference_case> all;
    for (const auto* table : {&reference_cases(), &event_cases(), &more_event_cases(), &resting_cases()})
      all.insert(all.end(), table->begin(), table->end());
    return all;
  }();
  return cases;
}

class Problem : public ::testing::TestWithParam<std::tuple<std::size_t, const char*>> {};

std::vector<std::string> settings_of(const reference_case& c, const char* method) {
  std::vector<std::string> s = {"rtol=1e-12", "atol=1e-12", fmt::format("method={}", method),
                                fmt::format("t=[{:.17g}, {:.17g}]", c.t_begin, c.t_end), "output.events=true"};
  for (const auto& p : c.parameters) s.push_back(fmt::format("parameters.{}={:.17g}", p.name, p.value));
  for (const auto& p : c.initial) s.push_back(fmt::format("initial.{}={:.17g}", p.name, p.value));
  for (auto& text : s)  // TOML distinguishes 1 from 1.0
    if (const auto at = text.find("="); text.find_first_of(".e[", at) == std::string::npos &&
                                        text.find_first_not_of("0123456789-", at + 1) == std::string::npos)
      text += ".0";
  return s;
}

/// Final value of a state, discrete variable or output.
double final_value(const outcome& r, const std::string& name) {
  for (const auto& s : r.plan.model.states)
    if (s.name == name) return r.final(name);
  for (std::size_t i = 0; i < r.plan.model.outputs.size(); ++i)
    if (r.plan.model.outputs[i].name == name) return r.output(i);
  for (std::size_t i = 0; i < r.plan.model.discretes.size(); ++i)
    if (r.plan.model.discretes[i].name == name) return r.final_discrete[i];
  ADD_FAILURE() << "no quantity " << name;
  return NAN;
}

TEST_P(Problem, MeetsItsReference) {
  const auto& c = all_cases()[std::get<0>(GetParam())];
  const char* method = std::get<1>(GetParam());
  SCOPED_TRACE(c.about + " with " + method);
  const outcome r = run(c.model, settings_of(c, method));

  EXPECT_STREQ(status_table[r.status[0]].name, c.status);
  EXPECT_NEAR(r.t_final[0], c.t_final, 1e-9 * std::fabs(c.t_final));
  // If a case lists events without a count, the engine chooses their number in an accumulation.
  if (c.events > 0 || c.log.empty()) { EXPECT_EQ(r.events[0], c.events); }
  EXPECT_EQ(static_cast<std::int64_t>(r.log.size()), r.events[0]);
  for (const auto& e : c.final_values) EXPECT_NEAR(final_value(r, e.name), e.value, e.allowed()) << e.name;
  for (const auto& e : c.log) {
    ASSERT_GE(r.log.size(), static_cast<std::size_t>(e.number));
    const auto& row = r.log[static_cast<std::size_t>(e.number) - 1];
    EXPECT_EQ(row.guard, e.guard) << "event " << e.number;
    EXPECT_NEAR(row.time, e.time, e.rtol * std::fabs(e.time)) << "event " << e.number;
    for (const auto& b : e.before)
      for (std::size_t i = 0; i < r.plan.model.states.size(); ++i)
        if (r.plan.model.states[i].name == b.name) {
          EXPECT_NEAR(row.before[i], b.value, b.allowed()) << b.name << " before event " << e.number;
        }
  }
  for (std::size_t i = 1; i < r.log.size(); ++i)
    EXPECT_GE(r.log[i].time, r.log[i - 1].time) << "the log is in time order";
}

/// Every case with DP5, every other one with DOP853.
std::vector<std::tuple<std::size_t, const char*>> cases_and_methods() {
  std::vector<std::tuple<std::size_t, const char*>> all;
  for (std::size_t i = 0; i < all_cases().size(); ++i) {
    all.emplace_back(i, "dp5");
    if (i % 2 == 0) all.emplace_back(i, "dop853");
  }
  return all;
}

INSTANTIATE_TEST_SUITE_P(All, Problem, ::testing::ValuesIn(cases_and_methods()), [](const auto& one) {
  return fmt::format("{}_{}_{}", std::get<0>(one.param), all_cases()[std::get<0>(one.param)].model,
                     std::get<1>(one.param));
});

}  // namespace
}  // namespace saltus::test
