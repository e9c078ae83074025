// The ring modulator without stray capacitances: Kirchhoff's laws at the four nodes of the ring are constraints. Their sum with alternating
// signs contains no voltage: the four coils carry a total current of zero into the ring. This sum replaces the law at u6. With all four
// laws each voltage would occur in three equations, and no structural analysis could see that they depend on each other. The sum,
// differentiated once, gives the mean of the voltages: index 2.
#include "parts/ring_modulator.hpp"

struct ring_modulator_index_2 : ring_circuit_of<ring_modulator_index_2> {
  static constexpr auto title = "Ring modulator without stray capacitances, index 2";

  enum parameter { signal, carrier, saturation, steepness };
  static constexpr saltus::variable<parameter> parameter_list[] = {
      {signal, 0.5, "V", "amplitude of the signal"},
      {carrier, 2.0, "V", "amplitude of the carrier"},
      {saturation, 40.67286402e-9, "A", "gamma: saturation current of a diode"},
      {steepness, 17.7493332, "1/V", "delta: a diode's current is gamma (exp(delta u) - 1)"},
  };
  static auto current(const auto& at, int, const auto& voltage) {
    return at[saturation] * (exp(at[steepness] * voltage) - 1.0);
  }

  static void residual(const auto& at, auto& r) {
    balance(at, r);
    r[u6] = at[i3] + at[i4] + at[i5] + at[i6];
    each_large([&](state s, double size) { r[s] = size * at.d(s, 1) - r[s]; });
  }
};
