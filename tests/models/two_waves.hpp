// An alarm on sin(phi + p) + b sin(w2 t) + x, whose states say little of it: phi grows evenly, x dies away at any rate.
#include <saltus.hpp>

struct two_waves {
  static constexpr auto title = "an alarm on two waves";
  static constexpr auto source = "tests";
  static constexpr double span[] = {0.0, 30.0};
  enum state { x, phi };
  static constexpr saltus::variable<state> state_list[] = {{x, 1.0, "1", "what dies away"},
                                                           {phi, 0.0, "rad", "phase of the first wave"}};
  enum parameter { w, p, b, w2, k, mu };
  static constexpr saltus::variable<parameter> parameter_list[] = {{w, 1.0, "rad/s", "frequency of the first wave"},
                                                                   {p, 0.0, "rad", "its phase at t = 0"},
                                                                   {b, 0.0, "1", "size of the second wave"},
                                                                   {w2, 1.0, "rad/s", "frequency of the second wave"},
                                                                   {k, 0.0, "1/s", "rate of dying away"},
                                                                   {mu, 0.5, "1", "level"}};
  enum guard { rings };
  static constexpr saltus::event_function<guard> guard_list[] = {
      {rings, saltus::rising, saltus::bilateral, "the sum rises through the level"}};
  static void rhs(const auto& at, auto& dy) {
    dy[x] = -at[k] * at[x];
    dy[phi] = at[w];
  }
  static void guards(const auto& at, auto& g) {
    g[rings] = sin(at[phi] + at[p]) + at[b] * sin(at[w2] * at.t) + at[x] - at[mu];
  }
};
