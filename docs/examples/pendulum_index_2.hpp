// A pendulum in cartesian coordinates, held by its rod through the velocities: a DAE of index 2 with the multiplier as its
// algebraic state.
#include <saltus.hpp>

struct pendulum_index_2 {
  static constexpr auto title = "Pendulum in cartesian coordinates, index 2";
  static constexpr auto source = "E. Hairer, G. Wanner, Solving ODEs II, section VII.1";
  static constexpr double span[] = {0.0, 10.0};

  enum state { x, y, vx, vy, tension };
  static constexpr saltus::variable<state> state_list[] = {
      {x, 0.0, "m", "to the side (default: by the angle)"},
      {y, 0.0, "m", "height above the pivot (default: by the angle)"},
      {vx, 0.0, "m/s", "dx/dt"},
      {vy, 0.0, "m/s", "dy/dt"},
      saltus::variable<state>{tension, 10.0, "1/s2", "force in the rod over mass and length"}.algebraic(2),
  };

  enum parameter { angle, gravity };
  static constexpr saltus::variable<parameter> parameter_list[] = {
      {angle, 1.0, "rad", "at the start, from below"},
      {gravity, 9.81, "m/s2", "acceleration of gravity"},
  };

  enum guard { bottom };
  static constexpr saltus::event_function<guard> guard_list[] = {
      {bottom, saltus::falling, saltus::bilateral, "it swings through the lowest point to the left"},
  };

  static void initial(auto& at) {
    at[x] = sin(at[angle]);
    at[y] = -cos(at[angle]);
  }

  static void rhs(const auto& at, auto& dy) {
    dy[x] = at[vx];
    dy[y] = at[vy];
    dy[vx] = -at[tension] * at[x];
    dy[vy] = -at[tension] * at[y] - at[gravity];
    dy[tension] = at[x] * at[vx] + at[y] * at[vy];
  }

  static void guards(const auto& at, auto& g) { g[bottom] = at[x]; }
};
