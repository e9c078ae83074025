// Two cars far away on a common way, whose distance swings by 1: it is the difference of two large states.
#include <saltus.hpp>

struct two_cars {
  static constexpr auto title = "the distance of two cars";
  static constexpr auto source = "tests";
  static constexpr double span[] = {0.0, 40.0};
  enum state { x, vx, y, vy };
  static constexpr saltus::variable<state> state_list[] = {{x, 0.0, "m", "place of the first car"},
                                                           {vx, 1.0, "m/s", "its velocity"},
                                                           {y, 0.0, "m", "place of the second car"},
                                                           {vy, 0.0, "m/s", "its velocity"}};
  enum parameter { way, depth };
  static constexpr saltus::variable<parameter> parameter_list[] = {
      {way, 1e5, "m", "amplitude of the common motion"}, {depth, 0.01, "m", "how far the distance exceeds its level"}};
  enum guard { far };
  static constexpr saltus::event_function<guard> guard_list[] = {
      {far, saltus::both, saltus::bilateral, "the distance passes its level"}};
  static void initial(auto& at) {
    at[vx] = 0.5 * at[way] + 1.0;
    at[vy] = 0.5 * at[way];
  }
  static void rhs(const auto& at, auto& dy) {
    const auto common = -0.25 * at[way] * sin(0.5 * at.t);
    dy[x] = at[vx];
    dy[vx] = common - (at[x] - at[y]);
    dy[y] = at[vy];
    dy[vy] = common;
  }
  static void guards(const auto& at, auto& g) { g[far] = at[x] - at[y] - (1.0 - at[depth]); }
};
