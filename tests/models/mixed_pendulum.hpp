// A pendulum whose equations are combinations of Newton's laws and of the rod's: each has all highest derivatives, so det J = 0.
#include <saltus.hpp>

struct mixed_pendulum {
  static constexpr double span[] = {0.0, 2.0};

  enum state { x, y, tension };
  static constexpr saltus::variable<state> state_list[] = {
      {x, 1.0, "m", "to the side"},
      {y, 0.0, "m", "downward"},
      {tension, 0.0, "1/s2", "of the rod, over mass and length"},
  };

  enum parameter { length, gravity };
  static constexpr saltus::variable<parameter> parameter_list[] = {
      {length, 1.0, "m", "of the rod"},
      {gravity, 9.81, "m/s2", "acceleration of gravity"},
  };

  static void residual(const auto& at, auto& r) {
    const auto rod = at[x] * at[x] + at[y] * at[y] - at[length] * at[length];
    const auto sideways = at.d(x, 2) + at[x] * at[tension], downward = at.d(y, 2) + at[y] * at[tension] - at[gravity];
    r[x] = sideways + downward;
    r[y] = sideways + 2.0 * downward;
    r[tension] = rod + (sideways + downward);
  }
};
