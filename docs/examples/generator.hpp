// A generator on a grid: the rotor accelerates while a fault shorts its line, and swings after the fault is cleared.
#include <saltus.hpp>

struct generator {
  static constexpr double span[] = {0.0, 10.0};

  enum state { angle, speed };
  static constexpr saltus::variable<state> state_list[] = {{angle, 0.0, "rad", "of the rotor before the grid"},
                                                           {speed, 0.0, "rad/s", "beyond that of the grid"}};
  enum parameter { power, largest, inertia, clearing };
  static constexpr saltus::variable<parameter> parameter_list[] = {
      {power, 0.8, "1", "of the turbine"},
      {largest, 1.8, "1", "that the line can carry"},
      {inertia, 0.026, "s^2/rad", "2 H over the frequency of the grid"},
      {clearing, 0.2, "s", "time at which the fault is cleared"}};

  enum discrete { faulty };
  static constexpr saltus::variable<discrete> discrete_list[] = {{faulty, 1.0, "1", "1 during the fault"}};
  enum guard { slip };
  static constexpr saltus::event_function<guard> guard_list[] = {
      {slip, saltus::rising, saltus::bilateral, "the rotor passes the angle of no return", saltus::terminal}};
  enum time_event { clear };
  static constexpr saltus::timed<time_event> time_event_list[] = {{clear, "the fault is cleared"}};

  static void initial(auto& at) { at[angle] = asin(at[power] / at[largest]); }
  static void rhs(const auto& at, auto& dy) {
    dy[angle] = at[speed];
    dy[speed] = (at[power] - select(at.is_on(faulty), 0.0, at[largest] * sin(at[angle]))) / at[inertia];
  }
  static void guards(const auto& at, auto& g) {
    g[slip] = at[angle] + asin(at[power] / at[largest]) - 3.141592653589793;
  }
  static void time_events(const auto& at, auto& when) { when.at(clear, at[clearing]); }
  static void transition(auto& now) {
    if (now.due(clear)) now[faulty] = 0.0;
  }
};
