// The sun and five planets, all of which attract each other. The mass of Jupiter is a parameter.
#include <saltus.hpp>

#include "parts/outer_solar_system.hpp"

struct six_bodies : private outer_solar_system {
  static constexpr auto title = "Six bodies of the solar system";
  static constexpr auto source = "E. Hairer, C. Lubich, G. Wanner, Geometric Numerical Integration (2006), I.2.4";
  static constexpr double span[] = {0.0, 4000.0};

  enum state { x, y = x + bodies, z = y + bodies, vx = z + bodies, vy = vx + bodies, vz = vy + bodies };
  using variable = saltus::variable<state>;
  static constexpr variable state_list[] = {
      variable{x, 0.0, "au", "of a body"}.of(bodies), variable{y, 0.0, "au", "of a body"}.of(bodies),
      variable{z, 0.0, "au", "of a body"}.of(bodies), variable{vx, 0.0, "au/d", "dx/dt"}.of(bodies),
      variable{vy, 0.0, "au/d", "dy/dt"}.of(bodies),  variable{vz, 0.0, "au/d", "dz/dt"}.of(bodies)};

  enum parameter { jupiter };
  static constexpr saltus::variable<parameter> parameter_list[] = {
      {jupiter, mass[1], "1", "mass of Jupiter, in those of the sun"}};

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
    const auto of_jupiter = gravity * at[jupiter];
    for (int i = 0; i < bodies; ++i)
      for (int j = 0; j < i; ++j) {
        const auto a = at(x, i) - at(x, j), b = at(y, i) - at(y, j), c = at(z, i) - at(z, j);
        const auto pull = pow(a * a + b * b + c * c, -1.5);
        const auto pa = pull * a, pb = pull * b, pc = pull * c;
        if (i == 1) pulls(j, of_jupiter, pa, pb, pc);
        else pulls(j, gravity * mass[i], pa, pb, pc);
        if (j == 1) pulls(i, -of_jupiter, pa, pb, pc);
        else pulls(i, -gravity * mass[j], pa, pb, pc);
      }
  }
};
