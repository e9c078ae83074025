// An ensemble whose speed and accuracy are measured.
#pragma once

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "bench/flops.hpp"
#include "machine.hpp"
#include "method/erk.hpp"
#include "method/list.hpp"
#include "testing/ensemble.hpp"

namespace saltus::bench {

/// The problem: a model over a range of one parameter.
struct problem {
  std::string label;
  std::string model;  ///< a built-in's name or the path of a header
  std::string parameter;
  double from, to, t_end;
};

/// The way to solve it: method, tolerance, and the order of the parameter's values.
struct study {
  problem what;
  std::string method;
  double rtol;  ///< and atol
  bool random;
  std::int64_t count;  ///< instances

  std::string name() const {
    return fmt::format("{}/{}/{:g}/{}", what.label, method, rtol, random ? "random" : "sweep");
  }

  host::plan plan(const std::string& by, double tolerance, int lanes, int threads) const {
    std::vector<std::string> settings = {"method=" + by, fmt::format("rtol={:e}", tolerance),
                                         fmt::format("t=[0.0, {:e}]", what.t_end)};
    if (random) {
      settings.push_back(fmt::format("sample.count={}", count));
      settings.push_back(fmt::format("sample.{}.uniform=[{:e}, {:e}]", what.parameter, what.from, what.to));
    } else {
      settings.push_back(
          fmt::format("sweep.{}={{from={:e}, to={:e}, count={}}}", what.parameter, what.from, what.to, count));
    }
    host::plan p = test::plan_of(what.model, settings);
    p.lanes = lanes;
    p.threads = threads;
    return p;
  }
};

/// Seconds that one run of an ensemble takes.
struct duration {
  double cpu, wall;
};

/// The mean over as many runs as fit into a twentieth of a second.
inline duration time_of(const host::plan& p, host::backend& where) {
  const host::cancellation stop;
  duration sum{0, 0};
  int runs = 0;
  do {
    const double cpu = cpu_seconds();
    const auto begin = std::chrono::steady_clock::now();
    host::run_ensemble(p, where, stop);
    sum.wall += std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    sum.cpu += cpu_seconds() - cpu;
    ++runs;
  } while (sum.cpu < 0.05);
  return {sum.cpu / runs, sum.wall / runs};
}

template <class Number>
bool same_bits(const std::vector<Number>& a, const std::vector<Number>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(Number)) == 0;
}

/// True if two runs have the same results, to the last bit.
inline bool same_results(const test::outcome& a, const test::outcome& b) {
  return same_bits(a.final_state, b.final_state) && same_bits(a.t_final, b.t_final) && same_bits(a.status, b.status) &&
         same_bits(a.steps, b.steps) && same_bits(a.rejected, b.rejected) && same_bits(a.events, b.events);
}

/// A hash of the final states (FNV-1a over their bytes), to compare processes.
inline std::uint64_t digest(const test::outcome& r) {
  std::uint64_t h = 0xcbf29ce484222325;
  for (const double y : r.final_state) {
    std::uint64_t bits;
    std::memcpy(&bits, &y, sizeof bits);
    h = (h ^ bits) * 0x100000001b3;
  }
  return h;
}

/// Error of the final states against a reference, per instance max_i |y_i - r_i| / max(1, |r_i|).
struct accuracy {
  double median, most, largest;  ///< `most`: 95 of 100 are below
  std::int64_t other_events;     ///< instances with another number of events than the reference; not in the errors
};

inline accuracy accuracy_of(const test::outcome& r, const test::outcome& reference) {
  const auto n = static_cast<std::size_t>(r.plan.count);
  std::vector<double> errors;
  accuracy a{0, 0, 0, 0};
  for (std::size_t id = 0; id < n; ++id) {
    if (r.events[id] != reference.events[id]) {
      ++a.other_events;
      continue;
    }
    double worst = 0;
    for (std::size_t at = id; at < r.final_state.size(); at += n) {
      const double exact = reference.final_state[at];
      worst = std::max(worst, std::abs(r.final_state[at] - exact) / std::max(1.0, std::abs(exact)));
    }
    errors.push_back(worst);
  }
  std::sort(errors.begin(), errors.end());
  if (errors.empty()) return a;
  a.median = errors[errors.size() / 2];
  a.most = errors[errors.size() * 95 / 100];
  a.largest = errors.back();
  return a;
}

/// Right-hand-side evaluations of one trial step.
inline int evaluations_per_trial(const std::string& method) {
  const auto step = host::step_operations_of(method);
  if (!step) throw std::logic_error("no count of evaluations for " + method);
  return step->evaluations;
}

/// Operations of one trial step of an explicit method: weighted sums of the stages, right-hand sides, error
/// estimate.
template <class Method>
int step_flops(int states, int rhs_flops) {
  const auto step = host::step_operations_of(Method::name);
  if (!step) throw std::logic_error(std::string("no operation count for ") + Method::name);
  return states * step->sums_per_state + step->evaluations * rhs_flops;
}

}  // namespace saltus::bench
