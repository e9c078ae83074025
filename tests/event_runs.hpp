// Common part of tests of events: locations of models, forms of settings, queries of a log.
#pragma once

#include <cmath>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "abi/status.hpp"
#include "ensemble/sampler.hpp"
#include "testing/ensemble.hpp"

namespace saltus::test {

inline std::string test_model(const char* name) { return saltus::test::in_source("tests/models/") + name + ".hpp"; }

inline std::string name_of(int status) { return status_table[status].name; }

inline std::vector<std::string> with(std::vector<std::string> settings, const std::vector<std::string>& more) {
  settings.insert(settings.end(), more.begin(), more.end());
  return settings;
}

/// key=value with all digits of the value. (TOML distinguishes 1 from 1.0, and an exponent makes both real.)
inline std::string set(const std::string& key, double value) { return fmt::format("{}={:.17e}", key, value); }

inline std::string set(const std::string& key, const std::vector<double>& values) {
  std::string all;
  for (const double v : values) all += fmt::format("{}{:.17e}", all.empty() ? "" : ", ", v);
  return fmt::format("{}=[{}]", key, all);
}

/// The inputs of all instances.
inline host::columns inputs_of(const outcome& r) {
  host::columns in;
  host::sampler(r.plan).fill(0, r.plan.count, in);
  return in;
}

/// Times of the events of one guard or time event; of all events of an instance if no name is given.
inline std::vector<double> times_of(const outcome& r, const std::string& guard = "", std::int64_t instance = 0) {
  std::vector<double> times;
  for (const auto& e : r.log)
    if (e.instance == instance && (guard.empty() || e.guard == guard)) times.push_back(e.time);
  return times;
}

/// Names in the order of the log.
inline std::vector<std::string> names_of(const outcome& r, std::int64_t instance = 0) {
  std::vector<std::string> names;
  for (const auto& e : r.log)
    if (e.instance == instance) names.push_back(e.guard);
  return names;
}

/// Final value of a discrete variable.
inline double discrete(const outcome& r, const std::string& name, std::int64_t instance = 0) {
  for (std::size_t i = 0; i < r.plan.model.discretes.size(); ++i)
    if (r.plan.model.discretes[i].name == name)
      return r.final_discrete[i * static_cast<std::size_t>(r.plan.count) + static_cast<std::size_t>(instance)];
  throw std::runtime_error("no discrete variable " + name);
}

inline const std::vector<std::string> tight = {"rtol=1e-10", "output.events=true"};

}  // namespace saltus::test
