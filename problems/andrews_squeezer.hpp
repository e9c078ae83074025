// Andrews' squeezing mechanism: seven bodies in a plane, three loops that are closed in two directions each, a motor that turns
// the first of them, ever faster, and a spring.
#include <saltus.hpp>

struct andrews_squeezer {
  static constexpr auto title = "Andrews' squeezing mechanism";
  static constexpr auto source =
      "W. Schiehlen (ed.), Multibody Systems Handbook, 1990; E. Hairer, G. Wanner, Solving ODEs II, "
      "section VII.7; CWI and Bari test set";
  static constexpr double span[] = {0.0, 0.03};

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
  enum parameter { torque, stiffness };
  static constexpr saltus::variable<parameter> parameter_list[] = {{torque, 0.033, "N m", "of the motor"},
                                                                   {stiffness, 4530.0, "N/m", "of the spring"}};
  enum constraint { loop_1x, loop_1y, loop_2x, loop_2y, loop_3x, loop_3y };
  static constexpr saltus::constrained<constraint> constraint_list[] = {
      {loop_1x, saltus::holonomic, "m", "the loop through B is closed, x"},
      {loop_1y, saltus::holonomic, "m", "the loop through B is closed, y"},
      {loop_2x, saltus::holonomic, "m", "the loop through delta and A is closed, x"},
      {loop_2y, saltus::holonomic, "m", "the loop through delta and A is closed, y"},
      {loop_3x, saltus::holonomic, "m", "the loop through epsilon and A is closed, x"},
      {loop_3y, saltus::holonomic, "m", "the loop through epsilon and A is closed, y"}};
  enum guard { turn };
  static constexpr saltus::event_function<guard> guard_list[] = {
      {turn, saltus::rising, saltus::bilateral, "the crank points along x"}};
  enum output { acceleration_b, multiplier_1x, multiplier_1y, energy };
  static constexpr saltus::derived<output> output_list[] = {
      {acceleration_b, "rad/s2", "second derivative of beta"},
      {multiplier_1x, "N", "of loop_1x; the handbook's has the other sign"},
      {multiplier_1y, "N", "of loop_1y; the handbook's has the other sign"},
      {energy, "J", "kinetic energy and that of the spring, less the work of the motor"}};

  static constexpr double m1 = 0.04325, m2 = 0.00365, m3 = 0.02373, m4 = 0.00706, m5 = 0.07050, m6 = 0.00706,
                          m7 = 0.05498;  // kg
  static constexpr double I1 = 2.194e-6, I2 = 4.410e-7, I3 = 5.255e-6, I4 = 5.667e-7, I5 = 1.169e-5, I6 = 5.667e-7,
                          I7 = 1.912e-5;  // kg m2
  static constexpr double xa = -0.06934, ya = -0.00227, xb = -0.03635, yb = 0.03273, xc = 0.014, yc = 0.072,
                          l0 = 0.07785, d = 0.028, da = 0.0115, e = 0.02, ea = 0.01421, rr = 0.007, ra = 0.00092,
                          ss = 0.035, sa = 0.01874, sb = 0.01043, sc = 0.018, sd = 0.02, ta = 0.02308, tb = 0.00916,
                          u = 0.04, ua = 0.01228, ub = 0.00449, zf = 0.02, zt = 0.04, fa = 0.01421;  // m

  static void mass(const auto& at, auto& m) {
    const auto cT = cos(at[Theta]), sP = sin(at[Phi]), sO = sin(at[Omega]);
    m(vb, vb) = m1 * ra * ra + m2 * (rr * rr + da * da - 2.0 * da * rr * cT) + I1 + I2;
    m(vb, vT) = m2 * (da * da - da * rr * cT) + I2;
    m(vT, vT) = m2 * da * da + I2;
    m(vg, vg) = m3 * (sa * sa + sb * sb) + I3;
    m(vP, vP) = m4 * (e - ea) * (e - ea) + I4;
    m(vP, vd) = m4 * ((e - ea) * (e - ea) + zt * (e - ea) * sP) + I4;
    m(vd, vd) = m4 * (zt * zt + 2.0 * zt * (e - ea) * sP + (e - ea) * (e - ea)) + m5 * (ta * ta + tb * tb) + I4 + I5;
    m(vO, vO) = m6 * (zf - fa) * (zf - fa) + I6;
    m(vO, ve) = m6 * ((zf - fa) * (zf - fa) - u * (zf - fa) * sO) + I6;
    m(ve, ve) = m6 * ((zf - fa) * (zf - fa) - 2.0 * u * (zf - fa) * sO + u * u) + m7 * (ua * ua + ub * ub) + I6 + I7;
  }
  /// From where the spring is fixed to its other end.
  struct spring_end {
    static auto x(const auto& at) { return sd * cos(at[gamma]) + sc * sin(at[gamma]) + (xb - xc); }
    static auto y(const auto& at) { return sd * sin(at[gamma]) - sc * cos(at[gamma]) + (yb - yc); }
  };
  static void force(const auto& at, auto& f) {
    const auto sT = sin(at[Theta]), cP = cos(at[Phi]), cO = cos(at[Omega]), sg = sin(at[gamma]), cg = cos(at[gamma]);
    const auto x = spring_end::x(at), y = spring_end::y(at);
    const auto pull = at[stiffness] * (l0 / sqrt(x * x + y * y) - 1.0);
    f[vb] = at[torque] - m2 * da * rr * at[vT] * (at[vT] + 2.0 * at[vb]) * sT;
    f[vT] = m2 * da * rr * at[vb] * at[vb] * sT;
    f[vg] = pull * (x * (sc * cg - sd * sg) + y * (sd * cg + sc * sg));
    f[vP] = m4 * zt * (e - ea) * at[vd] * at[vd] * cP;
    f[vd] = -m4 * zt * (e - ea) * at[vP] * (at[vP] + 2.0 * at[vd]) * cP;
    f[vO] = -m6 * u * (zf - fa) * at[ve] * at[ve] * cO;
    f[ve] = m6 * u * (zf - fa) * at[vO] * (at[vO] + 2.0 * at[ve]) * cO;
  }
  static void constraints(const auto& at, auto& c) {
    const auto x = rr * cos(at[beta]) - d * cos(at[beta] + at[Theta]);
    const auto y = rr * sin(at[beta]) - d * sin(at[beta] + at[Theta]);
    c[loop_1x] = x - ss * sin(at[gamma]) - xb;
    c[loop_1y] = y + ss * cos(at[gamma]) - yb;
    c[loop_2x] = x - e * sin(at[Phi] + at[delta]) - zt * cos(at[delta]) - xa;
    c[loop_2y] = y + e * cos(at[Phi] + at[delta]) - zt * sin(at[delta]) - ya;
    c[loop_3x] = x - zf * cos(at[Omega] + at[epsilon]) - u * sin(at[epsilon]) - xa;
    c[loop_3y] = y - zf * sin(at[Omega] + at[epsilon]) + u * cos(at[epsilon]) - ya;
  }
  static void guards(const auto& at, auto& g) { g[turn] = sin(at[beta]); }
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
  static void outputs(const auto& at, auto& out) {
    const auto x = spring_end::x(at), y = spring_end::y(at);
    const auto stretch = sqrt(x * x + y * y) - l0;
    out[acceleration_b] = at.acceleration(vb);
    out[multiplier_1x] = at.multiplier(loop_1x);
    out[multiplier_1y] = at.multiplier(loop_1y);
    out[energy] = kinetic(at) + 0.5 * at[stiffness] * stretch * stretch - at[torque] * at[beta];
  }
};
