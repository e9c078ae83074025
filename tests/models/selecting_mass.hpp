// M y' = f with M constant during a mode.
#include "parts/selecting_base.hpp"

struct selecting_mass : selecting_base {
  static constexpr auto title = "Chosen branches, mass matrix";
  enum state { x, v, y, w };
  static constexpr saltus::variable<state> state_list[] = {{x, 1.0, "1", "first place"},
                                                           {v, 0.0, "1/s", "its speed"},
                                                           {y, -0.5, "1", "second place"},
                                                           {w, 0.3, "1/s", "its speed"}};
  static void mass(const auto& at, auto& m) {
    m(x, x) = m(y, y) = m(w, w) = 1.0;
    m(v, v) = select(at.is_on(on), 1.0 + at(c, 0) * at(c, 0), 2.0 + 0.0 * at(c, 0));
    m(v, w) = 0.2;
  }
  static void rhs(const auto& at, auto& dy) {
    dy[x] = at[v];
    dy[v] = pull(at, at[x], at[y]);
    dy[y] = at[w];
    dy[w] = pull(at, at[y], at[x]) - 0.1 * at[w];
  }
  static void guards(const auto& at, auto& g) { look(at, g, at[x], at[v], at[y], at[w]); }
  static void transition(auto& now) {
    change(now);
    if (now.due(beats)) now[w] = 0.95 * now[w];
  }
};
