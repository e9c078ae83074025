// Every built-in model against numbers known without saltus (reference_problems.hpp), to the given tolerance and with the exact
// count of events, at rtol = atol = 1e-12.
#include <cmath>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "expect_reference.hpp"
#include "reference_events.hpp"
#include "reference_more_events.hpp"

namespace saltus::test {
namespace {

/// All tables in one list.
const std::vector<reference_case>& all_cases() {
  static const std::vector<reference_case> cases = [] {
    std::vector<reference_case> all;
    for (const auto* table :
         {&reference_cases(), &event_cases(), &more_event_cases(), &resting_cases(), &delay_cases()})
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

TEST_P(Problem, MeetsItsReference) {
  const auto& c = all_cases()[std::get<0>(GetParam())];
  const char* method = std::get<1>(GetParam());
  SCOPED_TRACE(c.about + " with " + method);
  const outcome r = run(c.model, settings_of(c, method));
  expect_reference(r, c);
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
