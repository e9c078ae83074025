// Families of random instances with known events: from closed forms, or from a long double simulation of the model itself. Each family runs
// some hundred instances, and 10^5 among the longest tests.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "abi/sensitivity.hpp"
#include "event_runs.hpp"

namespace saltus::test {
namespace {

using real = long double;

/// Outcome of an ensemble. An instance that reports its failure is not wrong, but must be examined.
struct tally {
  std::size_t right = 0, wrong = 0, failed = 0, open = 0;
  std::string first;

  void take(bool is_right, const std::string& what) {
    if (is_right) return void(++right);
    if (++wrong <= 5) first += what + "\n";
  }
  void print(const char* name) const {
    fmt::print("{}: {} right, {} wrong, {} failed, {} not decided by the reference\n", name, right, wrong, failed,
               open);
  }
};

// ---- impacts that accumulate on a moving table (tests/models/moving_table.hpp)

/// A ball on a moving table, simulated from impact to impact.
struct shaken_ball {
  real amplitude, frequency, phase, restitution, gravity;

  real table(real t) const { return amplitude * std::sin(frequency * t + phase); }
  real table_speed(real t) const { return amplitude * frequency * std::cos(frequency * t + phase); }

  struct ending {
    bool piles_up;
    real t;  ///< of the limit, or of the end
    real height, velocity;
  };
  /// Simulates until the impacts accumulate, or until `end`. The height r above the table has a second derivative of at least -bound, so it
  /// stays above zero as long as r + r' s - bound s^2/2 does; the iteration therefore approaches the first root from before.
  ending run(real h, real v, real end) const {
    const real bound = gravity + amplitude * frequency * frequency;
    real t = 0, last_flight = 0;
    int shrinking = 0;
    for (int impacts = 0; impacts < 100000; ++impacts) {
      real s = 0;
      if (impacts > 0) s = 2 * (v - table_speed(t)) / bound;
      for (int k = 0; k < 100000; ++k) {
        const real r = h + s * (v - gravity * s / 2) - table(t + s);
        const real rate = v - gravity * s - table_speed(t + s);
        const real ahead = (rate + std::sqrt(rate * rate + 2 * bound * std::fmax(r, real(0)))) / bound;
        s += ahead;
        if (t + s > end) break;
        if (!(ahead > 1e-18L * (1 + t)) || r <= 0) break;
      }
      if (t + s >= end) {
        const real left = end - t;
        return {false, end, h + left * (v - gravity * left / 2), v - gravity * left};
      }
      t += s;
      h = table(t);
      v = table_speed(t) - restitution * (v - gravity * s - table_speed(t));
      shrinking = std::fabs(s / last_flight - restitution) < 1e-3L ? shrinking + 1 : 0;
      if (impacts > 0 && shrinking > 4 && s < 3e-6L) return {true, t + s * restitution / (1 - restitution), h, v};
      last_flight = s;
    }
    return {true, t, h, v};
  }
};

/// The motion between impacts is exact for any step length, so only `detection` can see the table's motion within a step.
void impacts_die_out_on_a_moving_table(std::size_t count, const char* rtol, const char* detection) {
  const auto r =
      run(test_model("moving_table"),
          {set("rtol", std::stod(rtol)), detection, "t=[0.0, 6.0]", fmt::format("sample.count={}", count),
           "sample.seed=11", "sample.amplitude={uniform=[0.02, 0.4]}", "sample.frequency={uniform=[1.0, 9.0]}",
           "sample.phase={uniform=[0.0, 6.283]}", "sample.restitution={uniform=[0.2, 0.85]}",
           "sample.height={uniform=[0.5, 2.0]}", "max_events=3000"});
  const auto in = inputs_of(r);
  tally all;
  std::size_t piled_up = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const auto p = [&](std::size_t j) { return static_cast<real>(in.parameters[j * count + i]); };
    const shaken_ball ball{p(0), p(1), p(2), p(3), p(4)};
    const real h = static_cast<real>(in.initial[i]);
    const auto due = ball.run(h, 0, 6), beside = ball.run(h * (1 + 1e-9L), 0, 6);
    const auto status = name_of(r.status[i]);
    // An error decides between a hit and a miss, or the motion is chaotic.
    const real spread =
        due.piles_up == beside.piles_up ? std::fabs(due.t - beside.t) + std::fabs(due.height - beside.height) : 1;
    if (!(spread < 1e-4L) || (due.piles_up && 6 - due.t < 1e-3L)) {
      ++all.open;
      all.failed += status != "zeno" && status != "finished";
      continue;
    }
    piled_up += due.piles_up;
    const real room = 1e-5L + 100 * spread;
    const bool right = due.piles_up
                           ? status == "zeno" && std::fabs(static_cast<real>(r.t_final[i]) - due.t) < room
                           : status == "finished" && std::fabs(static_cast<real>(r.final_state[i]) - due.height) < room;
    all.take(right, fmt::format("instance {}: {} at {:.12g}, {} at {:.12g} is due; spread {:.1e}", i, status,
                                r.t_final[i], due.piles_up ? "a limit" : "the end", static_cast<double>(due.t),
                                static_cast<double>(spread)));
  }
  all.print("impacts on a moving table");
  EXPECT_EQ(all.wrong, 0u) << all.first;
  EXPECT_EQ(all.failed, 0u);
  EXPECT_LT(all.open, count / 5);
  EXPECT_GT(piled_up, count / 2);
}

TEST(Families, ImpactsDieOutOnAMovingTable) {
  for (const char* rtol : {"1e-10", "1e-6"})
    for (const char* detection : {"max_step=0.02", "detection='certified'"})
      impacts_die_out_on_a_moving_table(300, rtol, detection);
}
TEST(Families, ImpactsDieOutOnAMovingTableInAHundredThousand) {
  impacts_die_out_on_a_moving_table(100000, "1e-8", "detection='certified'");
}

// ---- rest on a floor far from zero (tests/models/high_floor.hpp)

void a_ball_rests_on_a_high_floor(std::size_t count, const char* start) {
  const double t0 = std::stod(start);
  const auto r =
      run(test_model("high_floor"),
          {"rtol=1e-10", fmt::format("t=[{:.17e}, {:.17e}]", t0, t0 + 40), fmt::format("sample.count={}", count),
           "sample.seed=12", "sample.floor_at={log_uniform=[1.0, 1e5]}", "sample.drop={uniform=[0.5, 2.0]}",
           "sample.restitution={uniform=[0.2, 0.9]}", "sample.form={uniform=[-0.5, 4.5]}", "output.events={last=1}",
           "max_events=3000"});
  const auto in = inputs_of(r);
  tally all;
  std::vector<double> rests(count, 0.0);
  for (const auto& e : r.log) rests[static_cast<std::size_t>(e.instance)] = e.time;
  for (std::size_t i = 0; i < count; ++i) {
    const double c = in.parameters[i], drop = in.parameters[count + i], e = in.parameters[2 * count + i],
                 g = in.parameters[3 * count + i];
    // The limit of a geometric series. A bounce whose height is a few roundings of its terms carries no information.
    const double limit = t0 + std::sqrt(2 * drop / g) * (1 + e) / (1 - e);
    const double rounding = 16 * 0x1p-52 * (c + drop), last_flight = std::sqrt(8 * 64 * rounding / g);
    const double room = 4 * last_flight / (1 - e) + 1e4 * 0x1p-52 * limit;
    const auto status = name_of(r.status[i]);
    const bool right = status == "finished" && r.final_state[i] == c && std::fabs(rests[i] - limit) < room;
    all.take(right,
             fmt::format(
                 "instance {}: {}, floor at {:.6g}, form {:.2f}, restitution {:.4f}: rests at {:.12g}, not at {:.12g}",
                 i, status, c, in.parameters[4 * count + i], e, rests[i], limit));
  }
  all.print("rest on a high floor");
  EXPECT_EQ(all.wrong, 0u) << all.first;
}

TEST(Families, ABallRestsOnAHighFloor) {
  for (const char* start : {"0", "1e3", "1e5"}) a_ball_rests_on_a_high_floor(300, start);
}
TEST(Families, ABallRestsOnAHighFloorInAHundredThousand) { a_ball_rests_on_a_high_floor(100000, "0"); }

// ---- derivatives beside a graze (tests/models/low_ceiling.hpp)

/// d(height)/d(excess) at t in closed form.
real derivative_of_height(real ceiling, real excess, real restitution, real gravity, real t) {
  const real v = std::sqrt(2 * gravity * ceiling * (1 + excess)), dv = gravity * ceiling / v;
  if (excess < 0) return dv * t;
  const real w = std::sqrt(2 * gravity * ceiling * excess), dw = gravity * ceiling / w;
  const real since = t - (v - w) / gravity, later = (dv - dw) / gravity;  // time since impact, delay
  return -restitution * dw * since + (restitution * w + gravity * since) * later;
}

void derivatives_beside_a_graze_are_right_or_flagged(std::size_t count, const char* method, double rtol) {
  std::vector<double> excess;
  for (std::size_t i = 0; i < count; ++i) {
    const double part = static_cast<double>(i / 2) / static_cast<double>(count / 2);
    excess.push_back((i % 2 == 0 ? 1 : -1) * std::pow(10.0, -16 + 14.5 * part));
  }
  const auto r = run(test_model("low_ceiling"),
                     {set("rtol", rtol), set("atol", rtol), std::string("method=") + method, "t=[0.0, 4.0]",
                      "sensitivity.parameters=['excess']", set("sweep.zip.excess", excess)});
  tally all;
  std::size_t missed_and_flagged = 0, hit_and_flagged = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const real due = derivative_of_height(0.5L, excess[i], 0.5L, 1, 4);
    // The states have an error of about a tolerance; within a hundred tolerances a guard counts as grazed.
    const double gap = std::fabs(0.5 * excess[i]), tolerance = 1.5 * rtol;
    const double found = r.derivative(0, 0, static_cast<std::int64_t>(i));
    const bool is_flagged = r.sensitivity[i] == static_cast<int>(sensitivity::grazing);
    const bool is_right = is_flagged ? gap < 500 * tolerance && std::isnan(found)
                                     : gap > 20 * tolerance && std::fabs(found - static_cast<double>(due)) <
                                                                   0.02 * std::fabs(static_cast<double>(due));
    (excess[i] < 0 ? missed_and_flagged : hit_and_flagged) += is_flagged;
    all.take(is_right && name_of(r.status[i]) == "finished",
             fmt::format("{} at {:.0e}: excess {:.6e}, {}, {:.12g} is due, {:.12g} found", method, rtol, excess[i],
                         is_flagged ? "flagged" : "defined", static_cast<double>(due), found));
  }
  all.print("derivatives beside a graze");
  EXPECT_EQ(all.wrong, 0u) << all.first;
  // The zone is as wide on one side as on the other.
  EXPECT_NEAR(static_cast<double>(missed_and_flagged), static_cast<double>(hit_and_flagged),
              2.0 + 0.01 * static_cast<double>(count));
}

TEST(Families, DerivativesBesideAGrazeAreRightOrFlagged) {
  for (const char* method : {"dp5", "dop853", "rodas5p"})
    for (const double rtol : {1e-6, 1e-9}) derivatives_beside_a_graze_are_right_or_flagged(400, method, rtol);
}
TEST(Families, DerivativesBesideAGrazeAreRightOrFlaggedInAHundredThousand) {
  derivatives_beside_a_graze_are_right_or_flagged(100000, "dp5", 1e-8);
}

// ---- levels that are touched (tests/models/touched_level.hpp)

/// Each touch gives two events, or none if the level lies above, and never a failure.
void a_touch_is_settled(std::size_t count, const char* method, const char* detection, double rtol) {
  std::vector<double> below, form;
  for (std::size_t i = 0; i < count; ++i) {
    const double part = static_cast<double>(i / 4) / static_cast<double>(count / 4);
    below.push_back(part == 0 ? 0.0 : (i % 2 == 0 ? 1 : -1) * std::pow(10.0, -17 + 14 * part));
    form.push_back(i % 4 < 2 ? 0 : 1);
  }
  const auto r = run(test_model("touched_level"),
                     {set("rtol", rtol), set("atol", rtol), std::string("method=") + method, detection,
                      "output.events=true", set("sweep.zip.below", below), set("sweep.zip.form", form)});
  std::vector<std::vector<std::pair<double, std::string>>> logs(count);
  for (const auto& e : r.log) logs[static_cast<std::size_t>(e.instance)].emplace_back(e.time, e.guard);
  tally all;
  for (std::size_t i = 0; i < count; ++i) {
    const auto& log = logs[i];
    const double touches = form[i] > 0.5 ? 6 : 3;  // touches at t = pi/2 + 2 k pi in [0, 20], or at pi/2 + k pi
    std::size_t passes = 0, rises = 0, falls = 0;
    bool near = true;
    for (const auto& [time, guard] : log) {
      passes += guard == "passes", rises += guard == "rises", falls += guard == "falls";
      const double period = form[i] > 0.5 ? M_PI : 2 * M_PI, off = std::remainder(time - M_PI / 2, period);
      near = near && std::fabs(off) < std::sqrt(4 * (std::fabs(below[i]) + 1000 * rtol));
    }
    bool right = name_of(r.status[i]) == "finished" && rises == falls && passes == rises + falls && near;
    if (std::fabs(below[i]) > 3000 * rtol)
      right = right && static_cast<double>(rises) == (below[i] > 0 ? touches : 0.0);
    all.take(right, fmt::format("{}, {}, {:.0e}: level {:.6e} below, form {}: {}, {} passes, {} up, {} down", method,
                                detection, rtol, below[i], form[i], name_of(r.status[i]), passes, rises, falls));
  }
  all.print("levels that are touched");
  EXPECT_EQ(all.wrong, 0u) << all.first;
}

TEST(Families, ATouchIsSettled) {
  for (const char* detection : {"detection='hermite'", "detection='certified'"})
    for (const char* method : {"dp5", "radau5"})
      for (const double rtol : {1e-6, 1e-12}) a_touch_is_settled(400, method, detection, rtol);
}
TEST(Families, ATouchIsSettledInAHundredThousand) { a_touch_is_settled(100000, "dp5", "detection='hermite'", 1e-12); }

}  // namespace
}  // namespace saltus::test
