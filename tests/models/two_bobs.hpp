// A bob on a rod, and a second bob that a stiff spring and damper hold beside it: the stiff direction turns with the motion.
#include <saltus.hpp>

#include "parts/spring_between_bobs.hpp"

struct two_bobs {
  static constexpr auto title = "Two bobs with a stiff spring between them";
  static constexpr auto source = "made for tests";
  static constexpr double span[] = {0.0, 2.0};

  enum state { x, y, a, b, vx, vy, va, vb };
  static constexpr auto first_velocity = vx;
  static constexpr bool mass_is_diagonal = true;
  static constexpr saltus::variable<state> state_list[] = {
      {x, 1.0, "m", "first bob, to the side"},
      {y, 0.0, "m", "its height"},
      {a, 1.5, "m", "second bob, to the side"},
      {b, 0.0, "m", "its height"},
      {vx, 0.0, "m/s", "dx/dt"},
      {vy, 0.0, "m/s", "dy/dt"},
      {va, 0.0, "m/s", "da/dt"},
      {vb, 0.0, "m/s", "db/dt"},
  };
  enum parameter { stiffness, damping, gravity };
  static constexpr saltus::variable<parameter> parameter_list[] = {
      {stiffness, 1e6, "N/m", "of the spring"},
      {damping, 2e3, "N s/m", "along the spring"},
      {gravity, 13.75, "m/s2", "acceleration of gravity"},
  };
  enum constraint { rod };
  static constexpr saltus::constrained<constraint> constraint_list[] = {
      {rod, saltus::holonomic, "m2", "half the square of the first bob's distance from the pivot"},
  };

  static void mass(const auto& at, auto& m) { m(vx, vx) = m(vy, vy) = m(va, va) = m(vb, vb) = 1.0; }
  static void force(const auto& at, auto& f) {
    const auto pull = parts::spring_between_bobs<two_bobs>(at);
    f[vx] = pull.x;
    f[vy] = pull.y - at[gravity];
    f[va] = -pull.x;
    f[vb] = -pull.y - at[gravity];
  }
  static void constraints(const auto& at, auto& c) { c[rod] = 0.5 * (at[x] * at[x] + at[y] * at[y] - 1.0); }
};
