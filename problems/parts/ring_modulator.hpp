// Common parts of the ring modulators: four diodes in a ring between the coils of two transformers mix a signal and a carrier. Each diode
// lies between small stray capacitances, Cs, which make the circuit stiff and let it ring at 5 MHz, against 10 kHz of the carrier and 1 kHz
// of the signal.
//
// A model defines the amplitudes of the inputs, and the current of a diode: current(at, number, voltage). A model with stray capacitances
// also defines Cs.
#pragma once

#include <saltus.hpp>

template <class Model>
struct ring_circuit_of {
  static constexpr auto source =
      "E. H. Horneber (1985), as in the CWI and Bari test set for initial value problem solvers: ring modulator";
  static constexpr double span[] = {0.0, 1e-3};
  static constexpr double pi = 3.14159265358979323846;

  enum state { u1, u2, u3, u4, u5, u6, u7, i1, i2, i3, i4, i5, i6, i7, i8 };
  static constexpr saltus::variable<state> state_list[] = {
      {u1, 0.0, "V", "at the signal's transformer"},
      {u2, 0.0, "V", "at the output's transformer: the output"},
      {u3, 0.0, "V", "stray capacitance between diodes 1 and 4"},
      {u4, 0.0, "V", "stray capacitance between diodes 2 and 3"},
      {u5, 0.0, "V", "stray capacitance between diodes 1 and 3"},
      {u6, 0.0, "V", "stray capacitance between diodes 2 and 4"},
      {u7, 0.0, "V", "at the carrier's capacitance"},
      {i1, 0.0, "A", "in the main inductance of the signal's transformer"},
      {i2, 0.0, "A", "in the main inductance of the output's transformer"},
      {i3, 0.0, "A", "in the coil between u1 and u3"},
      {i4, 0.0, "A", "in the coil between u1 and u4"},
      {i5, 0.0, "A", "in the coil between u2 and u5"},
      {i6, 0.0, "A", "in the coil between u2 and u6"},
      {i7, 0.0, "A", "from the signal's source"},
      {i8, 0.0, "A", "in the output's load"},
  };

  static constexpr double C = 1.6e-8, Cp = 1e-8;                             // F
  static constexpr double Lh = 4.45, Ls1 = 2e-3, Ls2 = 5e-4, Ls3 = 5e-4;     // H
  static constexpr double R = 25e3, Rp = 50.0, Ri = 50.0, Rc = 600.0;        // ohm
  static constexpr double Rg1 = 36.3, Rg2 = 17.3, Rg3 = 17.3;                // ohm
  static constexpr double signal_frequency = 1e3, carrier_frequency = 10e3;  // Hz

  /// Voltages of the four diodes.
  template <class Value>
  struct ring {
    Value of[4];
  };
  template <class Value>
  static ring<Value> all(const Value& d1, const Value& d2, const Value& d3, const Value& d4) {
    return {{d1, d2, d3, d4}};
  }
  static auto diodes(const auto& at) {
    const auto carrier = at[Model::carrier] * sin(2.0 * pi * carrier_frequency * at.t);
    const auto common = at[u7] + carrier;
    return all(at[u3] - at[u5] - common, at[u6] - at[u4] - common, at[u4] + at[u5] + common, common - at[u3] - at[u6]);
  }

  /// The currents into the capacitors and the voltages across the coils: C du/dt, L di/dt.
  static void balance(const auto& at, auto& f) {
    const auto signal = at[Model::signal] * sin(2.0 * pi * signal_frequency * at.t);
    const auto d = diodes(at);
    const auto q1 = Model::current(at, 0, d.of[0]), q2 = Model::current(at, 1, d.of[1]);
    const auto q3 = Model::current(at, 2, d.of[2]), q4 = Model::current(at, 3, d.of[3]);

    f[u1] = at[i1] - 0.5 * (at[i3] - at[i4]) + at[i7] - at[u1] / R;
    f[u2] = at[i2] - 0.5 * (at[i5] - at[i6]) + at[i8] - at[u2] / R;
    f[u3] = at[i3] - q1 + q4;
    f[u4] = q2 - q3 - at[i4];
    f[u5] = at[i5] + q1 - q3;
    f[u6] = q4 - q2 - at[i6];
    f[u7] = q1 + q2 - q3 - q4 - at[u7] / Rp;
    f[i1] = -at[u1];
    f[i2] = -at[u2];
    f[i3] = 0.5 * at[u1] - at[u3] - Rg2 * at[i3];
    f[i4] = at[u4] - 0.5 * at[u1] - Rg3 * at[i4];
    f[i5] = 0.5 * at[u2] - at[u5] - Rg2 * at[i5];
    f[i6] = at[u6] - 0.5 * at[u2] - Rg3 * at[i6];
    f[i7] = signal - at[u1] - (Ri + Rg1) * at[i7];
    f[i8] = -(at[u2] + (Rc + Rg1) * at[i8]);
  }
  /// body(state) for the voltages at stray capacitances.
  static void each_stray(const auto& body) { body(u3), body(u4), body(u5), body(u6); }
  /// body(state, its capacitance or inductance) for all other states.
  static void each_large(const auto& body) {
    body(u1, C), body(u2, C), body(u7, Cp);
    body(i1, Lh), body(i2, Lh), body(i3, Ls2), body(i4, Ls3), body(i5, Ls2), body(i6, Ls3), body(i7, Ls1),
        body(i8, Ls1);
  }
};

/// The ring modulator as an ordinary differential equation.
template <class Model>
struct ring_modulator_of : ring_circuit_of<Model> {
  using circuit = ring_circuit_of<Model>;
  using state = typename circuit::state;

  static void rhs(const auto& at, auto& dy) {
    circuit::balance(at, dy);
    circuit::each_stray([&](state u) { dy[u] = dy[u] / at[Model::Cs]; });
    circuit::each_large([&](state s, double size) { dy[s] = dy[s] / size; });
  }
};
