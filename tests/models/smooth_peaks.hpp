// A clock, and an output whose series converge for a small part of its period.
#include <saltus.hpp>

struct smooth_peaks {
  static constexpr auto title = "Narrow peaks";
  static constexpr auto source = "the project's own";
  static constexpr double span[] = {0.0, 10.0};
  enum state { clock };
  static constexpr saltus::variable<state> state_list[] = {{clock, 0.0, "s", "time"}};
  enum parameter { w };
  static constexpr saltus::variable<parameter> parameter_list[] = {{w, 5.0, "1/s", "angular frequency"}};
  enum output { peaks };
  static constexpr saltus::derived<output> output_list[] = {{peaks, "1", "narrow"}};
  static void rhs(const auto&, auto& dy) { dy[clock] = 1.0; }
  static void outputs(const auto& at, auto& out) { out[peaks] = 1.0 / (1.02 + sin(at[w] * at.t)); }
};
