// A rod that swings about one end, by the coordinates of its centre of mass and its angle, with two constraints; its angle alone would need
// none. M. D. Compere, dissertation, UT Austin 2001, example 1 (tables 3.1 and 3.2). x points down.
#include <saltus.hpp>

struct compound_pendulum {
  static constexpr auto title = "Compound pendulum in redundant coordinates";
  static constexpr auto source = "M. D. Compere, dissertation, The University of Texas at Austin (2001), example 1";
  static constexpr double span[] = {0.0, 5.0};

  enum state { x, y, angle, vx, vy, omega };
  static constexpr auto first_velocity = vx;
  static constexpr bool mass_is_diagonal = true;
  static constexpr saltus::variable<state> state_list[] = {{x, 0.0, "m", "centre of mass, downward"},
                                                           {y, 0.0, "m", "centre of mass, to the side"},
                                                           {angle, 0.3490658503988659, "rad", "of the rod, 0 below"},
                                                           {vx, 0.0, "m/s", "dx/dt"},
                                                           {vy, 0.0, "m/s", "dy/dt"},
                                                           {omega, 1.0, "rad/s", "d angle/dt"}};
  enum parameter { m, length, gravity, friction };
  static constexpr saltus::variable<parameter> parameter_list[] = {{m, 36.0, "kg", "mass"},
                                                                   {length, 1.0, "m", "of the rod"},
                                                                   {gravity, 9.81, "m/s2", "acceleration of gravity"},
                                                                   {friction, 0.0, "N m s", "viscous, in the joint"}};
  enum constraint { joint_x, joint_y };
  static constexpr saltus::constrained<constraint> constraint_list[] = {
      {joint_x, saltus::holonomic, "m", "the upper end stays where it is, downward"},
      {joint_y, saltus::holonomic, "m", "the upper end stays where it is, to the side"}};
  enum output { energy, force_x, force_y };
  static constexpr saltus::derived<output> output_list[] = {{energy, "J", "kinetic and potential energy"},
                                                            {force_x, "N", "of the joint on the rod, downward"},
                                                            {force_y, "N", "of the joint on the rod, to the side"}};

  static void initial(auto& at) {
    at[x] = 0.5 * at[length] * cos(at[angle]);
    at[y] = 0.5 * at[length] * sin(at[angle]);
    at[vx] = -0.5 * at[length] * sin(at[angle]) * at[omega];
    at[vy] = 0.5 * at[length] * cos(at[angle]) * at[omega];
  }
  static auto inertia(const auto& at) { return at[m] * at[length] * at[length] / 12.0; }
  static void mass(const auto& at, auto& matrix) {
    matrix(vx, vx) = matrix(vy, vy) = at[m];
    matrix(omega, omega) = inertia(at);
  }
  static void force(const auto& at, auto& f) {
    f[vx] = at[m] * at[gravity];
    f[vy] = 0.0;
    f[omega] = -at[friction] * at[omega];
  }
  static void constraints(const auto& at, auto& c) {
    c[joint_x] = at[x] - 0.5 * at[length] * cos(at[angle]);
    c[joint_y] = at[y] - 0.5 * at[length] * sin(at[angle]);
  }
  static void outputs(const auto& at, auto& out) {
    out[energy] = 0.5 * at[m] * (at[vx] * at[vx] + at[vy] * at[vy]) + 0.5 * inertia(at) * at[omega] * at[omega] -
                  at[m] * at[gravity] * at[x];
    out[force_x] = at.multiplier(joint_x);
    out[force_y] = at.multiplier(joint_y);
  }
};
