// Common part of tests of derivatives: their names in settings and outcomes, and differences of runs beside them.
#pragma once

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include "abi/sensitivity.hpp"
#include "event_runs.hpp"

namespace saltus::test {

inline std::string by(const std::vector<std::string>& names) {
  return fmt::format("sensitivity.parameters=['{}']", fmt::join(names, "', '"));
}
inline const char* reason_of(const outcome& r, std::size_t instance = 0) {
  return sensitivity_table[r.sensitivity[instance]].name;
}
/// Asserts that a equals b within a part of b (and of 1).
inline void expect_near(double a, double b, double part, const std::string& what) {
  EXPECT_NEAR(a, b, part * (1 + std::fabs(b))) << what;
}

/// Derivative of reduction number k by parameter j.
inline double reduced_by(const outcome& r, std::size_t k, std::size_t j, std::size_t instance = 0) {
  return r.derivative(r.plan.model.states.size() + r.plan.model.outputs.size() + 1 + k, j,
                      static_cast<std::int64_t>(instance));
}

struct differenced {
  std::string model;
  std::vector<std::string> settings;
  std::vector<std::pair<std::string, double>> parameters;  ///< the parameters and their values
  double part;                                             ///< relative agreement
};

/// Central differences of order 4, from runs at a tolerance that makes them accurate to some 1e-9.
inline void expect_differences(const differenced& of) {
  const auto settings = with({"rtol=1e-12", "atol=1e-13", "method=dop853", "output.events=true"}, of.settings);
  const auto name_in = [](const std::string& parameter) {
    return parameter.starts_with("initial.") ? parameter.substr(8) : parameter;
  };
  const auto fixed = [&](const auto& p) {
    return set((p.first.starts_with("initial.") ? "initial." : "parameters.") + name_in(p.first), p.second);
  };
  std::vector<std::string> all = settings, names;
  for (const auto& p : of.parameters) all.push_back(fixed(p)), names.push_back(p.first);
  const auto r = run(of.model, with(all, {by(names)}));
  ASSERT_STREQ(reason_of(r), "defined") << of.model;
  const auto states = r.plan.model.states.size();
  for (std::size_t j = 0; j < of.parameters.size(); ++j) {
    const double value = of.parameters[j].second, d = 1e-4 * value;
    auto four_times = with(settings, {set("sweep." + name_in(names[j]),
                                          std::vector<double>{value - 2 * d, value - d, value + d, value + 2 * d})});
    for (std::size_t other = 0; other < of.parameters.size(); ++other)
      if (other != j) four_times.push_back(fixed(of.parameters[other]));
    const auto four = run(of.model, four_times);
    const auto slope = [&](auto number) { return (number(0) - 8 * number(1) + 8 * number(2) - number(3)) / (12 * d); };
    const std::string what = of.model + " by " + names[j];
    for (std::size_t q = 0; q < states; ++q) {
      const double expected = slope([&](std::size_t i) { return four.final_state[4 * q + i]; });
      expect_near(r.derivative(q, j), expected, of.part, what + ", " + r.plan.model.states[q].name);
    }
    for (std::size_t k = 0; k < r.plan.reductions.size(); ++k)
      expect_near(reduced_by(r, k, j), slope([&](std::size_t i) { return four.reductions[4 * k + i]; }), of.part,
                  what + ", " + r.plan.reductions[k].name);
    for (int i = 0; i < 4; ++i) ASSERT_EQ(times_of(four, "", i).size(), r.log.size()) << what;
    for (std::size_t k = 0; k < r.log.size(); ++k)
      expect_near(r.log[k].derivative[j],
                  slope([&](std::size_t i) { return times_of(four, "", static_cast<std::int64_t>(i))[k]; }), of.part,
                  what + fmt::format(", time of event {} ({})", k, r.log[k].guard));
  }
}

}  // namespace saltus::test
