// The sun with the inner planets, and Jupiter, Saturn, Uranus, Neptune, Pluto: E. Hairer, C. Lubich, G. Wanner, Geometric Numerical
// Integration (2006), I.2.4. Masses in those of the sun, lengths in astronomical units, time in days. Scripts read it, too.
#pragma once

struct outer_solar_system {
  static constexpr int bodies = 6;
  static constexpr double gravity = 2.95912208286e-4;
  static constexpr double mass[bodies] = {1.00000597682,    0.000954786104043, 0.000285583733151,
                                          4.37273164546e-5, 5.17759138449e-5,  7.692307692307692e-9};
  /// x, y, z and their derivatives.
  static constexpr double start[bodies][6] = {
      {0.0, 0.0, 0.0, 0.0, 0.0, 0.0},
      {-3.5023653, -3.8169847, -1.5507963, 0.00565429, -0.00412490, -0.00190589},
      {9.0755314, -3.0458353, -1.6483708, 0.00168318, 0.00483525, 0.00192462},
      {8.3101420, -16.2901086, -7.2521278, 0.00354178, 0.00137102, 0.00055029},
      {11.4707666, -25.7294829, -10.8169456, 0.00288930, 0.00114527, 0.00039677},
      {-15.5387357, -25.2225594, -3.1902382, 0.00276725, -0.00170702, -0.00136504}};
};
