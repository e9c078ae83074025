// The stiff built-in models and those with constraints against numbers known without saltus (reference_stiff.hpp), to 1e-8 and with
// the exact count of events, at rtol = 1e-10.
#include <cmath>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "expect_reference.hpp"
#include "reference_stiff.hpp"

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

TEST_P(StiffProblem, MeetsItsReference) {
  const auto& c = stiff_cases()[std::get<0>(GetParam())];
  const auto& b = c.base;
  const char* method = std::get<1>(GetParam());
  SCOPED_TRACE(b.about + " with " + method);
  const outcome r = run(b.model, settings_of(c, method));
  expect_reference(r, b);

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
