// The car's axis of car_axis.hpp in its original form: Newton's equations with two multipliers, and constraints on positions.
#include "parts/car_axis.hpp"

struct car_axis_any_order : car_axis_of<car_axis_any_order> {
  static constexpr auto title = "Car axis as a residual, index 3";

  enum state { xl, yl, xr, yr, force_upright, force_axis };
  static constexpr saltus::variable<state> state_list[] = {
      {xl, 0.0, "1", "left end of the axis"},
      {yl, 0.5, "1", "left end of the axis, height"},
      {xr, 1.0, "1", "right end of the axis"},
      {yr, 0.5, "1", "right end of the axis, height"},
      {force_upright, 0.0, "1", "multiplier of the first constraint"},
      {force_axis, 0.0, "1", "multiplier of the second constraint"}};
  enum equation { left_x, left_y, right_x, right_y, upright, axis };
  static constexpr saltus::equated<equation> equation_list[] = {
      {left_x, "1", "Newton's law"},
      {left_y, "1", "Newton's law"},
      {right_x, "1", "Newton's law"},
      {right_y, "1", "Newton's law"},
      {upright, "1", "the left spring is perpendicular to the line between the wheels"},
      {axis, "1", "the axis keeps its length: the square of it"}};

  static void initial(auto& at) {
    at.d(xl, 1) = at.d(xr, 1) = -0.5;
    at.d(yl, 1) = at.d(yr, 1) = 0.0;
  }
  static void residual(const auto& at, auto& r) {
    const auto dx = at[xr] - wheel(at), dy = at[yr] - bump(at);
    const auto left = shortening(at, at[xl], at[yl]), right = shortening(at, dx, dy);
    const auto pull_x = 2.0 * (at[xl] - at[xr]) * at[force_axis], pull_y = 2.0 * (at[yl] - at[yr]) * at[force_axis];
    r[left_x] = scale(at) * at.d(xl, 2) - left * at[xl] - wheel(at) * at[force_upright] - pull_x;
    r[left_y] = scale(at) * (at.d(yl, 2) + 1.0) - left * at[yl] - bump(at) * at[force_upright] - pull_y;
    r[right_x] = scale(at) * at.d(xr, 2) - right * dx + pull_x;
    r[right_y] = scale(at) * (at.d(yr, 2) + 1.0) - right * dy + pull_y;
    r[upright] = inclination(at);
    r[axis] = excess(at);
  }
};
