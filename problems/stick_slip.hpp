// A block on a moving belt, held back by a spring: it sticks, is dragged along, breaks loose, slips back, sticks again.
//
//     m x'' = -k x - c x' - F sign(v_rel) / (1 + delta |v_rel|),   v_rel = x' - v_belt
//
// Friction falls with the speed of slipping, which makes the steady state unstable. At v_rel = 0 friction takes any value up to F that
// keeps the block on the belt: Filippov's sliding along v_rel = 0, which the engine integrates. The log has `stick` when it begins, and
// `leaves_stick` when the spring overcomes F. Every slip begins at v = v_belt, k x + c v = F, so one slip reaches the limit cycle
// exactly.
#include <saltus.hpp>

struct stick_slip {
  static constexpr auto title = "Stick-slip of a block on a belt";
  static constexpr auto source =
      "R. I. Leine, D. H. van Campen, A. de Kraker, L. van den Steen, Nonlinear Dynamics 16 (1998) 41; damping added";
  static constexpr double span[] = {0.0, 40.0};

  enum state { position, velocity };
  static constexpr saltus::variable<state> state_list[] = {
      {position, 0.0, "m", "elongation of the spring, in the direction of the belt"},
      {velocity, 0.0, "m/s", "velocity of the block"},
  };

  enum parameter { mass, stiffness, damping, belt_speed, static_friction, decay };
  static constexpr saltus::variable<parameter> parameter_list[] = {
      {mass, 1.0, "kg", "mass of the block"},
      {stiffness, 1.0, "N/m", "stiffness of the spring"},
      {damping, 0.0, "N s/m", "viscous damping of the block"},
      {belt_speed, 0.2, "m/s", "velocity of the belt"},
      {static_friction, 1.0, "N", "largest friction force, that of sticking"},
      {decay, 3.0, "s/m", "delta: how fast friction falls with the speed of slipping"},
  };

  enum guard { stick };
  static constexpr saltus::event_function<guard> guard_list[] = {
      saltus::event_function<guard>{stick, saltus::both, saltus::bilateral, "the block has the velocity of the belt"}
          .sliding(),
  };

  static void rhs(const auto& at, auto& dy) {
    const auto v_rel = at[velocity] - at[belt_speed];
    const auto speed = select(at.above(stick), v_rel, -v_rel);
    const auto friction = at[static_friction] / (1.0 + at[decay] * speed);
    const auto pull = select(at.above(stick), -friction, friction);
    dy[position] = at[velocity];
    dy[velocity] = (pull - at[stiffness] * at[position] - at[damping] * at[velocity]) / at[mass];
  }

  static void guards(const auto& at, auto& g) { g[stick] = at[velocity] - at[belt_speed]; }
};
