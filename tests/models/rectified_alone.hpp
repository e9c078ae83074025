#include "parts/rectified_base.hpp"

struct rectified_alone : rectified_base {
  static constexpr auto title = "rectified wave, the integral of its jumps alone";
  enum state { n };
  static constexpr saltus::variable<state> state_list[] = {{n, 0.0, "1", "integral of the jumps"}};
  static void rhs(const auto& at, auto& dy) { dy[n] = with_jumps(at); }
};
