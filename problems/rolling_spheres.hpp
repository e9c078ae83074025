// A sphere that rolls on the outside of a larger one, without gravity: one holonomic and two nonholonomic constraints.
// M. D. Compere, dissertation, UT Austin 2001, example 2 (table 3.3). The Euler angles are those of the source: sin(theta) = 0 is
// singular, and the second constraint has no factor cos(alpha) with beta', which true rolling would have.
#include <saltus.hpp>

struct rolling_spheres {
  static constexpr auto title = "A sphere rolling on a sphere";
  static constexpr auto source = "M. D. Compere, dissertation, The University of Texas at Austin (2001), example 2";
  static constexpr double span[] = {0.0, 8.0};

  enum state { rho, alpha, beta, phi, theta, psi, v_rho, v_alpha, v_beta, v_phi, v_theta, v_psi };
  static constexpr auto first_velocity = v_rho;
  static constexpr double half_pi = 1.5707963267948966;
  static constexpr saltus::variable<state> state_list[] = {{rho, 0.6, "m", "distance of the centres"},
                                                           {alpha, 0.0, "rad", "latitude of the small centre"},
                                                           {beta, half_pi, "rad", "longitude of the small centre"},
                                                           {phi, 0.0, "rad", "Euler angle"},
                                                           {theta, half_pi, "rad", "Euler angle"},
                                                           {psi, half_pi, "rad", "Euler angle"},
                                                           {v_rho, 0.0, "m/s", "d rho/dt"},
                                                           {v_alpha, -0.09817477042468103, "rad/s", "d alpha/dt"},
                                                           {v_beta, 0.09817477042468103, "rad/s", "d beta/dt"},
                                                           {v_phi, 0.0, "rad/s", "d phi/dt"},
                                                           {v_theta, 0.0, "rad/s", "d theta/dt"},
                                                           {v_psi, 0.0, "rad/s", "d psi/dt"}};
  enum parameter { large, small, m, phi_factor, theta_factor, eta_rolling, eta_contact };
  static constexpr saltus::variable<parameter> parameter_list[] = {
      {large, 0.55, "m", "radius of the large sphere"},
      {small, 0.05, "m", "radius of the small sphere"},
      {m, 1.0, "kg", "mass of the small sphere"},
      {phi_factor, 1.0, "1", "d phi/dt at the start, over that of rolling"},
      {theta_factor, 1.0, "1", "d theta/dt at the start, over that of rolling"},
      {eta_rolling, 0.05, "m/s2", "how fast rolling is approached that does not hold at the start"},
      {eta_contact, 1.0, "m/s2", "how fast contact is approached that does not hold at the start"}};
  enum constraint { roll_alpha, roll_beta, contact };
  static constexpr saltus::constrained<constraint> constraint_list[] = {
      {roll_alpha, saltus::nonholonomic, "m/s", "no slip along the meridian"},
      {roll_beta, saltus::nonholonomic, "m/s", "no slip along the parallel"},
      saltus::constrained<constraint>{contact, saltus::holonomic, "m", "the spheres touch"}.decaying(10.0)};
  enum output { energy };
  static constexpr saltus::derived<output> output_list[] = {{energy, "J", "kinetic energy"}};

  static void initial(auto& at) {
    at[v_phi] = at[phi_factor] * 12.0 * at[v_beta];
    at[v_theta] = at[theta_factor] * -12.0 * at[v_alpha];
  }
  static auto inertia(const auto& at) { return 0.4 * at[m] * at[small] * at[small]; }
  static void mass(const auto& at, auto& matrix) {
    const auto across = at[rho] * cos(at[alpha]);
    matrix(v_rho, v_rho) = at[m];
    matrix(v_alpha, v_alpha) = at[m] * at[rho] * at[rho];
    matrix(v_beta, v_beta) = at[m] * across * across;
    matrix(v_phi, v_phi) = matrix(v_theta, v_theta) = matrix(v_psi, v_psi) = inertia(at);
    matrix(v_phi, v_psi) = inertia(at) * cos(at[theta]);
  }
  static void force(const auto& at, auto& f) {
    const auto c = cos(at[alpha]), s = sin(at[alpha]);
    const auto turning = inertia(at) * sin(at[theta]);
    f[v_rho] = at[m] * at[rho] * (at[v_alpha] * at[v_alpha] + c * c * at[v_beta] * at[v_beta]);
    f[v_alpha] = -(at[m] * at[rho] * (2.0 * at[v_rho] * at[v_alpha] + at[rho] * c * s * at[v_beta] * at[v_beta]));
    f[v_beta] = -(2.0 * at[m] * at[rho] * c * (at[v_rho] * c - at[rho] * s * at[v_alpha]) * at[v_beta]);
    f[v_phi] = turning * at[v_psi] * at[v_theta];
    f[v_theta] = -(turning * at[v_phi] * at[v_psi]);
    f[v_psi] = turning * at[v_phi] * at[v_theta];
  }
  static void constraints(const auto& at, auto& c) {
    const auto turn = at[v_phi] * sin(at[theta]);
    const auto distance = at[large] + at[small];
    c[roll_alpha] = distance * at[v_alpha] - at[small] * (turn * cos(at[psi]) - at[v_theta] * sin(at[psi]));
    c[roll_beta] = distance * at[v_beta] - at[small] * (turn * sin(at[psi]) + at[v_theta] * cos(at[psi]));
    c[contact] = at[rho] - distance;
  }
  static void reaching(const auto& at, auto& eta) {
    eta[roll_alpha] = eta[roll_beta] = at[eta_rolling];
    eta[contact] = at[eta_contact];
  }
  static void outputs(const auto& at, auto& out) {
    const auto across = at[rho] * cos(at[alpha]) * at[v_beta];
    const auto along = at[rho] * at[v_alpha];
    const auto spin = at[v_phi] * at[v_phi] + at[v_theta] * at[v_theta] + at[v_psi] * at[v_psi] +
                      2.0 * at[v_phi] * at[v_psi] * cos(at[theta]);
    out[energy] = 0.5 * at[m] * (at[v_rho] * at[v_rho] + along * along + across * across) + 0.5 * inertia(at) * spin;
  }
};
