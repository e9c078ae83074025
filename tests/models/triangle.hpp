// A triangle wave whose slope a clock turns, and switches at a level that it touches or crosses: `on` by two guards of one function, `high` by
// one of both directions. With a plateau the wave stays at its ends for a second.
#include <saltus.hpp>

struct triangle {
  static constexpr auto title = "a triangle wave and a level";
  static constexpr auto source = "tests";
  static constexpr double span[] = {0.0, 7.7};

  enum state { x };
  static constexpr saltus::variable<state> state_list[] = {{x, 0.0, "1", "the wave"}};
  enum parameter { level, plateau };
  static constexpr saltus::variable<parameter> parameter_list[] = {{level, 1.0, "1", "of the switches"},
                                                                   {plateau, 0.0, "1", "1: with a plateau"}};
  enum discrete { slope, on, high };
  static constexpr saltus::variable<discrete> discrete_list[] = {
      {slope, 1.0, "1/s", "of the wave"}, {on, 0.0, "1", "1 above the level"}, {high, 0.0, "1", "1 above the level"}};
  enum guard { up, down, either };
  static constexpr saltus::event_function<guard> guard_list[] = {
      {up, saltus::rising, saltus::bilateral, "above the level"},
      {down, saltus::falling, saltus::bilateral, "below the level"},
      {either, saltus::both, saltus::bilateral, "on the other side of the level"}};
  enum time_event { turn };
  static constexpr saltus::timed<time_event> time_event_list[] = {{turn, "another slope"}};

  static void rhs(const auto& at, auto& dy) { dy[x] = at[slope]; }
  static void guards(const auto& at, auto& g) { g[up] = g[down] = g[either] = at[x] - at[level]; }
  static void time_events(const auto&, auto& when) { when.every(turn, 1.0, 1.0); }
  static void transition(auto& now) {
    if (now.due(turn)) {
      if (now[plateau] < 0.5) now[slope] = -now[slope];
      else if (now[slope] != 0.0) now[slope] = 0.0;
      else now[slope] = now[x] > 0.5 ? -1.0 : 1.0;
    }
    if (now.due(up)) now[on] = 1.0;
    if (now.due(down)) now[on] = 0.0;
    if (now.due(either)) now[high] = 1.0 - now[high];
  }
};
