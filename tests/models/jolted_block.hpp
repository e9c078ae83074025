// A block that slides to a stop, and then stands under a force that jumps, always smaller than friction.
#include <saltus.hpp>

struct jolted_block {
  static constexpr auto title = "a block under a force that jumps";
  static constexpr auto source = "tests";
  static constexpr double span[] = {0.0, 30.0};
  enum state { x, v };
  static constexpr saltus::variable<state> state_list[] = {{x, 0.0, "m", "position"}, {v, 1.0, "m/s", "velocity"}};
  enum parameter { mu };
  static constexpr saltus::variable<parameter> parameter_list[] = {{mu, 0.6, "m/s2", "friction"}};
  enum guard { stops };
  static constexpr saltus::event_function<guard> guard_list[] = {
      saltus::event_function<guard>{stops, saltus::both, saltus::bilateral, "it stops"}.sliding()};
  static void rhs(const auto& at, auto& dy) {
    const auto force = select((at.t > 5.0) & (sin(at.t) > 0.3), 0.4, 0.0);
    dy[x] = at[v];
    dy[v] = force - select(at.above(stops), at[mu], -at[mu]);
  }
  static void guards(const auto& at, auto& g) { g[stops] = at[v]; }
};
