// Two bodies that attract each other, in the plane of their orbit: eccentricity 0 at vy = 1, and 0.51 at vy = 0.7.
#include <saltus.hpp>

struct two_bodies {
  static constexpr auto title = "Two bodies";
  static constexpr auto source = "E. Hairer, S. P. Norsett, G. Wanner, Solving Ordinary Differential Equations I";
  static constexpr double span[] = {0.0, 20.0};

  enum state { x, y, vx, vy };
  static constexpr saltus::variable<state> state_list[] = {
      {x, 1.0, "1", "of one body, seen from the other"},
      {y, 0.0, "1", "of one body, seen from the other"},
      {vx, 0.0, "1", "dx/dt"},
      {vy, 1.0, "1", "dy/dt"},
  };

  static void rhs(const auto& at, auto& dy) {
    const auto pull = pow(at[x] * at[x] + at[y] * at[y], -1.5);
    dy[x] = at[vx];
    dy[y] = at[vy];
    dy[vx] = -pull * at[x];
    dy[vy] = -pull * at[y];
  }
};
