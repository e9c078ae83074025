// A damped oscillation with outputs whose comparisons change where others turn.
#include <saltus.hpp>

struct turning_outputs {
  static constexpr auto title = "outputs of a damped oscillation";
  static constexpr auto source = "tests";
  static constexpr double span[] = {0.0, 6.0};
  enum state { x, v };
  static constexpr saltus::variable<state> state_list[] = {{x, 0.0, "m", "position"}, {v, 1.0, "m/s", "velocity"}};
  enum parameter { w, k };
  static constexpr saltus::variable<parameter> parameter_list[] = {{w, 2.0, "1/s", "angular frequency"},
                                                                   {k, 0.2, "1/s", "rate of decay"}};
  enum output { limited, speed, distance };
  static constexpr saltus::derived<output> output_list[] = {
      {limited, "m", "x, below a limit that is not reached"}, {speed, "m/s", "|v|"}, {distance, "m", "|x|"}};
  static void rhs(const auto& at, auto& dy) {
    dy[x] = at[v];
    dy[v] = -at[w] * at[w] * at[x] - 2.0 * at[k] * at[v];
  }
  static void outputs(const auto& at, auto& out) {
    out[limited] = min(at[x], 5.0);
    out[speed] = abs(at[v]);
    out[distance] = abs(at[x]);
  }
};
