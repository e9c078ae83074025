// The ring modulator with diodes that switch: a large conductance above zero volts, a small one below. The circuit is linear between
// switching times, so its solution is known. A diode switches a few times in a period of the carrier, and each time the stray capacitances
// ring.
#include "parts/ring_modulator.hpp"

struct ring_modulator_switched : ring_modulator_of<ring_modulator_switched> {
  static constexpr auto title = "Ring modulator with switching diodes";

  enum parameter { Cs, signal, carrier, open, closed };
  static constexpr saltus::variable<parameter> parameter_list[] = {
      {Cs, 2e-12, "F", "stray capacitance at a diode"},
      {signal, 0.5, "V", "amplitude of the signal"},
      {carrier, 2.0, "V", "amplitude of the carrier"},
      {open, 1e-2, "1/ohm", "conductance of a diode that lets through"},
      {closed, 1e-5, "1/ohm", "conductance of a diode that blocks"},
  };

  enum guard { diode };
  static constexpr saltus::event_function<guard> guard_list[] = {
      saltus::event_function<guard>{diode, saltus::both, saltus::bilateral, "the voltage of a diode passes zero"}.of(4),
  };

  static auto current(const auto& at, int number, const auto& voltage) {
    return select(at.above(diode, number), at[open], at[closed]) * voltage;
  }

  static void guards(const auto& at, auto& g) {
    const auto d = diodes(at);
    for (int i = 0; i < 4; ++i) g(diode, i) = d.of[i];
  }

  // The carrier's zeros are half a period apart.
  static double max_step(const auto&) { return 0.2 / carrier_frequency; }
};
