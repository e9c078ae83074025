// The NAND gate, complete; its two forms only choose how the equations are written.
//
// A NAND gate in n-channel technology: a load transistor of the depletion type and, in series below it, two transistors
// of the enhancement type, which the inputs V1 and V2 control. Kirchhoff's law holds at each of 14 nodes. Capacitors between
// the nodes depend on the voltages across them, and so does the matrix of C(u) u' = f(t, u); it is regular.
//
//     load: u1 source, u2 drain (behind resistors), u3 and u4 bulk to source and drain; u5 the output
//     first input: u6 .. u9 likewise, u10 below it;     second input: u11 .. u14 likewise, ground below it
//
// Both inputs are trapezoids of 5 V: V1 has the period 20, V2 the period 40. Their corners are time events, 5 apart.
//
// The equations are those of the published program, whose solution is the reference. There a transistor of the enhancement type
// conducts ten times less backward, which the published text does not mention (`beta_backward`).
#pragma once
#include <saltus.hpp>

struct nand_gate_circuit {
  static constexpr auto source =
      "M. Guenther, P. Rentrop, The NAND-gate - a benchmark for the numerical simulation of digital circuits (1996), "
      "as "
      "in the CWI and Bari test set";
  static constexpr double span[] = {0.0, 80.0};

  enum state { u1, u2, u3, u4, u5, u6, u7, u8, u9, u10, u11, u12, u13, u14 };
  static constexpr saltus::variable<state> state_list[] = {
      {u1, 5.0, "V", "load: source"},
      {u2, 5.0, "V", "load: drain"},
      {u3, -2.5, "V", "load: bulk to source"},
      {u4, -2.5, "V", "load: bulk to drain"},
      {u5, 5.0, "V", "output"},
      {u6, 3.62385, "V", "first input: source"},
      {u7, 5.0, "V", "first input: drain"},
      {u8, -2.5, "V", "first input: bulk to source"},
      {u9, -2.5, "V", "first input: bulk to drain"},
      {u10, 3.62385, "V", "between the inputs"},
      {u11, 0.0, "V", "second input: source"},
      {u12, 3.62385, "V", "second input: drain"},
      {u13, -2.5, "V", "second input: bulk to source"},
      {u14, -2.5, "V", "second input: bulk to drain"},
  };

  enum parameter {
    supply,
    bulk,
    RGS,
    RGD,
    RBS,
    RBD,
    CGS,
    CGD,
    CB,
    C9,
    delta,
    saturation,
    thermal,
    high,
    beta_load,
    beta_input,
    beta_backward
  };
  static constexpr saltus::variable<parameter> parameter_list[] = {
      {supply, 5.0, "V", "VDD: supply"},
      {bulk, -2.5, "V", "VBB: at the bulk"},
      {RGS, 4.0, "ohm", "at a source"},
      {RGD, 4.0, "ohm", "at a drain"},
      {RBS, 10.0, "ohm", "between bulk and source"},
      {RBD, 10.0, "ohm", "between bulk and drain"},
      {CGS, 0.6e-4, "F", "between gate and source"},
      {CGD, 0.6e-4, "F", "between gate and drain"},
      {CB, 0.24e-4, "F", "CBD = CBS: a junction, at zero voltage"},
      {C9, 0.5e-4, "F", "from the output, and from between the inputs, to ground"},
      {delta, 0.02, "1/V", "by which the current of a saturated channel still grows"},
      {saturation, 1e-14, "A", "of a junction"},
      {thermal, 25.85, "V", "VTH: of a junction"},
      {high, 5.0, "V", "high level of the inputs"},
      {beta_load, 5.35e-4, "A/V^2", "of the load"},
      {beta_input, 1.748e-3, "A/V^2", "of the other transistors"},
      {beta_backward, 1.748e-4, "A/V^2", "of these, from source to drain"},
  };

  // An input is base + rise (t - since).
  enum discrete { since, base_1, rise_1, base_2, rise_2 };
  static constexpr saltus::variable<discrete> discrete_list[] = {
      {since, 0.0, "s", "time of the last corner"},  {base_1, 0.0, "V", "V1 at that time"},
      {rise_1, 0.0, "V/s", "time derivative of V1"}, {base_2, 0.0, "V", "V2 at that time"},
      {rise_2, 0.0, "V/s", "time derivative of V2"},
  };

  enum time_event { corner };
  static constexpr saltus::timed<time_event> time_event_list[] = {{corner, "an input turns"}};
  static constexpr double apart = 5.0;  // s, between corners of the inputs

  /// Sets the inputs from corner number k on: V1 rises from the second of four corners, V2 from the fourth of eight.
  static void turn(auto& at, const auto& k) {
    const auto piece = [&](double period, double rises, discrete base, discrete rise) {
      const auto number = k - period * floor(k / period);
      const auto falls = number > period - 1.5;
      const auto begins = (number > rises - 0.5) & (number < rises + 0.5);
      at[base] = select(number > rises + 0.5, at[high], 0.0 * at[high]);
      at[rise] = select(begins, at[high] / apart, select(falls, -at[high] / apart, 0.0 * at[high]));
    };
    at[since] = apart * k;
    piece(4.0, 1.0, base_1, rise_1);
    piece(8.0, 3.0, base_2, rise_2);
  }
  static void initial(auto& at) { turn(at, floor(at.t / apart)); }
  static void time_events(const auto&, auto& when) { when.every(corner, apart); }
  static void transition(auto& now) { turn(now, floor(now.t / apart + 0.5)); }

  /// The model of Shichman and Hodges: current from drain to source, from the voltages between drain, source, gate and bulk.
  struct kind {
    double threshold, body, surface;
  };
  static constexpr kind depletion = {-2.43, 0.2, 1.28}, enhancement = {0.2, 0.035, 1.01};

  template <class Value>
  static Value channel(kind of, const auto& forward, const auto& backward, const auto& delta, const Value& ds,
                       const Value& gs, const Value& bs, const Value& gd, const Value& bd) {
    const auto with = ds > 0.0;
    const Value over = select(with, gs, gd), b = select(with, bs, bd);
    const Value gate =
        max(over - (of.threshold + of.body * (sqrt(of.surface - b) - sqrt(Value(of.surface)))), Value(0.0));
    const Value open = min(gate, abs(ds));
    return select(with, Value(forward), -Value(backward)) * open * (2.0 * gate - open) * (1.0 + delta * abs(ds));
  }
  /// The current of a blocking junction.
  static auto junction(const auto& at, const auto& v) {
    return select(v > 0.0, 0.0 * v, -at[saturation] * (exp(v / at[thermal]) - 1.0));
  }
  static auto capacity(const auto& at, const auto& v) {
    constexpr double built_in = 0.87;  // V
    return at[CB] * select(v > 0.0, 1.0 + v / (2.0 * built_in), 1.0 / sqrt(1.0 - v / built_in));
  }

  /// The currents into each node, without those of the capacitors.
  static void currents(const auto& at, auto& du) {
    const auto V1 = at[base_1] + at[rise_1] * (at.t - at[since]);
    const auto V2 = at[base_2] + at[rise_2] * (at.t - at[since]);
    const auto load = channel(depletion, at[beta_load], at[beta_load], at[delta], at[u2] - at[u1], at[u5] - at[u1],
                              at[u3] - at[u5], at[u5] - at[u2], at[u4] - at[supply]);
    const auto first = channel(enhancement, at[beta_input], at[beta_backward], at[delta], at[u7] - at[u6], V1 - at[u6],
                               at[u8] - at[u10], V1 - at[u7], at[u9] - at[u5]);
    const auto second = channel(enhancement, at[beta_input], at[beta_backward], at[delta], at[u12] - at[u11],
                                V2 - at[u11], at[u13] + 0.0 * V2, V2 - at[u12], at[u14] - at[u10]);

    du[u1] = (at[u5] - at[u1]) / at[RGS] + load;
    du[u2] = (at[supply] - at[u2]) / at[RGD] - load;
    du[u3] = (at[bulk] - at[u3]) / at[RBS] + junction(at, at[u3] - at[u5]);
    du[u4] = (at[bulk] - at[u4]) / at[RBD] + junction(at, at[u4] - at[supply]);
    du[u5] = (at[u1] - at[u5]) / at[RGS] + (at[u7] - at[u5]) / at[RGD] - junction(at, at[u3] - at[u5]) -
             junction(at, at[u9] - at[u5]);
    du[u6] = at[CGS] * at[rise_1] + (at[u10] - at[u6]) / at[RGS] + first;
    du[u7] = at[CGD] * at[rise_1] + (at[u5] - at[u7]) / at[RGD] - first;
    du[u8] = (at[bulk] - at[u8]) / at[RBS] + junction(at, at[u8] - at[u10]);
    du[u9] = (at[bulk] - at[u9]) / at[RBD] + junction(at, at[u9] - at[u5]);
    du[u10] = (at[u6] - at[u10]) / at[RGS] + (at[u12] - at[u10]) / at[RGD] - junction(at, at[u8] - at[u10]) -
              junction(at, at[u14] - at[u10]);
    du[u11] = at[CGS] * at[rise_2] - at[u11] / at[RGS] + second;
    du[u12] = at[CGD] * at[rise_2] + (at[u10] - at[u12]) / at[RGD] - second;
    du[u13] = (at[bulk] - at[u13]) / at[RBS] + junction(at, at[u13]);
    du[u14] = (at[bulk] - at[u14]) / at[RBD] + junction(at, at[u14] - at[u10]);
  }

  /// between(a, b, capacity) for a capacitor between two nodes, to_ground(a, capacity) for one to ground.
  static void each_capacity(const auto& at, const auto& between, const auto& to_ground) {
    between(u1, u5, at[CGS]);
    between(u2, u5, at[CGD]);
    between(u3, u5, capacity(at, at[u3] - at[u5]));
    between(u9, u5, capacity(at, at[u9] - at[u5]));
    between(u8, u10, capacity(at, at[u8] - at[u10]));
    between(u14, u10, capacity(at, at[u14] - at[u10]));
    to_ground(u4, capacity(at, at[u4] - at[supply]));
    to_ground(u13, capacity(at, at[u13]));
    to_ground(u6, at[CGS]), to_ground(u7, at[CGD]);
    to_ground(u11, at[CGS]), to_ground(u12, at[CGD]);
    to_ground(u5, at[C9]), to_ground(u10, at[C9]);
  }
};
