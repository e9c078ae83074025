// Common parts of the marble jars of all sizes: N marbles without friction are poured into a jar, a cylinder on a
// plane. Where two surfaces overlap by a gap g < 0, a spring and a damper push them apart with the force -k g - c g'
// along the gradient of g.
//
// Without damping the energy is constant in spite of the events. The motion is chaotic, so little else is known of it
// for long (tests/reference/event_problems.py).
#pragma once

#include <saltus.hpp>

template <int N>
struct marble_jar_of {
  static constexpr auto source =
      "M. D. Compere (2001), section 5.3.4; sizes, masses, stiffness and start are of our own";
  static constexpr double span[] = {0.0, 2.0};
  static constexpr int pairs = N * (N - 1) / 2;

  enum state { x, y = x + N, z = y + N, vx = z + N, vy = vx + N, vz = vy + N };
  static constexpr saltus::variable<state> state_list[] = {
      saltus::variable<state>{x, 0.0, "m", "centre of the marble (default: on a spiral)"}.of(N),
      saltus::variable<state>{y, 0.0, "m", "centre of the marble (default: on a spiral)"}.of(N),
      saltus::variable<state>{z, 0.0, "m", "height of the centre above the plane (default: on a spiral)"}.of(N),
      saltus::variable<state>{vx, 0.0, "m/s", "velocity along x"}.of(N),
      saltus::variable<state>{vy, 0.0, "m/s", "velocity along y"}.of(N),
      saltus::variable<state>{vz, 0.0, "m/s", "velocity, upwards"}.of(N),
  };

  enum parameter { gravity, mass, radius, jar_radius, stiffness, damping, turn };
  static constexpr saltus::variable<parameter> parameter_list[] = {
      {gravity, 9.81, "m/s2", "acceleration of gravity, downwards"},
      {mass, 0.0105, "kg", "mass of a marble"},
      {radius, 0.01, "m", "radius of a marble"},
      {jar_radius, 0.03, "m", "inner radius of the jar"},
      {stiffness, 2e4, "N/m", "k: of every contact"},
      {damping, 0.0, "N s/m", "c: of every contact"},
      {turn, 2.4, "1", "angle from a marble to the next on the spiral of the start"},
  };

  enum guard { pair, plane = pair + pairs, cylinder = plane + N };
  static constexpr saltus::event_function<guard> guard_list[] = {
      saltus::event_function<guard>{pair, saltus::both, saltus::bilateral, "two marbles meet or part"}.of(pairs),
      saltus::event_function<guard>{plane, saltus::both, saltus::bilateral, "a marble meets or leaves the bottom"}.of(
          N),
      saltus::event_function<guard>{cylinder, saltus::both, saltus::bilateral, "a marble meets or leaves the wall"}.of(
          N),
  };

  enum output { energy };
  static constexpr saltus::derived<output> output_list[] = {
      {energy, "J", "potential, kinetic and elastic energy"},
  };

  static void initial(auto& at) {
    for (int i = 0; i < N; ++i) {
      const auto angle = at[turn] * i;
      at(x, i) = (0.006 + 0.0005 * i) * cos(angle);
      at(y, i) = (0.006 + 0.0005 * i) * sin(angle);
      at(z, i) = 0.05 + 0.05 * i;
    }
  }

  /// A length from its square. A marble may pass through the axis of the jar: there the length is small, not zero, so
  /// that it has a derivative and can be divided by.
  static auto length(const auto& square) { return sqrt(max(square, 1e-24)); }

  static auto distance(const auto& at, int i, int j) {
    const auto dx = at(x, i) - at(x, j), dy = at(y, i) - at(y, j), dz = at(z, i) - at(z, j);
    return length(dx * dx + dy * dy + dz * dz);
  }
  static auto from_axis(const auto& at, int i) { return length(at(x, i) * at(x, i) + at(y, i) * at(y, i)); }

  // Gaps; a guard is the gap of its contact.
  static auto pair_gap(const auto& at, int i, int j) { return distance(at, i, j) - 2.0 * at[radius]; }
  static auto plane_gap(const auto& at, int i) { return at(z, i) - at[radius]; }
  static auto cylinder_gap(const auto& at, int i) { return at[jar_radius] - at[radius] - from_axis(at, i); }

  /// Calls body(i, j, number of the pair) for every two marbles.
  static void each_pair(auto&& body) {
    for (int i = 0, k = 0; i < N; ++i)
      for (int j = i + 1; j < N; ++j) body(i, j, k++);
  }

  static void guards(const auto& at, auto& g) {
    each_pair([&](int i, int j, int k) { g(pair, k) = pair_gap(at, i, j); });
    for (int i = 0; i < N; ++i) {
      g(plane, i) = plane_gap(at, i);
      g(cylinder, i) = cylinder_gap(at, i);
    }
  }

  /// Acceleration by a contact, along the gradient of its gap.
  static auto push(const auto& at, const auto& gap, const auto& rate) {
    return -(at[stiffness] * gap + at[damping] * rate) / at[mass];
  }

  static void rhs(const auto& at, auto& dy) {
    for (int i = 0; i < N; ++i) {
      dy(x, i) = at(vx, i);
      dy(y, i) = at(vy, i);
      dy(z, i) = at(vz, i);

      dy(vz, i) = select(at.above(plane, i), 0.0, push(at, plane_gap(at, i), at(vz, i))) - at[gravity];

      const auto r = from_axis(at, i);
      const auto inward = -(at(x, i) * at(vx, i) + at(y, i) * at(vy, i)) / r;
      const auto a = select(at.above(cylinder, i), 0.0, push(at, cylinder_gap(at, i), inward)) / r;
      dy(vx, i) = 0.0 - a * at(x, i);  // not -0.0: adding the zero force of a pair then changes nothing
      dy(vy, i) = 0.0 - a * at(y, i);
    }
    each_pair([&](int i, int j, int k) {
      const auto touching = !at.above(pair, k);
      if (none(touching)) return;  // most pairs are apart in all instances
      const auto nx = at(x, i) - at(x, j), ny = at(y, i) - at(y, j), nz = at(z, i) - at(z, j);
      const auto d = distance(at, i, j);
      const auto rate =
          (nx * (at(vx, i) - at(vx, j)) + ny * (at(vy, i) - at(vy, j)) + nz * (at(vz, i) - at(vz, j))) / d;
      const auto a = select(touching, push(at, pair_gap(at, i, j), rate), 0.0) / d;
      dy(vx, i) += a * nx;
      dy(vy, i) += a * ny;
      dy(vz, i) += a * nz;
      dy(vx, j) -= a * nx;
      dy(vy, j) -= a * ny;
      dy(vz, j) -= a * nz;
    });
  }

  static void outputs(const auto& at, auto& out) {
    const auto spring = [&](const auto& gap) {
      const auto depth = min(gap, 0.0);
      return 0.5 * at[stiffness] * depth * depth;
    };
    out[energy] = 0.0;
    for (int i = 0; i < N; ++i) {
      const auto speed_squared = at(vx, i) * at(vx, i) + at(vy, i) * at(vy, i) + at(vz, i) * at(vz, i);
      out[energy] += at[mass] * (at[gravity] * at(z, i) + 0.5 * speed_squared);
      out[energy] += spring(plane_gap(at, i)) + spring(cylinder_gap(at, i));
    }
    each_pair([&](int i, int j, int) { out[energy] += spring(pair_gap(at, i, j)); });
  }
};
