// Equations of any order: a bob on a string that is taut or slack (index 3 or 1), and a second bob that follows.
#include "parts/selecting_base.hpp"

struct selecting_any_order : selecting_base {
  static constexpr auto title = "Chosen branches, any order";
  enum state { x, y, tension, p };
  static constexpr saltus::variable<state> state_list[] = {{x, 0.0, "m", "to the side"},
                                                           {y, -1.0, "m", "upward"},
                                                           {tension, 5.0, "1/s2", "over mass and length"},
                                                           {p, 0.4, "m", "of the other"}};
  static void initial(auto& at) {
    at.d(x, 1) = 2.0 + at(c, 0);
    at.d(y, 1) = 0.0;
    at.d(p, 1) = 0.3 + at(c, 1);
  }
  static auto room(const auto& at) { return 1.0 - at[x] * at[x] - at[y] * at[y]; }
  static void residual(const auto& at, auto& r) {
    r[x] = at.d(x, 2) + at[tension] * at[x] - 0.1 * at(c, 2) * at[p];
    r[y] = at.d(y, 2) + at[tension] * at[y] + 4.0;
    r[tension] = select(at.is_on(on), at[tension], room(at));
    r[p] = at.d(p, 2) - pull(at, at[p], at[x]);
  }
  enum guard { slackens, tightens, turns, meets };
  static constexpr saltus::event_function<guard> guard_list[] = {
      {slackens, saltus::falling, saltus::bilateral, "no tension is left"},
      {tightens, saltus::falling, saltus::unilateral, "the string is straight"},
      {turns, saltus::both, saltus::bilateral, "one of two speeds, by the mode"},
      {meets, saltus::rising, saltus::bilateral, "places and speeds"}};
  static void guards(const auto& at, auto& g) {
    g[slackens] = select(at.is_on(on), 1.0 + 0.0 * at[tension], at[tension]);
    g[tightens] = select(at.is_on(on), room(at), 1.0 + 0.0 * at[x]);
    g[turns] = select(at.is_on(on), at.d(p, 1) - 0.2 * at(c, 7), at[x] * at.d(y, 1) - at[y] * at.d(x, 1));
    g[meets] = select(at[p] > at(c, 4) + 0.0 * at[p], at[p] - at(c, 4), 0.0 * at[p]) + at.d(p, 1) * at.d(x, 1) -
               0.2 * at(c, 5);
  }
  static void transition(auto& now) {
    if (now.due(slackens)) {
      now[on] = 1.0;
      now[tension] = 0.0;
      now[x] = (1.0 - 1e-15) * now[x];  // inside the unit circle, on which the string is straight
      now[y] = (1.0 - 1e-15) * now[y];
    }
    if (now.due(tightens)) {
      const auto along = (now[x] * now.d(x, 1) + now[y] * now.d(y, 1)) / (now[x] * now[x] + now[y] * now[y]);
      now.d(x, 1) = now.d(x, 1) - along * now[x];
      now.d(y, 1) = now.d(y, 1) - along * now[y];
      now[on] = 0.0;
    }
  }
};
