// A pendulum in cartesian coordinates by its second-order equations: index 3.
#include <saltus.hpp>

struct rod_pendulum {
  static constexpr auto title = "Pendulum in cartesian coordinates, index 3, as a residual";
  static constexpr auto source = "J. D. Pryce, BIT 41 (2001) 364, example 1";
  static constexpr double span[] = {0.0, 2.0};

  enum state { x, y, tension };
  static constexpr saltus::variable<state> state_list[] = {{x, 1.0, "m", "to the side"},
                                                           {y, 0.0, "m", "downward"},
                                                           {tension, 0.0, "1/s2", "of the rod, over mass and length"}};
  enum parameter { length, gravity };
  static constexpr saltus::variable<parameter> parameter_list[] = {{length, 1.0, "m", "of the rod"},
                                                                   {gravity, 9.81, "m/s2", "acceleration of gravity"}};

  // At rest: x, y and their derivatives satisfy the hidden constraint, too. The tension follows.
  static void initial(auto& at) {
    at[x] = at[length];
    at.d(x, 1) = 0.0;
    at.d(y, 1) = 0.0;
  }
  static void residual(const auto& at, auto& r) {
    r[x] = at.d(x, 2) + at[x] * at[tension];
    r[y] = at.d(y, 2) + at[y] * at[tension] - at[gravity];
    r[tension] = at[x] * at[x] + at[y] * at[y] - at[length] * at[length];
  }
};
