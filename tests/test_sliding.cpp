// Sliding (Filippov): its beginning, its motion, and the time and side of its end. Along the ring of
// tests/models/ring.hpp radius and angle are known: on it the angle grows at alpha w_out + (1 - alpha) w_in with
// alpha = in / (in - out), and off it r is an exponential.
#include <gtest/gtest.h>

#include "ensemble/sampler.hpp"
#include "event_runs.hpp"

namespace saltus::test {
namespace {

const std::string ring = test_model("ring");
const std::string corner = test_model("corner");
constexpr double pi = 3.14159265358979323846;

const std::vector<std::string> precise = {"rtol=1e-12", "output.events=true"};

double radius(const outcome& r) { return std::hypot(r.final("x"), r.final("y")); }
/// The angle of the final point, in the turn nearest to `near`.
double angle(const outcome& r, double near) {
  const double a = std::atan2(r.final("y"), r.final("x"));
  return a + 2 * pi * std::round((near - a) / (2 * pi));
}

TEST(Sliding, AlongTheDiagonalOfAPlane) {
  // The point reaches the diagonal at 1/7 and continues at -6/17: x(1) = y(1) = 31/34.
  for (const char* method : {"dp5", "dop853"}) {
    const auto r = run("filippov_plane", with(tight, {std::string("method=") + method}));
    EXPECT_EQ(names_of(r), std::vector<std::string>{"diagonal"});
    EXPECT_NEAR(r.log[0].time, 1.0 / 7, 1e-14);
    EXPECT_NEAR(r.final("x"), 31.0 / 34, 1e-13);
    EXPECT_NEAR(r.final("y"), 31.0 / 34, 1e-13);
  }
}

/// A block at rest stays, however long it stands and however large its friction.
TEST(Sliding, StandsStill) {
  const double mu[] = {0.6, 9.81, 60};
  for (const char* method : {"dp5", "rodas5p"})
    for (const double span : {1e3, 1e6}) {
      const auto r = run(test_model("kicked_block"),
                         {"rtol=1e-10", std::string("method=") + method, set("t", std::vector<double>{0, span}),
                          set("period", 0.3 * span), "sweep.mu=[0.6, 9.81, 60.0]"});
      for (int i = 0; i < 3; ++i) {
        const double way = (1 + 3 * 0.25) / (2 * mu[i]);
        EXPECT_EQ(name_of(r.status[static_cast<std::size_t>(i)]), "finished");
        EXPECT_NEAR(r.final("x", i), way, 1e-11 * way) << method << " " << span << " " << mu[i];
      }
    }
}

/// A block at rest has no error of its own. Steps are still short enough to see where a swinging force frees it.
TEST(Sliding, EndsWhereASwingingForceFirstFrees) {
  constexpr int count = 200;
  const auto force = [](double t) { return std::fabs(0.1 * t * std::sin(3 * t)); };
  for (const char* method : {"dp5", "taylor12", "rodas5p"}) {
    const auto r = run(
        test_model("freed_block"),
        with(tight, {std::string("method=") + method, fmt::format("sweep.mu={{from=0.05,to=2.5,count={}}}", count)}));
    for (int i = 0; i < count; ++i) {
      const double mu = 0.05 + (2.5 - 0.05) * i / (count - 1);
      double low = 0, high = 0;
      while (force(high) < mu) low = high, high += 1e-4;
      while (high - low > 1e-14) {
        const double middle = 0.5 * (low + high);
        (force(middle) < mu ? low : high) = middle;
      }
      const auto freed = times_of(r, "leaves_stops", i);
      ASSERT_FALSE(freed.empty()) << method << " " << mu;
      EXPECT_NEAR(freed[0], high, 1e-9) << method << " " << mu;
    }
  }
}

/// A force that jumps, which no guard watches, ends no slide as long as it is smaller than friction.
TEST(Sliding, PassesJumpsOfTheForce) {
  for (const char* method : {"dp5", "rodas5p"}) {
    const auto r = run(test_model("jolted_block"), {"rtol=1e-8", std::string("method=") + method});
    EXPECT_EQ(name_of(r.status[0]), "finished") << method;
    EXPECT_NEAR(r.final("x"), 1 / 1.2, 1e-8) << method;
    EXPECT_EQ(r.events[0], 1) << method;
  }
}

/// Speeds that are not zero end at a stop, in floats and late in time, too.
TEST(Sliding, BeginsWhereTheGuardIsZeroOnly) {
  std::vector<double> speeds;
  for (int k = 0; k < 45; ++k)
    for (const double sign : {1.0, -1.0}) speeds.push_back(sign * std::pow(10.0, -12 + 0.25 * k));
  const auto expect = [&](const std::vector<std::string>& settings, double allowed) {
    const auto r =
        run(test_model("kicked_block"), with({"method=dp5", "period=1e12", set("sweep.v", speeds)}, settings));
    for (std::size_t i = 0; i < speeds.size(); ++i) {
      EXPECT_EQ(name_of(r.status[i]), "finished") << speeds[i];
      EXPECT_NEAR(r.final("x", static_cast<std::int64_t>(i)), speeds[i] * std::fabs(speeds[i]) / 1.2, allowed)
          << speeds[i];
    }
  };
  expect({"rtol=1e-6", "precision=float", "t=[0.0, 25.0]"}, 1e-7);
  for (const double begin : {0.0, 1e4, 1e6, 1e8})
    expect({"rtol=1e-10", set("t", std::vector<double>{begin, begin + 25})}, 1e-12);
}

TEST(Sliding, AlongACircleForALongTime) {
  // From r = 2 inwards with time constant 1: on the ring at ln 2, after turning by 2 ln 2. Then alpha = 2/3: the angle grows at 1.
  const auto r = run(ring, with(precise, {"t=[0.0, 200.0]", "output.samples.count=201"}));
  const double turned = 2 * std::log(2.0) + (200 - std::log(2.0));
  EXPECT_EQ(name_of(r.status[0]), "finished");
  ASSERT_EQ(times_of(r, "circle").size(), 1u);
  EXPECT_NEAR(times_of(r, "circle")[0], std::log(2.0), 1e-12);
  double furthest = 0;
  for (int k = 1; k <= 200; ++k)
    furthest = std::fmax(furthest, std::fabs(std::hypot(r.sample(0, 0, k), r.sample(1, 0, k)) - 1));
  EXPECT_LT(furthest, 1e-10);
  EXPECT_NEAR(angle(r, turned), turned, 1e-9);
  // The line x = 0, a separate bilateral guard, is passed at every half turn of the slide.
  const auto axis = times_of(r, "axis");
  ASSERT_EQ(axis.size(), static_cast<std::size_t>(std::floor((turned - pi / 2) / pi)) + 1);
  for (std::size_t k = 0; k < axis.size(); ++k)
    EXPECT_NEAR(axis[k], (0.5 + static_cast<double>(k)) * pi - std::log(2.0), 1e-9) << k;
}

TEST(Sliding, StaysOnItsSurfaceAtEveryTolerance) {
  for (double tolerance : {1e-3, 1e-5, 1e-7, 1e-9, 1e-11}) {
    const std::vector<std::string> common = {set("rtol", tolerance), "output.events=true", "t=[0.0, 50.0]"};
    const auto r = run(ring, common);
    const double turned = 2 * std::log(2.0) + (50 - std::log(2.0));
    EXPECT_EQ(times_of(r, "circle").size(), 1u) << tolerance;
    EXPECT_EQ(times_of(r, "leaves_circle").size(), 0u) << tolerance;
    EXPECT_NEAR(radius(r), 1.0, 10 * tolerance) << tolerance;
    EXPECT_NEAR(angle(r, turned), turned, 200 * tolerance) << tolerance;
    // The same circle at the same angular velocity 1 as a smooth solution: sliding does not reduce the order of the method.
    const auto smooth =
        run(ring, with(common, {"initial.x=1.0", "out_0=0.0", "in_0=0.0", "spin_out=1.0", "spin_in=1.0"}));
    EXPECT_LT(r.steps[0] + r.rejected[0], 3 * smooth.steps[0]) << tolerance;
  }
}

TEST(Sliding, EndsWhereOneSideTurnsAndOnThatSide) {
  // out = t - 3 no longer points inwards from t = 3 on: outwards, r = exp((t - 3)^2 / 2).
  const auto up = run(ring, with(precise, {"t=[0.0, 4.5]", "initial.x=1.0", "out_0=-3.0", "out_1=1.0"}));
  EXPECT_EQ(times_of(up, "leaves_circle").size(), 1u);
  EXPECT_NEAR(times_of(up, "leaves_circle").at(0), 3.0, 1e-12);
  EXPECT_NEAR(radius(up), std::exp(1.5 * 1.5 / 2), 1e-9);
  // in = 3 - t no longer points outwards from t = 3 on: inwards, r = exp(-(t - 3)^2 / 2).
  const auto down = run(ring, with(precise, {"t=[0.0, 4.5]", "initial.x=1.0", "in_0=3.0", "in_1=-1.0"}));
  EXPECT_EQ(times_of(down, "leaves_circle").size(), 1u);
  EXPECT_NEAR(times_of(down, "leaves_circle").at(0), 3.0, 1e-12);
  EXPECT_NEAR(radius(down), std::exp(-1.5 * 1.5 / 2), 1e-9);
  for (const auto* r : {&up, &down}) {
    EXPECT_EQ(name_of(r->status[0]), "finished");
    EXPECT_EQ(times_of(*r, "circle").size(), 0u) << "it starts on the circle, and leaving is no crossing";
  }
}

TEST(Sliding, EntersAgain) {
  // out = 2 (t - 1) until the push of -6 at t = 2: the solution leaves at 1 and is at r = e at 2. Then r' / r = 2 (t - 1) - 6, so
  // it is back on the ring when 1 - 4 s + s^2 = 0, s = t - 2: s = 2 - sqrt 3. It leaves for good at t = 4.
  const auto r = run(ring, with(precise, {"t=[0.0, 5.0]", "initial.x=1.0", "out_0=-2.0", "out_1=2.0", "push_at=2.0",
                                          "push_out=-6.0", "spin_out=0.1", "spin_in=0.1"}));
  EXPECT_EQ(names_of(r), (std::vector<std::string>{"leaves_circle", "push", "circle", "leaves_circle"}));
  const double at[] = {1.0, 2.0, 4 - std::sqrt(3.0), 4.0};
  for (std::size_t k = 0; k < 4; ++k) EXPECT_NEAR(r.log.at(k).time, at[k], 1e-10) << k;
  EXPECT_NEAR(radius(r), std::exp(1.0), 1e-8);
  EXPECT_NEAR(angle(r, 0.5), 0.5, 1e-10);
}

TEST(Sliding, NothingSlidesWhereTheFieldsAgree) {
  // Both outwards, from inside: r = 1/2 exp(t) inside, then exp(2 (t - ln 2)); both inwards from outside.
  const auto out = run(
      ring, with(precise, {"t=[0.0, 1.5]", "initial.x=0.5", "out_0=2.0", "in_0=1.0", "spin_out=0.0", "spin_in=0.0"}));
  EXPECT_EQ(names_of(out), std::vector<std::string>{"circle"});
  EXPECT_NEAR(out.log[0].time, std::log(2.0), 1e-12);
  EXPECT_NEAR(radius(out), std::exp(2 * (1.5 - std::log(2.0))), 1e-9);
  const auto in = run(ring, with(precise, {"t=[0.0, 1.5]", "in_0=-3.0", "spin_out=0.0", "spin_in=0.0"}));
  EXPECT_EQ(names_of(in), std::vector<std::string>{"circle"});
  EXPECT_NEAR(in.log[0].time, std::log(2.0), 1e-12);
  EXPECT_NEAR(radius(in), std::exp(-3 * (1.5 - std::log(2.0))), 1e-9);
}

TEST(Sliding, BeginsOnTheSurfaceWithoutAnEvent) {
  const auto r = run(ring, with(precise, {"t=[0.0, 3.0]", "initial.x=1.0"}));
  EXPECT_EQ(names_of(r), std::vector<std::string>{"axis"});
  EXPECT_NEAR(r.log[0].time, pi / 2, 1e-10);
  EXPECT_NEAR(radius(r), 1.0, 1e-10);
  EXPECT_NEAR(angle(r, 3.0), 3.0, 1e-10);
  // The fields agree, so the solution leaves the ring to the side to which they point.
  const auto out = run(ring, with(precise, {"t=[0.0, 1.0]", "initial.x=1.0", "out_0=0.5", "in_0=1.0"}));
  EXPECT_EQ(times_of(out, "circle").size(), 0u);
  EXPECT_NEAR(radius(out), std::exp(0.5), 1e-10);
  const auto in = run(ring, with(precise, {"t=[0.0, 1.0]", "initial.x=1.0", "out_0=-0.5", "in_0=-1.0"}));
  EXPECT_EQ(times_of(in, "circle").size(), 0u);
  EXPECT_NEAR(radius(in), std::exp(-1.0), 1e-10);
  // Both sides repel: two solutions are right, exp(t) and exp(-2 t). The run gives one of them, without an event.
  const auto pulled = run(
      ring, with(precise, {"t=[0.0, 1.0]", "initial.x=1.0", "out_0=1.0", "in_0=-2.0", "spin_out=0.0", "spin_in=0.0"}));
  EXPECT_EQ(pulled.events[0], 0);
  EXPECT_EQ(name_of(pulled.status[0]), "finished");
  EXPECT_LT(std::min(std::fabs(radius(pulled) - std::exp(1.0)), std::fabs(radius(pulled) - std::exp(-2.0))), 1e-9);
}

TEST(Sliding, ATransitionEndsItAtOnce) {
  // At t = 1 a push makes both fields point outwards (r' / r = 2 outside), inwards (-1 inside), or apart.
  struct expectation {
    double push_out, push_in, radius;
  };
  for (const auto& e : {expectation{3.0, 0.0, std::exp(2 * 0.5)}, expectation{0.0, -3.0, std::exp(-0.5)}}) {
    const auto r = run(ring, with(precise, {"t=[0.0, 1.5]", "initial.x=1.0", "push_at=1.0", set("push_out", e.push_out),
                                            set("push_in", e.push_in), "spin_out=0.0", "spin_in=0.0"}));
    EXPECT_EQ(names_of(r), (std::vector<std::string>{"push", "leaves_circle"}));
    for (const auto& row : r.log) EXPECT_EQ(row.time, 1.0) << "at once";
    EXPECT_NEAR(radius(r), e.radius, 1e-9);
    EXPECT_EQ(name_of(r.status[0]), "finished");
  }
  const auto apart = run(ring, with(precise, {"t=[0.0, 1.5]", "initial.x=1.0", "push_at=1.0", "push_out=2.0",
                                              "push_in=-4.0", "spin_out=0.0", "spin_in=0.0"}));
  EXPECT_EQ(names_of(apart), (std::vector<std::string>{"push", "leaves_circle"}));
  EXPECT_LT(std::min(std::fabs(radius(apart) - std::exp(0.5)), std::fabs(radius(apart) - std::exp(-1.0))), 1e-9);
  // A push that keeps the ring attracting only changes the speed: alpha = 2 / 4, the angle grows at 1/2.
  const auto on = run(ring, with(precise, {"t=[0.0, 1.5]", "initial.x=1.0", "push_at=1.0", "push_out=-1.0"}));
  EXPECT_EQ(names_of(on), std::vector<std::string>{"push"});
  EXPECT_NEAR(angle(on, 1.25), 1.25, 1e-10);
  EXPECT_NEAR(radius(on), 1.0, 1e-10);
}

TEST(Sliding, BeginsWhereATransitionMakesTheSurfaceAttract) {
  // The start is on the ring, and the solution leaves it at once. A push brings it back: r = exp(t) until t = 1, then
  // r' / r = -2: back at t = 1.5, where the inner field points outwards at 2 - 1.
  const auto r = run(ring, with(precise, {"t=[0.0, 3.0]", "initial.x=1.0", "out_0=1.0", "push_at=1.0", "push_out=-3.0",
                                          "push_in=-1.0", "spin_out=0.3", "spin_in=0.3"}));
  EXPECT_EQ(names_of(r), (std::vector<std::string>{"push", "circle"}));
  EXPECT_NEAR(r.log[1].time, 1.5, 1e-11);
  EXPECT_NEAR(radius(r), 1.0, 1e-10);
  EXPECT_NEAR(angle(r, 0.9), 0.9, 1e-10);
}

TEST(Sliding, BackwardInTime) {
  // Backward the fields point the other way: a repelling ring attracts.
  const auto r = run(ring, with(precise, {"t=[3.0, 0.0]", "initial.x=1.0", "out_0=1.0", "in_0=-2.0"}));
  EXPECT_EQ(names_of(r), std::vector<std::string>{"axis"});
  EXPECT_NEAR(radius(r), 1.0, 1e-10);
  EXPECT_NEAR(angle(r, -3.0), -3.0, 1e-10);
}

TEST(Sliding, AlongOneSurfaceAcrossAnother) {
  // x starts to slide at t = 1; y passes 0 downwards at t = 2, at speed 1 above and -below_y below.
  const auto r = run(corner, with(precise, {"below_y=-2.0"}));
  EXPECT_EQ(names_of(r), (std::vector<std::string>{"right", "upper"}));
  EXPECT_NEAR(r.log[0].time, 1.0, 1e-13);
  EXPECT_NEAR(r.log[1].time, 2.0, 1e-13);
  EXPECT_NEAR(r.final("x"), 0.0, 1e-13);
  EXPECT_NEAR(r.final("y"), -4.0, 1e-12);
}

TEST(Sliding, AlongTwoSurfacesAtOnceIsReported) {
  const auto r = run(corner, precise);
  EXPECT_EQ(name_of(r.status[0]), "two_slides");
  EXPECT_NEAR(r.t_final[0], 2.0, 1e-13);
  EXPECT_NEAR(r.final("x"), 0.0, 1e-13);
  EXPECT_NEAR(r.final("y"), 0.0, 1e-13);
  // Reached at the same time, from the corner itself, and from its edge.
  const auto both = run(corner, with(precise, {"initial.y=1.0"}));
  EXPECT_EQ(name_of(both.status[0]), "two_slides");
  EXPECT_NEAR(both.t_final[0], 1.0, 1e-13);
  const auto start = run(corner, with(precise, {"initial.x=0.0", "initial.y=0.0"}));
  EXPECT_EQ(name_of(start.status[0]), "two_slides");
  EXPECT_EQ(start.t_final[0], 0.0);
  const auto edge = run(corner, with(precise, {"initial.x=0.0", "initial.y=1.0"}));
  EXPECT_EQ(name_of(edge.status[0]), "two_slides");
  EXPECT_NEAR(edge.t_final[0], 1.0, 1e-13);
}

// ---- random cases: L = ln r obeys L' = out(t) above 0 and in(t) below, both straight lines, and slides at 0

struct line {
  double at_0, slope;
  double operator()(double t) const { return at_0 + slope * t; }
};

/// The next t > from at which L + integral of `rate` is 0; infinite if there is none.
double next_zero(double from, double L, line rate) {
  // L + rate(from) s + slope s^2 / 2 = 0
  const double a = rate.slope / 2, b = rate(from), disc = b * b - 4 * a * L;
  double best = HUGE_VAL;
  if (disc >= 0) {
    const double q = -0.5 * (b + std::copysign(std::sqrt(disc), b));
    for (const double s : {q / a, L / q})
      if (s > 1e-12 && s < best) best = s;
  }
  return from + best;
}

struct fate {
  double L;
  std::string events;
  double margin;  ///< distance of the solution from another course of events
};

/// L at t_end from L at 0, and the events on the way.
fate fate_of(double L, line out, line in, double t_end) {
  fate f{L, "", HUGE_VAL};
  double t = 0;
  bool slide = false, above = L > 0;
  for (;;) {
    if (slide) {
      const double up = out.slope > 0 ? -out.at_0 / out.slope : HUGE_VAL;  // out = 0
      const double down = in.slope < 0 ? -in.at_0 / in.slope : HUGE_VAL;   // in = 0
      const double end = std::fmin(up, down);
      f.margin = std::fmin(f.margin, std::fmin(std::fabs(end - t_end), std::fabs(up - down)));
      if (end > t_end) return f.L = 0, f;
      f.events += "leaves ";
      t = end;
      slide = false;
      above = up < down;
      L = 0;
      continue;
    }
    const line rate = above ? out : in;
    const double end = next_zero(t, L, rate);
    f.margin = std::fmin(f.margin, std::fabs(end - t_end));
    if (end > t_end) return f.L = L + (rate(t) + rate(t_end)) / 2 * (t_end - t), f;
    f.events += "circle ";
    t = end;
    L = 0;
    f.margin = std::fmin(f.margin, std::fmin(std::fabs(out(t)), std::fabs(in(t))));
    slide = out(t) < 0 && in(t) > 0;
    above = !above;
  }
}

TEST(Sliding, AtRandom) {
  const auto r = run(ring, {"rtol=1e-10", "output.events=true", "t=[0.0, 4.0]", "sample.count=4000", "sample.seed=5",
                            "sample.x={uniform=[0.3, 3.0]}", "sample.out_0={uniform=[-3.0, 3.0]}",
                            "sample.out_1={uniform=[-2.0, 2.0]}", "sample.in_0={uniform=[-3.0, 3.0]}",
                            "sample.in_1={uniform=[-2.0, 2.0]}", "spin_out=0.3", "spin_in=0.3"});
  host::columns in;
  host::sampler(r.plan).fill(0, r.plan.count, in);
  std::vector<std::string> logs(4000);
  for (const auto& e : r.log)
    if (e.guard != "axis") logs[static_cast<std::size_t>(e.instance)] += e.guard == "circle" ? "circle " : "leaves ";
  int wrong = 0, slid = 0, doubtful = 0;
  double furthest = 0;
  for (std::size_t i = 0; i < 4000; ++i) {
    const auto p = [&](std::size_t j) { return in.parameters[j * 4000 + i]; };
    const double x = in.initial[i];
    const fate f = fate_of(std::log(x), {p(0), p(1)}, {p(2), p(3)}, 4.0);
    if (f.margin < 1e-4) {
      ++doubtful;
      continue;
    }
    const auto id = static_cast<std::int64_t>(i);
    const double radius = std::hypot(r.final("x", id), r.final("y", id));
    const double off = std::fabs(radius - std::exp(f.L)) / std::fmax(1.0, radius);
    slid += f.events.find("leaves") != f.events.npos;
    furthest = std::fmax(furthest, off);
    if (name_of(r.status[i]) == "finished" && off < 1e-7 && logs[i] == f.events) continue;
    if (++wrong <= 3)
      ADD_FAILURE() << fmt::format(
          "instance {}: {}, x = {:.17g}, out {:.17g} {:.17g}, in {:.17g} {:.17g}: radius off by {:.1e}, '{}' for '{}'",
          i, name_of(r.status[i]), x, p(0), p(1), p(2), p(3), off, logs[i], f.events);
  }
  EXPECT_EQ(wrong, 0);
  EXPECT_GT(slid, 100);
  EXPECT_LT(doubtful, 40);
  fmt::print("{} of 4000 slid and left, radius within {:.1e}\n", slid, furthest);
}

}  // namespace
}  // namespace saltus::test
