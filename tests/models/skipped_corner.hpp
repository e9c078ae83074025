// A wave, and beside it the magnitude of another one in instances that ask for it. The others' work is skipped where no lane asks.
#include <saltus.hpp>

struct skipped_corner {
  static constexpr auto title = "a term with corners that is skipped where no lane needs it";
  static constexpr auto source = "tests";
  static constexpr double span[] = {0.0, 10.0};
  enum state { x };
  static constexpr saltus::variable<state> state_list[] = {{x, 0.0, "1", "integral of the wave"}};
  enum parameter { w, phase, asks };
  static constexpr saltus::variable<parameter> parameter_list[] = {
      {w, 3.0, "rad/s", "frequency"}, {phase, 0.0, "rad", "phase"}, {asks, 0.0, "1", "at least 0.5: with the term"}};
  static void rhs(const auto& at, auto& dy) {
    dy[x] = cos(at[w] * at.t + at[phase]);
    const auto is_on = at[asks] >= 0.5;
    if (any(is_on)) dy[x] += select(is_on, abs(sin(at[w] * at.t + at[phase])), 0.0);
  }
};
