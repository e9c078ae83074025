// A mechanical system: two bodies in a plane; in one mode a rod holds the first of them.
#include "parts/selecting_base.hpp"

struct selecting_mechanical : selecting_base {
  static constexpr auto title = "Chosen branches and constraints";
  enum state { x, y, p, vx, vy, vp };
  static constexpr auto first_velocity = vx;
  static constexpr saltus::variable<state> state_list[] = {{x, 1.0, "m", "first body"},   {y, 0.0, "m", "first body"},
                                                           {p, -0.5, "m", "second body"}, {vx, 0.0, "m/s", ""},
                                                           {vy, 1.0, "m/s", ""},          {vp, 0.3, "m/s", ""}};
  enum constraint { rod, joined };
  static constexpr saltus::constrained<constraint> constraint_list[] = {
      {rod, saltus::holonomic, "m2", "to the origin"},
      saltus::constrained<constraint>{joined, saltus::nonholonomic, "m/s", "the bodies move alike along x"}.when(on)};
  static void mass(const auto& at, auto& m) {
    m(vx, vx) = m(vy, vy) = 1.0;
    m(vp, vp) = select(at.is_on(on), 2.0 + 0.0 * at[p], 1.5 + 0.5 * at[p] * at[p]);
  }
  static void force(const auto& at, auto& f) {
    f[vx] = pull(at, at[x], at[p]);
    f[vy] = -1.0;
    f[vp] = pull(at, at[p], at[x]) - 0.1 * at[vp];
  }
  static void constraints(const auto& at, auto& k) {
    k[rod] = at[x] * at[x] + at[y] * at[y] - 1.0;
    k[joined] = at[vx] - at[vp];
  }
  static void guards(const auto& at, auto& g) { look(at, g, at[x], at[vx], at[p], at[vp]); }
  static void transition(auto& now) { change(now); }
};
