// x = size sin(t), v = size cos(t), so all samples, reductions and events have closed forms. Guards fire at multiples of pi, a clock every
// second.
#include <saltus.hpp>

struct rotor {
  static constexpr auto title = "a point that goes round";
  static constexpr auto source = "tests";
  static constexpr double span[] = {0.0, 20.0};
  enum state { x, v };
  static constexpr saltus::variable<state> state_list[] = {{x, 0.0, "m", "elongation"}, {v, 1.0, "m/s", "velocity"}};
  enum parameter { size };
  static constexpr saltus::variable<parameter> parameter_list[] = {{size, 1.0, "m", "radius"}};
  enum discrete { ticks };
  static constexpr saltus::variable<discrete> discrete_list[] = {{ticks, 0.0, "1", "of the clock so far"}};
  enum output { square, count };
  static constexpr saltus::derived<output> output_list[] = {{square, "m2", "of x"}, {count, "1", "ticks"}};
  enum guard { up, down };
  static constexpr saltus::event_function<guard> guard_list[] = {
      {up, saltus::rising, saltus::bilateral, "x becomes positive"},
      {down, saltus::falling, saltus::bilateral, "x becomes negative"}};
  enum time_event { tick };
  static constexpr saltus::timed<time_event> time_event_list[] = {{tick, "a second is over"}};
  static void initial(auto& at) { at[v] = at[size]; }
  static void rhs(const auto& at, auto& dy) {
    dy[x] = at[v];
    dy[v] = -at[x];
  }
  static void guards(const auto& at, auto& g) {
    g[up] = at[x];
    g[down] = at[x];
  }
  static void outputs(const auto& at, auto& out) {
    out[square] = at[x] * at[x];
    out[count] = at[ticks];
  }
  static void time_events(const auto&, auto& when) { when.every(tick, 1.0, 1.0); }
  static void transition(auto& now) {
    if (now.due(tick)) now[ticks] = now[ticks] + 1.0;
  }
};
