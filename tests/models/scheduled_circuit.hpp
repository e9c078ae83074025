// An index-1 DAE with scheduled pulses: a capacitor behind a resistor, whose current is algebraic. Each pulse schedules the next one.
//
//     q' = i,   0 = e - r i - q;   q(t) = e + (q0 - e) exp(-t/r) between pulses of the source e
#include <saltus.hpp>

struct scheduled_circuit {
  static constexpr auto title = "Capacitor with scheduled pulses";
  static constexpr double span[] = {0.0, 4.0};

  enum state { q, i };
  static constexpr saltus::variable<state> state_list[] = {
      {q, 0.0, "C", "charge"},
      saltus::variable<state>{i, 0.0, "A", "current"}.algebraic(),
  };

  enum parameter { r, wait };
  static constexpr saltus::variable<parameter> parameter_list[] = {
      {r, 2.0, "ohm", "resistance"},
      {wait, 0.75, "s", "time between pulses"},
  };

  enum discrete { e };
  static constexpr saltus::variable<discrete> discrete_list[] = {{e, 1.0, "V", "voltage of the source"}};

  enum time_event { pulse };
  static constexpr saltus::timed<time_event> time_event_list[] = {
      saltus::timed<time_event>{pulse, "the source changes"}.scheduled(2).carrying(1)};

  static void initial(auto& at) { at.after(pulse, at[wait], 3.0); }

  static void rhs(const auto& at, auto& dy) {
    dy[q] = at[i];
    dy[i] = at[e] - at[r] * at[i] - at[q];
  }

  static void transition(auto& now) {
    now.each_due(pulse, [&](const auto& next) {
      now[e] = next[0];
      now.after(pulse, now[wait], -0.5 * next[0]);
    });
  }
};
