// The body of massless.hpp before a reflecting wall at x = 0: x = e^k |cos(sqrt(1 + 2 c) t)| after k impacts.
#include <saltus.hpp>
struct massless_bounce {
  static constexpr double span[] = {0.0, 7.0};
  enum state { p, q, vp, vq };
  static constexpr auto first_velocity = vp;
  static constexpr saltus::variable<state> state_list[] = {
      {p, 0.0, "m", ""}, {q, 0.0, "m", ""}, {vp, 0.0, "m/s", ""}, {vq, 0.0, "m/s", ""}};
  enum parameter { angle, c, e };
  static constexpr saltus::variable<parameter> parameter_list[] = {
      {angle, 0.0, "1", ""}, {c, 1.0, "N", ""}, {e, 0.9, "1", ""}};
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
