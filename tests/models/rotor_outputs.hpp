// x = cos(t), v = -sin(t), and outputs that no step resolves: a jump, the drift of an invariant, zero, and one that is NaN half of the
// time.
#include <saltus.hpp>

struct rotor_outputs {
  static constexpr auto title = "a point that goes round";
  static constexpr auto source = "tests";
  static constexpr double span[] = {0.0, 100.0};
  enum state { x, v };
  static constexpr saltus::variable<state> state_list[] = {{x, 1.0, "1", "elongation"}, {v, 0.0, "1", "velocity"}};
  enum output { above, drift, nothing, root };
  static constexpr saltus::derived<output> output_list[] = {
      {above, "1", "1 where x > 0.3"}, {drift, "1", "x^2 + v^2 - 1"}, {nothing, "1", "0"}, {root, "1", "of x"}};
  static void rhs(const auto& at, auto& dy) {
    dy[x] = at[v];
    dy[v] = -at[x];
  }
  static void outputs(const auto& at, auto& out) {
    out[above] = select(at[x] > 0.3, 1.0, 0.0);
    out[drift] = at[x] * at[x] + at[v] * at[v] - 1.0;
    out[nothing] = 0.0 * at[x];
    out[root] = sqrt(at[x]);
  }
};
