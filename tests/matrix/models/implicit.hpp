// The solution of parts/turning.hpp by a residual that is nonlinear in a derivative.
#include "parts/turning.hpp"

struct implicit : turning_of<implicit> {
  static constexpr auto title = "0 = r(t, y, dy/dt)";

  enum state { x, y, z };
  static constexpr saltus::variable<state> state_list[] = {
      {x, 1.0, "1", "of the point"}, {y, 0.0, "1", "of the point"}, {z, 0.9, "1", "relaxes to its target"}};

  static void residual(const auto& at, const auto& dy, auto& r) {
    const auto rate = at[k] * (at[target] - at[z]);
    r[x] = dy[x] + at[turn] * at[y];
    r[y] = dy[y] - at[turn] * at[x];
    r[z] = dy[z] * (1.0 + dy[z] * dy[z]) - rate * (1.0 + rate * rate);
  }
};
