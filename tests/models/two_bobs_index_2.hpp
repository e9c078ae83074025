// two_bobs written by hand as a DAE of index 2, stabilised after Gear, Gupta and Leimkuhler: the rod constrains positions and
// velocities, each with a multiplier.
#include <saltus.hpp>

#include "parts/spring_between_bobs.hpp"

struct two_bobs_index_2 {
  static constexpr auto title = "Two bobs with a stiff spring between them, index 2";
  static constexpr auto source =
      "C. W. Gear, G. K. Gupta, B. Leimkuhler, J. Comput. Appl. Math. 12&13 (1985) 77: the form";
  static constexpr double span[] = {0.0, 2.0};

  enum state { x, y, a, b, vx, vy, va, vb, lambda, mu };
  static constexpr saltus::variable<state> state_list[] = {
      {x, 1.0, "m", "first bob, to the side"},
      {y, 0.0, "m", "its height"},
      {a, 1.5, "m", "second bob, to the side"},
      {b, 0.0, "m", "its height"},
      {vx, 0.0, "m/s", "of the first bob"},
      {vy, 0.0, "m/s", "of the first bob"},
      {va, 0.0, "m/s", "of the second bob"},
      {vb, 0.0, "m/s", "of the second bob"},
      saltus::variable<state>{lambda, 0.0, "N/m", "multiplier of velocities"}.algebraic(2),
      saltus::variable<state>{mu, 0.0, "1/s", "multiplier of positions: 0 in the solution"}.algebraic(2),
  };
  enum parameter { stiffness, damping, gravity };
  static constexpr saltus::variable<parameter> parameter_list[] = {
      {stiffness, 1e6, "N/m", "of the spring"},
      {damping, 2e3, "N s/m", "along the spring"},
      {gravity, 13.75, "m/s2", "acceleration of gravity"},
  };

  static void rhs(const auto& at, auto& dy) {
    const auto pull = parts::spring_between_bobs<two_bobs_index_2>(at);
    dy[x] = at[vx] + at[x] * at[mu];
    dy[y] = at[vy] + at[y] * at[mu];
    dy[a] = at[va];
    dy[b] = at[vb];
    dy[vx] = pull.x + at[x] * at[lambda];
    dy[vy] = pull.y - at[gravity] + at[y] * at[lambda];
    dy[va] = -pull.x;
    dy[vb] = -pull.y - at[gravity];
    dy[lambda] = at[x] * at[vx] + at[y] * at[vy];
    dy[mu] = 0.5 * (at[x] * at[x] + at[y] * at[y] - 1.0);
  }
};
