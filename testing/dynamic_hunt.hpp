// Random hunt over real dynamics: guards are known functions of solutions in closed form, and the error control of the integration does not
// see them. Every event must fire once, in order, at its time up to the error of the solution. A case is open and not judged if that error
// decides whether an event exists.
#pragma once

#include "testing/hunt.hpp"
#include "testing/source_folder.hpp"

namespace saltus::test {

/// Polynomials along an oscillator, or along a state that follows it stiffly (testing/models/oscillating_guards.hpp).
enum class dynamics {
  steady,   ///< an oscillator
  swaying,  ///< an oscillator of varying frequency
  stiff     ///< guard a depends on a state whose explicit steps are at the limit of stability
};
inline constexpr std::array all_dynamics = {dynamics::steady, dynamics::swaying, dynamics::stiff};

inline const char* name_of(dynamics d) {
  constexpr const char* names[] = {"steady", "swaying", "stiff"};
  return names[static_cast<int>(d)];
}

class oscillator_prey {
 public:
  struct hunted {
    polynomial guard[2];
    double pace, swing = 0.0, beat = 1.0, lambda = 1.0, begin, end;
    bool follows = false;
  };

  oscillator_prey(dynamics what, double rtol, std::uint64_t seed, heard which = heard::both)
      : what_(what), rtol_(rtol), seed_(seed), which_(which) {}

  hunted make(std::uint64_t number) const {
    detail::dice d(seed_, 16 + static_cast<std::uint64_t>(what_), number);
    hunted c;
    const bool two = d.uniform() < 0.3;
    c.guard[0] = detail::draw(static_cast<shape>(d.up_to(4)), d);
    if (two) c.guard[1] = detail::draw(static_cast<shape>(d.up_to(4)), d);
    c.pace = 6.283185307179586 * d.uniform(0.1, 0.6);
    c.begin = d.uniform(0.0, 6.283185307179586);
    c.end = d.uniform(2.0, 10.0);
    c.follows = what_ == dynamics::stiff;
    if (what_ == dynamics::swaying) c.swing = d.uniform(0.0, 0.8), c.beat = d.uniform(0.3, 4.0);
    if (what_ == dynamics::stiff) c.lambda = std::exp2(d.uniform(3.0, 9.0));
    return c;
  }

  static void write(const hunted& c, case_writer& to) {
    to.initial(std::cos(c.begin)), to.initial(std::sin(c.begin)), to.initial(std::cos(c.begin));
    for (const auto& g : c.guard) polynomial_prey::write(g, to);
    to.parameter(c.pace), to.parameter(c.swing), to.parameter(c.beat), to.parameter(c.lambda), to.parameter(c.follows);
    to.span(0.0, c.end);
  }

  void judge(const hunted& c, const outcome_of_case& o, bag& r) const {
    if (o.status != status::finished) return void(++r.failed);
    const double last = phase(c, c.end), u = std::cos(last), v = std::sin(last);
    const double error =
        std::max({std::abs(o.final_state[0] - u), std::abs(o.final_state[1] - v), std::abs(o.final_state[2] - u)});
    const double tolerated = 10.0 * error + 4.0 * rtol_;
    std::vector<crossing> expected;
    for (int i = 0; i < 2; ++i)
      if (!add_crossings(c, i, tolerated, expected)) return void(++r.open);
    std::sort(expected.begin(), expected.end(), [](const auto& a, const auto& b) { return a.time < b.time; });
    r.events = static_cast<std::int64_t>(expected.size());
    if (o.log.size() < expected.size()) return void(++r.missed);
    if (o.log.size() > expected.size()) return void(++r.repeated);
    bool in_order = true, in_time = true;
    for (int i = 0; i < 2; ++i) {  // guard by guard, since the times determine the order between guards
      auto at = o.log.begin();
      for (const auto& e : expected) {
        if (e.guard != i) continue;
        at = std::find_if(at, o.log.end(), [&](const auto& row) { return row.guard == i; });
        if (at == o.log.end()) return void(++r.out_of_order);
        in_time = in_time && std::abs(along(c, i, at->time) - e.root) <= tolerated;
        ++at;
      }
    }
    for (std::size_t k = 1; k < o.log.size(); ++k) in_order = in_order && o.log[k].time >= o.log[k - 1].time;
    if (!in_order) ++r.out_of_order;
    else if (!in_time) ++r.late;
  }

 private:
  struct crossing {
    double time;
    int guard;
    double root;  ///< of the guard's polynomial, as a value of cos or sin
  };

  static double phase(const hunted& c, double t) {
    return c.begin + c.pace * (t + c.swing / c.beat * std::sin(c.beat * t));
  }
  static double along(const hunted& c, int guard, double t) {
    return guard == 0 ? std::cos(phase(c, t)) : std::sin(phase(c, t));
  }

  /// Adds the crossings of one guard. Returns false if an error of `tolerated` could add or remove a crossing.
  bool add_crossings(const hunted& c, int guard, double tolerated, std::vector<crossing>& to) const {
    for (const double r : odd_roots(c.guard[guard])) {
      const double root = 2.0 * r - 1.0;
      if (std::abs(std::abs(root) - 1.0) <= 2.0 * tolerated) return false;
      if (std::abs(along(c, guard, 0.0) - root) <= tolerated) return false;
      if (std::abs(along(c, guard, c.end) - root) <= tolerated) return false;
      if (std::abs(root) < 1.0) add_times(c, guard, r, to);
    }
    return true;
  }

  /// Adds the times at which cos (guard 0) or sin (1) of the phase is at root r of the polynomial.
  void add_times(const hunted& c, int guard, double r, std::vector<crossing>& to) const {
    constexpr double turn = 6.283185307179586;
    const double root = 2.0 * r - 1.0;
    const double last = phase(c, c.end), angle = guard == 0 ? std::acos(root) : std::asin(root);
    const bool is_positive_above = c.guard[guard].is_positive_above(r);
    for (const bool second : {false, true}) {
      // cos falls at acos(root), sin rises at asin(root); at the second passage the signs are reversed.
      const bool rises = is_positive_above == ((guard == 1) != second);
      if (which_ == heard::one_way && rises != (guard == 0)) continue;
      const double first = second ? (guard == 0 ? 0.0 : 0.5 * turn) - angle : angle;
      for (double at = first + turn * std::ceil((c.begin - first) / turn); at <= last; at += turn)
        if (at > c.begin) to.push_back({time_of(c, at), guard, root});
    }
  }

  static double time_of(const hunted& c, double angle) {
    double lo = 0.0, hi = c.end;
    for (int k = 0; k < 200 && hi - lo > 1e-15 * hi; ++k) {
      const double middle = 0.5 * (lo + hi);
      (phase(c, middle) < angle ? lo : hi) = middle;
    }
    return 0.5 * (lo + hi);
  }

  dynamics what_;
  double rtol_;
  std::uint64_t seed_;
  heard which_;
};

/// A threshold of a slow state beside a fast stable mode (testing/models/slow_guard.hpp): two guards fire once and together, and a wall
/// ends the run.
class slow_prey {
 public:
  struct hunted {
    double drift, level, scale, lambda, start, threshold, wall;
  };

  slow_prey(double rtol, std::uint64_t seed) : rtol_(rtol), seed_(seed) {}

  hunted make(std::uint64_t number) const {
    detail::dice d(seed_, 32, number);
    hunted c;
    c.lambda = std::exp2(d.uniform(3.0, 10.0));
    c.level = d.uniform(-1.0, 1.0);
    c.start = c.level + (d.uniform() < 0.5 ? 0.0 : d.uniform(-1.0, 1.0));
    c.drift = std::exp2(d.uniform(-8.0, 0.0));
    c.scale = rtol_ * std::pow(10.0, d.uniform(0.0, 4.0));
    c.threshold = d.uniform(0.1, 0.6) * c.drift;
    c.wall = d.uniform(0.7, 0.9) * c.drift;
    return c;
  }

  static void write(const hunted& c, case_writer& to) {
    to.initial(0.0), to.initial(c.start * c.scale);
    for (const double p : {c.drift, c.level, c.scale, c.lambda, c.threshold, c.wall}) to.parameter(p);
    to.span(0.0, 1.0);
  }

  static void judge(const hunted& c, const outcome_of_case& o, bag& r) {
    r.events = 3;
    int fired[3] = {};
    for (const auto& row : o.log) {
      ++fired[row.guard];
      const double s = row.before[0];
      if (row.guard == 2 ? !(s <= c.wall) : !(s > c.threshold)) return void(++r.wrong_side);
    }
    if (o.status != status::finished && o.status != status::stopped) return void(++r.failed);
    if (o.status == status::stopped && !(o.final_state[0] <= c.wall)) return void(++r.wrong_side);
    // With a loose tolerance the solution itself may miss the wall, and may even fall although the exact one rises.
    const double end = o.status == status::stopped && !o.log.empty() ? o.log.back().time : 1.0;
    const double error = std::abs(o.final_state[0] - exact(c, end));
    if (error > 0.1 * std::min(c.threshold, c.wall - c.threshold)) return void(++r.open);
    if (o.status == status::finished) return void(++r.missed);
    for (const int times : fired)
      if (times != 1) return void(++(times == 0 ? r.missed : r.repeated));
    if (o.log[2].guard != 2) ++r.out_of_order;
  }

 private:
  static double exact(const hunted& c, double t) {
    const double e = std::exp(-c.lambda * t), d = c.start - c.level;
    return c.drift * t + c.level * c.level * t + 2.0 * c.level * d * (1.0 - e) / c.lambda +
           d * d * (1.0 - e * e) / (2.0 * c.lambda);
  }

  double rtol_;
  std::uint64_t seed_;
};

template <class Prey>
chunked_hunt<Prey> dynamic_hunt(const char* model, const std::string& method, const std::string& detection, double rtol,
                                int threads) {
  return {saltus::test::in_source("testing/models/") + model + ".hpp",
          {"method=" + method, "detection=" + detection, fmt::format("rtol={:e}", rtol), "zeno=0", "rescue=false",
           "output.events=true", "max_steps=1000000"},
          threads};
}

}  // namespace saltus::test
