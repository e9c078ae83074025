// Compares a run with numbers that are known without saltus.
#pragma once

#include <cmath>

#include <gtest/gtest.h>

#include "reference_problems.hpp"
#include "testing/ensemble.hpp"

namespace saltus::test {

/// Final value of a state, discrete variable or output.
inline double final_value(const outcome& r, const std::string& name) {
  for (const auto& s : r.plan.model.states)
    if (s.name == name) return r.final(name);
  for (std::size_t i = 0; i < r.plan.model.outputs.size(); ++i)
    if (r.plan.model.outputs[i].name == name) return r.output(i);
  for (std::size_t i = 0; i < r.plan.model.discretes.size(); ++i)
    if (r.plan.model.discretes[i].name == name) return r.final_discrete[i];
  ADD_FAILURE() << "no quantity " << name;
  return NAN;
}

/// The end of the only instance, and the listed events of its log.
inline void expect_reference(const outcome& r, const reference_case& c) {
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

}  // namespace saltus::test
