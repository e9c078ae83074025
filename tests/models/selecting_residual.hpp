// 0 = F(t, y, y').
#include "parts/selecting_base.hpp"

struct selecting_residual : selecting_base {
  static constexpr auto title = "Chosen branches, residual";
  enum state { x, v, y, w };
  static constexpr saltus::variable<state> state_list[] = {{x, 1.0, "1", "first place"},
                                                           {v, 0.0, "1/s", "its speed"},
                                                           {y, -0.5, "1", "second place"},
                                                           {w, 0.3, "1/s", "its speed"}};
  static void residual(const auto& at, const auto& dy, auto& r) {
    const auto heavy = select(at.is_on(on), 1.0 + at[y] * at[y], 2.0 + 0.0 * at[y]);
    r[x] = dy[x] - at[v];
    r[v] = heavy * dy[v] + 0.2 * dy[w] - pull(at, at[x], at[y]);
    r[y] = dy[y] - at[w];
    r[w] = dy[w] - pull(at, at[y], at[x]) + 0.1 * at[w];
  }
  static void guards(const auto& at, auto& g) { look(at, g, at[x], at[v], at[y], at[w]); }
  static void transition(auto& now) {
    change(now);
    if (now.due(beats)) now[w] = 0.95 * now[w];
  }
};
