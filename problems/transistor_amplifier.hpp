// An amplifier of two transistors, coupled by capacitors: a sine of 0.1 V at the input, amplified and badly distorted
// at the output. Kirchhoff's law at each of the eight nodes; a capacitor between two nodes puts the derivatives of both
// into both equations, so the mass matrix is singular (rank 5) though every state has a derivative.
//
//     Ue -R0- (1) -C1- (2)  base of transistor 1        g(u) = beta (exp(u / UF) - 1): base to emitter
//     emitter (3), C2 and R3 to ground;  collector (4) -C3- (5)  base of transistor 2
//     emitter (6), C4 and R7 to ground;  collector (7) -C5- (8) -R9- ground
//
// The bases lie between R1, R2 and R5, R6; the collectors are fed by R4 and R8 from Ub.
#include <saltus.hpp>

struct transistor_amplifier {
  static constexpr auto title = "Transistor amplifier";
  static constexpr auto source =
      "P. Rentrop, as in E. Hairer, C. Lubich, M. Roche, Springer LNM 1409 (1989), and in the CWI and Bari test set: "
      "DAE "
      "of index 1";
  static constexpr double span[] = {0.0, 0.2};
  static constexpr double pi = 3.14159265358979323846;

  static constexpr bool mass_is_singular = true;

  // Consistent at rest, with the sine at zero.
  enum state { u1, u2, u3, u4, u5, u6, u7, u8 };
  static constexpr saltus::variable<state> state_list[] = {
      {u1, 0.0, "V", "input, behind R0"},     {u2, 3.0, "V", "base of transistor 1"},
      {u3, 3.0, "V", "its emitter"},          {u4, 6.0, "V", "its collector"},
      {u5, 3.0, "V", "base of transistor 2"}, {u6, 3.0, "V", "its emitter"},
      {u7, 6.0, "V", "its collector"},        {u8, 0.0, "V", "output"},
  };

  enum parameter { amplitude, frequency, supply, thermal, alpha, beta, R0, R, C };
  static constexpr saltus::variable<parameter> parameter_list[] = {
      {amplitude, 0.1, "V", "of the input"},
      {frequency, 100.0, "Hz", "of the input"},
      {supply, 6.0, "V", "Ub: operating voltage"},
      {thermal, 0.026, "V", "UF"},
      {alpha, 0.99, "1", "part of the emitter's current that comes from the collector"},
      {beta, 1e-6, "A", "saturation current"},
      {R0, 1000.0, "ohm", "at the input"},
      {R, 9000.0, "ohm", "all other resistors"},
      {C, 1e-6, "F", "C1; the others are two to five times as large"},
  };

  static void mass(const auto& at, auto& m) {
    const auto between = [&](state a, state b, double k) {  // in either row, the current into its node
      m(a, a) = m(b, b) = -k * at[C];
      m(a, b) = m(b, a) = k * at[C];
    };
    between(u1, u2, 1.0);
    m(u3, u3) = -2.0 * at[C];
    between(u4, u5, 3.0);
    m(u6, u6) = -4.0 * at[C];
    between(u7, u8, 5.0);
  }

  static void rhs(const auto& at, auto& dy) {
    const auto input = at[amplitude] * sin(2.0 * pi * at[frequency] * at.t);
    const auto g1 = at[beta] * (exp((at[u2] - at[u3]) / at[thermal]) - 1.0);
    const auto g2 = at[beta] * (exp((at[u5] - at[u6]) / at[thermal]) - 1.0);
    dy[u1] = (at[u1] - input) / at[R0];
    dy[u2] = (2.0 * at[u2] - at[supply]) / at[R] + (1.0 - at[alpha]) * g1;
    dy[u3] = at[u3] / at[R] - g1;
    dy[u4] = (at[u4] - at[supply]) / at[R] + at[alpha] * g1;
    dy[u5] = (2.0 * at[u5] - at[supply]) / at[R] + (1.0 - at[alpha]) * g2;
    dy[u6] = at[u6] / at[R] - g2;
    dy[u7] = (at[u7] - at[supply]) / at[R] + at[alpha] * g2;
    dy[u8] = at[u8] / at[R];
  }
};
