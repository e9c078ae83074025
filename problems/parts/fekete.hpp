// Common parts of the Fekete problems: N points on the unit sphere repel each other with forces inverse to their distances, and are damped.
// They come to rest at a maximum of the product of all distances, as a Fekete point set does. There each multiplier is -(N - 1)/4, since x
// . (sum of the forces) = (N - 1)/2. The problem is invariant under rotations about any axis.
//
// A model defines its states, among them the families x, y, z and pull.
#pragma once
#include <saltus.hpp>

template <class Model>
struct fekete_of {
  static constexpr auto source =
      "J. D. Pinter, W. J. H. Stortelder, J. J. B. de Swart, Computation of elliptic Fekete point sets, CWI Quarterly "
      "12 "
      "(1999) 63; CWI and Bari test set for initial value problem solvers";
  static constexpr double span[] = {0.0, 1000.0};
  static constexpr double pi = 3.14159265358979323846;
  static constexpr int N = 20;

  enum parameter { damping };
  static constexpr saltus::variable<parameter> parameter_list[] = {{damping, 0.5, "1", "alpha: force by velocity"}};

  /// Four rings of points, from north to south, each at one latitude, and multipliers that balance the radial part of the forces.
  static void place(auto& at) {
    struct level {
      int first, count;
      double turn, latitude;
    };
    const level rings[] = {{0, 3, pi / 13.0, 3.0 * pi / 8.0},
                           {3, 7, pi / 29.0, pi / 8.0},
                           {10, 6, pi / 7.0, -2.0 * pi / 15.0},
                           {16, 4, pi / 17.0, -3.0 * pi / 10.0}};
    const auto none = 0.0 * at[damping];
    for (const level& ring : rings)
      for (int k = 0; k < ring.count; ++k) {
        // The last ring is counted from 0, the others from 1.
        const double number = ring.first == 16 ? k : k + 1;
        // `none` makes these the model's own numbers, whose functions have the same bits everywhere.
        const auto longitude = 2.0 * pi * number / ring.count + ring.turn + none, latitude = ring.latitude + none;
        const int i = ring.first + k;
        at(Model::x, i) = cos(longitude) * cos(latitude);
        at(Model::y, i) = sin(longitude) * cos(latitude);
        at(Model::z, i) = sin(latitude);
      }
    for (int i = 0; i < N; ++i) at(Model::pull, i) = -0.25 * (N - 1);
  }

  /// on(i, x, y, z), with the force on point i from another point, for every ordered pair of points.
  static void each_force(const auto& at, const auto& on) {
    for (int i = 0; i < N; ++i)
      for (int j = 0; j < i; ++j) {
        const auto dx = at(Model::x, i) - at(Model::x, j), dy = at(Model::y, i) - at(Model::y, j);
        const auto dz = at(Model::z, i) - at(Model::z, j);
        const auto strength = 1.0 / (dx * dx + dy * dy + dz * dz);
        on(i, strength * dx, strength * dy, strength * dz);
        on(j, -strength * dx, -strength * dy, -strength * dz);
      }
  }
  /// |x_i|^2 - 1.
  static auto off_sphere(const auto& at, int i) {
    const auto &px = at(Model::x, i), &py = at(Model::y, i), &pz = at(Model::z, i);
    return px * px + py * py + pz * pz - 1.0;
  }
};
