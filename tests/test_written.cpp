// Values written by a transition are given, in every form whose constraints may move states at an event: they are kept exactly, other
// states follow, and if no solution exists the instance ends and names what was written.
//
// Two flywheels that turn freely are locked to each other at t = 1. Then they have one common speed: the one written for both, the one
// written for one of them, or, without a written speed, the one from their momentum.
#include <algorithm>
#include <filesystem>
#include <fstream>

#include <unistd.h>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "testing/ensemble.hpp"

namespace saltus::test {
namespace {

constexpr double inertia_1 = 1.0, inertia_2 = 3.0, speed_1 = 20.0, speed_2 = -4.0;

/// The flywheels in one form of equations: states and equations belong to the form.
struct form {
  const char *name, *body;
};
constexpr form forms[] = {{"any_order", R"(
  enum state { w1, w2, torque };
  static constexpr saltus::variable<state> state_list[] = {{w1, 20.0, "1/s", ""}, {w2, -4.0, "1/s", ""}, {torque, 0.0, "1", ""}};
  static void residual(const auto& at, auto& r) {
    r[w1] = at.d(w1, 1) + at[torque];
    r[w2] = 3.0 * at.d(w2, 1) - at[torque];
    r[torque] = select(at.is_on(locked), at[w1] - at[w2], at[torque]);
  }
)"},
                          {"array", R"(
  enum state { w1, w2, torque };
  static constexpr saltus::variable<state> state_list[] = {{w1, 20.0, "1/s", ""}, {w2, -4.0, "1/s", ""}, {torque, 0.0, "1", ""}};
  static void residual(const auto& at, auto& r) {
    r[w1] = at.d(w1, 1) + at[torque];
    r[w2] = 3.0 * at.d(w2, 1) - at[torque];
    r[torque] = at[w1] - at[w2] - 24.0 * (1.0 - at[locked]);
  }
)"},
                          {"index_2", R"(
  enum state { w1, w2, torque };
  static constexpr saltus::variable<state> state_list[] = {{w1, 20.0, "1/s", ""}, {w2, -4.0, "1/s", ""},
      saltus::variable<state>{torque, 0.0, "1", ""}.algebraic(2)};
  static void rhs(const auto& at, auto& dy) {
    dy[w1] = -at[torque];
    dy[w2] = at[torque] / 3.0;
    dy[torque] = at[w1] - at[w2] - 24.0 * (1.0 - at[locked]);
  }
)"},
                          {"mixed", R"(
  static constexpr bool mass_is_singular = true;
  enum state { w1, w2 };
  static constexpr saltus::variable<state> state_list[] = {{w1, 20.0, "1/s", ""}, {w2, -4.0, "1/s", ""}};
  static void mass(const auto&, auto& m) { m(w1, w1) = 1.0, m(w1, w2) = 3.0; }
  static void rhs(const auto& at, auto& dy) {
    dy[w1] = 0.0;
    dy[w2] = at[w1] - at[w2] - 24.0 * (1.0 - at[locked]);
  }
)"},
                          {"mechanical", R"(
  enum state { a1, a2, w1, w2 };
  static constexpr auto first_velocity = w1;
  static constexpr saltus::variable<state> state_list[] = {{a1, 0.0, "1", ""}, {a2, 0.0, "1", ""}, {w1, 20.0, "1/s", ""}, {w2, -4.0, "1/s", ""}};
  enum constraint { lock };
  static constexpr saltus::constrained<constraint> constraint_list[] = {
      saltus::constrained<constraint>{lock, saltus::nonholonomic, "1/s", ""}.when(locked)};
  static void mass(const auto&, auto& m) { m(w1, w1) = 1.0, m(w2, w2) = 3.0; }
  static void force(const auto&, auto& f) { f[w1] = f[w2] = 0.0; }
  static void constraints(const auto& at, auto& c) { c[lock] = at[w1] - at[w2]; }
)"}};

std::string written(const form& f) {
  static const auto folder = std::filesystem::temp_directory_path() / fmt::format("saltus_written_{}", ::getpid());
  std::filesystem::create_directories(folder);
  const auto file = folder / fmt::format("flywheels_{}.hpp", f.name);
  std::ofstream(file) << "#include <saltus.hpp>\nstruct flywheels_" << f.name << R"( {
  static constexpr double span[] = {0.0, 2.0};
  enum parameter { first, second, writes };
  static constexpr saltus::variable<parameter> parameter_list[] = {
      {first, 5.0, "1/s", "what is written for w1"}, {second, 5.0, "1/s", "for w2"}, {writes, 0.0, "1", "1: w1, 2: w2, 3: both"}};
  enum discrete { locked };
  static constexpr saltus::variable<discrete> discrete_list[] = {{locked, 0.0, "1", ""}};
  enum time_event { locks };
  static constexpr saltus::timed<time_event> time_event_list[] = {{locks, ""}};
  static void time_events(const auto&, auto& when) { when.at(locks, 1.0); }
)" << f.body << R"(
  static void transition(auto& now) {
    now[locked] = 1.0;
    if (now[writes] == 1.0 || now[writes] == 3.0) now[w1] = now[first];
    if (now[writes] == 2.0 || now[writes] == 3.0) now[w2] = now[second];
  }
};
)";
  return file.string();
}

class Written : public ::testing::TestWithParam<form> {
 protected:
  outcome go(const std::vector<std::string>& more) const {
    std::vector<std::string> settings = {"rtol=1e-10", "rescue=false"};
    if (std::string(GetParam().name) == "array") settings.push_back("structure=array");
    settings.insert(settings.end(), more.begin(), more.end());
    return run(written(GetParam()), settings);
  }
  static const char* status_of(const outcome& r, std::size_t i) { return status_table[r.status[i]].name; }
};

/// The written value may equal the old one.
TEST_P(Written, StatesAreKeptAndOthersFollow) {
  const auto r = go({"sweep.writes=[0.0, 1.0, 2.0, 3.0]", "sweep.first=[5.0, 20.0]", "sweep.second=[5.0, -4.0]",
                     "output.events=true"});
  const bool by_momentum = std::string(GetParam().name).find("a") != 0;  // others: the smallest change
  const double together = (inertia_1 * speed_1 + inertia_2 * speed_2) / (inertia_1 + inertia_2);
  ASSERT_EQ(r.plan.count, 16);
  for (std::int64_t i = 0; i < r.plan.count; ++i) {
    const auto at = static_cast<std::size_t>(i);
    const std::int64_t writes = i / 4;
    const double first = i / 2 % 2 == 0 ? 5.0 : 20.0, second = i % 2 == 0 ? 5.0 : -4.0;
    SCOPED_TRACE(fmt::format("writes {}, {} and {}", writes, first, second));
    if (writes == 3 && first != second) {
      EXPECT_STREQ(status_of(r, at), "inconsistent");
      const auto names = host::names_of_residuals(r.plan.model);
      if (std::string(GetParam().name) != "mixed")  // it keeps no residual
        EXPECT_EQ(names.at(static_cast<std::size_t>(r.residual_of[at])), "w1_as_written");
      continue;
    }
    ASSERT_STREQ(status_of(r, at), "finished");
    const double w1 = r.final("w1", i), w2 = r.final("w2", i);
    EXPECT_NEAR(w1, w2, 1e-13);
    if (writes != 0) EXPECT_NEAR(w1, writes == 2 ? second : first, 1e-13);
    else if (by_momentum) EXPECT_NEAR(w1, together, 1e-12);
  }
  const auto place = static_cast<std::size_t>(std::find_if(r.plan.model.states.begin(), r.plan.model.states.end(),
                                                           [](const auto& s) { return s.name == "w1"; }) -
                                              r.plan.model.states.begin());
  for (const auto& event : r.log)
    if (event.instance / 4 == 1) EXPECT_EQ(event.after.at(place), event.instance / 2 % 2 == 0 ? 5.0 : 20.0);
}

INSTANTIATE_TEST_SUITE_P(Forms, Written, ::testing::ValuesIn(forms),
                         [](const auto& f) { return std::string(f.param.name); });

}  // namespace
}  // namespace saltus::test
