// The hunt: random guards whose roots are known (bench/models/polynomial_guard.hpp), each over one long step. Every
// root of odd multiplicity must fire, once, in its order, at its time; nothing else may.
//
// A case is a function of (seed, family, number): any that goes wrong can be made again.
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

#include "ensemble.hpp"

namespace saltus::test {

/// What the guards of a hunt look like.
enum class shape {
  scattered,  ///< 1 to 8 roots, inside and outside of the step
  pair,       ///< two roots 1e-1 to 1e-8 of the step apart, and up to 6 more
  touch,      ///< a double root, where g touches zero, and up to 6 more
  triple,     ///< a triple root, and up to 5 more
  near_miss,  ///< g stays 1e-2 to 1e-16 (of its curvature) away from zero at a minimum, and up to 6 roots
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
  int                   degree = 0;
  double                centre = 0.5, height = -1.0, scale = 1.0;
};

/// One case: two guards, and what must fire.
struct hunted {
  struct crossing {
    double time;
    int    guard;
  };
  polynomial            guard[2];
  std::vector<crossing> expected;
};

namespace detail {

/// Random numbers of one case (S. Vigna, SplitMix64).
class dice {
 public:
  dice(std::uint64_t seed, std::uint64_t family, std::uint64_t number) : state_(mix(mix(seed * 8 + family) + number)) {}
  double uniform() { return static_cast<double>(next() >> 11) * 0x1p-53; }
  double uniform(double from, double to) { return from + (to - from) * uniform(); }
  int    up_to(int most) { return static_cast<int>(uniform() * (most + 1)); }

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
  const auto add  = [&](double root) { p.root[static_cast<std::size_t>(p.degree++)] = root; };
  const auto more = [&](int most) {
    for (int left = d.up_to(most); left > 0; --left) add(d.uniform(-0.5, 1.5));
  };
  p.scale             = (d.uniform() < 0.5 ? -1.0 : 1.0) * std::exp2(d.uniform(-10.0, 10.0));
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

inline hunted make_case(shape s, std::uint64_t seed, std::uint64_t number) {
  detail::dice d(seed, static_cast<std::uint64_t>(s), number);
  hunted       c;
  if (s == shape::two_guards) {
    for (auto& g : c.guard) g = detail::draw(static_cast<shape>(d.up_to(4)), d);
  } else {
    c.guard[0] = detail::draw(s, d);
  }
  for (int guard = 0; guard < 2; ++guard) {
    const auto&         p = c.guard[guard];
    std::vector<double> roots(p.root.begin(), p.root.begin() + p.degree);
    const auto          end = roots.end();
    std::sort(roots.begin(), end);
    for (auto r = roots.begin(); r != end;) {
      const auto same = std::find_if(r, end, [&](double other) { return other != *r; });
      if ((same - r) % 2 != 0 && *r > 0.0 && *r <= 1.0) c.expected.push_back({*r, guard});
      r = same;
    }
  }
  std::sort(c.expected.begin(), c.expected.end(), [](const auto& a, const auto& b) { return a.time < b.time; });
  return c;
}

/// What a hunt has brought home: numbers of cases, but for `events`.
struct bag {
  std::int64_t cases = 0, events = 0, missed = 0, repeated = 0, misordered = 0, late = 0, failed = 0, undetermined = 0;
  std::array<std::int64_t, 9> of_degree{}, missed_of{};  ///< cases by the degree of the first guard, and those missed
  std::vector<std::uint64_t>  wrong;                     ///< a few of those that went wrong

  std::int64_t all_wrong() const { return missed + repeated + misordered + late + failed; }
  void         add(const bag& more) {
            cases += more.cases, events += more.events, missed += more.missed, repeated += more.repeated;
            misordered += more.misordered, late += more.late, failed += more.failed, undetermined += more.undetermined;
            for (std::size_t k = 0; k < of_degree.size(); ++k)
      of_degree[k] += more.of_degree[k], missed_of[k] += more.missed_of[k];
    for (const auto number : more.wrong)
      if (wrong.size() < 8) wrong.push_back(number);
  }
};

/// Hunts with one method and one kind of detection, in steps of a given size; compiles one unit.
class hunter {
 public:
  hunter(const std::string& method, const std::string& detection, int threads, double step = 1.0)
      : plan_(plan_of(
            SALTUS_SOURCE_FOLDER "/bench/models/polynomial_guard.hpp",
            {"method=" + method, "detection=" + detection, fmt::format("first_step={}", step),
             fmt::format("max_step={}", step), "zeno=0", "rescue=false", "output.events=true", "max_steps=1000"})),
        threads_(threads) {
    plan_.backend = "cpu";
    plan_.threads = threads;
    backend_      = host::make_cpu_backend(plan_);
  }

  bag operator()(shape s, std::int64_t count, std::uint64_t seed) {
    std::atomic<std::int64_t> next{0};
    std::mutex                mutex;
    bag                       all;
    std::exception_ptr        trouble;
    const auto                work = [&] {
      try {
        bag              mine;
        host::chunk_data chunk;
        for (std::int64_t first; (first = next.fetch_add(chunk_size)) < count;)
          mine.add(one_chunk(s, seed, first, std::min(chunk_size, count - first), chunk));
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
  static constexpr std::int64_t chunk_size = 4096;

  bag one_chunk(shape s, std::uint64_t seed, std::int64_t first, std::int64_t count, host::chunk_data& chunk) {
    const auto          n = static_cast<std::size_t>(count);
    std::vector<hunted> cases(n);
    chunk.reset(plan_, first, count);
    chunk.parameters.assign(plan_.model.parameters.size() * n, 0.0);
    chunk.initial.assign(n, 0.0);
    chunk.t_begin.assign(n, 0.0);
    chunk.t_end.assign(n, 1.0);
    for (std::size_t i = 0; i < n; ++i) {
      cases[i]           = make_case(s, seed, static_cast<std::uint64_t>(first) + i);
      std::size_t column = 0;
      const auto  put    = [&](double value) { chunk.parameters[column++ * n + i] = value; };
      for (const auto& g : cases[i].guard) {
        for (const double r : g.root) put(r);
        put(g.degree), put(g.centre), put(g.height), put(g.scale);
      }
    }
    abi::usage used{};
    backend_->integrate(
        chunk, [](std::int64_t) { return true; }, used);
    return judge(cases, static_cast<std::uint64_t>(first), chunk);
  }

  static bag judge(const std::vector<hunted>& cases, std::uint64_t first, const host::chunk_data& chunk) {
    // The rows of the log, case by case; those of one case stand in their order.
    std::vector<std::size_t> begin(cases.size() + 1, 0), row(chunk.log.slot.size());
    for (const auto slot : chunk.log.slot) ++begin[static_cast<std::size_t>(slot) + 1];
    std::partial_sum(begin.begin(), begin.end(), begin.begin());
    auto at = begin;
    for (std::size_t k = 0; k < row.size(); ++k) row[at[static_cast<std::size_t>(chunk.log.slot[k])]++] = k;

    bag r;
    r.cases = static_cast<std::int64_t>(cases.size());
    for (std::size_t i = 0; i < cases.size(); ++i) {
      std::vector<hunted::crossing> found;
      for (std::size_t k = begin[i]; k < begin[i + 1]; ++k)
        found.push_back({chunk.log.time[row[k]], chunk.log.guard[row[k]]});
      const auto before = r.all_wrong(), missed_before = r.missed;
      r.events += static_cast<std::int64_t>(cases[i].expected.size());
      r.undetermined += chunk.undetermined[i] != 0;
      if (chunk.status[i] != static_cast<unsigned char>(status::finished)) ++r.failed;
      else compare(cases[i].expected, found, r);
      const auto degree = static_cast<std::size_t>(cases[i].guard[0].degree);
      ++r.of_degree[degree];
      r.missed_of[degree] += r.missed - missed_before;
      if (r.all_wrong() != before && r.wrong.size() < 8) r.wrong.push_back(first + i);
    }
    return r;
  }

  static void compare(const std::vector<hunted::crossing>& expected, std::vector<hunted::crossing> found, bag& r) {
    constexpr double tie = 1e-13, tolerated = 1e-9, close = 1e-6;
    if (found.size() < expected.size()) return void(++r.missed);
    if (found.size() > expected.size()) return void(++r.repeated);
    bool in_order = true, in_time = true;
    for (std::size_t k = 0; k < expected.size(); ++k) {
      const bool tied = k + 1 < expected.size() && expected[k + 1].time - expected[k].time < tie;
      if (tied && found[k].guard != expected[k].guard) std::swap(found[k], found[k + 1]);
      in_order         = in_order && found[k].guard == expected[k].guard;
      const bool alone = (k == 0 || expected[k].time - expected[k - 1].time > close) &&
                         (k + 1 == expected.size() || expected[k + 1].time - expected[k].time > close);
      in_time = in_time && (!alone || std::abs(found[k].time - expected[k].time) <= tolerated);
    }
    if (!in_order) ++r.misordered;
    else if (!in_time) ++r.late;
  }

  host::plan                     plan_;
  int                            threads_;
  std::unique_ptr<host::backend> backend_;
};

}  // namespace saltus::test
