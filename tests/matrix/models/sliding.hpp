// A block on a shaken table: dry friction holds it as long as the shaking is weaker.
#include <saltus.hpp>

struct sliding {
  static constexpr auto title = "dry friction";
  static constexpr auto source = "tests: closed form between events (tests/matrix/forms.py)";
  static constexpr double span[] = {0.0, 3.0};

  enum state { z, speed };
  static constexpr saltus::variable<state> state_list[] = {{z, 0.3, "m", "position"}, {speed, 0.5, "m/s", "velocity"}};
  enum parameter { friction };
  static constexpr saltus::variable<parameter> parameter_list[] = {{friction, 1.5, "m/s2", "deceleration by friction"}};
  enum guard { slip };
  static constexpr saltus::event_function<guard> guard_list[] = {
      saltus::event_function<guard>{slip, saltus::both, saltus::bilateral, "the block stands still"}.sliding()};
  enum output { fast, slow };
  static constexpr saltus::derived<output> output_list[] = {{fast, "1", "much faster than the states"},
                                                            {slow, "1", "as slow as z"}};

  static void rhs(const auto& at, auto& dy) {
    dy[z] = at[speed];
    dy[speed] = 2.5 * sin(4.0 * at.t) - select(at.above(slip), at[friction], -at[friction]);
  }
  static void guards(const auto& at, auto& g) { g[slip] = at[speed]; }
  static void outputs(const auto& at, auto& out) {
    out[fast] = (0.5 + at[z]) * cos(40.0 * at.t - 1.0);
    out[slow] = at[z] * at[z];
  }
};
