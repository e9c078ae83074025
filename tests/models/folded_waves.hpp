// x = t, the integral of |sin|, and outputs that fold and jump without events.
#include <saltus.hpp>

struct folded_waves {
  static constexpr auto title = "folded waves without guards";
  static constexpr auto source = "tests";
  static constexpr double span[] = {0.0, 10.0};
  enum state { x, sum };
  static constexpr saltus::variable<state> state_list[] = {{x, 0.0, "s", "t"}, {sum, 0.0, "1", "integral of |sin|"}};
  enum parameter { w, phase };
  static constexpr saltus::variable<parameter> parameter_list[] = {{w, 5.0, "rad/s", "frequency"},
                                                                   {phase, 0.0, "rad", "at t = 0"}};
  enum output { folded, saw };
  static constexpr saltus::derived<output> output_list[] = {{folded, "1", "|sin|"},
                                                            {saw, "1", "a saw of as many teeth"}};
  static void rhs(const auto& at, auto& dy) {
    dy[x] = 1.0;
    dy[sum] = abs(sin(at[w] * at.t + at[phase]));
  }
  static void outputs(const auto& at, auto& out) {
    const auto turns = at[w] * at[x] + at[phase];
    out[folded] = abs(sin(turns));
    out[saw] = turns - floor(turns);
  }
};
