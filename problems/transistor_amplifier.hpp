// An amplifier of two transistors, coupled by capacitors: a sine of 0.1 V at the input, amplified and badly distorted at the output.
// Kirchhoff's law holds at each of the eight nodes. A capacitor between two nodes puts the derivatives of both into both equations, so the
// mass matrix is singular (rank 5) though every state has a derivative.
#include "parts/transistor_amplifier.hpp"

struct transistor_amplifier : transistor_amplifier_of<transistor_amplifier> {
  static constexpr auto title = "Transistor amplifier";

  static constexpr bool mass_is_singular = true;

  // Consistent at rest, with the sine at zero.
  enum state { u1, u2, u3, u4, u5, u6, u7, u8 };
  static constexpr saltus::variable<state> state_list[] = {
      {u1, 0.0, "V", "input, behind R0"},     {u2, 3.0, "V", "base of transistor 1"},
      {u3, 3.0, "V", "its emitter"},          {u4, 6.0, "V", "its collector"},
      {u5, 3.0, "V", "base of transistor 2"}, {u6, 3.0, "V", "its emitter"},
      {u7, 6.0, "V", "its collector"},        {u8, 0.0, "V", "output"},
  };

  static void mass(const auto& at, auto& m) {
    const auto between = [&](state a, state b, double k) {  // in either row: the current into its node
      m(a, a) = m(b, b) = -k * at[C];
      m(a, b) = m(b, a) = k * at[C];
    };
    between(u1, u2, 1.0);
    m(u3, u3) = -2.0 * at[C];
    between(u4, u5, 3.0);
    m(u6, u6) = -4.0 * at[C];
    between(u7, u8, 5.0);
  }

  static void rhs(const auto& at, auto& dy) { currents(at, dy); }
};
