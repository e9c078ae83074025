// Impacts with Coulomb friction. Every number comes from analysis, or from an enumeration of all modes of contacts that shares nothing
// with the kernels.
#include <array>
#include <optional>
#include <random>

#include <gtest/gtest.h>

#include "event_runs.hpp"
#include "full_pivoting.hpp"
#include "same_bits.hpp"

namespace saltus::test {
namespace {

// ------------------------------------------------------------------------------------------------- a disc on the floor

/// Closed form of thrown_disc: the vertical motion is that of a ball without friction, and each impact takes mu (1 + e) |v_n| (1 + 1/shape)
/// from the slip of the lowest point, or all of the slip.
struct thrown {
  double e, mu, shape = 0.5, vx = 1.0, omega = 60.0, r = 0.1, g = 9.81, height = 0.9, slowest = 0.01;

  struct state {
    double time, x, vx, omega;
  };
  std::vector<state> impacts;
  double rolls = 0.0, x = 0.0;  ///< time and place at which rolling begins

  explicit thrown(double e_, double mu_, double shape_ = 0.5, double omega_ = 60.0)
      : e(e_), mu(mu_), shape(shape_), omega(omega_) {
    double time = std::sqrt(2.0 * height / g), vn = g * time;
    x = vx * time;
    for (bool bounces = true; bounces;) {
      bounces = e * vn >= slowest;
      push(mu * (bounces ? 1.0 + e : 1.0) * vn);
      impacts.push_back({time, x, vx, omega});
      if (!bounces) break;
      vn *= e;
      x += vx * 2.0 * vn / g;
      time += 2.0 * vn / g;
    }
    const double slides = std::fabs(slip()) / (mu * g * (1.0 + 1.0 / shape)), before = vx;
    push(mu * g * slides);
    x += (before + vx) / 2.0 * slides;
    rolls = time + slides;
  }
  double slip() const { return vx + r * omega; }
  /// Applies at most the friction impulse per unit of mass, but no more than ends the slip.
  void push(double most) {
    const double p = std::copysign(std::min(most, std::fabs(slip()) / (1.0 + 1.0 / shape)), -slip());
    vx += p;
    omega += p / (shape * r);
  }
};

TEST(ThrownDisc, BouncesSlidesAndRollsAsTheClosedFormDoes) {
  int stuck_in_flight = 0, slid = 0;
  for (const auto& [e, mu, shape, omega] : {std::array{0.6, 0.2, 0.5, 60.0},
                                            {0.6, 0.02, 0.5, 60.0},
                                            {0.9, 0.05, 1.0, -80.0},
                                            {0.0, 0.3, 0.4, 60.0},
                                            {0.6, 0.0001, 0.5, -10.000001},
                                            {0.3, 0.1, 0.5, -200.0}}) {
    SCOPED_TRACE(fmt::format("e {}, mu {}, shape {}, omega {}", e, mu, shape, omega));
    const thrown exact(e, mu, shape, omega);
    const outcome r = run("thrown_disc", {"rtol=1e-10", "output.events=true", "t=[0.0,20.0]", set("restitution", e),
                                          set("mu", mu), set("shape", shape), set("omega", omega)});
    ASSERT_EQ(name_of(r.status[0]), "finished");
    std::size_t at = 0;
    for (const auto& i : exact.impacts) {
      ASSERT_LT(at, r.log.size());
      EXPECT_EQ(r.log[at].guard, "lands");
      EXPECT_NEAR(r.log[at].time, i.time, 1e-10);
      EXPECT_NEAR(r.log[at].after[0], i.x, 1e-10);
      EXPECT_NEAR(r.log[at].after[3], i.vx, 1e-11);
      EXPECT_NEAR(r.log[at].after[5], i.omega, 1e-10);
      ++at;
    }
    const bool slides = exact.rolls > exact.impacts.back().time + 1e-9;
    if (slides) {
      ASSERT_LT(at, r.log.size());
      EXPECT_EQ(r.log[at].guard, "halts");
      EXPECT_NEAR(r.log[at].time, exact.rolls, 1e-9);
      ++at;
    }
    (slides ? slid : stuck_in_flight) += 1;
    EXPECT_EQ(at, r.log.size());
    EXPECT_EQ(discrete(r, "rolls"), 1.0);
    EXPECT_NEAR(r.final("vx"), exact.vx, 1e-10);
    EXPECT_NEAR(r.final("omega"), exact.omega, 1e-9);
    EXPECT_NEAR(r.final("x"), exact.x + exact.vx * (20.0 - exact.rolls), 1e-8);
  }
  EXPECT_GE(stuck_in_flight, 2);
  EXPECT_GE(slid, 2);
}

// Normal and tangential directions of a disc's contact are decoupled: energy never grows, for all e <= 1 and mu.
TEST(ThrownDisc, NeverGainsEnergy) {
  const outcome r = run("thrown_disc", {"rtol=1e-9", "t=[0.0,3.0]", "sample.count=500", "sample.seed=3",
                                        "sample.restitution={uniform=[0.0,1.0]}", "sample.mu={uniform=[0.0,2.0]}",
                                        "sample.omega={uniform=[-90.0,90.0]}", "sample.shape={uniform=[0.05,1.0]}",
                                        "output.reduce=['max(energy)']", "output.samples.count=2"});
  ASSERT_EQ(r.summary.counts.ok(), 500);
  for (std::int64_t i = 0; i < 500; ++i)
    EXPECT_LE(r.reductions[static_cast<std::size_t>(i)], r.sample(7, i, 0) * (1.0 + 1e-8)) << i;
}

TEST(ThrownDisc, HasTheSameBitsInAllLanes) {
  const auto go = [](const std::vector<std::string>& more) {
    return run("thrown_disc", with({"rtol=1e-8", "sample.count=133", "sample.seed=4", "sample.mu={uniform=[0.0,0.5]}",
                                    "sample.restitution={uniform=[0.0,0.9]}", "sample.omega={uniform=[-90.0,90.0]}",
                                    "output.samples.count=5", "output.events=true"},
                                   more));
  };
  const outcome reference = go({"run.lanes=1", "run.threads=1"});
  EXPECT_EQ(reference.summary.counts.ok(), 133);
  for (const auto& [lanes, threads, chunk] : {std::tuple(4, 2, 7), {8, 1, 33}}) {
    const outcome r = go({fmt::format("run.lanes={}", lanes), fmt::format("run.threads={}", threads),
                          fmt::format("run.chunk={}", chunk)});
    for (std::int64_t i = 0; i < 133; ++i) expect_same(reference, i, r, i);
    expect_same_log(reference, r);
  }
}

// --------------------------------------------------------------------------------------------------------- simultaneous

/// A body that meets up to four rough surfaces at once: tests/models/rough_corner.hpp.
struct corner {
  static constexpr std::size_t most = 4;
  std::size_t count;
  std::array<std::array<double, 3>, most> across{}, along{};
  std::array<double, 3> mass, v;
  std::array<double, most> mu{};
  double e;

  using vector = std::array<double, 3>;
  static double speed(const vector& row, const vector& u) { return row[0] * u[0] + row[1] * u[1] + row[2] * u[2]; }
  double response(const vector& a, const vector& b) const {
    return a[0] * b[0] / mass[0] + a[1] * b[1] / mass[1] + a[2] * b[2] / mass[2];
  }
  double energy(const vector& u) const {
    return 0.5 * (mass[0] * u[0] * u[0] + mass[1] * u[1] * u[1] + mass[2] * u[2] * u[2]);
  }
  std::vector<std::string> settings() const {
    std::vector<std::string> s = {"rtol=1e-10", "event_tol=1e-12", "output.events=true", set("restitution", e),
                                  fmt::format("surfaces={}.0", count)};
    for (std::size_t k = 0; k < most; ++k)
      for (std::size_t j = 0; j < 3; ++j) {
        s.push_back(set(fmt::format("across_{}", 3 * k + j), across[k][j]));
        s.push_back(set(fmt::format("along_{}", 3 * k + j), along[k][j]));
      }
    for (std::size_t k = 0; k < most; ++k) s.push_back(set(fmt::format("mu_{}", k), mu[k]));
    for (std::size_t j = 0; j < 3; ++j) {
      s.push_back(set(fmt::format("inertia_{}", j), mass[j]));
      s.push_back(set(fmt::format("v_{}", j), v[j]));
    }
    return s;
  }
};

corner random_corner(unsigned seed, std::size_t count) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> any(-1.0, 1.0), positive(0.2, 2.0);
  corner c;
  c.count = count;
  for (std::size_t j = 0; j < 3; ++j) c.mass[j] = positive(random), c.v[j] = any(random);
  c.e = (any(random) + 1.0) / 2.0;
  for (std::size_t k = 0; k < count; ++k) {
    do
      for (double& x : c.across[k]) x = any(random);
    while (!(corner::speed(c.across[k], c.v) < -0.05 * std::sqrt(corner::speed(c.v, c.v))));
    for (double& x : c.along[k]) x = any(random);
    c.mu[k] = any(random) + 1.0;
  }
  return c;
}

using four = std::array<double, corner::most>;

/// A possible outcome of an impact: velocities, and normal impulses.
struct solution {
  corner::vector v;
  four normal;
};

/// Assumption about one contact: a normal impulse beyond the least, and a tangential one.
enum sliding { none, sticks, up, down };
struct mode {
  bool more;
  sliding along;
};

corner::vector sum(const corner::vector& a, double f, const corner::vector& b) {
  return {a[0] + f * b[0], a[1] + f * b[1], a[2] + f * b[2]};
}

/// Impulses of the given modes, from as many equations; nothing if the equations depend on each other, or the impulses violate the
/// laws.
std::optional<solution> in_modes(const corner& c, const std::vector<mode>& of, const corner::vector& before, double e,
                                 const four& least) {
  corner::vector v = before;
  const auto give = [&](const corner::vector& direction, double p) {
    for (std::size_t j = 0; j < 3; ++j) v[j] += direction[j] * p / c.mass[j];
  };
  // The normal impulse of a slipping contact implies a tangential one.
  const auto pull = [&](std::size_t k) { return of[k].along == up ? -c.mu[k] : of[k].along == down ? c.mu[k] : 0.0; };
  const auto whole = [&](std::size_t k) { return sum(c.across[k], pull(k), c.along[k]); };
  std::size_t equations = 0;
  for (std::size_t k = 0; k < c.count; ++k) {
    if (!of[k].more && least[k] == 0.0 && of[k].along != none) return {};  // no impulse, no friction
    equations += (of[k].more ? 1 : 0) + (of[k].along == sticks ? 1 : 0);
  }
  if (equations > 3) return {};  // dependent, since there are three velocities
  for (std::size_t k = 0; k < c.count; ++k) give(whole(k), least[k]);

  struct unknown {
    std::size_t contact;
    bool is_along;
    corner::vector row, direction;
  };
  std::vector<unknown> unknowns;
  for (std::size_t k = 0; k < c.count; ++k) {
    if (of[k].more) unknowns.push_back({k, false, c.across[k], whole(k)});
    if (of[k].along == sticks) unknowns.push_back({k, true, c.along[k], c.along[k]});
  }
  std::vector<std::vector<double>> m;
  std::vector<double> b, p;
  for (const auto& row : unknowns) {
    m.emplace_back();
    for (const auto& column : unknowns) m.back().push_back(c.response(row.row, column.direction));
    b.push_back(-corner::speed(row.row, v) - (row.is_along ? 0.0 : e * corner::speed(row.row, before)));
  }
  if (!solve(m, b, p)) return {};

  four pn = least, pt{};
  for (std::size_t i = 0; i < p.size(); ++i) {
    give(unknowns[i].direction, p[i]);
    (unknowns[i].is_along ? pt : pn)[unknowns[i].contact] += p[i];
  }
  constexpr double some = 1e-9;
  for (std::size_t k = 0; k < c.count; ++k) {
    pt[k] += pull(k) * pn[k];
    const double un = corner::speed(c.across[k], v) + e * corner::speed(c.across[k], before);
    const double ut = corner::speed(c.along[k], v);
    if (pn[k] < least[k] - some || un < -some || (pn[k] - least[k] > some && un > some)) return {};
    if (std::fabs(pt[k]) > c.mu[k] * pn[k] + some) return {};
    if (std::fabs(ut) > some && std::fabs(pt[k] + std::copysign(c.mu[k] * pn[k], ut)) > some) return {};
  }
  return solution{v, pn};
}

/// All possible outcomes of an impact.
std::vector<solution> all_modes(const corner& c, const corner::vector& before, double e, const four& least = {}) {
  std::vector<solution> found;
  for (std::size_t choice = 0; choice < std::size_t{1} << (3 * c.count); ++choice) {
    std::vector<mode> of;
    for (std::size_t k = 0; k < c.count; ++k)
      of.push_back({(choice >> 3 * k & 1) != 0, static_cast<sliding>(choice >> (3 * k + 1) & 3)});
    if (const auto one = in_modes(c, of, before, e, least)) found.push_back(*one);
  }
  return found;
}

/// The same by Poisson's law: an expansion for each compression.
std::vector<solution> all_modes_by_poisson(const corner& c) {
  std::vector<solution> found;
  for (const auto& compressed : all_modes(c, c.v, 0.0)) {
    four least = compressed.normal;
    for (double& p : least) p = std::max(p, 0.0) * c.e;
    for (const auto& one : all_modes(c, compressed.v, 0.0, least)) found.push_back(one);
  }
  return found;
}

double nearest(const std::vector<solution>& all, const corner::vector& v) {
  double least = HUGE_VAL;
  for (const auto& one : all) {
    double off = 0.0;
    for (std::size_t j = 0; j < 3; ++j) off = std::max(off, std::fabs(one.v[j] - v[j]));
    least = std::min(least, off);
  }
  return least;
}

struct tally {
  int found = 0, none = 0, missed = 0, gained = 0;  ///< missed: no impulses were found although some exist
};

/// Impacts at random corners, each compared with all outcomes that modes allow.
tally compare(std::size_t count, unsigned cases, const char* law) {
  tally t;
  const bool poisson = std::string(law) == "Poisson";
  for (unsigned seed = 1; seed <= cases; ++seed) {
    SCOPED_TRACE(fmt::format("{} surfaces, {}, seed {}", count, law, seed));
    corner c = random_corner(seed, count);
    if (std::string(law) == "plastic") c.e = 0.0;
    const auto expected = poisson ? all_modes_by_poisson(c) : all_modes(c, c.v, c.e);
    const outcome r = run(test_model("rough_corner"), with(c.settings(), {set("by_poisson", poisson ? 1.0 : 0.0)}));
    if (name_of(r.status[0]) == "no_impulses") {
      (expected.empty() ? t.none : t.missed) += 1;
      continue;
    }
    EXPECT_EQ(name_of(r.status[0]), "stopped");
    if (r.log.size() != count) {
      ADD_FAILURE() << "not all at once";
      continue;
    }
    const corner::vector after = {r.log[0].after[3], r.log[0].after[4], r.log[0].after[5]};
    EXPECT_LT(nearest(expected, after), 1e-10);
    t.found += 1;
    t.gained += c.energy(after) > c.energy(c.v) * (1.0 + 1e-12);
    for (std::size_t k = 0; k < count; ++k) {
      const double slip = discrete(r, fmt::format("slips_{}", k)), speed = corner::speed(c.along[k], after);
      EXPECT_NEAR(slip, speed, 1e-12);
      EXPECT_EQ(slip == 0.0, std::fabs(speed) < 1e-11) << "sticking is told exactly";
    }
  }
  return t;
}

// Lemke's method finds a solution in all cases guaranteed by theory, without restitution and with Poisson's law; with Newton's law, in
// nearly all solvable cases. Energy never grows without restitution (a theorem), nor with Poisson's law (an observation); it may grow
// with Newton's law if contacts have friction.
TEST(RoughImpacts, AreAmongWhatAllModesAllow) {
  int gained = 0, missed = 0, cases = 0;
  for (std::size_t count = 1; count <= 4; ++count) {
    const unsigned each = count < 4 ? 100 : 40;
    for (const char* law : {"plastic", "Poisson"}) {
      const tally t = compare(count, each, law);
      EXPECT_EQ(t.found, static_cast<int>(each)) << count << " surfaces, " << law;
      EXPECT_EQ(t.gained, 0) << count << " surfaces, " << law;
    }
    const tally t = compare(count, each, "Newton");
    if (count == 1) { EXPECT_EQ(t.found, static_cast<int>(each)); }
    gained += t.gained, missed += t.missed, cases += static_cast<int>(3 * each);
  }
  EXPECT_EQ(cases, 1020);
  EXPECT_GT(gained, 10);
  EXPECT_LT(missed, 10);
}

// A drive that keeps the first velocity makes the body infinitely heavy in its direction.
TEST(RoughImpacts, LeaveAloneWhatAConstraintKeeps) {
  int found = 0;
  for (unsigned seed = 1; seed <= 60; ++seed) {
    SCOPED_TRACE(seed);
    corner c = random_corner(seed, 2);
    c.e = 0.0;
    c.v[0] = -1.0;
    if (!(corner::speed(c.across[0], c.v) < -0.05 && corner::speed(c.across[1], c.v) < -0.05)) continue;
    const outcome r = run(test_model("rough_corner"), with(c.settings(), {"driven=1.0"}));
    c.mass[0] = HUGE_VAL;
    const auto expected = all_modes(c, c.v, c.e);
    if (expected.empty()) continue;  // the driven velocity cannot be stopped
    if (name_of(r.status[0]) == "no_impulses") continue;
    ASSERT_EQ(name_of(r.status[0]), "stopped");
    EXPECT_NEAR(r.log[0].after[3], -1.0, 1e-14);
    EXPECT_LT(nearest(expected, {r.log[0].after[3], r.log[0].after[4], r.log[0].after[5]}), 1e-10);
    ++found;
  }
  EXPECT_GT(found, 20);
}

TEST(RoughImpacts, HaveTheSameBitsInAllLanes) {
  for (const char* poisson : {"by_poisson=0.0", "by_poisson=1.0"}) {
    const auto go = [&](const std::vector<std::string>& more) {
      return run(
          test_model("rough_corner"),
          with({"rtol=1e-8", "sample.count=133", "sample.seed=4", "output.events=true", "surfaces=3.0", "across_1=0.2",
                "across_3=0.1", "across_8=0.4", "along_0=-0.3", "along_4=-0.9", "along_8=0.1",
                "sample.mu_0={uniform=[0.0,1.5]}", "sample.mu_1={uniform=[0.0,1.5]}", "sample.mu_2={uniform=[0.0,1.5]}",
                "sample.v_1={uniform=[-1.5,-0.5]}", "sample.restitution={uniform=[0.0,1.0]}", poisson},
               more));
    };
    const outcome reference = go({"run.lanes=1", "run.threads=1"});
    for (const auto& [lanes, threads, chunk] : {std::tuple(4, 2, 7), {8, 1, 33}}) {
      const outcome r = go({fmt::format("run.lanes={}", lanes), fmt::format("run.threads={}", threads),
                            fmt::format("run.chunk={}", chunk)});
      for (std::int64_t i = 0; i < 133; ++i) expect_same(reference, i, r, i);
      expect_same_log(reference, r);
    }
  }
}

}  // namespace
}  // namespace saltus::test
