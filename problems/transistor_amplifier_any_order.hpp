// The transistor amplifier of transistor_amplifier.hpp by charges: those of the coupling capacitors are unknowns. With voltages alone the
// two equations at a capacitor contain the same combination of highest derivatives, C (u1' - u2'), and no structural analysis can see that
// det J = 0. With its charge the index is 1.
//
// An equation with the name of a voltage is Kirchhoff's law at that node; one with the name of a charge is the law of its capacitor.
#include "parts/transistor_amplifier.hpp"

struct transistor_amplifier_any_order : transistor_amplifier_of<transistor_amplifier_any_order> {
  static constexpr auto title = "Transistor amplifier as a residual, by charges";

  enum state { u1, u2, u3, u4, u5, u6, u7, u8, q1, q3, q5 };
  static constexpr saltus::variable<state> state_list[] = {
      {u1, 0.0, "V", "input, behind R0"},
      {u2, 3.0, "V", "base of transistor 1"},
      {u3, 3.0, "V", "its emitter"},
      {u4, 6.0, "V", "its collector"},
      {u5, 3.0, "V", "base of transistor 2"},
      {u6, 3.0, "V", "its emitter"},
      {u7, 6.0, "V", "its collector"},
      {u8, 0.0, "V", "output"},
      {q1, -3e-6, "C", "of C1"},
      {q3, 9e-6, "C", "of C3"},
      {q5, 30e-6, "C", "of C5"},
  };
  static void residual(const auto& at, auto& r) {
    currents(at, r);
    const auto between = [&](state a, state b, state q, double k) {
      r[a] += at.d(q, 1);
      r[b] -= at.d(q, 1);
      r[q] = at[q] - k * at[C] * (at[a] - at[b]);
    };
    between(u1, u2, q1, 1.0);
    r[u3] += 2.0 * at[C] * at.d(u3, 1);
    between(u4, u5, q3, 3.0);
    r[u6] += 4.0 * at[C] * at.d(u6, 1);
    between(u7, u8, q5, 5.0);
  }
};
