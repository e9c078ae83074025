// Guards of many kinds beside states that say little of them: steep, clipped, with corners and jumps; zero within tolerances; at rest at zero.
#include <saltus.hpp>

struct guard_kinds {
  static constexpr auto title = "guards of many kinds";
  static constexpr auto source = "tests";
  static constexpr double span[] = {0.0, 30.0};
  enum state { phi, u, v, x, still };
  static constexpr saltus::variable<state> state_list[] = {{phi, 0.0, "rad", "grows evenly"},
                                                           {u, 0.0, "1", "sine"},
                                                           {v, 1.0, "1", "cosine"},
                                                           {x, 1.0, "1", "dies away"},
                                                           {still, 0.0, "1", "stays zero"}};
  enum parameter { kind, q };
  static constexpr saltus::variable<parameter> parameter_list[] = {{kind, 0.0, "1", "of the guard"},
                                                                   {q, 1.0, "1", "how steep it is"}};
  enum guard { crosses, rests };
  static constexpr saltus::event_function<guard> guard_list[] = {
      {crosses, saltus::both, saltus::bilateral, "the guard of this kind"},
      {rests, saltus::rising, saltus::unilateral, "a wall at which a body is at rest"}};

  static void rhs(const auto& at, auto& dy) {
    dy[phi] = 1.0;
    dy[u] = at[v];
    dy[v] = -at[u];
    dy[x] = -3.0 * at[x];
    dy[still] = 0.0;
  }
  static void guards(const auto& at, auto& g) {
    const auto wave = sin(at[phi]), turn = 1.0 + 0.0 * at[phi];
    auto is = turn;
    is = select(at[kind] == 0.0, tanh(at[q] * (wave - 0.2)), is);
    is = select(at[kind] == 1.0, min(max(at[q] * wave, -turn), turn), is);
    is = select(at[kind] == 2.0, abs(sin(3.0 * at[phi])) - 0.3, is);
    is = select(at[kind] == 3.0, select(wave > 0.3, turn, -turn), is);
    is = select(at[kind] == 4.0, at[u] * at[u] + at[v] * at[v] - 1.0, is);
    is = select(at[kind] == 5.0, at[x] * at[x] * at[x], is);
    is = select(at[kind] == 6.0, exp(-30.0 * at.t) * (1.2 + wave), is);
    g[crosses] = is;
    g[rests] = -at[still];
  }
};
