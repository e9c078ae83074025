// Two rods that hang on each other, in six absolute coordinates, with a mass matrix and forces that depend on all variables, and a
// moving pivot: no term of a linearised step is zero.
#include <saltus.hpp>

struct loaded_double_pendulum {
  static constexpr auto title = "Loaded double pendulum in redundant coordinates";
  static constexpr auto source = "tests";
  static constexpr double span[] = {0.0, 2.0};

  enum state { x1, y1, angle1, x2, y2, angle2, vx1, vy1, omega1, vx2, vy2, omega2 };
  static constexpr auto first_velocity = vx1;
  static constexpr saltus::variable<state> state_list[] = {{x1, 0.0, "m", "centre of the first rod, downward"},
                                                           {y1, 0.0, "m", "to the side"},
                                                           {angle1, 0.4, "rad", "of the first rod"},
                                                           {x2, 0.0, "m", "centre of the second rod, downward"},
                                                           {y2, 0.0, "m", "to the side"},
                                                           {angle2, -0.7, "rad", "of the second rod"},
                                                           {vx1, 0.0, "m/s", "velocity"},
                                                           {vy1, 0.0, "m/s", "velocity"},
                                                           {omega1, 1.0, "rad/s", "velocity"},
                                                           {vx2, 0.0, "m/s", "velocity"},
                                                           {vy2, 0.0, "m/s", "velocity"},
                                                           {omega2, -2.0, "rad/s", "velocity"}};
  enum parameter { gravity, drag, sway };
  static constexpr saltus::variable<parameter> parameter_list[] = {{gravity, 9.81, "m/s2", "acceleration of gravity"},
                                                                   {drag, 0.2, "kg/m", "of the air"},
                                                                   {sway, 0.1, "m", "of the pivot"}};
  enum constraint { pivot_x, pivot_y, joint_x, joint_y };
  static constexpr saltus::constrained<constraint> constraint_list[] = {
      {pivot_x, saltus::holonomic, "m", "the first rod hangs on the pivot, downward"},
      {pivot_y, saltus::holonomic, "m", "the first rod hangs on the pivot, to the side"},
      {joint_x, saltus::holonomic, "m", "the second rod hangs on the first, downward"},
      {joint_y, saltus::holonomic, "m", "the second rod hangs on the first, to the side"}};
  enum output { along };
  static constexpr saltus::derived<output> output_list[] = {
      {along, "N", "force of the pivot on the first rod, downward"}};

  static void mass(const auto& at, auto& matrix) {
    matrix(vx1, vx1) = matrix(vy1, vy1) = 2.0 + 0.2 * sin(at[x1]);
    matrix(omega1, omega1) = 0.2 + 0.05 * cos(at[angle1]);
    matrix(vx2, vx2) = 1.5;
    matrix(vy2, vy2) = 1.5 + 0.3 * at[y2] * at[y2];
    matrix(omega2, omega2) = 0.15;
    matrix(vx1, omega1) = 0.1 * sin(at[angle1]);
    matrix(vy2, omega2) = 0.1 * cos(at[angle2]);
  }
  static void force(const auto& at, auto& f) {
    f[vx1] = 2.0 * at[gravity] - at[drag] * at[vx1] * at[omega1];
    f[vy1] = -at[drag] * at[vy1] * at[vy1] * at[vy1];
    f[omega1] = -0.3 * at[omega1] - 0.5 * sin(at[angle1] - at[angle2]);
    f[vx2] = 1.5 * at[gravity] - at[drag] * at[vx2] * at[x2];
    f[vy2] = -4.0 * at[y2] + 0.1 * at[vx2] * at[omega2];
    f[omega2] = 0.5 * sin(at[angle1] - at[angle2]) - 0.1 * at[omega2] * at[omega2] * at[omega2];
  }
  static void constraints(const auto& at, auto& c) {
    c[pivot_x] = at[x1] - 0.5 * cos(at[angle1]) - at[sway] * sin(3.0 * at.t);
    c[pivot_y] = at[y1] - 0.5 * sin(at[angle1]);
    c[joint_x] = at[x2] - 0.4 * cos(at[angle2]) - (at[x1] + 0.5 * cos(at[angle1]));
    c[joint_y] = at[y2] - 0.4 * sin(at[angle2]) - (at[y1] + 0.5 * sin(at[angle1]));
  }
  static void outputs(const auto& at, auto& out) { out[along] = at.multiplier(pivot_x); }
};
