// Three capacitors in a loop between nodes that resistors connect to ground, by Kirchhoff's current laws, whose sum has no derivative.
#include <saltus.hpp>

struct floating_loop {
  static constexpr double span[] = {0.0, 3.0};

  enum state { v1, v2, v3 };
  static constexpr saltus::variable<state> state_list[] = {
      {v1, 0.0, "V", "node voltage"}, {v2, 0.0, "V", "node voltage"}, {v3, 0.0, "V", "node voltage"}};

  enum parameter { c12, c23, c31, g1, g2, g3, stray, level };
  static constexpr saltus::variable<parameter> parameter_list[] = {
      {c12, 1.0, "F", "capacitance"},
      {c23, 0.5, "F", "capacitance"},
      {c31, 2.0, "F", "capacitance"},
      {g1, 1.0, "S", "conductance"},
      {g2, 0.7, "S", "conductance"},
      {g3, 1.3, "S", "conductance"},
      {stray, 0.0, "F", "capacitance of the first node to the ground"},
      {level, 0.3, "V", "that of the first node is noted"}};

  enum guard { above, below };
  static constexpr saltus::event_function<guard> guard_list[] = {
      {above, saltus::rising, saltus::bilateral, "the first node rises over the level"},
      {below, saltus::falling, saltus::bilateral, "it falls under the level"}};

  static void residual(const auto& at, auto& r) {
    const auto i12 = at[c12] * (at.d(v1, 1) - at.d(v2, 1)), i23 = at[c23] * (at.d(v2, 1) - at.d(v3, 1)),
               i31 = at[c31] * (at.d(v3, 1) - at.d(v1, 1));
    r[v1] = i12 - i31 + at[stray] * at.d(v1, 1) + at[g1] * at[v1] - sin(at.t);
    r[v2] = i23 - i12 + at[g2] * at[v2];
    r[v3] = i31 - i23 + at[g3] * at[v3];
  }

  static void guards(const auto& at, auto& g) {
    g[above] = at[v1] - at[level];
    g[below] = at[v1] - at[level];
  }
};
