// 20 points on a sphere that repel each other (parts/fekete.hpp), as in the test set: the velocities are also projected onto the tangent
// planes of the sphere, by multipliers of their own, which vanish in the solution. So stabilised, the index is 2.
#include "parts/fekete.hpp"

struct fekete : fekete_of<fekete> {
  static constexpr auto title = "Fekete problem: 20 points on a sphere, index 2";

  enum state { x, y = x + N, z = y + N, vx = z + N, vy = vx + N, vz = vy + N, pull = vz + N, shift = pull + N };
  static constexpr saltus::variable<state> state_list[] = {
      saltus::variable<state>{x, 0.0, "1", "of a point (default: on one of four rings)"}.of(N),
      saltus::variable<state>{y, 0.0, "1", "of a point (default: on one of four rings)"}.of(N),
      saltus::variable<state>{z, 0.0, "1", "of a point (default: on one of four rings)"}.of(N),
      saltus::variable<state>{vx, 0.0, "1", "velocity of a point"}.of(N),
      saltus::variable<state>{vy, 0.0, "1", "velocity of a point"}.of(N),
      saltus::variable<state>{vz, 0.0, "1", "velocity of a point"}.of(N),
      saltus::variable<state>{pull, 0.0, "1", "lambda: multiplier of the sphere; a guess at the start"}.of(N),
      saltus::variable<state>{shift, 0.0, "1", "mu: multiplier of its time derivative"}.of(N)};

  static void initial(auto& at) { place(at); }

  static void residual(const auto& at, auto& r) {
    for (int i = 0; i < N; ++i) {
      const auto along = 2.0 * at(shift, i), inward = 2.0 * at(pull, i);
      r(x, i) = at.d(x, i, 1) - at(vx, i) - along * at(x, i);
      r(y, i) = at.d(y, i, 1) - at(vy, i) - along * at(y, i);
      r(z, i) = at.d(z, i, 1) - at(vz, i) - along * at(z, i);
      r(vx, i) = at.d(vx, i, 1) + at[damping] * at(vx, i) - inward * at(x, i);
      r(vy, i) = at.d(vy, i, 1) + at[damping] * at(vy, i) - inward * at(y, i);
      r(vz, i) = at.d(vz, i, 1) + at[damping] * at(vz, i) - inward * at(z, i);
      r(pull, i) = off_sphere(at, i);
      r(shift, i) = 2.0 * (at(x, i) * at(vx, i) + at(y, i) * at(vy, i) + at(z, i) * at(vz, i));
    }
    each_force(at, [&](int i, const auto& fx, const auto& fy, const auto& fz) {
      r(vx, i) -= fx;
      r(vy, i) -= fy;
      r(vz, i) -= fz;
    });
  }
};
