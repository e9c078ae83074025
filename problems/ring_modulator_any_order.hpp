// The ring modulator (ring_modulator.hpp) as a residual. Its stray capacitances may be zero; the problem is then that of
// ring_modulator_index_2.hpp.
#include "parts/ring_modulator.hpp"

struct ring_modulator_any_order : ring_circuit_of<ring_modulator_any_order> {
  static constexpr auto title = "Ring modulator as a residual";

  enum parameter { Cs, signal, carrier, saturation, steepness };
  static constexpr saltus::variable<parameter> parameter_list[] = {
      {Cs, 2e-12, "F", "stray capacitance at a diode"},
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
    each_stray([&](state u) { r[u] = at[Cs] * at.d(u, 1) - r[u]; });
    each_large([&](state s, double size) { r[s] = size * at.d(s, 1) - r[s]; });
  }
};
