// An output that turns many times while the state hardly changes: its least value is that of its last turn but one.
#include <saltus.hpp>

struct growing_beat {
  static constexpr auto title = "Growing beat";
  static constexpr auto source = "tests";
  static constexpr double span[] = {0.0, 1.0};
  enum state { z };
  static constexpr saltus::variable<state> state_list[] = {{z, 1.0, "1", "grows"}};
  enum parameter { k };
  static constexpr saltus::variable<parameter> parameter_list[] = {{k, 1.0, "1/s", "rate of growth"}};
  enum output { fast };
  static constexpr saltus::derived<output> output_list[] = {{fast, "1", "a beat that grows"}};
  static void rhs(const auto& at, auto& dy) { dy[z] = at[k] * at[z]; }
  static void outputs(const auto& at, auto& out) { out[fast] = (0.5 + at[z]) * cos(40.0 * at.t - 1.0); }
};
