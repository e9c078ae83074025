// Equations of any order and index, integrated from their text alone: against numbers known without saltus
// (tests/reference/any_order.json), through modes of different index, from starts that are given, guessed or free, and in cases that
// have no solution.
#include <cmath>
#include <filesystem>
#include <fstream>
#include <tuple>

#include <unistd.h>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "spec/methods.hpp"
#include "testing/ensemble.hpp"

namespace saltus::test {
namespace {

using settings = std::vector<std::string>;

const char* status_of(const outcome& r, std::size_t i = 0) { return status_table[r.status[i]].name; }

/// Known values of a model: a list of end times with the values there.
nlohmann::json known_of(const std::string& model) {
  std::ifstream file(saltus::test::in_source("tests/reference/any_order.json"));
  return nlohmann::json::parse(file).at(model);
}

settings more(settings a, const settings& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

/// Writes a test's own model into a folder that lasts as long as the program.
std::string written(const std::string& name, const std::string& body) {
  static const auto folder = std::filesystem::temp_directory_path() / fmt::format("saltus_high_index_{}", ::getpid());
  std::filesystem::create_directories(folder);
  std::ofstream(folder / (name + ".hpp")) << "#include <saltus.hpp>\nstruct " << name << " {\n" << body << "};\n";
  return (folder / (name + ".hpp")).string();
}

/// Value of a state or discrete variable at the final point.
double final_value(const outcome& r, const std::string& name) {
  for (std::size_t i = 0; i < r.plan.model.discretes.size(); ++i)
    if (r.plan.model.discretes[i].name == name) return r.final_discrete[i];
  return r.final(name);
}

// ---- references ------------------------------------------------------------------------------------------------------

struct any_order_case {
  const char* model;
  double rtol, allowed;  ///< relative to the known value, or to 1
};

class AnyOrder : public ::testing::TestWithParam<any_order_case> {};

/// Every known end, and the events on the way at their times.
TEST_P(AnyOrder, MeetsItsReference) {
  const auto& c = GetParam();
  for (const auto& known : known_of(c.model)) {
    const double t_end = known.at("t_end");
    const auto plan = plan_of(c.model, {});
    settings s = {fmt::format("rtol={}", c.rtol), fmt::format("t=[{:#.17g}, {:#.17g}]", plan.model.t_begin, t_end),
                  "output.events=true", "rescue=false"};
    if (known.contains("parameters"))
      for (const auto& [name, value] : known.at("parameters").items())
        s.push_back(fmt::format("parameters.{}={:#.17g}", name, value.get<double>()));
    const outcome r = run(c.model, s);
    EXPECT_STREQ(status_of(r), "finished");
    for (const auto& [name, value] : known.at("values").items()) {
      const double expected = value;
      EXPECT_NEAR(final_value(r, name), expected, c.allowed * std::max(1.0, std::fabs(expected)))
          << name << " at " << t_end;
    }
    if (!known.contains("events")) continue;
    const auto& events = known.at("events");
    ASSERT_GE(r.log.size(), events.size());
    for (std::size_t i = 0; i < events.size(); ++i) {
      EXPECT_NEAR(r.log[i].time, events[i][1].get<double>(), c.allowed) << i;
      EXPECT_EQ(r.log[i].guard, events[i][0].get<std::string>()) << i;
    }
    if (known.contains("events_in_all")) { EXPECT_EQ(r.log.size(), known.at("events_in_all").get<std::size_t>()); }
  }
}

INSTANTIATE_TEST_SUITE_P(
    All, AnyOrder,
    ::testing::Values(any_order_case{"rod_pendulum", 1e-12, 1e-10}, any_order_case{"index_chain_7", 1e-12, 1e-12},
                      any_order_case{"pendulum_chain_7", 1e-12, 1e-10}, any_order_case{"tight_orbits", 1e-12, 1e-10},
                      any_order_case{"shuttle_reentry", 1e-12, 1e-8}, any_order_case{"parallel_robot", 1e-12, 1e-9},
                      any_order_case{"car_axis_any_order", 1e-12, 1e-9},
                      any_order_case{"slider_crank_any_order", 1e-12, 1e-9},
                      any_order_case{"slack_pendulum_any_order", 1e-12, 1e-9},
                      any_order_case{"hydraulic_check_valve", 1e-12, 1e-10},
                      any_order_case{"half_wave_rectifier", 1e-12, 1e-10}),
    [](const auto& c) { return std::string(c.param.model); });

// Explicit methods integrate the values and their time derivatives like any other system.
TEST(AnyOrderMethods, MeetTheSameReference) {
  const auto known = known_of("rod_pendulum")[0].at("values");
  for (const auto& [method, allowed] :
       std::vector<std::pair<const char*, double>>{{"dop853", 1e-9}, {"dp5", 1e-7}, {"taylor12", 1e-9}}) {
    const outcome r = run("rod_pendulum", {fmt::format("method={}", method), "rtol=1e-10"});
    for (const char* name : {"x", "y", "x_d1", "y_d1"})
      EXPECT_NEAR(r.final(name), known.at(name).get<double>(), allowed) << method << " " << name;
  }
}

// Implicit methods integrate them as equations of index 1 (form/any_order.hpp): one that multiplies matrices and right-hand sides, and one
// that iterates on residuals.
TEST(AnyOrderMethods, ImplicitOnesMeetTheSameReference) {
  const auto known = known_of("rod_pendulum")[0].at("values");
  for (const auto& [method, rtol, allowed] :
       std::vector<std::tuple<const char*, const char*, double>>{{"rodas5p", "1e-9", 1e-7}, {"radau5", "1e-7", 1e-6}}) {
    const outcome r =
        run("rod_pendulum", {fmt::format("method={}", method), fmt::format("rtol={}", rtol), "rescue=false"});
    EXPECT_STREQ(status_of(r), "finished") << method;
    for (const char* name : {"x", "y", "x_d1", "y_d1", "tension"})
      EXPECT_NEAR(r.final(name), known.at(name).get<double>(), allowed * 10) << method << " " << name;
    EXPECT_LT(r.residual[0], 1e-13) << method;
  }
}

// Index 2 with time constants below 1e-9 s over 1e-4 s, at the level of the voltages (tests/reference/ring_modulator_index_2.py):
// explicit methods take more than 10,000,000 steps.
TEST(AnyOrderMethods, ImplicitOnesTakeTheStepsOfTheSolutionWhereItIsStiff) {
  const auto known = known_of("ring_modulator_index_2")[0];
  const outcome r = run("ring_modulator_index_2", {"method=rodas5p", "rtol=1e-6", "rescue=false", "max_steps=5000",
                                                   fmt::format("t=[0.0, {}]", known.at("t_end").get<double>())});
  EXPECT_STREQ(status_of(r), "finished");
  for (const auto& [name, value] : known.at("values").items())
    EXPECT_NEAR(final_value(r, name), value.get<double>(), 2e-5 * std::max(1e-3, std::fabs(value.get<double>())))
        << name;
}

// The lengths need different numbers of iterations until a start is found.
TEST(AnyOrderStarts, HaveTheSameBitsInAllLanes) {
  const settings s = {"rtol=1e-6", "initial.x=0.3", "sweep.length={from=0.5, to=2.0, count=11}"};
  const auto wide = run("rod_pendulum", more(s, {"run.lanes=8"})),
             other = run("rod_pendulum", more(s, {"run.lanes=1"}));
  EXPECT_EQ(wide.final_state, other.final_state);
}

TEST(AnyOrderMethods, ImplicitOnesHaveTheSameBitsInAllLanes) {
  const settings s = {"method=rodas5p", "rtol=1e-7", "sweep.length={from=0.8, to=2.4, count=7}", "t=[0.0, 1.0]"};
  const auto all = run("rod_pendulum", more(s, {"run.lanes=4"}));
  const auto one = run("rod_pendulum", more(s, {"run.lanes=1"}));
  EXPECT_EQ(all.status, one.status);
  EXPECT_EQ(all.final_state, one.final_state);
  EXPECT_EQ(all.steps, one.steps);
}

// ---- starts ----------------------------------------------------------------------------------------------------------

TEST(AnyOrderStart, KeepsWhatIsGivenAndMovesWhatIsNot) {
  const settings at_start = {"t=[0.0, 1e-9]", "rtol=1e-10"};
  // x is given, and y follows from the rod. With x' given as well, y' follows.
  auto r = run("rod_pendulum", more(at_start, {"initial.x=0.6", "initial.y=0.7"}));
  EXPECT_STREQ(status_of(r), "inconsistent");  // both are given, but the rod is longer
  r = run("rod_pendulum", more(at_start, {"initial.x=0.6", "initial.x_d1=0.4"}));
  EXPECT_STREQ(status_of(r), "finished");
  EXPECT_NEAR(r.final("x"), 0.6, 1e-8);
  EXPECT_NEAR(r.final("y"), 0.8, 1e-8);  // the equations do not determine y at a zero guess, so the guess is perturbed
  EXPECT_NEAR(r.final("x_d1"), 0.4, 1e-8);
  EXPECT_NEAR(r.final("y_d1"), -0.6 * 0.4 / r.final("y"), 1e-7);
  // Guesses for the tension and for an acceleration have no effect, given or not.
  const auto other = run("rod_pendulum", more(at_start, {"initial.x=0.6", "initial.x_d1=0.4", "initial.tension=33.0"}));
  EXPECT_NEAR(other.final("tension"), r.final("tension"), 1e-9);
  EXPECT_EQ(other.final("x"), r.final("x"));
}

TEST(AnyOrderStart, NamesTheEquationThatIsNotMet) {
  const auto r = run("rod_pendulum", {"initial.x=0.6", "initial.y=0.7"});
  EXPECT_STREQ(status_of(r), "inconsistent");
  EXPECT_EQ(host::names_of_residuals(r.plan.model)[static_cast<std::size_t>(r.residual_of[0])],
            r.plan.model.record->equation_names[static_cast<std::size_t>(r.residual_of[0])]);
  EXPECT_NEAR(r.residual[0], 1.0 - 0.36 - 0.49, 1e-12);
}

TEST(AnyOrderStart, NearestMovesWhatIsGiven) {
  const auto r = run("rod_pendulum", {"initial.x=0.6", "initial.y=0.9", "consistency=nearest", "t=[0.0, 1e-12]"});
  EXPECT_STREQ(status_of(r), "finished");
  // Widths are |x| + 1 and |y| + 1: the nearest point of the circle to (0.6, 0.9) in these weights.
  const double x = r.final("x"), y = r.final("y");
  EXPECT_NEAR(std::hypot(x, y), 1.0, 1e-12);
  EXPECT_LT(std::hypot(x - 0.6, y - 0.9), 0.085);  // the minimum is 0.0817
}

TEST(AnyOrderStart, HasBothBranchesEachFromItsOwnGuess) {
  // The cosine determines the shuttle's bank angle: a second branch is 82 degrees away.
  for (const double side : {1.0, -1.0}) {
    const auto r = run("shuttle_reentry", {fmt::format("initial.beta={}", side * 0.72), "rtol=1e-11"});
    EXPECT_STREQ(status_of(r), "finished");
    EXPECT_GT(side * r.final("beta"), 0.3);
    const auto begin =
        run("shuttle_reentry", {fmt::format("initial.beta={}", side * 0.72), "t=[332.868734542, 332.869]"});
    EXPECT_NEAR(begin.final("beta") * 180 / 3.14159265358979, side > 0 ? 41.1 : -41.117, 0.02);
  }
}

// ---- starts by continuation --------------------------------------------------------------------------------------------

/// The real root of y^3 - 2 y + c if there is only one (Cardano).
double root_of_cubic(double c) {
  const double root = std::sqrt(0.25 * c * c - 8.0 / 27.0);
  return std::cbrt(-0.5 * c + root) + std::cbrt(-0.5 * c - root);
}

// From the guess 1, a minimum of |f| at 0.816 lies before the root of y^3 - 2 y + lift below -1.4, so an iteration that only decreases |f|
// cannot get there. If the root is above 1, Newton's iteration finds it.
TEST(AnyOrderContinuation, FindsStartsBeyondAMinimumOfTheResidualAndHarmsNoOther) {
  const auto model = written("valley", R"(
  static constexpr double span[] = {0.0, 1.0};
  enum state { x, y };
  static constexpr saltus::variable<state> state_list[] = {{x, 0.0, "1", ""}, {y, 1.0, "1", ""}};
  enum parameter { lift };
  static constexpr saltus::variable<parameter> parameter_list[] = {{lift, 2.0, "1", ""}};
  static void residual(const auto& at, auto& r) {
    r[x] = at.d(x, 1) - at[y];
    r[y] = at[y] * at[y] * at[y] - 2.0 * at[y] + at[lift];
  }
)");
  const settings s = {"rtol=1e-9", "method=dop853"};
  const auto all = run(model, more(s, {"sweep.lift=[-4.0, 2.0, -21.0, 1.7]", "run.lanes=4"}));
  const auto lanes_alone = run(model, more(s, {"sweep.lift=[-4.0, 2.0, -21.0, 1.7]", "run.lanes=4", "rescue=false"}));
  for (const std::size_t i : {0u, 1u, 2u, 3u}) {
    const double lift = std::vector{-4.0, 2.0, -21.0, 1.7}[i];
    const bool is_hard = lift > 0.0;
    EXPECT_STREQ(status_of(all, i), "finished");
    EXPECT_STREQ(status_of(lanes_alone, i), is_hard ? "inconsistent" : "finished");
    EXPECT_EQ(all.exception[i], is_hard ? static_cast<int>(status::inconsistent) : 0);
    EXPECT_NEAR(all.final("y", static_cast<std::int64_t>(i)), root_of_cubic(lift), 1e-12);
    EXPECT_NEAR(all.final("x", static_cast<std::int64_t>(i)), root_of_cubic(lift), 1e-9);
    if (is_hard) continue;
    EXPECT_EQ(all.final("x", static_cast<std::int64_t>(i)), lanes_alone.final("x", static_cast<std::int64_t>(i)));
    EXPECT_EQ(all.steps[i], lanes_alone.steps[i]);
  }
  EXPECT_EQ(all.summary.counts.rescued(), 2);
}

// Positions of index 3: stage -2 finds y from x, which is given and stays; velocities and the force follow.
TEST(AnyOrderContinuation, HoldsWhatIsGivenAndEarlierStages) {
  const auto model = written("hidden_valley", R"(
  static constexpr double span[] = {0.0, 1e-9};
  enum state { x, y, force };
  static constexpr saltus::variable<state> state_list[] = {{x, 0.0, "1", ""}, {y, 1.0, "1", ""}, {force, 0.0, "1", ""}};
  static void residual(const auto& at, auto& r) {
    r[x] = at.d(x, 2) - at[force];
    r[y] = at.d(y, 2) + at[y] + at[force] * (3.0 * at[y] * at[y] - 2.0);
    r[force] = at[y] * at[y] * at[y] - 2.0 * at[y] + 2.0 - at[x];
  }
)");
  const auto r = run(model, {"rtol=1e-9", "method=dop853", "initial.x=0.3", "initial.x_d1=0.5"});
  EXPECT_STREQ(status_of(r), "finished");
  EXPECT_EQ(r.exception[0], static_cast<int>(status::inconsistent));
  const double y = root_of_cubic(1.7);
  EXPECT_NEAR(r.final("x"), 0.3, 1e-8);
  EXPECT_NEAR(r.final("y"), y, 1e-8);
  EXPECT_NEAR(r.final("x_d1"), 0.5, 1e-8);
  EXPECT_NEAR(r.final("y_d1"), 0.5 / (3 * y * y - 2), 1e-8);
}

TEST(AnyOrderContinuation, WhereThereIsNoSolutionTheStatusStays) {
  const auto model = written("nothing_there", R"(
  enum state { x, y };
  static constexpr saltus::variable<state> state_list[] = {{x, 0.0, "1", ""}, {y, 1.0, "1", ""}};
  static void residual(const auto& at, auto& r) {
    r[x] = at.d(x, 1) - at[y];
    r[y] = at[y] * at[y] + 1.0;
  }
)");
  const auto r = run(model, {"rtol=1e-9", "method=dop853"});
  EXPECT_STREQ(status_of(r), "inconsistent");
  EXPECT_EQ(r.exception[0], static_cast<int>(status::inconsistent));
  EXPECT_EQ(host::names_of_residuals(r.plan.model)[static_cast<std::size_t>(r.residual_of[0])], "y");
}

// ---- modes -----------------------------------------------------------------------------------------------------------

const char* const contradictory = R"(
  enum state { x, force };
  static constexpr saltus::variable<state> state_list[] = {{x, 0.0, "m", ""}, {force, 1.0, "N", ""}};
  enum guard { above };
  static constexpr saltus::event_function<guard> guard_list[] = {{above, saltus::both, saltus::bilateral, ""}};
  static void residual(const auto& at, auto& r) {
    r[x] = at.d(x, 1) - at[force];
    r[force] = at[force] - select(at.above(above), -1.0, 1.0);
  }
  static void guards(const auto& at, auto& g) { g[above] = at[force]; }
)";

// The force is negative where the guard says that it is positive, and vice versa.
TEST(AnyOrderModes, ThatContradictTheirPointsAreAStatusOfTheirOwn) {
  const auto r = run(written("contradictory", contradictory), {});
  EXPECT_STREQ(status_of(r), "modes_unsettled");
}

TEST(AnyOrderModes, OfDifferentIndexStandSideBySideInLanes) {
  // Restitution and speed differ: some ropes stay taut, others become slack; each instance has the same bits as when it runs alone.
  const settings s = {"rtol=1e-9", "sweep.speed={from=1.2, to=2.4, count=13}", "t=[0.0, 6.0]"};
  const auto all = run("slack_pendulum_any_order", more(s, {"run.lanes=8"}));
  const auto one = run("slack_pendulum_any_order", more(s, {"run.lanes=1"}));
  EXPECT_EQ(all.status, one.status);
  EXPECT_EQ(all.final_state, one.final_state);
  EXPECT_EQ(all.events, one.events);
  EXPECT_EQ(all.steps, one.steps);
  EXPECT_GT(*std::max_element(all.events.begin(), all.events.end()), 0);
  EXPECT_EQ(*std::min_element(all.events.begin(), all.events.end()), 0);
}

// ---- failures --------------------------------------------------------------------------------------------------------

const char* const parabola_body = R"(
  static constexpr double span[] = {0.0, 2.0};
  enum state { x, y };
  static constexpr saltus::variable<state> state_list[] = {{x, 0.0, "1", ""}, {y, 1.0, "1", "root of end - t"}};
  enum parameter { end };
  static constexpr saltus::variable<parameter> parameter_list[] = {{end, 1.0, "s", ""}};
  static void residual(const auto& at, auto& r) {
    r[x] = at.d(x, 1) - at[y];
    r[y] = at[y] * at[y] - (at[end] - at.t);
  }
)";

// The root ends at t = end, where det J = 2 y is zero.
TEST(AnyOrderFailures, TheEndOfABranchIsNamedAndHarmsNoOther) {
  const auto model = written("root_branch", parabola_body);
  const auto all = run(model, {"rtol=1e-9", "sweep.end=[1.0, 5.0, 1.5, 7.0]", "run.lanes=4"});
  for (const std::size_t i : {0u, 2u}) {
    EXPECT_STREQ(status_of(all, i), "singular");
    EXPECT_NEAR(all.t_final[i], i == 0 ? 1.0 : 1.5, 1e-6);
    EXPECT_EQ(host::names_of_residuals(all.plan.model)[static_cast<std::size_t>(all.residual_of[i])], "y");
  }
  for (const std::size_t i : {1u, 3u}) {
    const double end = i == 1 ? 5.0 : 7.0;
    EXPECT_STREQ(status_of(all, i), "finished");
    EXPECT_NEAR(all.final("y", static_cast<std::int64_t>(i)), std::sqrt(end - 2.0), 1e-8);
    const auto alone = run(model, {"rtol=1e-9", fmt::format("parameters.end={:.1f}", end), "run.lanes=1"});
    EXPECT_EQ(alone.final("y"), all.final("y", static_cast<std::int64_t>(i)));
    EXPECT_EQ(alone.steps[0], all.steps[i]);
  }
}

TEST(AnyOrderFailures, NumbersThatAreNoneHarmTheirInstanceOnly) {
  // A rod of length zero has no direction.
  const auto all = run("rod_pendulum", {"rtol=1e-9", "sweep.length=[1.0, 0.0, 2.0]"});
  EXPECT_STREQ(status_of(all, 0), "finished");
  EXPECT_STRNE(status_of(all, 1), "finished");
  EXPECT_STREQ(status_of(all, 2), "finished");
  EXPECT_EQ(run("rod_pendulum", {"rtol=1e-9", "parameters.length=2.0"}).final("x"), all.final("x", 2));
}

std::string refusal_of(const std::string& model) { return host::no_method_for(plan_of(model, {}).model); }

TEST(AnyOrderFailures, EquationsThatCannotBeSolvedAreRefusedWithTheReason) {
  EXPECT_NE(refusal_of(saltus::test::in_source("tests/models/overdetermined.hpp")).find("structurally singular"),
            std::string::npos);
  const auto momentum = written("momentum", R"(
  enum state { x };
  static constexpr saltus::variable<state> state_list[] = {{x, 1.0, "m", ""}};
  static void residual(const auto& at, auto& r) { r[x] = derivative(at[x] * at[x], 1) - 1.0; }
)");
  EXPECT_NE(refusal_of(momentum).find("differentiate an expression"), std::string::npos) << refusal_of(momentum);
  const auto twice = written("twice", R"(
  enum state { x, x_d1 };
  static constexpr saltus::variable<state> state_list[] = {{x, 1.0, "m", ""}, {x_d1, 0.0, "m/s", ""}};
  static void residual(const auto& at, auto& r) {
    r[x] = at.d(x, 1) - at[x_d1];
    r[x_d1] = at[x_d1] - 1.0;
  }
)");
  EXPECT_NE(refusal_of(twice).find("x_d1 is the name of a derivative"), std::string::npos) << refusal_of(twice);
  const auto by_value = written("by_value", R"(
  enum state { pressure, flow };
  static constexpr saltus::variable<state> state_list[] = {{pressure, 1.0, "bar", ""}, {flow, 0.0, "bar/s", ""}};
  static void residual(const auto& at, auto& r) {
    r[pressure] = at.d(pressure, 1) - at[flow];
    r[flow] = select(at[pressure] > 2.0, at[pressure] - (2.0 + sin(at.t)), at[flow]);
  }
)");
  EXPECT_NE(refusal_of(by_value).find("let a discrete variable, or the sign of a guard, say it"), std::string::npos)
      << refusal_of(by_value);
}

// ---- there and back, samples, guards of derivatives --------------------------------------------------------------------

TEST(AnyOrder, RunsBackward) {
  const auto there = run("rod_pendulum", {"rtol=1e-12", "t=[0.0, 2.0]"});
  const auto back =
      run("rod_pendulum", {"rtol=1e-12", "t=[2.0, 0.0]", fmt::format("initial.x={:.17g}", there.final("x")),
                           fmt::format("initial.x_d1={:.17g}", there.final("x_d1"))});
  EXPECT_STREQ(status_of(back), "finished");
  EXPECT_NEAR(back.final("x"), 1.0, 1e-9);
  EXPECT_NEAR(back.final("x_d1"), 0.0, 1e-8);
}

// y = sin t has its third derivative in a guard and in an output, while the equations need none of these.
TEST(AnyOrder, GuardsAndOutputsMayNeedHigherDerivatives) {
  const auto model = written("higher", R"(
  static constexpr double span[] = {0.0, 5.0};
  enum state { y };
  static constexpr saltus::variable<state> state_list[] = {{y, 0.0, "1", "sine of t"}};
  enum guard { bends };
  static constexpr saltus::event_function<guard> guard_list[] = {{bends, saltus::both, saltus::bilateral, ""}};
  enum output { third };
  static constexpr saltus::derived<output> output_list[] = {{third, "1", ""}};
  static void residual(const auto& at, auto& r) { r[y] = at[y] - sin(at.t); }
  static void guards(const auto& at, auto& g) { g[bends] = at.d(y, 3); }
  static void outputs(const auto& at, auto& out) { out[third] = at.d(y, 3); }
)");
  for (const char* method : {"taylor16", "rodas5p"}) {
    const auto r = run(model, {"rtol=1e-10", "output.events=true", fmt::format("method={}", method)});
    ASSERT_EQ(r.log.size(), 2u) << method;
    EXPECT_NEAR(r.log[0].time, std::acos(-1.0) / 2, 1e-9) << method;
    EXPECT_NEAR(r.log[1].time, std::acos(-1.0) * 1.5, 1e-9) << method;
    EXPECT_NEAR(r.output(0), -std::cos(5.0), 1e-8) << method;
  }
}

// x = sin t. A guard of x' dips for 0.0283 s, a small part of a step, so only the guard's own series shows it.
TEST(AnyOrder, GuardsOfDerivativesDipWithinAStep) {
  const auto model = written("dips", R"(
  static constexpr double span[] = {0.0, 13.0};
  enum state { x };
  static constexpr saltus::variable<state> state_list[] = {{x, 0.0, "1", "sine of t"}};
  enum guard { fast };
  static constexpr saltus::event_function<guard> guard_list[] = {{fast, saltus::both, saltus::bilateral, ""}};
  static void initial(auto& at) { at.d(x, 1) = 1.0; }
  static void residual(const auto& at, auto& r) { r[x] = at.d(x, 2) + at[x]; }
  static void guards(const auto& at, auto& g) { g[fast] = at.d(x, 1) - 0.9999; }
)");
  const auto r = run(model, {"rtol=1e-6", "method=taylor16", "output.events=true"});
  const double turn = 2.0 * std::acos(-1.0), half = std::acos(0.9999);
  const double expected[] = {half, turn - half, turn + half, 2.0 * turn - half, 2.0 * turn + half};
  ASSERT_EQ(r.log.size(), std::size(expected));
  for (std::size_t k = 0; k < std::size(expected); ++k) EXPECT_NEAR(r.log[k].time, expected[k], 1e-6) << k;
}

TEST(AnyOrder, SamplesAreTheSeries) {
  const auto r = run("index_chain_7", {"rtol=1e-10", "t=[0.0, 3.0]", "output.samples={count=31}"});
  for (int k = 0; k < 31; ++k) EXPECT_NEAR(r.sample(0, 0, k), std::sin(0.1 * k), 1e-9);
}

// Between the ends of steps the series has an error of 3e-8 in the constraint; samples are projected onto the equations.
TEST(AnyOrder, SamplesAreOnTheEquations) {
  const auto r = run("tight_orbits", {"rtol=1e-6", "output.samples={count=301}"});
  const double b = 10.0;
  for (int k = 0; k < 301; ++k) {
    const double x1 = r.sample(0, 0, k), x2 = r.sample(2, 0, k), x3 = r.sample(4, 0, k);
    EXPECT_NEAR(x1 * x1 + b * x2 * x2, 1.0, 1e-13);
    EXPECT_NEAR(x3, 0.0, 1e-13);
    EXPECT_NEAR(x1, std::cos(std::sqrt(b) * 0.1 * k), 1e-5);
  }
}

// Index 23 from a text of twelve lines.
TEST(AnyOrder, ChainsOfHighIndex) {
  const auto model = written("pendula_11", R"(
  static constexpr double span[] = {0.0, 10.0};
  static constexpr int P = 11;
  enum state { x, y = x + P, tension = y + P };
  static constexpr saltus::variable<state> state_list[] = {saltus::variable<state>{x, 7.0, "m", ""}.of(P),
      saltus::variable<state>{y, 7.0, "m", ""}.of(P), saltus::variable<state>{tension, 0.0, "1/s2", ""}.of(P)};
  static void initial(auto& s) { for (int i = 0; i < P; ++i) s.d(x, i, 1) = s.d(y, i, 1) = 0.0; }
  static void residual(const auto& at, auto& r) {
    for (int i = 0; i < P; ++i) {
      r(x, i) = at.d(x, i, 2) + at(tension, i) * at(x, i);
      r(y, i) = at.d(y, i, 2) + at(tension, i) * at(y, i) - 1.0;
      r(tension, i) = at(x, i) * at(x, i) + at(y, i) * at(y, i);
      if (i == 0) { r(tension, i) -= 100.0; } else { const auto rod = 10.0 + 0.1 * at(tension, i - 1); r(tension, i) -= rod * rod; }
    }
  }
)");
  const auto r = run(model, {"rtol=1e-12"});
  EXPECT_STREQ(status_of(r), "finished");
  for (int i = 0; i < 11; ++i) {
    const double rod = i == 0 ? 10.0 : 10.0 + 0.1 * r.final(fmt::format("tension_{}", i - 1));
    EXPECT_NEAR(std::hypot(r.final(fmt::format("x_{}", i)), r.final(fmt::format("y_{}", i))), rod, 1e-12);
  }
  // The first of them is a separate pendulum, so its energy is constant.
  const double energy = 0.5 * (std::pow(r.final("x_0_d1"), 2) + std::pow(r.final("y_0_d1"), 2)) - r.final("y_0");
  EXPECT_NEAR(energy, -std::sqrt(50.0), 1e-10);
}

}  // namespace
}  // namespace saltus::test
