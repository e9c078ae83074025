// A singular mass matrix that mixes derivatives in its rows, in closed form: y_1 - y_2 and y_3 rotate at the rate omega, and
// y_1 + y_2 = 2 sin t is a constraint that no single row states.
#include <saltus.hpp>

struct mixed {
  static constexpr auto title = "Mixed rates";
  static constexpr auto source = "tests";
  static constexpr double span[] = {0.0, 2.0};
  static constexpr bool mass_is_singular = true;
  enum state { y1, y2, y3 };
  static constexpr saltus::variable<state> state_list[] = {
      {y1, 0.5, "1", "(cos(omega t) + 2 sin t) / 2"},
      {y2, -0.5, "1", "(2 sin t - cos(omega t)) / 2"},
      {y3, 0.0, "1", "sin(omega t)"},
  };
  enum parameter { omega };
  static constexpr saltus::variable<parameter> parameter_list[] = {{omega, 1.0, "1/s", "of the turning"}};
  static void mass(const auto&, auto& m) {
    m(y1, y1) = 1.0, m(y1, y2) = -1.0;
    m(y2, y1) = -1.0, m(y2, y2) = 1.0;
    m(y3, y3) = 1.0;
  }
  static void rhs(const auto& at, auto& dy) {
    const auto off = at[y1] + at[y2] - 2.0 * sin(at.t);
    dy[y1] = -at[omega] * at[y3] + off;
    dy[y2] = at[omega] * at[y3] + off;
    dy[y3] = at[omega] * (at[y1] - at[y2]);
  }
};
