// Forty parameters, each the amplitude of one harmonic, and a jump at a time that two of them move. Everything has a closed form
// (test_sensitivities.cpp).
#include <saltus.hpp>

struct many_rates {
  static constexpr auto title = "A sum of harmonics, set back when a decay is half done";
  static constexpr auto source = "tests";
  static constexpr double span[] = {0.0, 3.0};

  enum state { sum, decay };
  static constexpr saltus::variable<state> state_list[] = {{sum, 0.0, "1", "of the integrals of all harmonics"},
                                                           {decay, 1.0, "1", "at the rate of two amplitudes"}};
  enum parameter { amplitude };
  static constexpr saltus::variable<parameter> parameter_list[] = {
      saltus::variable<parameter>{amplitude, 0.25, "1/s", "of a harmonic"}.of(40)};
  enum guard { half };
  static constexpr saltus::event_function<guard> guard_list[] = {
      {half, saltus::falling, saltus::bilateral, "half of it is left"}};

  static void rhs(const auto& at, auto& dy) {
    auto all = at(amplitude, 0) * cos(0.0 * at.t);
    for (int k = 1; k < 40; ++k) all = all + at(amplitude, k) * cos(0.1 * k * at.t);
    dy[sum] = all;
    dy[decay] = -(at(amplitude, 0) + at(amplitude, 39)) * at[decay];
  }
  static void guards(const auto& at, auto& g) { g[half] = at[decay] - 0.5; }
  static void transition(auto& now) { now[sum] = 0.0; }
};
