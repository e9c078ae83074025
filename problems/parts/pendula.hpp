// P pendula; the tension of each rod sets the length of the next one: index 2 P + 1.
#pragma once
#include <saltus.hpp>

template <int P>
struct pendula_of {
  static constexpr auto source = "N. S. Nedialkov, J. D. Pryce, DAETS user guide (2009), multi-pendula problem";
  static constexpr double span[] = {0.0, 10.0};

  enum state { x, y = x + P, tension = y + P };
  static constexpr saltus::variable<state> state_list[] = {
      saltus::variable<state>{x, 1.0, "m", "to the side"}.of(P),
      saltus::variable<state>{y, 0.0, "m", "downward"}.of(P),
      saltus::variable<state>{tension, 0.0, "1/s2", "of the rod, over mass and length"}.of(P),
  };
  enum parameter { gravity, length, softness };
  static constexpr saltus::variable<parameter> parameter_list[] = {
      {gravity, 1.0, "m/s2", "acceleration of gravity"},
      {length, 1.0, "m", "of a rod"},
      {softness, 0.1, "m s2", "how the tension of one rod lengthens the next"},
  };

  // All rods are level and at rest, with the lengths that the previous tensions require: the second derivative of the first tension, 3
  // (gravity/length)^2, enters the tension of the second rod. Beyond the third rod the lengths are guesses.
  static void initial(auto& at) {
    for (int i = 0; i < P; ++i) {
      at(x, i) = at[length];
      at.d(x, i, 1) = 0.0;
      at.d(y, i, 1) = 0.0;
    }
    if constexpr (P > 2) {
      const auto rate = at[gravity] / at[length];
      at(tension, 1) = -3.0 * at[softness] * rate * rate / at[length];
      at(x, 2) = at[length] + at[softness] * at(tension, 1);
    }
  }
  static void residual(const auto& at, auto& r) {
    for (int i = 0; i < P; ++i) {
      r(x, i) = at.d(x, i, 2) + at(tension, i) * at(x, i);
      r(y, i) = at.d(y, i, 2) + at(tension, i) * at(y, i) - at[gravity];
      r(tension, i) = at(x, i) * at(x, i) + at(y, i) * at(y, i);
      if (i == 0) {
        r(tension, i) -= at[length] * at[length];
      } else {
        const auto rod = at[length] + at[softness] * at(tension, i - 1);
        r(tension, i) -= rod * rod;
      }
    }
  }
};
