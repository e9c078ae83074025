// The sun with the inner planets, and Jupiter, Saturn, Uranus, Neptune, Pluto: masses in those of the sun, lengths in astronomical units,
// time in days. The mass of Jupiter is a parameter.
#include <saltus.hpp>

struct six_bodies {
  static constexpr auto title = "Six bodies of the solar system";
  static constexpr auto source = "E. Hairer, C. Lubich, G. Wanner, Geometric Numerical Integration (2006), I.2.4";
  static constexpr double span[] = {0.0, 4000.0};
  static constexpr int bodies = 6;
  static constexpr double gravity = 2.95912208286e-4;
  static constexpr double mass[bodies] = {1.00000597682,    0.000954786104043, 0.000285583733151,
                                          4.37273164546e-5, 5.17759138449e-5,  1.0 / 1.3e8};
  static constexpr double start[bodies][6] = {
      {0.0, 0.0, 0.0, 0.0, 0.0, 0.0},
      {-3.5023653, -3.8169847, -1.5507963, 0.00565429, -0.00412490, -0.00190589},
      {9.0755314, -3.0458353, -1.6483708, 0.00168318, 0.00483525, 0.00192462},
      {8.3101420, -16.2901086, -7.2521278, 0.00354178, 0.00137102, 0.00055029},
      {11.4707666, -25.7294829, -10.8169456, 0.00288930, 0.00114527, 0.00039677},
      {-15.5387357, -25.2225594, -3.1902382, 0.00276725, -0.00170702, -0.00136504}};

  enum state { x, y = x + bodies, z = y + bodies, vx = z + bodies, vy = vx + bodies, vz = vy + bodies };
  using variable = saltus::variable<state>;
  static constexpr variable state_list[] = {
      variable{x, 0.0, "au", "of a body"}.of(bodies), variable{y, 0.0, "au", "of a body"}.of(bodies),
      variable{z, 0.0, "au", "of a body"}.of(bodies), variable{vx, 0.0, "au/d", "dx/dt"}.of(bodies),
      variable{vy, 0.0, "au/d", "dy/dt"}.of(bodies),  variable{vz, 0.0, "au/d", "dz/dt"}.of(bodies)};

  enum parameter { jupiter };
  static constexpr saltus::variable<parameter> parameter_list[] = {
      {jupiter, 0.000954786104043, "1", "mass of Jupiter, in those of the sun"}};

  static void initial(auto& at) {
    for (int i = 0; i < bodies; ++i) {
      at(x, i) = start[i][0], at(y, i) = start[i][1], at(z, i) = start[i][2];
      at(vx, i) = start[i][3], at(vy, i) = start[i][4], at(vz, i) = start[i][5];
    }
  }
  static void rhs(const auto& at, auto& dy) {
    for (int i = 0; i < bodies; ++i) {
      dy(x, i) = at(vx, i), dy(y, i) = at(vy, i), dy(z, i) = at(vz, i);
      dy(vx, i) = dy(vy, i) = dy(vz, i) = 0.0;
    }
    const auto pulls = [&](int i, auto factor, const auto& a, const auto& b, const auto& c) {
      dy(vx, i) += factor * a, dy(vy, i) += factor * b, dy(vz, i) += factor * c;
    };
    for (int i = 0; i < bodies; ++i)
      for (int j = 0; j < i; ++j) {
        const auto a = at(x, i) - at(x, j), b = at(y, i) - at(y, j), c = at(z, i) - at(z, j);
        const auto pull = gravity * pow(a * a + b * b + c * c, -1.5);
        const auto pa = pull * a, pb = pull * b, pc = pull * c;
        if (i == 1) pulls(j, at[jupiter], pa, pb, pc);
        else pulls(j, mass[i], pa, pb, pc);
        if (j == 1) pulls(i, -at[jupiter], pa, pb, pc);
        else pulls(i, -mass[j], pa, pb, pc);
      }
  }
};
