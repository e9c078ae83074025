// Derivatives of models whose constraints move differential states: of index 2, and mass matrices whose rows mix derivatives. Against
// differences of closed forms.
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <functional>
#include <numbers>
#include <random>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include "abi/sensitivity.hpp"
#include "event_runs.hpp"
#include "same_bits.hpp"

namespace saltus::test {
namespace {

using real = long double;

std::string by(const std::vector<std::string>& names) {
  return fmt::format("sensitivity.parameters=['{}']", fmt::join(names, "', '"));
}
const char* reason_of(const outcome& r) { return sensitivity_table[r.sensitivity[0]].name; }

/// Asserts that a equals the derivative of `of` at zero within 1e-8 of 1 + its size.
void expect_slope(double a, const std::function<real(real)>& of, const std::string& what) {
  constexpr real d = 1e-4L;
  const auto slope = static_cast<double>((of(-2 * d) - 8 * of(-d) + 8 * of(d) - of(2 * d)) / (12 * d));
  EXPECT_NEAR(a, slope, 1e-8 * (1 + std::fabs(slope))) << what;
}

/// Final values, and the events in their order.
struct end_of_run {
  std::array<real, 3> at{};
  std::vector<int> events{};
};

/// Compares derivatives of the final states of random instances with differences of closed forms.
template <class Instance>
void expect_none_silent(const char* model, const std::string& method, const std::vector<std::string>& by_what,
                        real Instance::*const (&values)[10], const std::vector<Instance>& all) {
  std::vector<std::string> settings = {"rtol=1e-10", "atol=1e-11", "method=" + method, by(by_what)};
  for (std::size_t j = 0; j < by_what.size(); ++j) {
    std::vector<double> column;
    for (const auto& one : all) column.push_back(static_cast<double>(one.*values[j]));
    settings.push_back(set("sweep.zip." + (j < 2 ? by_what[j].substr(8) : by_what[j]), column));
  }
  const auto r = run(test_model(model), settings);
  const auto states = r.plan.model.states.size();
  int compared = 0, flagged = 0, wrong = 0, other = 0;
  double largest = 0;
  for (std::size_t n = 0; n < all.size(); ++n) {
    const auto id = static_cast<std::int64_t>(n);
    const auto here = follow(all[n], 2);
    double off = 0;
    for (std::size_t q = 0; q < states; ++q)
      off = std::max(off, std::fabs(r.final(r.plan.model.states[q].name, id) - static_cast<double>(here.at[q])));
    other += off > 1e-7;
    flagged += r.sensitivity[n] != 0;
    if (off > 1e-7 || r.sensitivity[n] != 0) continue;
    for (std::size_t j = 0; j < by_what.size(); ++j) {
      constexpr real d = 1e-6L;
      auto more = all[n], less = more;
      more.*values[j] += d, less.*values[j] -= d;
      const auto above = follow(more, 2), below = follow(less, 2);
      if (above.events != here.events || below.events != here.events) continue;
      for (std::size_t q = 0; q < states; ++q) {
        const auto slope = static_cast<double>((above.at[q] - below.at[q]) / (2 * d));
        const double error = std::fabs(r.derivative(q, j, id) - slope) / (1 + std::fabs(slope));
        ++compared;
        largest = std::max(largest, error);
        if (!(error < 1e-6) && ++wrong < 10)
          ADD_FAILURE() << fmt::format("{} by {} of {}: {} for {}; events {}", q, by_what[j], n, r.derivative(q, j, id),
                                       slope, fmt::join(here.events, " "));
      }
    }
  }
  std::printf("%d derivatives agree, with errors up to %.1e; %d are wrong; %d trajectories are flagged, %d differ\n",
              compared - wrong, largest, wrong, flagged, other);
  EXPECT_GT(compared, 15 * static_cast<int>(all.size()));
  EXPECT_LT(flagged, static_cast<int>(all.size()) / 100);
  EXPECT_EQ(other, 0);
}

/// turned_wheel, where y passes its mark before z does.
struct wheel {
  real x0 = 0.9L, y0 = 0.2L, speed = 1.3L, radius = 1, wider = 1.5L, mark = 0.5L, bend = 0.3L, growth = 0.8L,
       strong = 0.9L, keep = 0.7L;

  real passes() const { return (std::asin(mark / radius) - std::atan2(y0, x0)) / speed; }
  real pulls() const { return (strong + bend * strong * strong) / growth; }
  /// x, y, z
  std::array<real, 3> at(real t) const {
    const real z = (std::sqrt(1 + 4 * bend * growth * t) - 1) / (2 * bend), r = t < passes() ? radius : wider;
    real angle = std::atan2(y0, x0) + speed * std::min(t, pulls());
    if (t > pulls()) angle = std::acos(keep * std::cos(angle)) + speed * (t - pulls());
    return {r * std::cos(angle), r * std::sin(angle), z};
  }
};

const std::vector<std::string> names = {"initial.x", "initial.y", "speed",  "radius", "wider",
                                        "mark",      "bend",      "growth", "strong", "keep"};
real wheel::*const members[] = {&wheel::x0,   &wheel::y0,   &wheel::speed,  &wheel::radius, &wheel::wider,
                                &wheel::mark, &wheel::bend, &wheel::growth, &wheel::strong, &wheel::keep};

TEST(Index2Sensitivities, OfAPointOnACircle) {
  for (const char* method : {"radau5", "radau9"}) {
    const auto r = run(test_model("turned_wheel"),
                       {"rtol=1e-10", "atol=1e-12", std::string("method=") + method, by(names), "initial.x=0.9",
                        "initial.y=0.2", "output.events=true", "output.samples.times=[0.1,1.0,1.7]",
                        "output.reduce=['first(pulls)', 'max(z) to 1.0', 'time(max(y)) to 1.2', 'integral(z)', "
                        "'time(max(power)) to 1.3']"});
    ASSERT_STREQ(reason_of(r), "defined") << method;
    ASSERT_EQ(r.log.size(), 2u);
    for (std::size_t j = 0; j < names.size(); ++j) {
      const auto of = [&](const auto& value) {
        return [&, value](real d) {
          wheel w;
          w.*members[j] += d;
          return value(w);
        };
      };
      const auto what = [&](const std::string& of_what) {
        return fmt::format("{}: {} by {}", method, of_what, names[j]);
      };
      expect_slope(r.log[0].derivative[j], of([](const wheel& w) { return w.passes(); }), what("passes"));
      expect_slope(r.log[1].derivative[j], of([](const wheel& w) { return w.pulls(); }), what("pulls"));
      for (std::size_t q = 0; q < 3; ++q) {
        expect_slope(r.derivative(q, j), of([&](const wheel& w) { return w.at(2)[q]; }), what(fmt::format("{}", q)));
        const real times[] = {0.1L, 1.0L, 1.7L};
        for (int i = 0; i < 3; ++i)
          expect_slope(r.sample(4 * (1 + j) + q, 0, i), of([&](const wheel& w) { return w.at(times[i])[q]; }),
                       what(fmt::format("{} at sample {}", q, i)));
      }
      expect_slope(r.derivative(3, j), of([](const wheel& w) { return w.at(2)[0] * w.at(2)[2]; }), what("power"));
      const auto reduced = [&](std::size_t k) { return r.derivative(5 + k, j); };
      expect_slope(reduced(0), of([](const wheel& w) { return w.pulls(); }), what("first(pulls)"));
      expect_slope(reduced(1), of([](const wheel& w) { return w.at(1)[2]; }), what("max(z)"));
      const auto top = [](const wheel& w) { return (std::acos(real(-1)) / 2 - std::atan2(w.y0, w.x0)) / w.speed; };
      expect_slope(reduced(2), of(top), what("time(max(y))"));
      const auto integral = [](const wheel& w) {
        const real e = 4 * w.bend * w.growth;
        return ((std::pow(1 + 2 * e, real(1.5)) - 1) / (real(1.5) * e) - 2) / (2 * w.bend);
      };
      expect_slope(reduced(3), of(integral), what("integral(z)"));
      // x z turns where z' / z = speed tan(angle).
      const auto turns = [](const wheel& w) {
        real low = 0.3L, high = 1;
        for (int i = 0; i < 80; ++i) {
          const real t = (low + high) / 2, z = w.at(t)[2];
          const bool rises =
              w.growth / (1 + 2 * w.bend * z) / z > w.speed * std::tan(std::atan2(w.y0, w.x0) + w.speed * t);
          (rises ? low : high) = t;
        }
        return low;
      };
      expect_slope(reduced(4), of(turns), what("time(max(power))"));
    }
  }
}

/// The end of a turned_wheel, whatever the order of its events: x, y, z.
end_of_run follow(const wheel& w, real end) {
  constexpr real turn = 2 * std::numbers::pi_v<real>, never = 1e6L;
  real t = 0, angle = std::atan2(w.y0, w.x0), r = w.radius, pulls = w.pulls();
  end_of_run e;
  const auto until_pass = [&] {
    if (std::fabs(w.mark) >= r) return never;
    const real way = std::fmod(std::asin(w.mark / r) - angle, turn);
    const bool is_behind = way < 0 || (way < 1e-12L && !e.events.empty());
    return (is_behind ? way + turn : way) / w.speed;
  };
  for (;;) {
    const real way = until_pass();
    if (std::min(t + way, pulls) > end) break;
    const bool passes = t + way < pulls;
    angle += w.speed * (passes ? way : pulls - t);
    t = passes ? t + way : pulls;
    e.events.push_back(passes);
    if (passes) {
      r = w.wider;
      continue;
    }
    pulls = never;
    const real y = r * std::sin(angle), x = w.keep * r * std::cos(angle);
    angle = std::atan2(std::copysign(std::sqrt(r * r - x * x), y), x);
    if (y < w.mark && r * std::sin(angle) > w.mark) r = w.wider, e.events.push_back(2);  // the other event follows
  }
  angle += w.speed * (end - t);
  e.at = {r * std::cos(angle), r * std::sin(angle), (std::sqrt(1 + 4 * w.bend * w.growth * end) - 1) / (2 * w.bend)};
  return e;
}

TEST(Index2Sensitivities, OfRandomPointsOnACircle) {
  std::mt19937_64 random(1);
  const auto draw = [&](double low, double high) { return std::uniform_real_distribution<double>(low, high)(random); };
  std::vector<wheel> all;
  for (std::size_t n = 0; n < 2000; ++n) {
    const double radius = draw(0.6, 1.4), angle = draw(-2, 2), off = draw(0.7, 1.3);
    all.push_back({off * radius * std::cos(angle), off * radius * std::sin(angle), draw(0.5, 3), radius, draw(0.6, 1.6),
                   draw(-0.5, 0.5), draw(0.1, 0.6), draw(0.4, 1.5), draw(0.3, 1.2), draw(0.3, 0.9)});
  }
  expect_none_silent("turned_wheel", "radau5", names, members, all);
}

/// joined_tanks, where p passes its mark before m p + q does.
struct tanks {
  real p0 = 1.5L, q0 = 1, m = 1.2L, k = 0.6L, c = 0.4L, d = 0.3L, mark = 1, up = 1.3L, low = 1.5L, kick = 0.2L;

  /// p where m p + q is `sum`.
  real level(real sum, real t, real shift) const {
    return (std::sqrt(m * m + 4 * c * (sum - d * t - shift)) - m) / (2 * c);
  }
  real sum(real t) const { return (m * p0 + q0) * std::exp(-k * t); }
  real falls() const {
    real low_end = 0, high_end = 2;
    for (int i = 0; i < 100; ++i) {
      const real middle = (low_end + high_end) / 2;
      (level(sum(middle), middle, 0) > mark ? low_end : high_end) = middle;
    }
    return low_end;
  }
  real raised() const { return m * up * mark + c * up * up * mark * mark + d * falls(); }
  real sinks() const { return falls() + std::log(raised() / low) / k; }
  /// p, q, p q
  std::array<real, 3> at(real t) const {
    const bool has_sunk = t > sinks();
    const real s = t < falls() ? sum(t)
                   : has_sunk  ? low * std::exp(-k * (t - sinks()))
                               : raised() * std::exp(-k * (t - falls()));
    const real p = level(s, t, has_sunk ? kick : 0), q = s - m * p;
    return {p, q, p * q};
  }
};

const std::vector<std::string> tank_names = {"initial.p", "initial.q", "m", "k", "c", "d", "mark", "up", "low", "kick"};
real tanks::*const tank_members[] = {&tanks::p0, &tanks::q0,   &tanks::m,  &tanks::k,   &tanks::c,
                                     &tanks::d,  &tanks::mark, &tanks::up, &tanks::low, &tanks::kick};

TEST(Index2Sensitivities, OfAMassMatrixThatMixesDerivatives) {
  for (const char* method : {"rodas5p", "radau5", "esdirk4", "sdirk4"}) {
    const auto r = run(test_model("joined_tanks"),
                       {"rtol=1e-10", "atol=1e-12", std::string("method=") + method, by(tank_names), "initial.p=1.5",
                        "initial.q=1.0", "output.events=true", "output.samples.times=[0.0,0.5,1.2,1.9]",
                        "output.reduce=['max(q) from 0.2', 'time(max(p)) from 0.1', 'value(product at 1.0)']"});
    ASSERT_STREQ(reason_of(r), "defined") << method;
    ASSERT_EQ(r.log.size(), 3u);  // p passes its mark once more, without effect
    for (std::size_t j = 0; j < tank_names.size(); ++j) {
      const auto of = [&](const auto& value) {
        return [&, value](real d) {
          tanks one;
          one.*tank_members[j] += d;
          return value(one);
        };
      };
      const auto what = [&](const std::string& of_what) {
        return fmt::format("{}: {} by {}", method, of_what, tank_names[j]);
      };
      expect_slope(r.log[0].derivative[j], of([](const tanks& one) { return one.falls(); }), what("falls"));
      expect_slope(r.log[2].derivative[j], of([](const tanks& one) { return one.sinks(); }), what("sinks"));
      for (std::size_t i = 0; i < 3; ++i) {
        expect_slope(r.derivative(i, j), of([&](const tanks& one) { return one.at(2)[i]; }),
                     what(fmt::format("{}", i)));
        const real times[] = {0, 0.5L, 1.2L, 1.9L};
        for (int k = 0; k < 4; ++k)
          expect_slope(r.sample(3 * (1 + j) + i, 0, k), of([&](const tanks& one) { return one.at(times[k])[i]; }),
                       what(fmt::format("{} at sample {}", i, k)));
      }
    }
  }
}

/// The end of joined_tanks, whatever the order of its events: p, q, p q.
end_of_run follow(const tanks& one, real end) {
  real t = 0, s = one.m * one.p0 + one.q0, shift = 0;
  bool is_raised = false;
  end_of_run e;
  const auto sum = [&](real at) { return s * std::exp(-one.k * (at - t)); };
  const auto fall = [&](real at) {
    e.events.push_back(0);
    if (is_raised) return;
    const real p = one.up * one.level(s, at, shift);
    s = one.m * p + one.c * p * p + one.d * at + shift, is_raised = true;
  };
  for (;;) {
    const real sinks = s > one.low ? t + std::log(s / one.low) / one.k : real(1e6);
    real falls = 1e6L;
    if (one.level(s, t, shift) > one.mark + 1e-12L && one.level(sum(end), end, shift) < one.mark) {
      real low = t, high = end;
      for (int i = 0; i < 80; ++i) {
        const real middle = (low + high) / 2;
        (one.level(sum(middle), middle, shift) > one.mark ? low : high) = middle;
      }
      falls = low;
    }
    const real next = std::min(falls, sinks);
    if (next > end) break;
    s = sum(next), t = next;
    if (falls < sinks) {
      fall(t);
      continue;
    }
    e.events.push_back(1);
    s *= 1 - 1e-17L;
    const real before = one.level(s, t, shift);
    shift = one.kick;
    if (before > one.mark && one.level(s, t, shift) < one.mark) fall(t);
  }
  const real p = one.level(sum(end), end, shift);
  e.at = {p, sum(end) - one.m * p, p * (sum(end) - one.m * p)};
  return e;
}

TEST(Index2Sensitivities, OfRandomMassMatricesThatMixDerivatives) {
  std::mt19937_64 random(1);
  const auto draw = [&](double low, double high) { return std::uniform_real_distribution<double>(low, high)(random); };
  std::vector<tanks> all;
  for (std::size_t n = 0; n < 2000; ++n)
    all.push_back({draw(1, 2), draw(0.5, 1.5), draw(0.8, 1.6), draw(0.2, 0.8), draw(0.2, 0.6), draw(0, 0.3),
                   draw(0.7, 1.2), draw(1.1, 1.4), draw(1.2, 2), draw(-0.2, 0.3)});
  expect_none_silent("joined_tanks", "rodas5p", tank_names, tank_members, all);
}

}  // namespace
}  // namespace saltus::test
