// Three reactions whose rates differ by nine orders of magnitude: the oldest stiff test. After a transient of about 1e-3 the second
// concentration follows the other two, which change for 1e11 time units. Two guards only log times near the beginning and the end of
// that phase.
//
//     A -> B  (k1),    B + B -> C + B  (k3),    B + C -> A + C  (k2)
//
// y1 + y2 + y3 = 1 throughout. y2 falls to 1e-13: choose `atol` for each state.
#include <saltus.hpp>

struct robertson {
  static constexpr auto title = "Robertson's reactions";
  static constexpr auto source = "H. H. Robertson (1966), as in E. Hairer, G. Wanner, Solving ODEs II, eq. IV.1.4";
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

  enum guard { formed, used_up };
  static constexpr saltus::event_function<guard> guard_list[] = {
      {formed, saltus::rising, saltus::bilateral, "y3 reaches 0.01"},
      {used_up, saltus::falling, saltus::bilateral, "y1 has fallen to 1e-4"},
  };

  static void rhs(const auto& at, auto& dy) {
    const auto first = at[k1] * at[y1], second = at[k2] * at[y2] * at[y3], third = at[k3] * at[y2] * at[y2];
    dy[y1] = second - first;
    dy[y2] = first - second - third;
    dy[y3] = third;
  }

  static void guards(const auto& at, auto& g) {
    g[formed] = at[y3] - 0.01;
    g[used_up] = at[y1] - 1e-4;
  }
};
