// The solution that models of several forms share: a point turns on the unit circle at a constant rate, and z relaxes to a target that
// changes when z passes a mark, with a jump on the way down. An output is much faster than all states.
//
//     x' = -turn y,  y' = turn x,  z' = k (target - z)
#pragma once
#include <saltus.hpp>

template <class Model>
struct turning_of {
  static constexpr auto source = "tests: closed form between events (tests/matrix/forms.py)";
  static constexpr double span[] = {0.0, 3.0};

  enum parameter { turn, k };
  static constexpr saltus::variable<parameter> parameter_list[] = {{turn, 2.0, "1/s", "rate at which the point turns"},
                                                                   {k, 1.5, "1/s", "rate at which z relaxes"}};
  enum discrete { target };
  static constexpr saltus::variable<discrete> discrete_list[] = {{target, 0.0, "1", "of z"}};

  enum guard { low, high, cross };
  static constexpr saltus::event_function<guard> guard_list[] = {
      {low, saltus::falling, saltus::bilateral, "z falls below its lower mark"},
      {high, saltus::rising, saltus::bilateral, "z rises above its upper mark"},
      {cross, saltus::both, saltus::bilateral, "the point crosses the upright axis"}};

  enum output { fast, slow };
  static constexpr saltus::derived<output> output_list[] = {{fast, "1", "much faster than the states"},
                                                            {slow, "1", "as slow as z"}};

  static void guards(const auto& at, auto& g) {
    g[low] = at[Model::z] - 0.3;
    g[high] = at[Model::z] - 0.8;
    g[cross] = at[Model::x];
  }
  static void transition(auto& now) {
    if (now.due(low)) {
      now[target] = 1.0;
      now[Model::z] += 0.05;
    }
    if (now.due(high)) now[target] = 0.0;
  }
  static void outputs(const auto& at, auto& out) {
    out[fast] = (0.5 + at[Model::z]) * cos(40.0 * at.t - 1.0);
    out[slow] = at[Model::z] * at[Model::z];
  }
};
