// Common parts of the pendula on a rope: the weight, the rope and the condition for a taut rope. A model defines its states, among them x,
// y, vx and vy.
//
// Started at the lowest point with the speed v, the rope stays taut all the way round if v^2 > 5 g l, and throughout a swing if v^2 < 2 g
// l. In between it becomes slack at the height h = (v^2 - 2 g l)/(3 g) above the point of suspension, with speed^2 = g h. The weight then
// flies along a parabola that osculates the circle, and the rope becomes taut again at the angle 3 a if it became slack at the angle a, sin
// a = h/l (angles from the horizontal, one on each side).
#pragma once
#include <saltus.hpp>

template <class Model>
struct slack_pendulum_of {
  static constexpr auto source = "an exercise of mechanics; the lasting contact is a constraint that is switched";
  static constexpr double span[] = {0.0, 6.0};

  enum parameter { mass_, length, gravity, restitution, slowest, speed };
  static constexpr saltus::variable<parameter> parameter_list[] = {
      {mass_, 1.0, "kg", "of the weight"},
      {length, 1.0, "m", "of the rope"},
      {gravity, 1.0, "m/s2", "acceleration of gravity"},
      {restitution, 0.0, "1", "share of the speed along the rope that the pull gives back"},
      {slowest, 1e-6, "m/s", "the rope stays taut where a pull would give back less"},
      {speed, 1.8708286933869707, "m/s", "at the start, at the lowest point (default: the root of 3.5)"}};
  enum discrete { taut };
  static constexpr saltus::variable<discrete> discrete_list[] = {{taut, 1.0, "1", "1 while the rope is taut"}};

  enum guard { slack, pull };
  static constexpr saltus::event_function<guard> guard_list[] = {
      {slack, saltus::falling, saltus::bilateral, "the tension of the rope falls to zero"},
      {pull, saltus::falling, saltus::unilateral, "the slack rope is stretched out"}};

  static void initial(auto& at) {
    at[Model::y] = -at[length];
    at[Model::vx] = at[speed];
  }
  // The gradient has length 1 where the rope is taut, so the multiplier is the tension.
  static auto left(const auto& at) {
    return (at[length] * at[length] - at[Model::x] * at[Model::x] - at[Model::y] * at[Model::y]) / (2.0 * at[length]);
  }
  static auto energy_of(const auto& at) {
    return at[mass_] *
           (0.5 * (at[Model::vx] * at[Model::vx] + at[Model::vy] * at[Model::vy]) + at[gravity] * at[Model::y]);
  }
  // Pulls accumulate: from their limit on the rope is taut.
  static void rest(auto& now) { now[taut] = 1.0; }
};
