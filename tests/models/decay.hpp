// x' = -rate x, x(0) = start: x = start e^(-rate t).
#include <saltus.hpp>

struct decay {
  static constexpr auto title = "decay";
  static constexpr auto source = "tests";
  static constexpr double span[] = {0.0, 3.0};
  enum state { x, y };
  static constexpr saltus::variable<state> state_list[] = {{x, 1.0, "kg", "decays"}, {y, 0.0, "kg", "comes of it"}};
  enum parameter { rate, half, start, beside };
  static constexpr saltus::variable<parameter> parameter_list[] = {{rate, 0.7, "1/s", "of x"},
                                                                   {half, 0.2, "1/s", "of y, which decays again"},
                                                                   {start, 1.5, "kg", "x at the start"},
                                                                   {beside, 4.0, "1", "nothing depends on it"}};
  enum output { square };
  static constexpr saltus::derived<output> output_list[] = {{square, "kg2", "x^2"}};
  static void initial(auto& at) { at[x] = at[start]; }
  static void rhs(const auto& at, auto& dy) {
    dy[x] = -at[rate] * at[x];
    dy[y] = at[rate] * at[x] - at[half] * at[y];
  }
  static void outputs(const auto& at, auto& out) { out[square] = at[x] * at[x]; }
};
