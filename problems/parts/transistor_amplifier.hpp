// Common parts of the forms of the transistor amplifier: the circuit without its capacitors.
//
//     Ue -R0- (1) -C1- (2)  base of transistor 1        g(u) = beta (exp(u / UF) - 1): base to emitter
//     emitter (3), C2 and R3 to ground;  collector (4) -C3- (5)  base of transistor 2
//     emitter (6), C4 and R7 to ground;  collector (7) -C5- (8) -R9- ground
//
// The bases lie between R1, R2 and R5, R6; Ub feeds the collectors through R4 and R8.
#pragma once
#include <saltus.hpp>

template <class Model>
struct transistor_amplifier_of {
  static constexpr auto source =
      "P. Rentrop, as in E. Hairer, C. Lubich, M. Roche, Springer LNM 1409 (1989), and in the CWI and Bari test set: "
      "DAE "
      "of index 1";
  static constexpr double span[] = {0.0, 0.2};
  static constexpr double pi = 3.14159265358979323846;

  enum parameter { amplitude, frequency, supply, thermal, alpha, beta, R0, R, C };
  static constexpr saltus::variable<parameter> parameter_list[] = {
      {amplitude, 0.1, "V", "of the input"},
      {frequency, 100.0, "Hz", "of the input"},
      {supply, 6.0, "V", "Ub: operating voltage"},
      {thermal, 0.026, "V", "UF"},
      {alpha, 0.99, "1", "part of the emitter's current that comes from the collector, below 1"},
      {beta, 1e-6, "A", "saturation current"},
      {R0, 1000.0, "ohm", "at the input"},
      {R, 9000.0, "ohm", "all other resistors"},
      {C, 1e-6, "F", "C1; the others are two to five times as large"},
  };

  /// The currents that leave the nodes, without those of the capacitors.
  static void currents(const auto& at, auto& i) {
    const auto input = at[amplitude] * sin(2.0 * pi * at[frequency] * at.t);
    const auto g1 = at[beta] * (exp((at[Model::u2] - at[Model::u3]) / at[thermal]) - 1.0);
    const auto g2 = at[beta] * (exp((at[Model::u5] - at[Model::u6]) / at[thermal]) - 1.0);
    i[Model::u1] = (at[Model::u1] - input) / at[R0];
    i[Model::u2] = (2.0 * at[Model::u2] - at[supply]) / at[R] + (1.0 - at[alpha]) * g1;
    i[Model::u3] = at[Model::u3] / at[R] - g1;
    i[Model::u4] = (at[Model::u4] - at[supply]) / at[R] + at[alpha] * g1;
    i[Model::u5] = (2.0 * at[Model::u5] - at[supply]) / at[R] + (1.0 - at[alpha]) * g2;
    i[Model::u6] = at[Model::u6] / at[R] - g2;
    i[Model::u7] = (at[Model::u7] - at[supply]) / at[R] + at[alpha] * g2;
    i[Model::u8] = at[Model::u8] / at[R];
  }
};
