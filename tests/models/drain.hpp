// A tank drains to its bottom, where the level has a double root in time: sqrt(level) = sqrt(level_0) - t/2. With
// `beyond` = 1 the derivative is zero below the bottom; with 0 it is NaN there.
#include <saltus.hpp>

struct drain {
  static constexpr auto title = "A tank that drains to its bottom";
  static constexpr auto source = "Torricelli's law";
  static constexpr double span[] = {0.0, 10.0};

  enum state { level };
  static constexpr saltus::variable<state> state_list[] = {{level, 1.0, "m", "of the water"}};

  enum parameter { beyond, floor };
  static constexpr saltus::variable<parameter> parameter_list[] = {
      {beyond, 1.0, "1", "1: there is a rate below the bottom"}, {floor, 0.0, "m", "the bottom"}};

  enum guard { bottom };
  static constexpr saltus::event_function<guard> guard_list[] = {
      {bottom, saltus::falling, saltus::unilateral, "the tank is empty", saltus::terminal}};

  static void rhs(const auto& at, auto& dy) {
    const auto depth = at[level] - at[floor];
    dy[level] = -sqrt(select(at[beyond] > 0.5, max(depth, 0.0), depth));
  }

  static void guards(const auto& at, auto& g) { g[bottom] = at[level] - at[floor]; }
};
