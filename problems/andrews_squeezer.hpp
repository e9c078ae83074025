// Andrews' squeezing mechanism: seven bodies in a plane, three loops with two closure conditions each, a motor that turns the first body
// ever faster, and a spring.
#include "parts/andrews_squeezer.hpp"

struct andrews_squeezer : andrews_squeezer_of<andrews_squeezer> {
  static constexpr auto title = "Andrews' squeezing mechanism";

  enum state { beta, Theta, gamma, Phi, delta, Omega, epsilon, vb, vT, vg, vP, vd, vO, ve };
  static constexpr auto first_velocity = vb;
  static constexpr saltus::variable<state> state_list[] = {
      {beta, -0.0617138900142764496, "rad", "of the crank"},
      {Theta, 0.0, "rad", "of the coupler on the crank"},
      {gamma, 0.455279819163070380, "rad", "of the body at the spring"},
      {Phi, 0.222668390165885885, "rad", "of the first link, in its joint"},
      {delta, 0.487364979543842550, "rad", "of the body that this link is on"},
      {Omega, -0.222668390165885885, "rad", "of the second link, in its joint"},
      {epsilon, 1.23054744454982119, "rad", "of the body that this link is on"},
      {vb, 0.0, "rad/s", "d beta/dt"},
      {vT, 0.0, "rad/s", "d Theta/dt"},
      {vg, 0.0, "rad/s", "d gamma/dt"},
      {vP, 0.0, "rad/s", "d Phi/dt"},
      {vd, 0.0, "rad/s", "d delta/dt"},
      {vO, 0.0, "rad/s", "d Omega/dt"},
      {ve, 0.0, "rad/s", "d epsilon/dt"}};
  enum constraint { loop_1x, loop_1y, loop_2x, loop_2y, loop_3x, loop_3y };
  static constexpr saltus::constrained<constraint> constraint_list[] = {
      {loop_1x, saltus::holonomic, "m", "the loop through B is closed, x"},
      {loop_1y, saltus::holonomic, "m", "the loop through B is closed, y"},
      {loop_2x, saltus::holonomic, "m", "the loop through delta and A is closed, x"},
      {loop_2y, saltus::holonomic, "m", "the loop through delta and A is closed, y"},
      {loop_3x, saltus::holonomic, "m", "the loop through epsilon and A is closed, x"},
      {loop_3y, saltus::holonomic, "m", "the loop through epsilon and A is closed, y"}};
  enum invariant { total };
  static constexpr saltus::conserved<invariant> invariant_list[] = {
      {total, "J", "kinetic energy and that of the spring, less the work of the motor"}};
  enum output { acceleration_b, multiplier_1x, multiplier_1y, energy };
  static constexpr saltus::derived<output> output_list[] = {
      {acceleration_b, "rad/s2", "second derivative of beta"},
      {multiplier_1x, "N", "of loop_1x; the handbook's has the other sign"},
      {multiplier_1y, "N", "of loop_1y; the handbook's has the other sign"},
      {energy, "J", "kinetic energy and that of the spring, less the work of the motor"}};

  // A velocity stands seven places behind its coordinate.
  static void mass(const auto& at, auto& m) {
    each_mass(at, [&](state i, state j, const auto& value) { m(i, 7, j, 7) = value; });
  }
  static void force(const auto& at, auto& f) {
    each_force(
        at, [&](state i) { return at(i, 7); }, [&](state i, const auto& value) { f(i, 7) = value; });
  }
  static void constraints(const auto& at, auto& c) { close(at, c); }
  /// v' M v / 2.
  static auto kinetic(const auto& at) {
    const auto cT = cos(at[Theta]), sP = sin(at[Phi]), sO = sin(at[Omega]);
    const auto bT = at[vb] + at[vT], Pd = at[vP] + at[vd], Oe = at[vO] + at[ve];
    const auto first = (m1 * ra * ra + m2 * rr * rr + I1) * at[vb] * at[vb] + (m2 * da * da + I2) * bT * bT -
                       2.0 * m2 * da * rr * cT * at[vb] * bT;
    const auto second = (m4 * (e - ea) * (e - ea) + I4) * Pd * Pd + 2.0 * m4 * zt * (e - ea) * sP * at[vd] * Pd +
                        (m4 * zt * zt + m5 * (ta * ta + tb * tb) + I5) * at[vd] * at[vd];
    const auto third = (m6 * (zf - fa) * (zf - fa) + I6) * Oe * Oe - 2.0 * m6 * u * (zf - fa) * sO * at[ve] * Oe +
                       (m6 * u * u + m7 * (ua * ua + ub * ub) + I7) * at[ve] * at[ve];
    return 0.5 * (first + (m3 * (sa * sa + sb * sb) + I3) * at[vg] * at[vg] + second + third);
  }
  static auto energy_of(const auto& at) {
    const auto x = spring_end::x(at), y = spring_end::y(at);
    const auto stretch = sqrt(x * x + y * y) - l0;
    return kinetic(at) + 0.5 * at[stiffness] * stretch * stretch - at[torque] * at[beta];
  }
  static void invariants(const auto& at, auto& i) { i[total] = energy_of(at); }
  static void outputs(const auto& at, auto& out) {
    out[acceleration_b] = at.acceleration(vb);
    out[multiplier_1x] = at.multiplier(loop_1x);
    out[multiplier_1y] = at.multiplier(loop_1y);
    out[energy] = energy_of(at);
  }
};
