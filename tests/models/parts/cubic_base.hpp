// A differential and two algebraic states in closed form, and events of every kind on the algebraic ones. The models that use
// this base differ in the form of their equations.
//
//     x' = (3 z^2 + slope) speed direction,    0 = z^3 + slope z - x,    0 = exp(w) - 2 - z^2
//
// so that z grows by speed direction t, w = log(2 + z^2), and x = z^3 + slope z. If x or slope jumps, z and w follow.
#pragma once

#include <saltus.hpp>

struct cubic_base {
  static constexpr auto source = "tests";
  static constexpr double span[] = {0.0, 2.0};

  enum state { x, z, w };
  static constexpr saltus::variable<state> state_list[] = {
      {x, 0.0, "1", "differential (default: what z_begin calls for)"},
      saltus::variable<state>{z, 0.0, "1", "root of a cubic"}.algebraic(),
      saltus::variable<state>{w, 0.0, "1", "log(2 + z^2)"}.algebraic(),
  };
  enum parameter { z_begin, speed, direction_begin, level, floor_at, bump, new_slope, nan_from, weight };
  static constexpr saltus::variable<parameter> parameter_list[] = {
      {z_begin, -1.0, "1", "z at the start"},
      {speed, 1.0, "1/s", "z' but for its direction"},
      {direction_begin, 1.0, "1", "its direction at the start"},
      {level, 1e6, "1", "of z: bilateral guard"},
      {floor_at, -1e6, "1", "of z: unilateral guard"},
      {bump, 0.0, "1", "what x jumps by at the level"},
      {new_slope, 1.0, "1", "slope from the level on"},
      {nan_from, 1e6, "s", "from then on a constraint is not a number"},
      {weight, 2.0, "1", "the mass, where there is one"},
  };
  enum discrete { slope, direction, high, passed };
  static constexpr saltus::variable<discrete> discrete_list[] = {
      {slope, 1.0, "1", "of the cubic at z = 0"},
      {direction, 1.0, "1", "of z"},
      {high, -1.0, "1", "1 where z is above the level (mode)"},
      {passed, 0.0, "1", "events at the level"},
  };
  enum guard { reaches, bottom };
  static constexpr saltus::event_function<guard> guard_list[] = {
      {reaches, saltus::rising, saltus::bilateral, "z comes to the level"},
      {bottom, saltus::falling, saltus::unilateral, "z comes to the floor, and turns"},
  };
  enum output { square };
  static constexpr saltus::derived<output> output_list[] = {{square, "1", "z^2"}};

  static void initial(auto& at) {
    at[x] = (at[z_begin] * at[z_begin] + 1.0) * at[z_begin];
    at[direction] = at[direction_begin];
  }
  static auto rate(const auto& at) { return (3.0 * at[z] * at[z] + at[slope]) * at[speed] * at[direction]; }
  static auto cubic(const auto& at) {
    return (at[z] * at[z] + at[slope]) * at[z] - at[x] + 0.0 * sqrt(at[nan_from] - at.t);
  }
  static auto logarithm(const auto& at) { return exp(at[w]) - 2.0 - at[z] * at[z]; }

  static void guards(const auto& at, auto& g) {
    g[reaches] = at[z] - at[level];
    g[bottom] = at[z] - at[floor_at];
  }
  static void transition(auto& now) {
    if (now.due(bottom)) now[direction] = -now[direction];
    if (now.due(reaches)) {
      now[x] += now[bump];
      now[slope] = now[new_slope];
      now[passed] += 1.0;
    }
  }
  static void mode(auto& now) { now[high] = now.above(reaches) ? 1.0 : 0.0; }
  static void outputs(const auto& at, auto& out) { out[square] = at[z] * at[z]; }
};
