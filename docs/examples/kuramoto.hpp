// Kuramoto's oscillators on a circle: each is drawn to the mean of all.
#include <saltus.hpp>

struct kuramoto {
  static constexpr double span[] = {0.0, 100.0};
  static constexpr int many = 32;

  enum state { theta };
  static constexpr saltus::variable<state> state_list[] = {
      saltus::variable<state>{theta, 0.0, "rad", "phase"}.of(many)};

  enum parameter { coupling, omega };
  static constexpr saltus::variable<parameter> parameter_list[] = {
      {coupling, 1.0, "rad/s", "strength of the coupling"},
      saltus::variable<parameter>{omega, 0.0, "rad/s", "frequency of an oscillator alone"}.of(many)};

  enum output { order, phase };
  static constexpr saltus::derived<output> output_list[] = {
      {order, "1", "size of the mean of all: 1 in step, small without order"}, {phase, "rad", "mean of all phases"}};

  static auto mean(const auto& at, auto of) {
    auto sum = 0.0 * at.t;
    for (int i = 0; i < many; ++i) sum += of(at(theta, i)) / many;
    return sum;
  }
  static void rhs(const auto& at, auto& dy) {
    const auto up = mean(at, [](auto x) { return sin(x); }), right = mean(at, [](auto x) { return cos(x); });
    for (int i = 0; i < many; ++i)
      dy(theta, i) = at(omega, i) + at[coupling] * (up * cos(at(theta, i)) - right * sin(at(theta, i)));
  }
  static void outputs(const auto& at, auto& out) {
    out[order] = hypot(mean(at, [](auto x) { return sin(x); }), mean(at, [](auto x) { return cos(x); }));
    out[phase] = mean(at, [](auto x) { return x; });
  }
};
