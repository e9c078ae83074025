// Index 2: a point on a circle; the mode changes its speed but not the radius.
#include "parts/selecting_base.hpp"

struct selecting_index_2 : selecting_base {
  static constexpr auto title = "Chosen branches, index 2";
  enum state { x, y, z };
  static constexpr saltus::variable<state> state_list[] = {
      {x, 1.0, "1", "first place"},
      {y, 0.0, "1", "second place"},
      saltus::variable<state>{z, 0.0, "1", "force along the normal"}.algebraic(2)};
  static auto speed(const auto& at) {
    return select(at.is_on(on), 1.5 + at(c, 0) * at[x],
                  2.0 + select(at[y] > at(c, 1) + 0.0 * at[y], 0.5 * (at[y] - at(c, 1)), 0.0 * at[y]));
  }
  static void rhs(const auto& at, auto& dy) {
    dy[x] = at[z] * at[x] - speed(at) * at[y] + 0.2 * at(c, 2) * at[y] * at[y];
    dy[y] = at[z] * at[y] + speed(at) * at[x];
    dy[z] = at[x] * at[x] + at[y] * at[y] - 1.0;
  }
  static void guards(const auto& at, auto& g) { look(at, g, at[x], at[y] - 0.2 * at(c, 3), at[y], at[z]); }
  static void transition(auto& now) { change(now); }
};
