// x = exp(-t).
#include <saltus.hpp>

struct decay_alone {
  static constexpr auto title = "decay";
  static constexpr auto source = "tests";
  static constexpr double span[] = {0.0, 4.0};
  enum state { x };
  static constexpr saltus::variable<state> state_list[] = {{x, 1.0, "1", "what is left"}};
  enum output { square };
  static constexpr saltus::derived<output> output_list[] = {{square, "1", "of x"}};
  static void rhs(const auto& at, auto& dy) { dy[x] = -at[x]; }
  static void outputs(const auto& at, auto& out) { out[square] = at[x] * at[x]; }
};
