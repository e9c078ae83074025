// A pendulum of length 1 in cartesian coordinates, index 2, that is watched by the tension of its rod: a guard on an algebraic state whose
// events change nothing.
#include <saltus.hpp>

struct rod_in_tension {
  static constexpr double span[] = {0.0, 3.0};

  enum state { x, y, vx, vy, tension };
  static constexpr saltus::variable<state> state_list[] = {
      {x, 0.0, "m", "to the side"},
      {y, -1.0, "m", "height above the pivot"},
      {vx, 0.0, "m/s", "dx/dt"},
      {vy, 0.0, "m/s", "dy/dt"},
      saltus::variable<state>{tension, 10.0, "1/s2", "force in the rod over mass and length"}.algebraic(2),
  };

  enum parameter { angle, gravity, level };
  static constexpr saltus::variable<parameter> parameter_list[] = {
      {angle, 1.0, "rad", "at the start, from below"},
      {gravity, 9.81, "m/s2", "acceleration of gravity"},
      {level, 9.0, "1/s2", "the tension that is watched"},
  };

  enum guard { passes };
  static constexpr saltus::event_function<guard> guard_list[] = {
      {passes, saltus::both, saltus::bilateral, "the tension passes the level"},
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
  static void guards(const auto& at, auto& g) { g[passes] = at[tension] - at[level]; }
};
