// Asserts that two runs agree bit for bit in everything that a result file contains.
#pragma once

#include <cstring>

#include <gtest/gtest.h>

#include "testing/ensemble.hpp"

namespace saltus::test {

inline std::uint64_t bits(double x) {
  std::uint64_t b;
  std::memcpy(&b, &x, sizeof b);
  return b;
}

/// Instance i of `a` and instance j of `b` agree.
inline void expect_same(const outcome& a, std::int64_t i, const outcome& b, std::int64_t j) {
  const auto at_i = static_cast<std::size_t>(i), at_j = static_cast<std::size_t>(j);
  const auto column = [&](const std::vector<double>& x, const std::vector<double>& y, std::size_t row = 1) {
    const std::size_t na = static_cast<std::size_t>(a.plan.count), nb = static_cast<std::size_t>(b.plan.count);
    if (na == 0 || x.size() % (na * row) != 0) return;
    for (std::size_t q = 0; q < x.size() / (na * row); ++q)
      for (std::size_t k = 0; k < row; ++k)
        ASSERT_EQ(bits(x[(q * na + at_i) * row + k]), bits(y[(q * nb + at_j) * row + k])) << "instance " << i;
  };
  column(a.final_state, b.final_state), column(a.final_output, b.final_output),
      column(a.final_discrete, b.final_discrete);
  column(a.t_final, b.t_final), column(a.reductions, b.reductions);
  column(a.residual, b.residual), column(a.switched, b.switched);
  if (a.plan.sample_count > 0) column(a.samples, b.samples, static_cast<std::size_t>(a.plan.sample_count));
  ASSERT_EQ(a.status[at_i], b.status[at_j]) << "instance " << i;
  ASSERT_EQ(a.exception[at_i], b.exception[at_j]) << "instance " << i;
  ASSERT_EQ(a.switched_to[at_i], b.switched_to[at_j]) << "instance " << i;
  for (std::size_t g = 0; g < a.plan.model.guards.size(); ++g)
    ASSERT_EQ(a.guard_history[g * static_cast<std::size_t>(a.plan.count) + at_i],
              b.guard_history[g * static_cast<std::size_t>(b.plan.count) + at_j])
        << "instance " << i << ", guard " << g;
  for (const auto counter : abi::counter_members<std::vector<long long>>)
    ASSERT_EQ((a.*counter)[at_i], (b.*counter)[at_j]) << "instance " << i;
  ASSERT_EQ(a.residual_of[at_i], b.residual_of[at_j]) << "instance " << i;
}

/// Whole ensembles must have the same event log.
inline void expect_same_log(const outcome& a, const outcome& b) {
  ASSERT_EQ(a.log.size(), b.log.size());
  for (std::size_t e = 0; e < a.log.size(); ++e) {
    ASSERT_EQ(a.log[e].instance, b.log[e].instance);
    ASSERT_EQ(a.log[e].guard, b.log[e].guard);
    ASSERT_EQ(bits(a.log[e].time), bits(b.log[e].time));
    for (std::size_t q = 0; q < a.log[e].before.size(); ++q) {
      ASSERT_EQ(bits(a.log[e].before[q]), bits(b.log[e].before[q]));
      ASSERT_EQ(bits(a.log[e].after[q]), bits(b.log[e].after[q]));
    }
  }
}

}  // namespace saltus::test
