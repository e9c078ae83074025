// A point on two planes, which may be parallel or identical.
#include <saltus.hpp>

struct two_planes {
  static constexpr double span[] = {0.0, 1.0};

  enum state { x, y, z, vx, vy, vz };
  static constexpr auto first_velocity = vx;
  static constexpr bool mass_is_diagonal = true;  // not diagonal if `coupling` is nonzero
  static constexpr saltus::variable<state> state_list[] = {
      {x, 0.0, "m", "along the ramp"}, {y, 0.0, "m", "across the ramp"}, {z, 0.0, "m", "height"},
      {vx, 0.0, "m/s", "dx/dt"},       {vy, 1.0, "m/s", "dy/dt"},        {vz, 0.0, "m/s", "dz/dt"}};
  enum parameter { tilt, gap, coupling };
  static constexpr saltus::variable<parameter> parameter_list[] = {
      {tilt, 1.0, "1", "slope of the ramp"},
      {gap, 0.0, "m", "height of the ramp at x = 0"},
      {coupling, 0.0, "1", "beside the mass matrix's diagonal"}};
  enum constraint { ground, ramp };
  static constexpr saltus::constrained<constraint> constraint_list[] = {
      {ground, saltus::holonomic, "m", "z = 0"}, {ramp, saltus::holonomic, "m", "z = tilt x + gap"}};

  static void mass(const auto& at, auto& m) {
    m(vx, vx) = m(vy, vy) = m(vz, vz) = 1.0;
    m(vy, vx) = at[coupling];
  }
  static void force(const auto&, auto& f) {
    f[vx] = f[vy] = 0.0;
    f[vz] = -9.81;
  }
  static void constraints(const auto& at, auto& c) {
    c[ground] = at[z];
    c[ramp] = at[z] - at[tilt] * at[x] - at[gap];
  }
};
