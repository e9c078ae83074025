// A guard with both directions that turns back immediately after its crossing: by a heater that it switches, or by a bounce.
#include <saltus.hpp>

struct turned_at_once {
  static constexpr auto title = "guard that is turned back where it crosses";
  static constexpr auto source = "tests";
  static constexpr double span[] = {0.0, 5.0};
  enum state { x, v, other };
  static constexpr saltus::variable<state> state_list[] = {{x, 0.7, "1", "above the mark"},
                                                           {v, -0.5, "1/s", "of a body that bounces"},
                                                           {other, 1.0, "1", "nothing depends on it"}};
  enum parameter { way, part };
  static constexpr saltus::variable<parameter> parameter_list[] = {
      {way, 0.0, "1", "0: a heater, on below the mark; 1: one that is toggled; 2: a body that bounces"},
      {part, 1.0, "1", "of the other state that an event leaves"}};
  enum discrete { on };
  static constexpr saltus::variable<discrete> discrete_list[] = {{on, 0.0, "1", "1 while it heats"}};
  enum guard { mark };
  static constexpr saltus::event_function<guard> guard_list[] = {
      {mark, saltus::both, saltus::bilateral, "x passes the mark"}};
  static void rhs(const auto& at, auto& dy) {
    dy[x] = select(at[way] > 1.5, at[v], select(at.is_on(on), 1.0, -0.5));
    dy[v] = 0.0 * at[v];
    dy[other] = 0.0 * at[other];
  }
  static void guards(const auto& at, auto& g) { g[mark] = at[x]; }
  static void transition(auto& now) {
    now[other] *= now[part];
    if (now[way] < 0.5) now[on] = now.above(mark) ? 0.0 : 1.0;
    else if (now[way] < 1.5) now[on] = 1.0 - now[on];
    else now[v] = -now[v];
  }
};
