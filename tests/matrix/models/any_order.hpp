// The solution of parts/turning.hpp by equations of second order and index 3: a force keeps the point on its circle.
#include "parts/turning.hpp"

struct any_order : turning_of<any_order> {
  static constexpr auto title = "0 = r(t, x, x', x''), index 3";

  enum state { x, y, z, pull };
  static constexpr saltus::variable<state> state_list[] = {
      {x, 1.0, "1", "of the point"},
      {y, 0.0, "1", "of the point"},
      {z, 0.9, "1", "relaxes to its target"},
      {pull, 4.0, "1/s2", "along the radius; a guess at the start"}};
  static void initial(auto& at) { at.d(y, 1) = at[turn]; }
  static void residual(const auto& at, auto& r) {
    r[x] = at.d(x, 2) + at[pull] * at[x];
    r[y] = at.d(y, 2) + at[pull] * at[y];
    r[z] = at.d(z, 1) - at[k] * (at[target] - at[z]);
    r[pull] = at[x] * at[x] + at[y] * at[y] - 1.0;
  }
};
