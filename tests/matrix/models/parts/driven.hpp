// A drive with corners and one with jumps that no guard announces, and outputs with both.
#pragma once

#include <saltus.hpp>

struct driven {
  static constexpr auto source = "tests: closed form between zeros of a sine (tests/matrix/forms.py)";
  static constexpr double span[] = {0.0, 3.0};

  enum state { z, sum };
  static constexpr saltus::variable<state> state_list[] = {{z, 0.9, "1", "follows"}, {sum, 0.0, "1", "integral"}};
  enum parameter { k };
  static constexpr saltus::variable<parameter> parameter_list[] = {{k, 1.5, "1/s", "rate with which z follows"}};
  enum guard { half };
  static constexpr saltus::event_function<guard> guard_list[] = {
      {half, saltus::both, saltus::bilateral, "z passes 0.675"}};
  enum output { fast, slow };
  static constexpr saltus::derived<output> output_list[] = {{fast, "1", "much faster than the states, with corners"},
                                                            {slow, "1", "as slow as z, with jumps"}};

  static auto wave(const auto& at) { return sin(4.0 * at.t + 0.5); }
  static auto rate_of_z(const auto& at) { return at[k] * (abs(wave(at)) - at[z]); }
  static auto rate_of_sum(const auto& at) { return select(wave(at) > 0.0, 0.7, -0.2); }
  static void guards(const auto& at, auto& g) { g[half] = at[z] - 0.675; }
  static void outputs(const auto& at, auto& out) {
    out[fast] = abs(wave(at)) * (0.5 + at[z]) * cos(40.0 * at.t - 1.0);
    out[slow] = at[z] * at[z] + select(wave(at) > 0.0, 0.1, 0.0);
  }
};
