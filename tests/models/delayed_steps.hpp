// A pulse lifts `pool`; two delays later the lift arrives in `first` and in `second`, as jumps of their slopes and of a guard.
#include <saltus.hpp>

struct delayed_steps {
  static constexpr auto title = "A jump that arrives after two delays";
  static constexpr auto source = "made for tests: every value is a polynomial of time";
  static constexpr double span[] = {0.0, 5.0};

  enum state { pool, first, second };
  static constexpr saltus::variable<state> state_list[] = {{pool, 0.0, "1", "lifted by a pulse"},
                                                           {first, 0.0, "1", "sum of the pool a short delay ago"},
                                                           {second, 0.0, "1", "sum of the first a long delay ago"}};

  enum parameter { pulse_at, height, brief, extra, mark };
  static constexpr saltus::variable<parameter> parameter_list[] = {{pulse_at, 1.0, "s", "time of the pulse"},
                                                                   {height, 1.0, "1", "height of the pulse"},
                                                                   {brief, 0.3, "s", "short delay"},
                                                                   {extra, 0.4, "s", "long delay, less the short one"},
                                                                   {mark, 0.5, "1", "mark of the guard"}};

  enum discrete { arrived, seen_before, seen_there };
  static constexpr saltus::variable<discrete> discrete_list[] = {
      {arrived, 0.0, "1", "number of arrivals"},
      {seen_before, -1.0, "1", "delayed pool at the pulse"},
      {seen_there, -1.0, "1", "delayed pool at the last arrival"}};

  enum delay { soon, late };
  static constexpr saltus::lag<delay> delay_list[] = {{soon, "short delay"}, {late, "long delay"}};

  enum guard { arrives };
  static constexpr saltus::event_function<guard> guard_list[] = {
      {arrives, saltus::rising, saltus::bilateral, "the pool a short delay ago is above the mark"}};

  enum time_event { pulse };
  static constexpr saltus::timed<time_event> time_event_list[] = {{pulse, "the pool is lifted"}};

  enum output { pool_before };
  static constexpr saltus::derived<output> output_list[] = {{pool_before, "1", "the pool a short delay ago"}};

  static void delays(const auto& at, auto& lag) {
    lag[soon] = at[brief];
    lag[late] = at[brief] + at[extra];
  }
  static void rhs(const auto& at, auto& dy) {
    dy[pool] = 0.0;
    dy[first] = at.delayed(pool, soon);
    dy[second] = at.delayed(first, late);
  }
  static void guards(const auto& at, auto& g) { g[arrives] = at.delayed(pool, soon) - at[mark]; }
  static void time_events(const auto& at, auto& when) { when.at(pulse, at[pulse_at]); }
  static void outputs(const auto& at, auto& out) { out[pool_before] = at.delayed(pool, soon); }
  static void transition(auto& now) {
    if (now.due(pulse)) {
      now[seen_before] = now.delayed(pool, soon);
      now[pool] += now[height];
    }
    if (now.due(arrives)) {
      now[arrived] += 1.0;
      now[seen_there] = now.delayed(pool, soon);
    }
  }
};
