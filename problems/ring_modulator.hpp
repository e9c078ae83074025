// The ring modulator with exponential diodes, its usual form. Two guards log when the output leaves and enters the band of 0.1 V about
// zero: the product of signal and carrier.
#include "parts/ring_modulator.hpp"

struct ring_modulator : ring_modulator_of<ring_modulator> {
  static constexpr auto title = "Ring modulator";

  enum parameter { Cs, signal, carrier, saturation, steepness };
  static constexpr saltus::variable<parameter> parameter_list[] = {
      {Cs, 2e-12, "F", "stray capacitance at a diode"},
      {signal, 0.5, "V", "amplitude of the signal"},
      {carrier, 2.0, "V", "amplitude of the carrier"},
      {saturation, 40.67286402e-9, "A", "gamma: saturation current of a diode"},
      {steepness, 17.7493332, "1/V", "delta: a diode's current is gamma (exp(delta u) - 1)"},
  };

  enum guard { above_band, below_band };
  static constexpr saltus::event_function<guard> guard_list[] = {
      {above_band, saltus::both, saltus::bilateral, "the output passes 0.1 V"},
      {below_band, saltus::both, saltus::bilateral, "the output passes -0.1 V"},
  };

  static auto current(const auto& at, int, const auto& voltage) {
    return at[saturation] * (exp(at[steepness] * voltage) - 1.0);
  }

  static void guards(const auto& at, auto& g) {
    g[above_band] = at[u2] - 0.1;
    g[below_band] = at[u2] + 0.1;
  }
};
