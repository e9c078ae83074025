// M y' = f with a singular M that mixes derivatives in its rows: v + w = sin 2t is a constraint that no single row states.
#include "parts/selecting_base.hpp"

struct selecting_mixed : selecting_base {
  static constexpr auto title = "Chosen branches, mixed rates";
  static constexpr bool mass_is_singular = true;
  enum state { x, v, y, w };
  static constexpr saltus::variable<state> state_list[] = {{x, 1.0, "1", "first place"},
                                                           {v, 0.0, "1/s", "its speed"},
                                                           {y, -0.5, "1", "second place"},
                                                           {w, 0.3, "1/s", "its speed"}};
  static void mass(const auto&, auto& m) {
    m(x, x) = m(y, y) = 1.0;
    m(v, v) = m(w, w) = 1.0, m(v, w) = m(w, v) = -1.0;
  }
  static void rhs(const auto& at, auto& dy) {
    const auto off = at[v] + at[w] - sin(2.0 * at.t), apart = pull(at, at[x], at[y]);
    dy[x] = at[v];
    dy[y] = at[w];
    dy[v] = apart + off;
    dy[w] = off - apart;
  }
  static void guards(const auto& at, auto& g) { look(at, g, at[x], at[v], at[y], at[w]); }
  static void transition(auto& now) { change(now); }
};
