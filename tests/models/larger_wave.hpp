// The larger of two waves of time above a level, beside a state that says nothing of them.
#include <saltus.hpp>

struct larger_wave {
  static constexpr auto title = "the larger of two waves passes a level";
  static constexpr auto source = "tests";
  static constexpr double span[] = {0.0, 10.0};
  enum state { x };
  static constexpr saltus::variable<state> state_list[] = {{x, 0.0, "s", "t"}};
  enum parameter { w, phase, level };
  static constexpr saltus::variable<parameter> parameter_list[] = {{w, 5.0, "rad/s", "frequency of the first wave"},
                                                                   {phase, 0.0, "rad", "its phase"},
                                                                   {level, 0.5, "1", "the level"}};
  enum guard { passes };
  static constexpr saltus::event_function<guard> guard_list[] = {
      {passes, saltus::rising, saltus::bilateral, "the larger wave rises above the level"}};
  static void rhs(const auto&, auto& dy) { dy[x] = 1.0; }
  static void guards(const auto& at, auto& g) {
    g[passes] = max(sin(at[w] * at.t + at[phase]), sin(2.3 * at.t + 1.0)) - at[level];
  }
  static void transition(auto&) {}
};
