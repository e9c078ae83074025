// The coordinates p and q are x and y turned by an angle, and only x has a mass, so M has rank 1. With y = x^2, a spring along x and a
// force c against y, x'' = -(1 + 2 c) x and the multiplier is c.
#include <saltus.hpp>
struct massless {
  static constexpr double span[] = {0.0, 2.0};
  enum state { p, q, vp, vq };
  static constexpr auto first_velocity = vp;
  static constexpr saltus::variable<state> state_list[] = {
      {p, 0.0, "m", ""}, {q, 0.0, "m", ""}, {vp, 0.0, "m/s", ""}, {vq, 0.0, "m/s", ""}};
  enum parameter { angle, c, bound };
  static constexpr saltus::variable<parameter> parameter_list[] = {
      {angle, 0.0, "1", ""}, {c, 1.0, "N", ""}, {bound, 1.0, "1", "0: y is free"}};
  enum constraint { curve };
  static constexpr saltus::constrained<constraint> constraint_list[] = {{curve, saltus::holonomic, "m", ""}};
  enum output { off, push };
  static constexpr saltus::derived<output> output_list[] = {{off, "m", "x - cos(sqrt(1 + 2 c) t)"},
                                                            {push, "N", "multiplier - c"}};
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
    k[curve] = at[bound] * (height(at) - place(at) * place(at)) + (1.0 - at[bound]) * (place(at) - 1.0);
  }
  static void outputs(const auto& at, auto& out) {
    out[off] = place(at) - cos(sqrt(1.0 + 2.0 * at[c]) * at.t);
    out[push] = at.multiplier(curve) - at[c];
  }
};
