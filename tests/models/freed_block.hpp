// A block at rest on a rough floor under a force that swings and grows, growth t sin(w t): it is freed where that first exceeds mu.
#include <saltus.hpp>

struct freed_block {
  static constexpr auto title = "a block under a swinging force";
  static constexpr auto source = "tests";
  static constexpr double span[] = {0.0, 30.0};
  enum state { x, v };
  static constexpr saltus::variable<state> state_list[] = {{x, 0.0, "m", "position"}, {v, 0.0, "m/s", "velocity"}};
  enum parameter { mu, growth, w };
  static constexpr saltus::variable<parameter> parameter_list[] = {{mu, 0.6, "m/s2", "friction"},
                                                                   {growth, 0.1, "m/s3", "of the force"},
                                                                   {w, 3.0, "rad/s", "frequency of the force"}};
  enum guard { stops };
  static constexpr saltus::event_function<guard> guard_list[] = {
      saltus::event_function<guard>{stops, saltus::both, saltus::bilateral, "it stops"}.sliding()};
  static void rhs(const auto& at, auto& dy) {
    dy[x] = at[v];
    dy[v] = at[growth] * at.t * sin(at[w] * at.t) - select(at.above(stops), at[mu], -at[mu]);
  }
  static void guards(const auto& at, auto& g) { g[stops] = at[v]; }
};
