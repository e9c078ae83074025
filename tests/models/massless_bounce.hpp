// The body of massless.hpp before a reflecting wall at x = 0: x = e^k |cos(sqrt(1 + 2 c) t)| after k impacts.
#include "parts/massless_base.hpp"

struct massless_bounce : massless_base {
  static constexpr double span[] = {0.0, 7.0};
  enum discrete { closed };
  static constexpr saltus::variable<discrete> discrete_list[] = {{closed, 0.0, "1", ""}};
  enum constraint { curve, wall };
  static constexpr saltus::constrained<constraint> constraint_list[] = {
      {curve, saltus::holonomic, "m", ""},
      saltus::constrained<constraint>{wall, saltus::holonomic, "m", ""}.when(closed)};
  enum guard { hits };
  static constexpr saltus::event_function<guard> guard_list[] = {{hits, saltus::falling, saltus::unilateral, ""}};
  enum output { x, push };
  static constexpr saltus::derived<output> output_list[] = {{x, "m", ""}, {push, "N", "c"}};
  static void constraints(const auto& at, auto& k) {
    k[curve] = height(at) - place(at) * place(at);
    k[wall] = place(at);
  }
  static void guards(const auto& at, auto& g) { g[hits] = place(at); }
  static void transition(auto& now) { now.impact(wall, now[e]); }
  static void outputs(const auto& at, auto& out) {
    out[x] = place(at);
    out[push] = at[c];
  }
};
