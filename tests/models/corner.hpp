// Two switching lines, x = 0 and y = 0; if both attract, a solution would slide along both at once.
#include <saltus.hpp>

struct corner {
  static constexpr auto title = "two surfaces of sliding";
  static constexpr auto source = "tests";
  static constexpr double span[] = {0.0, 4.0};
  enum state { x, y };
  static constexpr saltus::variable<state> state_list[] = {{x, 1.0, "1", "coordinate"}, {y, 2.0, "1", "coordinate"}};
  enum parameter { below_y };
  static constexpr saltus::variable<parameter> parameter_list[] = {{below_y, 1.0, "1", "rate of y where y < 0"}};
  enum guard { right, upper };
  static constexpr saltus::event_function<guard> guard_list[] = {
      saltus::event_function<guard>{right, saltus::both, saltus::bilateral, "x passes 0"}.sliding(),
      saltus::event_function<guard>{upper, saltus::both, saltus::bilateral, "y passes 0"}.sliding()};
  static void rhs(const auto& at, auto& dy) {
    dy[x] = select(at.above(right), -1.0 + 0.0 * at[x], 1.0);
    dy[y] = select(at.above(upper), -1.0 + 0.0 * at[y], at[below_y]);
  }
  static void guards(const auto& at, auto& g) {
    g[right] = at[x];
    g[upper] = at[y];
  }
};
