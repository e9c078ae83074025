// A guard with three known roots along a constant state: steps are long and contain any number of roots.
#include <saltus.hpp>

struct cubic_guard {
  static constexpr auto title = "three roots";
  static constexpr auto source = "tests";
  static constexpr double span[] = {0.0, 1.0};
  enum state { y };
  static constexpr saltus::variable<state> state_list[] = {{y, 0.0, "1", "constant"}};
  enum parameter { r1, r2, r3 };
  static constexpr saltus::variable<parameter> parameter_list[] = {
      {r1, 0.2, "1", "a root"}, {r2, 0.4, "1", "a root"}, {r3, 0.6, "1", "a root"}};
  enum guard { zero };
  static constexpr saltus::event_function<guard> guard_list[] = {
      {zero, saltus::both, saltus::bilateral, "at each root"}};
  static void rhs(const auto& at, auto& dy) { dy[y] = 0.0 * at[y]; }
  static void guards(const auto& at, auto& g) { g[zero] = (at.t - at[r1]) * (at.t - at[r2]) * (at.t - at[r3]); }
  static void transition(auto&) {}
};
