// y passes a peak of the height p, which does not show in the states while p is zero: y = p atan(10 x) / 10, x = t - 1.
#include <saltus.hpp>

struct hidden_peak {
  static constexpr auto title = "A peak of no height";
  static constexpr auto source = "tests";
  static constexpr double span[] = {0.0, 2.0};
  enum state { x, y };
  static constexpr saltus::variable<state> state_list[] = {{x, -1.0, "1", "place"}, {y, 0.0, "1", "passes the peak"}};
  enum parameter { p };
  static constexpr saltus::variable<parameter> parameter_list[] = {{p, 0.0, "1", "height of the peak"}};
  static void rhs(const auto& at, auto& dy) {
    dy[x] = 1.0 + 0.0 * at[x];
    dy[y] = at[p] / (1.0 + 100.0 * at[x] * at[x]);
  }
};
