// A bead on two straight wires that cross at (1/2, 1/2), where the gradient of their one equation vanishes.
#include <saltus.hpp>

struct crossing {
  static constexpr double span[] = {0.0, 1.0};
  enum state { x, y, vx, vy };
  static constexpr auto first_velocity = vx;
  static constexpr saltus::variable<state> state_list[] = {
      {x, 0.0, "m", ""}, {y, 0.0, "m", ""}, {vx, 1.0, "m/s", ""}, {vy, 1.0, "m/s", ""}};
  enum constraint { wires };
  static constexpr saltus::constrained<constraint> constraint_list[] = {{wires, saltus::holonomic, "m2", ""}};
  static void mass(const auto&, auto& m) { m(vx, vx) = m(vy, vy) = 1.0; }
  static void force(const auto&, auto& f) { f[vx] = f[vy] = 0.0; }
  static void constraints(const auto& at, auto& c) { c[wires] = (at[x] - at[y]) * (at[x] + at[y] - 1.0); }
};
