// A crank turns at a constant speed and drives a block through a rod that bends and stretches: two bending modes, and the stretch at the
// middle and at the end of the rod. The stretch vibrates at 10 kHz; this start hardly excites it.
//
// The rod is a beam of Simeon's with pi as in the published program, 3.1415927, to seven places.
#include <saltus.hpp>

struct flexible_slider_crank {
  static constexpr auto title = "Slider crank with a flexible rod, index 3";
  static constexpr auto source =
      "B. Simeon, Modelling a flexible slider crank mechanism by a mixed system of DAEs and PDEs, Math. Modelling of "
      "Systems 2 (1996) 1; CWI and Bari test set for initial value problem solvers";
  static constexpr double span[] = {0.0, 0.1};

  enum state { crank, rod, block, q, on_height = q + 4, on_block, on_crank };
  static constexpr saltus::variable<state> state_list[] = {
      {crank, 0.0, "rad", "angle of the crank"},
      {rod, 0.0, "rad", "angle of the rod"},
      {block, 0.450016933, "m", "position of the block (default: at the end of the rod)"},
      saltus::variable<state>{q, 0.0, "m", "of the rod: two modes of bending, stretch at its middle and its end"}.of(4),
      {on_height, 0.0, "N", "multiplier of height"},
      {on_block, 382.458950832928100, "N", "multiplier of place; a guess at the start"},
      {on_crank, 0.0, "N m", "multiplier of drive"}};
  enum equation { crank_turns, rod_turns, block_moves, rod_deforms, height = rod_deforms + 4, place, drive };
  static constexpr saltus::equated<equation> equation_list[] = {
      {crank_turns, "N m", "torques on the crank"},
      {rod_turns, "N m", "torques on the rod"},
      {block_moves, "N", "forces on the block"},
      saltus::equated<equation>{rod_deforms, "N", "forces in the rod"}.of(4),
      {height, "m", "the rod's end is on the block's way"},
      {place, "m", "the rod's end is on the block"},
      {drive, "rad", "the crank turns at constant speed"}};
  enum parameter { speed, damping };
  static constexpr saltus::variable<parameter> parameter_list[] = {
      {speed, 150.0, "rad/s", "of the crank"}, {damping, 0.0, "1", "of the rod: 1 is half a per cent"}};

  static constexpr double pi = 3.1415927;                              // as published
  static constexpr double J1 = 0.002727, J2 = 0.0045339259;            // kg m2
  static constexpr double l1 = 0.15, l2 = 0.30, b = 0.008, h = 0.008;  // m
  static constexpr double m2 = 0.151104, m3 = 0.075552;                // kg
  static constexpr double E = 0.2e12, rho = 7870.0;                    // N/m2, kg/m3
  static constexpr double volume = b * h * l2, stiff = E * b * h / l2, m = rho * volume;
  static constexpr double pi_3 = pi * pi * pi, pi_4 = pi_3 * pi, slender = h / l2 * (h / l2);

  // Matrices of the rod's shape functions: mass, stiffness and damping, and the vectors that couple them to the motion of the rod.
  static constexpr double M[4][4] = {
      {0.5 * m, 0.0, 0.0, 0.0}, {0.0, 0.5 * m, 0.0, 0.0}, {0.0, 0.0, 8.0 * m, m}, {0.0, 0.0, m, 2.0 * m}};
  static constexpr double K[4][4] = {{stiff * pi_4 / 24.0 * slender, 0.0, 0.0, 0.0},
                                     {0.0, stiff* pi_4 * 2.0 / 3.0 * slender, 0.0, 0.0},
                                     {0.0, 0.0, stiff * 16.0 / 3.0, -stiff * 8.0 / 3.0},
                                     {0.0, 0.0, -stiff * 8.0 / 3.0, stiff * 7.0 / 3.0}};
  static constexpr double D[4][4] = {{5.0, 0.0, 0.0, 0.0},
                                     {0.0, 25.0, 0.0, 0.0},
                                     {0.0, 0.0, 0.5 * 230.8375455264791, -0.5 * 262.6884879920526},
                                     {0.0, 0.0, -0.5 * 262.6884879920526, 0.5 * 421.7421837156818}};
  static constexpr double b13 = -volume * 16.0 / pi_3, b14 = volume * (8.0 / pi_3 - 1.0 / pi), b24 = volume * 0.5 / pi;
  static constexpr double B[4][4] = {
      {0.0, 0.0, b13, b14}, {0.0, 0.0, 0.0, b24}, {-b13, 0.0, 0.0, 0.0}, {-b14, -b24, 0.0, 0.0}};
  static constexpr double c1[4] = {0.0, 0.0, volume * 2.0 / 3.0, volume / 6.0};
  static constexpr double c2[4] = {volume * 2.0 / pi, 0.0, 0.0, 0.0};
  static constexpr double c12[4] = {0.0, 0.0, l2* volume / 3.0, l2* volume / 6.0};
  static constexpr double c21[4] = {l2 * volume / pi, -l2* volume * 0.5 / pi, 0.0, 0.0};

  /// Sum of w[j] times the k-th derivatives of the rod's coordinates.
  static auto dot(const auto& at, const double (&w)[4], int k) {
    return w[0] * at.d(q, 0, k) + w[1] * at.d(q, 1, k) + w[2] * at.d(q, 2, k) + w[3] * at.d(q, 3, k);
  }

  // Close to a smooth motion. The constraints determine the rest.
  static void initial(auto& at) {
    at(q, 2) = 0.103339863e-4;
    at(q, 3) = 0.169327969e-4;
    at.d(q, 0, 1) = 0.444896105;
    at.d(q, 1, 1) = 0.463434311e-2;
    at.d(q, 2, 1) = -0.178591076e-5;
    at.d(q, 3, 1) = -0.268938672e-5;
    at[block] = l1 + l2 + at(q, 3);
    at.d(crank, 1) = at[speed];
    at.d(rod, 1) = -l1 * at[speed] / (l2 + at(q, 3));
    at.d(block, 1) = at.d(q, 3, 1);
  }

  static void residual(const auto& at, auto& r) {
    const auto s1 = sin(at[crank]), k1 = cos(at[crank]), s2 = sin(at[rod]), k2 = cos(at[rod]);
    const auto s12 = sin(at[crank] - at[rod]), k12 = cos(at[crank] - at[rod]);
    const auto v1 = at.d(crank, 1), v2 = at.d(rod, 1), a1 = at.d(crank, 2), a2 = at.d(rod, 2);
    const auto reach = l2 + at(q, 3);  // length of the rod

    // Rigid bodies, and the effect of the rod's deformation on their motion.
    const auto a12 = 0.5 * l1 * l2 * m2 * k12 + rho * l1 * (s12 * dot(at, c2, 0) + k12 * dot(at, c1, 0));
    r[crank_turns] = (J1 + m2 * l1 * l1) * a1 + a12 * a2 + 0.5 * l1 * l2 * m2 * v2 * v2 * s12 -
                     rho * l1 * v2 * v2 * (k12 * dot(at, c2, 0) - s12 * dot(at, c1, 0)) +
                     2.0 * rho * l1 * v2 * (k12 * dot(at, c1, 1) + s12 * dot(at, c2, 1)) + l1 * k1 * at[on_height] +
                     l1 * s1 * at[on_block] + at[on_crank];
    r[rod_turns] = a12 * a1 + (J2 + 2.0 * rho * dot(at, c12, 0)) * a2 - 0.5 * l1 * l2 * m2 * v1 * v1 * s12 -
                   rho * l1 * v1 * v1 * (s12 * dot(at, c1, 0) - k12 * dot(at, c2, 0)) +
                   2.0 * rho * v2 * dot(at, c12, 1) + reach * (k2 * at[on_height] + s2 * at[on_block]);
    r[block_moves] = m3 * at.d(block, 2) + at[on_block];
    for (int i = 0; i < 4; ++i) {
      const auto inertia = dot(at, M[i], 0), coupling = dot(at, B[i], 1);
      const auto w1 = rho * l1 * (k12 * c2[i] - s12 * c1[i]), w2 = rho * (c21[i] - dot(at, B[i], 0));
      r[crank_turns] += w1 * at.d(q, i, 2);
      r[rod_turns] += w2 * at.d(q, i, 2) + at(q, i) * inertia * a2 + 2.0 * v2 * at.d(q, i, 1) * inertia;
      r(rod_deforms, i) = w1 * a1 + w2 * a2 + dot(at, M[i], 2) - v2 * v2 * inertia -
                          rho * (v2 * v2 * c12[i] + l1 * v1 * v1 * (k12 * c1[i] + s12 * c2[i]) + 2.0 * v2 * coupling) +
                          dot(at, K[i], 0) + at[damping] * dot(at, D[i], 1);
    }
    r(rod_deforms, 3) += s2 * at[on_height] - k2 * at[on_block];

    r[height] = l1 * s1 + reach * s2;
    r[place] = at[block] - l1 * k1 - reach * k2;
    r[drive] = at[crank] - at[speed] * at.t;
  }
};
