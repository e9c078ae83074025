#include "parts/rectified_base.hpp"

struct rectified_outputs : rectified_base {
  static constexpr auto title = "rectified wave, as outputs alone";
  enum state { x };
  static constexpr saltus::variable<state> state_list[] = {{x, 0.0, "s", "time"}};
  static void rhs(const auto&, auto& dy) { dy[x] = 1.0; }
};
