// Derivatives of mechanical systems: constraints that switch on and off, starts off the constraints, impacts. Random trajectories against
// closed forms, and other systems against the same motion in other coordinates.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include "derivative_runs.hpp"

namespace saltus::test {
namespace {

// ------------------------------------------------------------------------------------------------- carts, in closed form

/// Parameters of tests/models/coupled_carts.hpp by which derivatives are taken; then initial values.
const std::vector<std::string> names = {"mass_1", "mass_2", "gravity", "thrust", "length", "restitution", "bounce",
                                        "period", "kick",   "x_1",     "x_2",    "v_1",    "v_2"};
enum item { mass_1, mass_2, gravity, thrust, length, restitution, bounce, period, kick, x_1, x_2, v_1, v_2, items };

/// A number with its derivatives by all items.
struct tangent {
  long double value = 0;
  std::array<long double, items> d{};

  tangent() = default;
  tangent(long double x) : value(x) {}
  tangent(long double x, std::array<long double, items> rates) : value(x), d(rates) {}
};
template <class F>
tangent combine(long double value, const tangent& a, const tangent& b, F&& rate) {
  tangent r(value);
  for (std::size_t j = 0; j < items; ++j) r.d[j] = rate(a.d[j], b.d[j]);
  return r;
}
tangent operator+(const tangent& a, const tangent& b) {
  return combine(a.value + b.value, a, b, [](auto x, auto y) { return x + y; });
}
tangent operator-(const tangent& a, const tangent& b) {
  return combine(a.value - b.value, a, b, [](auto x, auto y) { return x - y; });
}
tangent operator*(const tangent& a, const tangent& b) {
  return combine(a.value * b.value, a, b, [&](auto x, auto y) { return x * b.value + a.value * y; });
}
tangent operator/(const tangent& a, const tangent& b) {
  return combine(a.value / b.value, a, b, [&](auto x, auto y) { return (x - a.value / b.value * y) / b.value; });
}

constexpr long double never = std::numeric_limits<long double>::infinity();

/// The first time s > 0 at which x + v s + a s^2 / 2 falls through zero, and the speed there.
struct fall {
  tangent after = never;
  long double speed = 0;
};
fall time_of_fall(const tangent& x, const tangent& v, const tangent& a) {
  const long double root = std::sqrt(v.value * v.value - 2 * a.value * x.value);
  if (!(root > 0)) return {};
  // Falling, so v + a s = -root.
  const long double s =
      v.value + root != 0 && v.value > 0 ? (-v.value - root) / a.value : 2 * x.value / (root - v.value);
  if (!(s > 1e-15L)) return {};
  tangent after(s);
  for (std::size_t j = 0; j < items; ++j) after.d[j] = (x.d[j] + v.d[j] * s + a.d[j] * s * s / 2) / root;
  return {after, root};
}

/// One trajectory.
struct carts {
  tangent x1, x2, v1, v2, tension;  ///< at the end; `tension` is the integral
  std::vector<tangent> times;
  long double margin = never;  ///< least distance between events, and least speed at which a guard is met

  static std::optional<carts> run(const std::array<double, items>& p, bool hard, bool coupled, long double t_end) {
    std::array<tangent, items> all;
    for (std::size_t j = 0; j < items; ++j) all[j].value = p[j], all[j].d[j] = 1;
    carts r;
    r.x1 = all[x_1], r.x2 = all[x_2], r.v1 = all[v_1], r.v2 = all[v_2];
    const tangent &m1 = all[mass_1], &m2 = all[mass_2], &g = all[gravity], mass = m1 + m2;
    const tangent half(0.5L);
    const auto stick = [&] { r.v1 = r.v2 = (m1 * r.v1 + m2 * r.v2) / mass; };
    if (coupled) {
      const tangent centre = (m1 * r.x1 + m2 * r.x2) / mass;
      r.x1 = centre - m2 * all[length] / mass, r.x2 = centre + m1 * all[length] / mass;
      stick();
    }
    if (r.x1.value < 0.01L || (!coupled && r.x2.value - r.x1.value < p[length] + 0.01)) return {};
    tangent t(0), next_pulse = all[period];
    while (r.times.size() < 60) {
      const tangent together = (all[thrust] - mass * g) / mass;
      const tangent a1 = coupled ? together : tangent(0) - g, a2 = coupled ? together : all[thrust] / m2 - g;
      const fall lands = time_of_fall(r.x1, r.v1, a1);
      const fall meets = coupled ? fall{} : time_of_fall(r.x2 - r.x1 - all[length], r.v2 - r.v1, a2 - a1);
      const tangent to_pulse = next_pulse - t;
      std::array<long double, 4> due = {lands.after.value, meets.after.value, to_pulse.value, t_end - t.value};
      const auto which = std::min_element(due.begin(), due.end()) - due.begin();
      tangent s = which == 0 ? lands.after : which == 1 ? meets.after : which == 2 ? to_pulse : tangent(t_end) - t;
      std::sort(due.begin(), due.end());
      r.margin = std::min({r.margin, due[1] - due[0], which == 3 ? never : due[0], which == 0 ? lands.speed : never,
                           which == 1 ? meets.speed : never});
      if (coupled) r.tension = r.tension + (m2 * (together + g) - all[thrust]) * s;
      r.x1 = r.x1 + r.v1 * s + half * a1 * s * s, r.x2 = r.x2 + r.v2 * s + half * a2 * s * s;
      r.v1 = r.v1 + a1 * s, r.v2 = r.v2 + a2 * s;
      t = t + s;
      if (which == 3) return r;
      r.times.push_back(t);
      if (which == 0) {
        r.x1.value = 0;
        const tangent up = tangent(0) - all[restitution] * r.v1;
        if (coupled) r.v2 = up;
        r.v1 = up;
      } else if (which == 1 && hard) {
        const tangent impulse = (tangent(1) + all[bounce]) * (r.v1 - r.v2) / (tangent(1) / m1 + tangent(1) / m2);
        r.v1 = r.v1 - impulse / m1, r.v2 = r.v2 + impulse / m2;
        r.x2.value = r.x1.value + p[length];
      } else if (which == 1) {
        coupled = true;
        stick();
      } else {
        (coupled ? r.v2 : r.v1) = coupled ? r.v2 + all[kick] : r.v1 - all[kick];
        if (coupled) r.x2.value = r.x1.value + p[length] + 1e-18L;
        coupled = false;
        next_pulse = next_pulse + all[period];
      }
    }
    return {};
  }
};

struct tally_of_carts {
  int trajectories = 0, events = 0, numbers = 0, flagged = 0, needlessly = 0, silent = 0;
  double largest_error = 0;
};

/// Compares the trajectories of `count` random carts.
void expect_closed_forms(std::size_t count, unsigned seed, const std::string& method,
                         const std::vector<std::size_t>& directions) {
  constexpr double t_end = 1.2, part = 1e-6;
  std::mt19937_64 random(seed);
  const auto draw = [&](double low, double high) { return std::uniform_real_distribution<double>(low, high)(random); };
  std::vector<std::array<double, items>> rows;
  std::vector<double> hard, coupled;
  for (std::size_t n = 0; n < count; ++n) {
    std::array<double, items> p = {
        draw(0.5, 2),   draw(0.2, 1), draw(5, 12),    draw(-2, 4), draw(0.5, 1.5), draw(0.4, 0.95), draw(0.2, 0.9),
        draw(0.3, 1.1), draw(0.5, 2), draw(0.5, 1.5), 0,           draw(-1, 1),    draw(-1, 1)};
    p[x_2] = p[x_1] + p[length] + draw(0.05, 1.5);
    rows.push_back(p);
    hard.push_back(n % 2 == 0 ? 1 : 0);
    coupled.push_back(n % 3 == 0 ? 1 : 0);
  }
  std::vector<std::string> asked;
  for (const std::size_t j : directions) asked.push_back(j < x_1 ? names[j] : "initial." + names[j]);
  std::vector<std::string> settings = {"rtol=1e-10",
                                       "atol=1e-12",
                                       "max_events=500",
                                       "t=[0.0,1.2]",
                                       "method=" + method,
                                       "output.events=true",
                                       "output.reduce=['integral(tension)']",
                                       by(asked),
                                       set("sweep.zip.hard", hard),
                                       set("sweep.zip.begins_coupled", coupled)};
  for (std::size_t i = 0; i < items; ++i) {
    std::vector<double> column;
    for (const auto& row : rows) column.push_back(row[i]);
    settings.push_back(set("sweep.zip." + names[i], column));
  }
  const auto r = run(test_model("coupled_carts"), settings);
  std::vector<std::vector<const std::remove_cvref_t<decltype(r.log)>::value_type*>> logs(count);
  for (const auto& e : r.log) logs[static_cast<std::size_t>(e.instance)].push_back(&e);
  tally_of_carts all;
  for (std::size_t n = 0; n < count; ++n) {
    const auto id = static_cast<std::int64_t>(n);
    const auto here = carts::run(rows[n], hard[n] > 0.5, coupled[n] > 0.5, t_end);
    // Near an accumulation, or where two events come close to each other, the solver may find other events.
    if (!here || here->margin < 1e-5L) continue;
    ++all.trajectories;
    all.events += static_cast<int>(here->times.size());
    if (r.sensitivity[n] != 0) {
      ++all.flagged;
      all.needlessly += here->margin > 1e-2L;
      continue;
    }
    const auto compare = [&](double value, double derivative, const tangent& due, std::size_t j,
                             const std::string& of) {
      const double exact = static_cast<double>(due.d[directions[j]]);
      const double error = std::max(std::fabs(derivative - exact) / (1 + std::fabs(exact)),
                                    std::fabs(value - static_cast<double>(due.value)));
      all.largest_error = std::max(all.largest_error, error);
      ++all.numbers;
      if (!(error < part) && ++all.silent < 10)
        ADD_FAILURE() << fmt::format("instance {}: d {} / d {} is {}, not {}; its value {}, not {}; margin {}", n, of,
                                     asked[j], derivative, exact, value, static_cast<double>(due.value),
                                     static_cast<double>(here->margin));
    };
    ASSERT_EQ(logs[n].size(), here->times.size()) << n;
    for (std::size_t j = 0; j < directions.size(); ++j) {
      const tangent* const finals[] = {&here->x1, &here->x2, &here->v1, &here->v2};
      for (std::size_t q = 0; q < 4; ++q)
        compare(r.final_state[q * count + n], r.derivative(q, j, id), *finals[q], j, names[x_1 + q]);
      for (std::size_t k = 0; k < logs[n].size(); ++k)
        compare(logs[n][k]->time, logs[n][k]->derivative[j], here->times[k], j, fmt::format("time {}", k));
      compare(r.reductions[n], r.derivative(4 + 1 + 1, j, id), here->tension, j, "integral of the tension");
    }
  }
  std::printf("%d trajectories with %d events: %d numbers, errors up to %.1e, %d flagged (%d needlessly), %d wrong\n",
              all.trajectories, all.events, all.numbers, all.largest_error, all.flagged, all.needlessly, all.silent);
  EXPECT_EQ(all.silent, 0);
  EXPECT_GT(all.trajectories, static_cast<int>(count / 2));
  EXPECT_LE(all.needlessly, static_cast<int>(count / 500));
}

TEST(MechanicalSensitivities, OfCarts) { expect_closed_forms(600, 1, "dp5", {mass_1, length, restitution, x_2}); }
TEST(MechanicalSensitivities, OfManyCarts) {
  for (unsigned seed = 2; seed < 12; ++seed)
    expect_closed_forms(5000, seed, "dp5", {mass_1, gravity, length, restitution, kick, x_2});
  for (unsigned seed = 12; seed < 22; ++seed)
    expect_closed_forms(5000, seed, "dp5", {mass_2, thrust, bounce, period, x_1, v_2});
}

// ------------------------------------------------------------------------------------------------- beside differences of runs

struct MechanicalSensitivitiesBesideDifferences : testing::TestWithParam<int> {};
TEST_P(MechanicalSensitivitiesBesideDifferences, Agree) {
  const std::vector<differenced> all = {
      {"index_3_pendulum", {"t=[0.0,3.0]"}, {{"length", 1.0}, {"gravity", 13.75}}, 1e-6},
      // impacts with friction, a disc that slips and then rolls
      {"thrown_disc", {"t=[0.0,1.5]", "method=dp5"}, {{"mu", 0.2}, {"restitution", 0.6}}, 1e-6},
      // impacts of two contacts in one body
      {"bouncing_rod", {"t=[0.0,0.6]", "method=dp5"}, {{"half_length", 0.5}, {"restitution", 0.5}}, 1e-6},
      // constraints that are approached from elsewhere
      {test_model("braked"), {"method=dp5"}, {{"braking", 1.0}}, 1e-6},
      // nonholonomic constraints, and a contact whose force changes sign
      {"rimless_wheel_dae", {"t=[0.0,2.0]", "method=dp5"}, {{"slope", 0.08}}, 1e-6},
  };
  expect_differences(all[static_cast<std::size_t>(GetParam())]);
}
INSTANTIATE_TEST_SUITE_P(All, MechanicalSensitivitiesBesideDifferences, testing::Range(0, 5));

TEST(MechanicalSensitivities, OfImpactsThatNeitherPushNorOpen) {
  // All eight gradients are equal. Whichever way one of them changes, the other seven contacts push in its place.
  const auto r = run(test_model("cone"), {"method=bs3", by({"normal_0"})});
  EXPECT_STREQ(reason_of(r), "order");
  EXPECT_TRUE(std::isnan(r.derivative(0)));
}

}  // namespace
}  // namespace saltus::test
