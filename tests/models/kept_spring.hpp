// A mass on a spring that keeps its energy: invariants, and no constraints.
#include <saltus.hpp>

struct kept_spring {
  static constexpr auto title = "Mass on a spring that keeps its energy";
  static constexpr auto source = "tests";
  static constexpr double span[] = {0.0, 10.0};

  enum state { x, v };
  static constexpr auto first_velocity = v;
  static constexpr saltus::variable<state> state_list[] = {{x, 1.0, "m", "elongation"}, {v, 0.0, "m/s", "velocity"}};
  enum parameter { stiffness };
  static constexpr saltus::variable<parameter> parameter_list[] = {{stiffness, 1.0, "N/m", "of the spring"}};
  enum invariant { energy };
  static constexpr saltus::conserved<invariant> invariant_list[] = {{energy, "J", "kinetic and potential energy"}};

  static void mass(const auto&, auto& m) { m(v, v) = 1.0; }
  static void force(const auto& at, auto& f) { f[v] = -at[stiffness] * at[x]; }
  static void invariants(const auto& at, auto& i) { i[energy] = 0.5 * (at[v] * at[v] + at[stiffness] * at[x] * at[x]); }
};
