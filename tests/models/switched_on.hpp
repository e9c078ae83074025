// A pull that is switched on at a time without a guard: x' = (t > onset ? gain : 0.3) - 0.1 gain x.
#include <saltus.hpp>

struct switched_on {
  static constexpr auto title = "A pull that is switched on";
  static constexpr auto source = "the project's own";
  static constexpr double span[] = {0.0, 10.0};
  enum state { x };
  static constexpr saltus::variable<state> state_list[] = {{x, 0.0, "1", "position"}};
  enum parameter { gain, onset };
  static constexpr saltus::variable<parameter> parameter_list[] = {
      {gain, 3.0, "1/s", "pull, and ten times the rate of decay"}, {onset, 3.3, "s", "when it is switched on"}};
  static void rhs(const auto& at, auto& dy) {
    dy[x] = select(at.t > at[onset], at[gain], 0.3) - 0.1 * at[gain] * at[x];
  }
};
