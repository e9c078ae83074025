// y' = f, 0 = g with index 1.
#include "parts/selecting_base.hpp"

struct selecting_semi : selecting_base {
  static constexpr auto title = "Chosen branches, semi-explicit";
  enum state { x, v, y, w, z };
  static constexpr saltus::variable<state> state_list[] = {
      {x, 1.0, "1", "first place"},
      {v, 0.0, "1/s", "its speed"},
      {y, -0.5, "1", "second place"},
      {w, 0.3, "1/s", "its speed"},
      saltus::variable<state>{z, 0.0, "1", "root of a cubic"}.algebraic()};
  static void rhs(const auto& at, auto& dy) {
    dy[x] = at[v];
    dy[v] = pull(at, at[x], at[z]);
    dy[y] = at[w];
    dy[w] = pull(at, at[y], at[z]) - 0.1 * at[w];
    dy[z] = at[z] + at[z] * at[z] * at[z] - select(at.is_on(on), at[x], at[y]);
  }
  static void guards(const auto& at, auto& g) { look(at, g, at[x], at[v], at[y], at[w]); }
  static void transition(auto& now) {
    change(now);
    if (now.due(beats)) now[w] = 0.95 * now[w];
  }
};
