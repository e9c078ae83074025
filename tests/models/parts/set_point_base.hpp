// A switch that follows a set point, a table, over a threshold: on above it, off below. `Tables` declares the tables, the set point first.
#pragma once

#include <saltus.hpp>

template <class Tables>
struct set_point_base : Tables {
  static constexpr auto source = "tests";
  static constexpr double span[] = {0.0, 7.7};

  enum state { level };
  static constexpr saltus::variable<state> state_list[] = {{level, 0.5, "1", "follows the set point"}};
  enum parameter { threshold };
  static constexpr saltus::variable<parameter> parameter_list[] = {{threshold, 1.0, "1", "of the set point"}};
  enum discrete { on };
  static constexpr saltus::variable<discrete> discrete_list[] = {{on, 1.0, "1", "1 above the threshold"}};
  enum output { square };
  static constexpr saltus::derived<output> output_list[] = {{square, "1", "of the level"}};
  enum guard { up, down };
  static constexpr saltus::event_function<guard> guard_list[] = {
      {up, saltus::rising, saltus::bilateral, "the set point is above the threshold"},
      {down, saltus::falling, saltus::bilateral, "the set point is below the threshold"}};

  static void rhs(const auto& at, auto& dy) { dy[level] = at[Tables::aim] - at[level]; }
  static void outputs(const auto& at, auto& out) { out[square] = at[level] * at[level]; }
  static void guards(const auto& at, auto& g) { g[up] = g[down] = at[Tables::aim] - at[threshold]; }
  static void transition(auto& now) {
    if (now.due(up)) now[on] = 1.0;
    if (now.due(down)) now[on] = 0.0;
  }
};
