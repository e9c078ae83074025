// A right-hand side that jumps at the point where the solution stays: no step of an implicit method across it has a solution.
// A second equation has a step size at which the matrix of an implicit step is singular.
#include <saltus.hpp>

struct chatter {
  static constexpr auto title = "Chatter";
  static constexpr auto source = "tests";
  static constexpr double span[] = {0.0, 2.0};
  enum state { y };
  static constexpr saltus::variable<state> state_list[] = {{y, 1.0, "1", "y' = growth y - jump sign(y - 1/2)"}};
  enum parameter { growth, jump };
  static constexpr saltus::variable<parameter> parameter_list[] = {
      {growth, 0.0, "1/s", "1/(h gamma): the matrix is zero"},
      {jump, 0.0, "1/s", "towards 1/2 on either side"},
  };
  static void rhs(const auto& at, auto& dy) { dy[y] = at[growth] * at[y] - at[jump] * select(at[y] < 0.5, -1.0, 1.0); }
};
