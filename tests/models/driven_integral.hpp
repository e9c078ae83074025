// The integral of a function of time alone.
#include <saltus.hpp>

struct driven_integral {
  static constexpr auto title = "integral of two waves of time";
  static constexpr auto source = "tests";
  static constexpr double span[] = {0.0, 10.0};
  enum state { x };
  static constexpr saltus::variable<state> state_list[] = {{x, 0.0, "1", "the integral"}};
  enum parameter { w, phase };
  static constexpr saltus::variable<parameter> parameter_list[] = {{w, 5.0, "rad/s", "frequency of the first wave"},
                                                                   {phase, 0.0, "rad", "its phase"}};
  static void rhs(const auto& at, auto& dy) { dy[x] = cos(at[w] * at.t + at[phase]) + 0.7 * cos(0.37 * at[w] * at.t); }
};
