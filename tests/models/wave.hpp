// x'' = -x with a terminal guard, an output and a guard on time, so all samples and reductions are known.
#include <saltus.hpp>

struct wave {
  static constexpr auto title = "harmonic wave";
  static constexpr auto source = "tests";
  static constexpr double span[] = {0.0, 10.0};
  enum state { x, v };
  static constexpr saltus::variable<state> state_list[] = {{x, 0.0, "m", "position"}, {v, 1.0, "m/s", "velocity"}};
  enum parameter { end_at, jump_at, jump };
  static constexpr saltus::variable<parameter> parameter_list[] = {
      {end_at, 100.0, "s", "terminal time"}, {jump_at, 100.0, "s", "when x jumps"}, {jump, 0.0, "m", "by how much"}};
  enum guard { over, kick };
  static constexpr saltus::event_function<guard> guard_list[] = {
      {over, saltus::rising, saltus::bilateral, "t passes end_at", saltus::terminal},
      {kick, saltus::rising, saltus::bilateral, "t passes jump_at"}};
  enum output { energy };
  static constexpr saltus::derived<output> output_list[] = {{energy, "J", "x^2 + v^2, halved"}};
  static void rhs(const auto& at, auto& dy) {
    dy[x] = at[v];
    dy[v] = -at[x];
  }
  static void guards(const auto& at, auto& g) {
    g[over] = at.t - at[end_at];
    g[kick] = at.t - at[jump_at];
  }
  static void outputs(const auto& at, auto& out) { out[energy] = 0.5 * (at[x] * at[x] + at[v] * at[v]); }
  static void transition(auto& now) {
    if (now.due(kick)) now[x] = now[x] + now[jump];
  }
};
