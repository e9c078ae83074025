// Common parts of the squeezing mechanisms: bodies, spring, motor and loops. A model defines its states, among them the seven angles, and
// the names of the loops' closure conditions.
#pragma once
#include <saltus.hpp>

template <class Model>
struct andrews_squeezer_of {
  static constexpr auto source =
      "W. Schiehlen (ed.), Multibody Systems Handbook, 1990; E. Hairer, G. Wanner, Solving ODEs II, "
      "section VII.7; CWI and Bari test set";
  static constexpr double span[] = {0.0, 0.03};

  enum parameter { torque, stiffness };
  static constexpr saltus::variable<parameter> parameter_list[] = {{torque, 0.033, "N m", "of the motor"},
                                                                   {stiffness, 4530.0, "N/m", "of the spring"}};
  enum guard { turn };
  static constexpr saltus::event_function<guard> guard_list[] = {
      {turn, saltus::rising, saltus::bilateral, "the crank points along x"}};

  static constexpr double m1 = 0.04325, m2 = 0.00365, m3 = 0.02373, m4 = 0.00706, m5 = 0.07050, m6 = 0.00706,
                          m7 = 0.05498;  // kg
  static constexpr double I1 = 2.194e-6, I2 = 4.410e-7, I3 = 5.255e-6, I4 = 5.667e-7, I5 = 1.169e-5, I6 = 5.667e-7,
                          I7 = 1.912e-5;  // kg m2
  static constexpr double xa = -0.06934, ya = -0.00227, xb = -0.03635, yb = 0.03273, xc = 0.014, yc = 0.072,
                          l0 = 0.07785, d = 0.028, da = 0.0115, e = 0.02, ea = 0.01421, rr = 0.007, ra = 0.00092,
                          ss = 0.035, sa = 0.01874, sb = 0.01043, sc = 0.018, sd = 0.02, ta = 0.02308, tb = 0.00916,
                          u = 0.04, ua = 0.01228, ub = 0.00449, zf = 0.02, zt = 0.04, fa = 0.01421;  // m

  /// entry(i, j, value), once for each entry of the symmetric mass matrix that is not zero.
  static void each_mass(const auto& at, const auto& entry) {
    const auto cT = cos(at[Model::Theta]), sP = sin(at[Model::Phi]), sO = sin(at[Model::Omega]);
    entry(Model::beta, Model::beta, m1 * ra * ra + m2 * (rr * rr + da * da - 2.0 * da * rr * cT) + I1 + I2);
    entry(Model::beta, Model::Theta, m2 * (da * da - da * rr * cT) + I2);
    entry(Model::Theta, Model::Theta, m2 * da * da + I2);
    entry(Model::gamma, Model::gamma, m3 * (sa * sa + sb * sb) + I3);
    entry(Model::Phi, Model::Phi, m4 * (e - ea) * (e - ea) + I4);
    entry(Model::Phi, Model::delta, m4 * ((e - ea) * (e - ea) + zt * (e - ea) * sP) + I4);
    entry(Model::delta, Model::delta,
          m4 * (zt * zt + 2.0 * zt * (e - ea) * sP + (e - ea) * (e - ea)) + m5 * (ta * ta + tb * tb) + I4 + I5);
    entry(Model::Omega, Model::Omega, m6 * (zf - fa) * (zf - fa) + I6);
    entry(Model::Omega, Model::epsilon, m6 * ((zf - fa) * (zf - fa) - u * (zf - fa) * sO) + I6);
    entry(Model::epsilon, Model::epsilon,
          m6 * ((zf - fa) * (zf - fa) - 2.0 * u * (zf - fa) * sO + u * u) + m7 * (ua * ua + ub * ub) + I6 + I7);
  }
  /// The vector from the fixed end of the spring to its other end.
  struct spring_end {
    static auto x(const auto& at) { return sd * cos(at[Model::gamma]) + sc * sin(at[Model::gamma]) + (xb - xc); }
    static auto y(const auto& at) { return sd * sin(at[Model::gamma]) - sc * cos(at[Model::gamma]) + (yb - yc); }
  };
  /// on(i, force on coordinate i), without the constraint forces; rate(i) is the time derivative of coordinate i.
  static void each_force(const auto& at, const auto& rate, const auto& on) {
    const auto vb = rate(Model::beta), vT = rate(Model::Theta), vP = rate(Model::Phi), vd = rate(Model::delta);
    const auto vO = rate(Model::Omega), ve = rate(Model::epsilon);
    const auto sT = sin(at[Model::Theta]), cP = cos(at[Model::Phi]), cO = cos(at[Model::Omega]),
               sg = sin(at[Model::gamma]), cg = cos(at[Model::gamma]);
    const auto x = spring_end::x(at), y = spring_end::y(at);
    const auto pull = at[stiffness] * (l0 / sqrt(x * x + y * y) - 1.0);
    on(Model::beta, at[torque] - m2 * da * rr * vT * (vT + 2.0 * vb) * sT);
    on(Model::Theta, m2 * da * rr * vb * vb * sT);
    on(Model::gamma, pull * (x * (sc * cg - sd * sg) + y * (sd * cg + sc * sg)));
    on(Model::Phi, m4 * zt * (e - ea) * vd * vd * cP);
    on(Model::delta, -m4 * zt * (e - ea) * vP * (vP + 2.0 * vd) * cP);
    on(Model::Omega, -m6 * u * (zf - fa) * ve * ve * cO);
    on(Model::epsilon, m6 * u * (zf - fa) * vO * (vO + 2.0 * ve) * cO);
  }
  /// Residuals of the closure of the three loops.
  static void close(const auto& at, auto& c) {
    const auto x = rr * cos(at[Model::beta]) - d * cos(at[Model::beta] + at[Model::Theta]);
    const auto y = rr * sin(at[Model::beta]) - d * sin(at[Model::beta] + at[Model::Theta]);
    c[Model::loop_1x] = x - ss * sin(at[Model::gamma]) - xb;
    c[Model::loop_1y] = y + ss * cos(at[Model::gamma]) - yb;
    c[Model::loop_2x] = x - e * sin(at[Model::Phi] + at[Model::delta]) - zt * cos(at[Model::delta]) - xa;
    c[Model::loop_2y] = y + e * cos(at[Model::Phi] + at[Model::delta]) - zt * sin(at[Model::delta]) - ya;
    c[Model::loop_3x] = x - zf * cos(at[Model::Omega] + at[Model::epsilon]) - u * sin(at[Model::epsilon]) - xa;
    c[Model::loop_3y] = y - zf * sin(at[Model::Omega] + at[Model::epsilon]) + u * cos(at[Model::epsilon]) - ya;
  }
  static void guards(const auto& at, auto& g) { g[turn] = sin(at[Model::beta]); }
};
