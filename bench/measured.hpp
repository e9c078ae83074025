// A study under measurement: the ways to run it, the time of each round, and its accuracy.
#pragma once

#include <optional>

#include "study.hpp"

namespace saltus::bench {

/// One way to run a study, and its time in each round.
struct way {
  int lanes, threads;
  host::plan plan{};
  std::unique_ptr<host::backend> where{};
  abi::usage usage{};
  std::vector<duration> rounds{};
};

/// A study with its measurements.
struct measured {
  study what;
  std::vector<way> ways;        ///< scalar, ..., the machine's register width, the same on all threads
  std::vector<duration> other;  ///< at the machine's register width, in modules of the other compiler
  bool prepared = false;
  host::tally counts{};
  accuracy reached{};
  double flops = 0;  ///< of the ensemble
  std::uint64_t bits = 0;

  way& scalar() { return ways.front(); }
  way& wide() { return ways[ways.size() - 2]; }
  way& threaded() { return ways.back(); }
};

/// Prepares a study for measurement: builds its modules, compares it with a reference, and checks that all ways agree.
inline void prepare(measured& e) {
  if (e.prepared) return;
  const study& s = e.what;
  static std::map<std::string, test::outcome> references;
  const std::string key = fmt::format("{} {} {} {} {}", s.what.model, s.what.from, s.what.to, s.random, s.count);
  if (!references.count(key)) references.emplace(key, test::run(s.plan("dop853", 1e-13, 0, 0)));

  std::optional<test::outcome> first;
  for (auto& w : e.ways) {
    w.plan = s.plan(s.method, s.rtol, w.lanes, w.threads);
    w.where = host::make_cpu_backend(w.plan);
    test::outcome here = test::run(w.plan);
    w.usage = here.summary.usage;
    if (!first) first = std::move(here);
    else if (!same_results(*first, here))
      throw std::runtime_error(
          fmt::format("{}: {} lanes on {} threads differ from a scalar run", s.name(), w.lanes, w.threads));
  }
  e.counts = first->summary.counts;
  if (e.counts.ok() != s.count) throw std::runtime_error(s.name() + ": not every instance is ok");
  e.reached = accuracy_of(*first, references.at(key));
  const auto flops = host::operations_of(first->plan, e.counts);
  if (!flops) throw std::runtime_error(s.name() + ": its operations cannot be counted");
  e.flops = flops->all();
  e.bits = digest(*first);
  e.prepared = true;
}

inline double share(long long part, long long whole) {
  return whole > 0 ? static_cast<double>(part) / static_cast<double>(whole) : 0;
}

/// Share of the lanes that did useful work, in sailing and in landing.
inline double sailing(const way& w) { return share(w.usage.lane_turns, w.usage.turns * w.lanes); }
inline double landing(const way& w) { return share(w.usage.landed, w.usage.landings * w.lanes); }

}  // namespace saltus::bench
