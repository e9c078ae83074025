// Guards that start at zero with zero time derivative: x = -a t^2/2 + b t^3/6 is zero again at t = 3 a/b; y stays zero; z repeats x from
// t = `anew` on, where a transition resets it.
#include <saltus.hpp>

struct flat {
  static constexpr auto title = "Guards that begin at zero with no rate";
  static constexpr auto source = "own";
  static constexpr double span[] = {0.0, 10.0};

  enum state { x, v, y, z, w };
  static constexpr saltus::variable<state> state_list[] = {{x, 0.0, "1", "cubic"},
                                                           {v, 0.0, "1", "dx/dt"},
                                                           {y, 0.0, "1", "zero"},
                                                           {z, 0.0, "1", "cubic, begins anew"},
                                                           {w, 0.0, "1", "dz/dt"}};
  enum parameter { a, b, anew };
  static constexpr saltus::variable<parameter> parameter_list[] = {
      {a, 1.0, "1", "downward"}, {b, 1.0, "1", "upward"}, {anew, 1.0, "s", "when z begins again"}};
  enum discrete { since };
  static constexpr saltus::variable<discrete> discrete_list[] = {{since, 0.0, "s", "when z began"}};
  enum guard { any, up, down, never, again };
  static constexpr saltus::event_function<guard> guard_list[] = {
      {any, saltus::both, saltus::bilateral, "x passes zero"},
      {up, saltus::rising, saltus::bilateral, "x rises"},
      {down, saltus::falling, saltus::bilateral, "x falls"},
      {never, saltus::both, saltus::bilateral, "y"},
      {again, saltus::both, saltus::bilateral, "z passes zero"}};
  enum time_event { restart };
  static constexpr saltus::timed<time_event> time_event_list[] = {{restart, "z begins anew"}};

  static void rhs(const auto& at, auto& dy) {
    dy[x] = at[v];
    dy[v] = at[b] * at.t - at[a];
    dy[y] = 0.0;
    dy[z] = at[w];
    dy[w] = at[b] * (at.t - at[since]) - at[a];
  }
  static void guards(const auto& at, auto& g) {
    g[any] = g[up] = g[down] = at[x];
    g[never] = at[y];
    g[again] = at[z];
  }
  static void time_events(const auto& at, auto& when) { when.at(restart, at[anew]); }
  static void transition(auto& now) {
    if (!now.due(restart)) return;
    now[z] = now[w] = 0.0;
    now[since] = now[anew];
  }
};
