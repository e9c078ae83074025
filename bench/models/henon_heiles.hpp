// A star in the potential of a galaxy. The guard is a section through its orbit, and its event changes nothing.
#include <saltus.hpp>

struct henon_heiles {
  static constexpr auto title = "Henon and Heiles' star";
  static constexpr auto source = "M. Henon, C. Heiles, Astron. J. 69 (1964) 73";
  static constexpr double span[] = {0.0, 30.0};

  enum state { x, y, vx, vy };
  static constexpr saltus::variable<state> state_list[] = {
      {x, 0.3, "1", "across"},
      {y, 0.0, "1", "along"},
      {vx, 0.2, "1", "dx/dt"},
      {vy, 0.1, "1", "dy/dt"},
  };

  enum guard { section };
  static constexpr saltus::event_function<guard> guard_list[] = {
      {section, saltus::both, saltus::bilateral, "the star passes the plane x = 0"},
  };

  static void rhs(const auto& at, auto& dy) {
    dy[x] = at[vx];
    dy[y] = at[vy];
    dy[vx] = -at[x] - 2.0 * (at[x] * at[y]);
    dy[vy] = at[y] * at[y] - at[y] - at[x] * at[x];
  }
  static void guards(const auto& at, auto& g) { g[section] = at[x]; }
  static void transition(auto&) {}
};
