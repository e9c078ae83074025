// A wave with a step without a guard: x' = 10 sin(w t) + (t > onset ? height : 0).
#include <saltus.hpp>

struct step_in_waves {
  static constexpr auto title = "A step beside a wave";
  static constexpr auto source = "the project's own";
  static constexpr double span[] = {0.0, 10.0};
  enum state { x };
  static constexpr saltus::variable<state> state_list[] = {{x, 0.0, "1", "integral"}};
  enum parameter { w, onset, height };
  static constexpr saltus::variable<parameter> parameter_list[] = {
      {w, 50.0, "1/s", "angular frequency"}, {onset, 4.2, "s", "of the step"}, {height, 0.01, "1/s", "of the step"}};
  static void rhs(const auto& at, auto& dy) {
    dy[x] = 10.0 * sin(at[w] * at.t) + select(at.t > at[onset], at[height], 0.0);
  }
};
