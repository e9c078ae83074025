// 20 points on a sphere that repel each other (parts/fekete.hpp), by Newton's law with one multiplier each: x'' = f - damping x' + 2 pull
// x, |x|^2 = 1.
#include "parts/fekete.hpp"

struct fekete_index_3 : fekete_of<fekete_index_3> {
  static constexpr auto title = "Fekete problem: 20 points on a sphere, index 3";

  enum state { x, y = x + N, z = y + N, pull = z + N };
  static constexpr saltus::variable<state> state_list[] = {
      saltus::variable<state>{x, 0.0, "1", "of a point (default: on one of four rings)"}.of(N),
      saltus::variable<state>{y, 0.0, "1", "of a point (default: on one of four rings)"}.of(N),
      saltus::variable<state>{z, 0.0, "1", "of a point (default: on one of four rings)"}.of(N),
      saltus::variable<state>{pull, 0.0, "1", "lambda: multiplier of the sphere; a guess at the start"}.of(N)};

  static void initial(auto& at) {
    place(at);
    for (int i = 0; i < N; ++i) {
      at.d(x, i, 1) = 0.0;
      at.d(y, i, 1) = 0.0;
      at.d(z, i, 1) = 0.0;
    }
  }

  static void residual(const auto& at, auto& r) {
    for (int i = 0; i < N; ++i) {
      const auto inward = 2.0 * at(pull, i);
      r(x, i) = at.d(x, i, 2) + at[damping] * at.d(x, i, 1) - inward * at(x, i);
      r(y, i) = at.d(y, i, 2) + at[damping] * at.d(y, i, 1) - inward * at(y, i);
      r(z, i) = at.d(z, i, 2) + at[damping] * at.d(z, i, 1) - inward * at(z, i);
      r(pull, i) = off_sphere(at, i);
    }
    each_force(at, [&](int i, const auto& fx, const auto& fy, const auto& fz) {
      r(x, i) -= fx;
      r(y, i) -= fy;
      r(z, i) -= fz;
    });
  }
};
