// y' = -y sum over k of rate_k cos(k t / 10): log(y / start) is a sum of sines, so every derivative has a closed form.
#include <saltus.hpp>

struct hundred_rates {
  static constexpr auto title = "A decay at a rate of a hundred harmonics";
  static constexpr auto source = "tests";
  static constexpr double span[] = {0.0, 3.0};

  enum state { y };
  static constexpr saltus::variable<state> state_list[] = {{y, 1.0, "1", "decays"}};
  enum parameter { rate, start = rate + 100 };
  static constexpr saltus::variable<parameter> parameter_list[] = {
      saltus::variable<parameter>{rate, 0.25, "1/s", "of a harmonic"}.of(100), {start, 1.5, "1", "y at the start"}};

  static void initial(auto& at) { at[y] = at[start]; }
  static void rhs(const auto& at, auto& dy) {
    auto all = at(rate, 0) * cos(0.0 * at.t);
    for (int k = 1; k < 100; ++k) all = all + at(rate, k) * cos(0.1 * k * at.t);
    dy[y] = -all * at[y];
  }
};
