// The hunt: random guards with known roots (testing/models/polynomial_guard.hpp), each over one long step. Every root of odd multiplicity
// must fire once, in order and at its time; nothing else may fire.
//
// A case is a function of (seed, family, number), so any failure can be reproduced.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <cstdint>
#include <exception>
#include <mutex>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

#include <fmt/format.h>

#include "testing/ensemble.hpp"

namespace saltus::test {

/// The shapes of a hunt's guards.
enum class shape {
  scattered,  ///< 1 to 8 roots, inside and outside of the step
  pair,       ///< two roots 1e-1 to 1e-8 of the step apart, and up to 6 more
  touch,      ///< a double root, where g touches zero, and up to 6 more
  triple,     ///< a triple root, and up to 5 more
  near_miss,  ///< |g| has a minimum of 1e-2 to 1e-16 (of its curvature), and up to 6 roots
  two_guards  ///< two guards, each of any of these shapes
};
inline constexpr std::array all_shapes = {shape::scattered, shape::pair,      shape::touch,
                                          shape::triple,    shape::near_miss, shape::two_guards};

inline const char* name_of(shape s) {
  constexpr const char* names[] = {"scattered", "pair", "touch", "triple", "near miss", "two guards"};
  return names[static_cast<int>(s)];
}

/// One guard's polynomial.
struct polynomial {
  std::array<double, 8> root{};
  int degree = 0;
  double centre = 0.5, height = -1.0, scale = 1.0;

  /// True if the polynomial is positive just above x.
  bool is_positive_above(double x) const {
    const auto end = root.begin() + degree;
    return (scale > 0.0) == (std::count_if(root.begin(), end, [&](double r) { return r > x; }) % 2 == 0);
  }
};

/// Crossings that are events.
enum class heard {
  both,    ///< all
  one_way  ///< rising ones of the first guard, falling ones of the second
};

/// One case: two guards, and the events that must fire.
struct hunted {
  struct crossing {
    double time;
    int guard;
    bool rises = false;
  };
  polynomial guard[2];
  std::vector<crossing> expected;
};

namespace detail {

/// Random numbers of one case (S. Vigna, SplitMix64).
class dice {
 public:
  dice(std::uint64_t seed, std::uint64_t family, std::uint64_t number) : state_(mix(mix(seed * 8 + family) + number)) {}
  double uniform() { return static_cast<double>(next() >> 11) * 0x1p-53; }
  double uniform(double from, double to) { return from + (to - from) * uniform(); }
  int up_to(int most) { return static_cast<int>(uniform() * (most + 1)); }

 private:
  static std::uint64_t mix(std::uint64_t z) {
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
    return z ^ (z >> 31);
  }
  std::uint64_t next() { return mix(state_ += 0x9e3779b97f4a7c15ull); }
  std::uint64_t state_;
};

inline polynomial draw(shape s, dice& d) {
  polynomial p;
  const auto add = [&](double root) { p.root[static_cast<std::size_t>(p.degree++)] = root; };
  const auto more = [&](int most) {
    for (int left = d.up_to(most); left > 0; --left) add(d.uniform(-0.5, 1.5));
  };
  p.scale = (d.uniform() < 0.5 ? -1.0 : 1.0) * std::exp2(d.uniform(-10.0, 10.0));
  const double middle = d.uniform(0.0, 1.0);
  switch (s) {
    case shape::scattered:
      add(d.uniform(-0.5, 1.5));
      more(7);
      break;
    case shape::pair: {
      const double apart = std::pow(10.0, d.uniform(-8.0, -1.0));
      add(middle - 0.5 * apart), add(middle + 0.5 * apart);
      more(6);
      break;
    }
    case shape::touch:
      add(middle), add(middle);
      more(6);
      break;
    case shape::triple:
      add(middle), add(middle), add(middle);
      more(5);
      break;
    default:
      p.centre = middle;
      p.height = std::pow(10.0, d.uniform(-8.0, -1.0));
      more(6);
  }
  return p;
}

}  // namespace detail

/// The roots of odd multiplicity in order: a guard changes sign there.
inline std::vector<double> odd_roots(const polynomial& p) {
  std::vector<double> roots(p.root.begin(), p.root.begin() + p.degree), odd;
  std::sort(roots.begin(), roots.end());
  for (auto r = roots.begin(); r != roots.end();) {
    const auto same = std::find_if(r, roots.end(), [&](double other) { return other != *r; });
    if ((same - r) % 2 != 0) odd.push_back(*r);
    r = same;
  }
  return odd;
}

inline hunted make_case(shape s, std::uint64_t seed, std::uint64_t number) {
  detail::dice d(seed, static_cast<std::uint64_t>(s), number);
  hunted c;
  if (s == shape::two_guards) {
    for (auto& g : c.guard) g = detail::draw(static_cast<shape>(d.up_to(4)), d);
  } else {
    c.guard[0] = detail::draw(s, d);
  }
  for (int guard = 0; guard < 2; ++guard) {
    for (const double r : odd_roots(c.guard[guard]))
      if (r > 0.0 && r <= 1.0) c.expected.push_back({r, guard, c.guard[guard].is_positive_above(r)});
  }
  std::sort(c.expected.begin(), c.expected.end(), [](const auto& a, const auto& b) { return a.time < b.time; });
  return c;
}

/// The result of a hunt: numbers of cases; `events` counts events.
struct bag {
  std::int64_t cases = 0, events = 0, missed = 0, repeated = 0, out_of_order = 0, late = 0, failed = 0,
               undetermined = 0;
  std::int64_t wrong_side = 0;  ///< logged with a guard not yet on its new side, or beyond a wall
  std::int64_t open = 0;        ///< not judged, since the error of the solution decides whether an event exists
  std::array<std::int64_t, 9> of_degree{}, missed_of{};  ///< cases by the degree of the first guard, and those missed
  std::vector<std::uint64_t> wrong;                      ///< some of the failed cases

  std::int64_t all_wrong() const { return missed + repeated + out_of_order + late + failed + wrong_side; }
  void add(const bag& more) {
    cases += more.cases, events += more.events, missed += more.missed, repeated += more.repeated;
    out_of_order += more.out_of_order, late += more.late, failed += more.failed, undetermined += more.undetermined;
    wrong_side += more.wrong_side, open += more.open;
    for (std::size_t k = 0; k < of_degree.size(); ++k)
      of_degree[k] += more.of_degree[k], missed_of[k] += more.missed_of[k];
    for (const auto number : more.wrong)
      if (wrong.size() < 8) wrong.push_back(number);
  }
};

/// Writes the inputs of one case into the columns of its chunk, in the order of the model's lists.
class case_writer {
 public:
  case_writer(host::chunk_data& chunk, std::size_t count, std::size_t slot) : c_(chunk), n_(count), i_(slot) {}
  void parameter(double value) { c_.parameters[parameters_++ * n_ + i_] = value; }
  void initial(double value) { c_.initial[states_++ * n_ + i_] = value; }
  void span(double begin, double end) { c_.t_begin[i_] = begin, c_.t_end[i_] = end; }

 private:
  host::chunk_data& c_;
  std::size_t n_, i_, parameters_ = 0, states_ = 0;
};

/// The outcome of one case.
struct outcome_of_case {
  struct row {
    double time;
    int guard;
    const double* before;  ///< the state
  };
  saltus::status status;
  std::vector<row> log;  ///< in time order
  std::vector<double> final_state;
};

/// Runs numbered cases of one plan in chunks, over threads. A Prey makes the cases and judges their outcomes:
///
///      using hunted;  hunted make(number);  void write(const hunted&, case_writer&);
///      void judge(const hunted&, const outcome_of_case&, bag&)         adds to the bag of one case
template <class Prey>
class chunked_hunt {
 public:
  chunked_hunt(const std::string& model, std::vector<std::string> settings, int threads)
      : plan_(plan_of(model, settings)), threads_(threads) {
    plan_.backend = host::backend_kind::cpu;
    plan_.threads = threads;
    backend_ = host::make_cpu_backend(plan_);
  }

  bag operator()(const Prey& prey, std::int64_t count) {
    const auto chunk_size = std::clamp<std::int64_t>(count / (4 * threads_), 64, 4096);  // chunks for all threads
    std::atomic<std::int64_t> next{0};
    std::mutex mutex;
    bag all;
    std::exception_ptr trouble;
    const auto work = [&] {
      try {
        bag mine;
        host::chunk_data chunk;
        for (std::int64_t first; (first = next.fetch_add(chunk_size)) < count;)
          mine.add(one_chunk(prey, first, std::min(chunk_size, count - first), chunk));
        const std::lock_guard lock(mutex);
        all.add(mine);
      } catch (...) {
        const std::lock_guard lock(mutex);
        trouble = std::current_exception();
      }
    };
    std::vector<std::thread> others;
    for (int i = 1; i < threads_; ++i) others.emplace_back(work);
    work();
    for (auto& t : others) t.join();
    if (trouble) std::rethrow_exception(trouble);
    return all;
  }

 private:
  bag one_chunk(const Prey& prey, std::int64_t first, std::int64_t count, host::chunk_data& chunk) {
    const auto n = static_cast<std::size_t>(count), ns = plan_.model.states.size();
    std::vector<typename Prey::hunted> cases;
    chunk.reset(plan_, first, count);
    chunk.parameters.assign(plan_.model.parameters.size() * n, 0.0);
    chunk.initial.assign(ns * n, 0.0);
    chunk.t_begin.assign(n, 0.0);
    chunk.t_end.assign(n, 1.0);
    for (std::size_t i = 0; i < n; ++i) {
      cases.push_back(prey.make(static_cast<std::uint64_t>(first) + i));
      case_writer writer(chunk, n, i);
      prey.write(cases.back(), writer);
    }
    abi::usage used{};
    backend_->integrate(
        chunk, [](std::int64_t) { return true; }, used);

    // The rows of the log, grouped by case; within a case they stay in order.
    const auto& log = chunk.log;
    std::vector<std::size_t> begin(n + 1, 0), row(log.slot.size());
    for (const auto slot : log.slot) ++begin[static_cast<std::size_t>(slot) + 1];
    std::partial_sum(begin.begin(), begin.end(), begin.begin());
    auto at = begin;
    for (std::size_t k = 0; k < row.size(); ++k) row[at[static_cast<std::size_t>(log.slot[k])]++] = k;

    bag all;
    for (std::size_t i = 0; i < n; ++i) {
      outcome_of_case found{static_cast<saltus::status>(chunk.status[i]), {}, {}};
      for (std::size_t k = begin[i]; k < begin[i + 1]; ++k)
        found.log.push_back({log.time[row[k]], log.guard[row[k]], &log.before[row[k] * ns]});
      for (std::size_t j = 0; j < ns; ++j) found.final_state.push_back(chunk.final_state[j * n + i]);
      bag one;
      one.cases = 1;
      one.undetermined = chunk.undetermined[i] != 0;
      prey.judge(cases[i], found, one);
      if (one.all_wrong() != 0) one.wrong.push_back(static_cast<std::uint64_t>(first) + i);
      all.add(one);
    }
    return all;
  }

  host::plan plan_;
  int threads_;
  std::unique_ptr<host::backend> backend_;
};

/// Cases of one shape (make_case), as prey.
struct polynomial_prey {
  using hunted = test::hunted;
  shape what;
  std::uint64_t seed;
  heard which = heard::both;

  hunted make(std::uint64_t number) const {
    auto c = make_case(what, seed, number);
    if (which == heard::one_way) std::erase_if(c.expected, [](const auto& e) { return e.rises != (e.guard == 0); });
    return c;
  }

  static void write(const hunted& c, case_writer& to) {
    to.initial(0.0);
    for (const auto& g : c.guard) write(g, to);
  }
  static void write(const polynomial& g, case_writer& to) {
    for (const double r : g.root) to.parameter(r);
    to.parameter(g.degree), to.parameter(g.centre), to.parameter(g.height), to.parameter(g.scale);
  }

  static void judge(const hunted& c, const outcome_of_case& o, bag& r) {
    std::vector<hunted::crossing> found;
    for (const auto& row : o.log) found.push_back({row.time, row.guard, false});
    r.events = static_cast<std::int64_t>(c.expected.size());
    if (o.status != status::finished) ++r.failed;
    else compare(c.expected, found, r);
    const auto degree = static_cast<std::size_t>(c.guard[0].degree);
    r.of_degree[degree] = 1;
    r.missed_of[degree] = r.missed;
  }

 private:
  static void compare(const std::vector<hunted::crossing>& expected, std::vector<hunted::crossing> found, bag& r) {
    constexpr double tie = 1e-13, tolerated = 1e-9, close = 1e-6;
    if (found.size() < expected.size()) return void(++r.missed);
    if (found.size() > expected.size()) return void(++r.repeated);
    bool in_order = true, in_time = true;
    for (std::size_t k = 0; k < expected.size(); ++k) {
      const bool tied = k + 1 < expected.size() && expected[k + 1].time - expected[k].time < tie;
      if (tied && found[k].guard != expected[k].guard) std::swap(found[k], found[k + 1]);
      in_order = in_order && found[k].guard == expected[k].guard;
      const bool alone = (k == 0 || expected[k].time - expected[k - 1].time > close) &&
                         (k + 1 == expected.size() || expected[k + 1].time - expected[k].time > close);
      in_time = in_time && (!alone || std::abs(found[k].time - expected[k].time) <= tolerated);
    }
    if (!in_order) ++r.out_of_order;
    else if (!in_time) ++r.late;
  }
};

/// Hunts polynomials with one method and one kind of detection, in steps of a given size; compiles one module.
class hunter {
 public:
  hunter(const std::string& method, const std::string& detection, int threads, double step = 1.0,
         heard which = heard::both)
      : which_(which),
        hunt_(saltus::test::in_source("testing/models/") +
                  (which == heard::one_way ? "one_way_polynomials.hpp" : "polynomial_guard.hpp"),
              {"method=" + method, "detection=" + detection, fmt::format("first_step={}", step),
               fmt::format("max_step={}", step), "zeno=0", "rescue=false", "output.events=true", "max_steps=1000"},
              threads) {}

  bag operator()(shape s, std::int64_t count, std::uint64_t seed) {
    return hunt_(polynomial_prey{s, seed, which_}, count);
  }

 private:
  heard which_;
  chunked_hunt<polynomial_prey> hunt_;
};

}  // namespace saltus::test
