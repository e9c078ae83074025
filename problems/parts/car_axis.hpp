// Common parts of the car axes: a road, two springs, two constraints. A model defines its states, among them xl, yl, xr, yr.
#pragma once
#include <saltus.hpp>

template <class Model>
struct car_axis_of {
  static constexpr auto source =
      "S. Schneider, thesis, Geneva 1994; CWI and Bari test set for initial value problem solvers";
  static constexpr double span[] = {0.0, 3.0};

  enum parameter { M, eps, length, spring, height, frequency };
  static constexpr saltus::variable<parameter> parameter_list[] = {
      {M, 10.0, "1", "mass"},
      {eps, 0.01, "1", "the springs' stiffness is 1/eps^2"},
      {length, 1.0, "1", "between wheels, and of the axis"},
      {spring, 0.5, "1", "length of a spring at rest"},
      {height, 0.1, "1", "of the bumps"},
      {frequency, 10.0, "1", "of the bumps"},
  };
  enum guard { level };
  static constexpr saltus::event_function<guard> guard_list[] = {
      {level, saltus::rising, saltus::bilateral, "the right end rises through the height where it started"}};

  static auto bump(const auto& at) { return at[height] * sin(at[frequency] * at.t); }
  static auto wheel(const auto& at) {
    const auto y = bump(at);
    return sqrt(at[length] * at[length] - y * y);
  }
  static auto scale(const auto& at) { return 0.5 * at[M] * at[eps] * at[eps]; }
  /// Relative shortening of a spring; dx, dy lead from its wheel to the axis.
  static auto shortening(const auto& at, const auto& dx, const auto& dy) {
    return at[spring] / sqrt(dx * dx + dy * dy) - 1.0;
  }
  /// Zero if the left spring is perpendicular to the line between the wheels.
  static auto inclination(const auto& at) { return at[Model::xl] * wheel(at) + at[Model::yl] * bump(at); }
  /// Zero if the axis has its length.
  static auto excess(const auto& at) {
    const auto dx = at[Model::xl] - at[Model::xr], dy = at[Model::yl] - at[Model::yr];
    return dx * dx + dy * dy - at[length] * at[length];
  }
  static void guards(const auto& at, auto& g) { g[level] = at[Model::yr] - 0.5; }
};
