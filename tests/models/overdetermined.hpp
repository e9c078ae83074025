// A circuit with a mistake: three equations determine the two voltages, and only the sum of the two currents is determined.
#include <saltus.hpp>

struct overdetermined {
  static constexpr double span[] = {0.0, 1.0};

  enum state { u, v, i, j, charge };
  static constexpr saltus::variable<state> state_list[] = {{u, 0.0, "V", "a voltage"},
                                                           {v, 0.0, "V", "another"},
                                                           {i, 0.0, "A", "a current"},
                                                           {j, 0.0, "A", "another"},
                                                           {charge, 0.0, "C", "on a capacitor"}};
  enum equation { source, divider, ground, node, capacitor };
  static constexpr saltus::equated<equation> equation_list[] = {{source, "V", "the voltage of the source"},
                                                                {divider, "V", "half of it"},
                                                                {ground, "V", "and none"},
                                                                {node, "A", "the sum of currents"},
                                                                {capacitor, "A", "what charges it"}};

  static void residual(const auto& at, auto& r) {
    r[source] = at[u] - sin(at.t);
    r[divider] = at[v] - 0.5 * at[u];
    r[ground] = at[u] - at[v];
    r[node] = at[i] + at[j];
    r[capacitor] = at.d(charge, 1) - at[i];
  }
};
