// A knife edge on an inclined plane. It moves only along its blade: a constraint on velocities that no constraint on positions replaces.
// However steep the plane, the edge does not slide down; it moves to and fro, and sideways.
#include <saltus.hpp>

struct knife_edge {
  static constexpr auto title = "Knife edge on an inclined plane, nonholonomic";
  static constexpr auto source = "Ju. I. Neimark, N. A. Fufaev, Dynamics of Nonholonomic Systems, 1972";
  static constexpr double span[] = {0.0, 10.0};

  enum state { x, y, angle, vx, vy, omega };
  static constexpr auto first_velocity = vx;
  static constexpr bool mass_is_diagonal = true;
  static constexpr saltus::variable<state> state_list[] = {
      {x, 0.0, "m", "down the plane"}, {y, 0.0, "m", "across the plane"}, {angle, 0.0, "rad", "of the blade, from x"},
      {vx, 0.0, "m/s", "dx/dt"},       {vy, 0.0, "m/s", "dy/dt"},         {omega, 1.0, "rad/s", "d angle/dt"}};
  enum parameter { m, inertia, gravity, slope };
  static constexpr saltus::variable<parameter> parameter_list[] = {
      {m, 1.0, "kg", "mass"},
      {inertia, 0.1, "kg m2", "about the point of contact"},
      {gravity, 9.81, "m/s2", "acceleration of gravity"},
      {slope, 0.5, "rad", "of the plane"}};
  enum constraint { blade };
  static constexpr saltus::constrained<constraint> constraint_list[] = {
      {blade, saltus::nonholonomic, "m/s", "no motion across the blade"}};
  enum output { side_force, energy };
  static constexpr saltus::derived<output> output_list[] = {{side_force, "N", "on the blade, toward (sin, -cos)"},
                                                            {energy, "J", "kinetic and potential energy"}};

  static void mass(const auto& at, auto& matrix) {
    matrix(vx, vx) = matrix(vy, vy) = at[m];
    matrix(omega, omega) = at[inertia];
  }
  static void force(const auto& at, auto& f) {
    f[vx] = at[m] * at[gravity] * sin(at[slope]);
    f[vy] = 0.0;
    f[omega] = 0.0;
  }
  static void constraints(const auto& at, auto& c) { c[blade] = at[vx] * sin(at[angle]) - at[vy] * cos(at[angle]); }
  static void outputs(const auto& at, auto& out) {
    out[side_force] = at.multiplier(blade);
    out[energy] = 0.5 * at[m] * (at[vx] * at[vx] + at[vy] * at[vy]) + 0.5 * at[inertia] * at[omega] * at[omega] -
                  at[m] * at[gravity] * sin(at[slope]) * at[x];
  }
};
