// Robertson's reactions without guards: problems/robertson.hpp as solvers without events get it.
#include <saltus.hpp>

struct robertson_smooth {
  static constexpr auto title = "Robertson's reactions without guards";
  static constexpr auto source = "E. Hairer, G. Wanner, Solving ODEs II, eq. IV.1.4";
  static constexpr double span[] = {0.0, 40.0};

  enum state { y1, y2, y3 };
  static constexpr saltus::variable<state> state_list[] = {
      {y1, 1.0, "1", "concentration of A"},
      {y2, 0.0, "1", "concentration of B"},
      {y3, 0.0, "1", "concentration of C"},
  };

  enum parameter { k1, k2, k3 };
  static constexpr saltus::variable<parameter> parameter_list[] = {
      {k1, 0.04, "1", "rate of A -> B"},
      {k2, 1e4, "1", "rate of B + C -> A + C"},
      {k3, 3e7, "1", "rate of B + B -> C + B"},
  };

  static void rhs(const auto& at, auto& dy) {
    const auto first = at[k1] * at[y1], second = at[k2] * at[y2] * at[y3], third = at[k3] * at[y2] * at[y2];
    dy[y1] = second - first;
    dy[y2] = first - second - third;
    dy[y3] = third;
  }
};
