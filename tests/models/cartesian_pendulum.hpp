// A pendulum in Cartesian coordinates that swings against a wall, in a form of the test's own (models/parts/constrained_points.hpp).
#include <saltus.hpp>

#include "parts/constrained_points.hpp"

struct cartesian_pendulum {
  static constexpr auto title = "Pendulum in Cartesian coordinates";
  static constexpr auto source = "tests";
  static constexpr double span[] = {0.0, 4.0};
  template <class Functions>
  using form = constrained_points<Functions>;
  static constexpr int constraint_count = 1;

  enum state { x, y, vx, vy };
  static constexpr saltus::variable<state> state_list[] = {{x, 0.0, "m", "to the right of the pivot"},
                                                           {y, 0.0, "m", "above it"},
                                                           {vx, 0.0, "m/s", "velocity"},
                                                           {vy, 0.0, "m/s", "velocity"}};
  enum parameter { angle, length, gravity, wall, restitution };
  static constexpr saltus::variable<parameter> parameter_list[] = {{angle, 1.0, "rad", "at the start, at rest"},
                                                                   {length, 1.0, "m", "of the rod"},
                                                                   {gravity, 9.81, "m/s2", "acceleration of gravity"},
                                                                   {wall, -0.3, "m", "where it stands"},
                                                                   {restitution, 0.9, "1", "of the impact"}};
  enum guard { impact };
  static constexpr saltus::event_function<guard> guard_list[] = {
      {impact, saltus::falling, saltus::unilateral, "the pendulum meets the wall"}};

  static void initial(auto& at) {
    at[x] = at[length] * sin(at[angle]);
    at[y] = -at[length] * cos(at[angle]);
  }
  static void rhs(const auto& at, auto& dy) {
    dy[x] = at[vx], dy[y] = at[vy];
    dy[vx] = 0.0, dy[vy] = -at[gravity];
  }
  static void bonds(const auto& at, auto& g) { g[0] = 0.5 * (at[x] * at[x] + at[y] * at[y] - at[length] * at[length]); }
  static void guards(const auto& at, auto& g) { g[impact] = at[x] - at[wall]; }
  static void transition(auto& now) {
    now[vx] = -now[restitution] * now[vx];
    now[vy] = -now[restitution] * now[vy];
  }
};
