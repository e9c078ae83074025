// A parameter makes an instance fail, among instances that do not fail.
#include <saltus.hpp>

struct trouble {
  static constexpr auto title = "NaN on demand";
  static constexpr auto source = "tests";
  static constexpr double span[] = {0.0, 1.0};
  enum state { y, clock };
  static constexpr saltus::variable<state> state_list[] = {{y, 1.0, "1", "decays"}, {clock, 0.0, "s", "time"}};
  enum parameter { rhs_fails_at, guard_fails_at, rate };
  static constexpr saltus::variable<parameter> parameter_list[] = {{rhs_fails_at, 10.0, "s", "from then on dy is NaN"},
                                                                   {guard_fails_at, 10.0, "s", "from then on g is NaN"},
                                                                   {rate, 1.0, "1/s", "of the decay"}};
  enum guard { half };
  static constexpr saltus::event_function<guard> guard_list[] = {
      {half, saltus::falling, saltus::bilateral, "y passes 1/2"}};
  static void rhs(const auto& at, auto& dy) {
    dy[y] = -at[rate] * at[y] + 0.0 * sqrt(at[rhs_fails_at] - at[clock]);
    dy[clock] = 1.0 + 0.0 * at[y];
  }
  static void guards(const auto& at, auto& g) { g[half] = at[y] - 0.5 + 0.0 * sqrt(at[guard_fails_at] - at[clock]); }
  static void transition(auto&) {}
};
