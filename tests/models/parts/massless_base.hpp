// A body whose coordinates p and q are x and y turned by an angle. Only x has a mass, so M has rank 1. A spring pulls along x, a force c
// against y.
#pragma once

#include <saltus.hpp>

struct massless_base {
  enum state { p, q, vp, vq };
  static constexpr auto first_velocity = vp;
  static constexpr saltus::variable<state> state_list[] = {
      {p, 0.0, "m", ""}, {q, 0.0, "m", ""}, {vp, 0.0, "m/s", ""}, {vq, 0.0, "m/s", ""}};
  enum parameter { angle, c, bound, e };
  static constexpr saltus::variable<parameter> parameter_list[] = {
      {angle, 0.0, "1", ""}, {c, 1.0, "N", ""}, {bound, 1.0, "1", "0: y is free"}, {e, 0.9, "1", "of an impact"}};
  static auto place(const auto& at) { return cos(at[angle]) * at[p] + sin(at[angle]) * at[q]; }
  static auto height(const auto& at) { return cos(at[angle]) * at[q] - sin(at[angle]) * at[p]; }
  static void initial(auto& at) {
    at[p] = cos(at[angle]) - sin(at[angle]);
    at[q] = sin(at[angle]) + cos(at[angle]);
  }
  static void mass(const auto& at, auto& m) {
    m(vp, vp) = cos(at[angle]) * cos(at[angle]);
    m(vp, vq) = cos(at[angle]) * sin(at[angle]);
    m(vq, vq) = sin(at[angle]) * sin(at[angle]);
  }
  static void force(const auto& at, auto& f) {
    f[vp] = -place(at) * cos(at[angle]) + at[c] * sin(at[angle]);
    f[vq] = -place(at) * sin(at[angle]) - at[c] * cos(at[angle]);
  }
};
