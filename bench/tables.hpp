// Measurements as Markdown tables on stdout.
#pragma once

#include "measured.hpp"
#include "other_compiler.hpp"

namespace saltus::bench {

/// Spread over the rounds.
struct spread {
  double low, median, high;
};

inline std::optional<spread> spread_of(std::vector<double> v) {
  if (v.empty()) return {};
  std::sort(v.begin(), v.end());
  return spread{v.front(), v[v.size() / 2], v.back()};
}

/// Ratio of the times of `slow` and `fast`, round by round.
inline std::optional<spread> ratio(const std::vector<duration>& slow, const std::vector<duration>& fast,
                                   double duration::*time) {
  std::vector<double> v;
  for (std::size_t i = 0; i < std::min(slow.size(), fast.size()); ++i) v.push_back(slow[i].*time / (fast[i].*time));
  return spread_of(std::move(v));
}

inline std::string text(const std::optional<spread>& s) {
  return s ? fmt::format("{:.2f} ({:.2f} .. {:.2f})", s->median, s->low, s->high) : "-";
}

inline std::string label(const study& s) {
  return fmt::format("| {} | {} | {:.0e} | {} ", s.what.label, s.method, s.rtol, s.random ? "random" : "sweep");
}

/// Microseconds per instance, over the rounds.
inline std::optional<spread> microseconds(const measured& e, const way& w) {
  std::vector<double> v;
  for (const auto& t : w.rounds) v.push_back(t.cpu / static_cast<double>(e.what.count) * 1e6);
  return spread_of(std::move(v));
}

inline void print_speed(std::vector<measured>& entries, double peak) {
  fmt::print(
      "| model | method | rtol | order | µs per instance | 10³ instances/s | 10⁶ trial steps/s "
      "| lanes in use: sailing | landing | rejected | events "
      "| error: median | 95 % below | largest | other events | of peak |\n"
      "|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|\n");
  for (auto& e : entries) {
    const auto& w = e.wide();
    const auto us = microseconds(e, w);
    if (!us) continue;
    const auto n = static_cast<double>(e.what.count);
    const auto tried = e.counts.steps + e.counts.rejected;
    const double seconds = us->median * n * 1e-6;
    const double flops = e.flops / seconds;
    const auto land = w.usage.landings > 0 ? fmt::format("{:.1f} %", 100 * landing(w)) : "-";
    fmt::print(
        "{}| {:.2f} ({:.2f} .. {:.2f}) | {:.1f} | {:.1f} | {:.1f} % | {} | {:.2f} % | {:.1f} | {:.1e} | {:.1e} | "
        "{:.1e} | {} | {:.0f} % |\n",
        label(e.what), us->median, us->low, us->high, 1e-3 * n / seconds, 1e-6 * static_cast<double>(tried) / seconds,
        100 * sailing(w), land, 100 * share(e.counts.rejected, tried), static_cast<double>(e.counts.events) / n,
        e.reached.median, e.reached.most, e.reached.largest, e.reached.other_events, 100 * flops / peak);
  }
}

inline void print_ratios(std::vector<measured>& entries, const other_compiler& other) {
  const auto& ways = entries.front().ways;
  fmt::print("| model | method | rtol | order ");
  for (std::size_t i = 1; i + 1 < ways.size(); ++i) fmt::print("| {} lanes over scalar ", ways[i].lanes);
  fmt::print("| {} threads over one | {} over {} |\n|---|---|---|---|", ways.back().threads, other.name(),
             host::find_compiler().program.filename().string());
  for (std::size_t i = 1; i < ways.size(); ++i) fmt::print("---|");
  fmt::print("---|\n");
  for (auto& e : entries) {
    if (e.wide().rounds.empty()) continue;
    fmt::print("{}", label(e.what));
    for (std::size_t i = 1; i + 1 < e.ways.size(); ++i)
      fmt::print("| {} ", text(ratio(e.scalar().rounds, e.ways[i].rounds, &duration::cpu)));
    fmt::print("| {} | {} |\n", text(ratio(e.wide().rounds, e.threaded().rounds, &duration::wall)),
               text(ratio(e.wide().rounds, e.other, &duration::cpu)));
  }
}

/// Time that guards which never fire add to a step.
inline void print_guard_cost(std::vector<measured>& entries) {
  struct pair {
    const char *with, *without;
    int guards;
  };
  constexpr pair pairs[] = {{"lorenz_1_guards", "lorenz", 1},
                            {"lorenz_2_guards", "lorenz", 2},
                            {"lorenz_4_guards", "lorenz", 4},
                            {"relief_valve_afloat", "floating_valve", 1}};
  fmt::print(
      "| with | without | method | rtol | time with over time without | per guard |\n|---|---|---|---|---|---|\n");
  for (const auto& p : pairs)
    for (auto& with : entries)
      for (auto& without : entries) {
        const study &a = with.what, &b = without.what;
        if (a.what.label != p.with || b.what.label != p.without || a.method != b.method || a.rtol != b.rtol ||
            a.random || b.random)
          continue;
        if (with.bits != without.bits) throw std::runtime_error("a guard that never fires changes the result");
        const auto more = ratio(with.wide().rounds, without.wide().rounds, &duration::cpu);
        if (!more) continue;
        fmt::print("| {} | {} | {} | {:.0e} | {} | {:+.1f} % |\n", p.with, p.without, a.method, a.rtol, text(more),
                   100 * (more->median - 1) / p.guards);
      }
}

/// Cost of an event in trial steps: all evaluations except those of trial steps that did not end in an event, whether
/// accepted or rejected. Counts, not times.
inline void print_event_cost(const std::vector<measured>& entries) {
  fmt::print("| model | method | rtol | events per instance | trial steps per event |\n|---|---|---|---|---|\n");
  for (const auto& e : entries) {
    const study& s = e.what;
    if (s.what.label != "relief_valve" || s.random || e.counts.events == 0) continue;
    const auto n = static_cast<double>(s.count);
    const double per_trial = evaluations_per_trial(s.method);
    const auto events = static_cast<double>(e.counts.events);
    const auto smooth = static_cast<double>(e.counts.steps - e.counts.events + e.counts.rejected);
    const auto all = static_cast<double>(e.counts.rhs_evaluations);
    fmt::print("| {} | {} | {:.0e} | {:.1f} | {:.2f} |\n", s.what.label, s.method, s.rtol, events / n,
               (all - smooth * per_trial) / per_trial / events);
  }
}

inline void print(std::vector<measured>& entries, const other_compiler& other, std::size_t rounds,
                  const std::string& revision, double peak, double load_before) {
  const int lanes = entries.front().wide().lanes;
  fmt::print(
      "- Machine: {}, {} processors, {} lanes of double. FP64 peak of one thread, measured in the same run by "
      "independent multiply-adds: {:.1f} GFLOP/s.\n",
      processor_name(), processors(), lanes, 1e-9 * peak);
  fmt::print(
      "- Modules compiled by {}; `-std=c++20 -O3 -march=native -ffp-contract=off -fno-math-errno "
      "-fno-trapping-math`.\n",
      host::find_compiler().version);
  fmt::print(
      "- saltus {}{}, {}. {} rounds; load average {:.1f} before, {:.1f} after (this run itself makes about 1).\n",
      SALTUS_VERSION, revision.empty() ? "" : " (" + revision + ")", today(), rounds, load_before, load());

  fmt::print("\n### One thread, {} lanes\n\n", lanes);
  print_speed(entries, peak);
  fmt::print("\n### Ratios\n\n");
  print_ratios(entries, other);
  fmt::print("\n### Guards that never fire\n\nOne thread, {} lanes; the same results to the last bit.\n\n", lanes);
  print_guard_cost(entries);
  fmt::print(
      "\n### The cost of an event\n\n"
      "Right-hand-side evaluations that are not those of ordinary trial steps, accepted or rejected, per event: the "
      "step in "
      "which it was found, that step again, location, the step to the event, the new start.\n\n");
  print_event_cost(entries);
}

}  // namespace saltus::bench
