// A pendulum in cartesian coordinates: the smallest index-3 problem. Gravity is chosen so that the pendulum falls through a quarter of a
// turn, from the horizontal, in half a second.
#include <saltus.hpp>

struct index_3_pendulum {
  static constexpr auto title = "Pendulum in cartesian coordinates, index 3";
  static constexpr auto source = "textbook; E. Hairer, G. Wanner, Solving ODEs II, section VII.1";
  static constexpr double span[] = {0.0, 2.0};

  enum state { x, y, vx, vy };
  static constexpr auto first_velocity = vx;
  static constexpr bool mass_is_diagonal = true;
  static constexpr saltus::variable<state> state_list[] = {{x, 1.0, "m", "to the side"},
                                                           {y, 0.0, "m", "height above the pivot"},
                                                           {vx, 0.0, "m/s", "dx/dt"},
                                                           {vy, 0.0, "m/s", "dy/dt"}};
  enum parameter { m, length, gravity };
  static constexpr saltus::variable<parameter> parameter_list[] = {
      {m, 1.0, "kg", "mass"},
      {length, 1.0, "m", "of the rod"},
      {gravity, 13.750371636040745655, "m/s2", "acceleration of gravity (default: the period is 2 s)"}};
  enum constraint { rod };
  static constexpr saltus::constrained<constraint> constraint_list[] = {
      {rod, saltus::holonomic, "m2", "the rod keeps its length: half the square of it"}};
  enum guard { bottom };
  static constexpr saltus::event_function<guard> guard_list[] = {
      {bottom, saltus::both, saltus::bilateral, "it is below the pivot"}};
  enum output { tension, energy };
  static constexpr saltus::derived<output> output_list[] = {{tension, "N", "in the rod"},
                                                            {energy, "J", "kinetic and potential energy"}};

  static void mass(const auto& at, auto& matrix) { matrix(vx, vx) = matrix(vy, vy) = at[m]; }
  static void force(const auto& at, auto& f) {
    f[vx] = 0.0;
    f[vy] = -at[m] * at[gravity];
  }
  static void constraints(const auto& at, auto& c) {
    c[rod] = 0.5 * (at[x] * at[x] + at[y] * at[y] - at[length] * at[length]);
  }
  static void guards(const auto& at, auto& g) { g[bottom] = at[x]; }
  static void outputs(const auto& at, auto& out) {
    out[tension] =
        -at.multiplier(rod) * at[length];  // the gradient of the constraint points outward and is as long as the rod
    out[energy] = 0.5 * at[m] * (at[vx] * at[vx] + at[vy] * at[vy]) + at[m] * at[gravity] * at[y];
  }
};
