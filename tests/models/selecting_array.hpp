// Equations of any order whose derivative array has the same rank in both modes.
#include "parts/selecting_base.hpp"

struct selecting_array : selecting_base {
  static constexpr auto title = "Chosen branches, derivative array";
  enum state { x, y, tension, p };
  static constexpr saltus::variable<state> state_list[] = {{x, 0.0, "m", "to the side"},
                                                           {y, -1.0, "m", "upward"},
                                                           {tension, 5.0, "1/s2", "over mass and length"},
                                                           {p, 0.4, "m", "of another"}};
  static void initial(auto& at) {
    at.d(x, 1) = 1.0 + at(c, 0);
    at.d(y, 1) = 0.0;
    at.d(p, 1) = 0.3 + at(c, 1);
  }
  static void residual(const auto& at, auto& r) {
    r[x] = at.d(x, 2) + at[tension] * at[x] - 0.1 * at(c, 2) * at[p];
    r[y] = at.d(y, 2) + at[tension] * at[y] + 4.0;
    r[tension] = at[x] * at[x] + at[y] * at[y] - 1.0;
    r[p] = at.d(p, 2) - pull(at, at[p], at[x]);
  }
  static void guards(const auto& at, auto& g) { look(at, g, at[x], at.d(x, 1), at[p], at.d(p, 1)); }
  static void transition(auto& now) { change(now); }
};
