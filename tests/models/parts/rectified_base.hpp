// The integrals of a wave with corners, |s|, and of one with jumps, `height` where s > 0, of s = sin(w t + phase). No guard announces them.
#pragma once

#include <saltus.hpp>

struct rectified_base {
  static constexpr auto source = "the project's own";
  static constexpr double span[] = {0.0, 10.0};
  enum parameter { w, phase, height };
  static constexpr saltus::variable<parameter> parameter_list[] = {
      {w, 3.0, "1/s", "angular frequency"}, {phase, 0.0, "1", "phase"}, {height, 1.0, "1", "of the jumps"}};
  enum output { rectified, square };
  static constexpr saltus::derived<output> output_list[] = {{rectified, "1", "the wave with corners"},
                                                            {square, "1", "the wave with jumps"}};
  static auto with_corners(const auto& at) { return abs(sin(at[w] * at.t + at[phase])); }
  static auto with_jumps(const auto& at) { return select(sin(at[w] * at.t + at[phase]) > 0.0, 1.0, 0.0) * at[height]; }
  static void outputs(const auto& at, auto& out) {
    out[rectified] = with_corners(at);
    out[square] = with_jumps(at);
  }
};
