// A slow quantity with a threshold beside a fast stable mode that keeps an explicit method at its limit of stability:
//
//     s' = drift + (z / scale)^2,     z' = -lambda (z - level scale),     s always rises
//
// so two guards (up, down) reach the threshold once and at the same time, and later a wall does. If scale is near the tolerance, as for the
// second concentration of Robertson's reactions, the error control lets z oscillate about its level by a part of scale, and s' oscillates
// with it.
//
//     z / scale = level + d e,  s = drift t + level^2 t + 2 level d (1 - e) / lambda + d^2 (1 - e^2) / (2 lambda)
//     with e = exp(-lambda t), d = z(0) / scale - level, s(0) = 0
#include <saltus.hpp>

struct slow_guard {
  static constexpr auto title = "A slow threshold beside a fast stable mode";
  static constexpr auto source = "of our own, for tests";
  static constexpr double span[] = {0.0, 1.0};

  enum state { s, z };
  static constexpr saltus::variable<state> state_list[] = {{s, 0.0, "1", "slow"}, {z, 1.0, "1", "fast"}};

  enum parameter { drift, level, scale, lambda, threshold, end };
  static constexpr saltus::variable<parameter> parameter_list[] = {
      {drift, 0.1, "1/s", "least rate of s"},
      {level, 1.0, "1", "where z settles, in units of scale"},
      {scale, 1.0, "1", "of z"},
      {lambda, 100.0, "1/s", "how fast it does"},
      {threshold, 0.5, "1", "of s"},
      {end, 0.9, "1", "wall of s"},
  };

  enum guard { up, down, wall };
  static constexpr saltus::event_function<guard> guard_list[] = {
      {up, saltus::rising, saltus::bilateral, "s rises above the threshold"},
      {down, saltus::falling, saltus::bilateral, "the same, seen from above"},
      {wall, saltus::falling, saltus::unilateral, "s reaches the wall", saltus::terminal},
  };

  static void rhs(const auto& at, auto& dy) {
    const auto y = at[z] / at[scale];
    dy[s] = at[drift] + y * y;
    dy[z] = -at[lambda] * (at[z] - at[level] * at[scale]);
  }

  static void guards(const auto& at, auto& g) {
    g[up] = at[s] - at[threshold];
    g[down] = at[threshold] - at[s];
    g[wall] = at[end] - at[s];
  }
};
