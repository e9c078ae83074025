// Delayed events as SBML has them (Level 3, 4.11): a trigger schedules an assignment. It takes its value from the time of the trigger or of
// the execution; an event that is not persistent is cancelled if its trigger becomes false before that.
#include <saltus.hpp>

struct delayed_events {
  static constexpr auto title = "Delayed events of SBML";
  static constexpr double span[] = {0.0, 6.0};
  static constexpr double pi = 3.14159265358979323846;

  enum state { s, early, late, kept, dropped };
  static constexpr saltus::variable<state> state_list[] = {
      {s, 0.0, "1", "sin(pi t), which triggers above 1/2"},
      {early, 0.0, "1", "assigned the time of the trigger"},
      {late, 0.0, "1", "assigned the time of the execution"},
      {kept, 0.0, "1", "executions of a persistent event"},
      {dropped, 0.0, "1", "executions of one that is not persistent"},
  };

  enum parameter { delay };
  static constexpr saltus::variable<parameter> parameter_list[] = {{delay, 1.0, "s", "of all events"}};

  enum guard { trigger };
  static constexpr saltus::event_function<guard> guard_list[] = {
      {trigger, saltus::both, saltus::bilateral, "the trigger becomes true, or false"}};

  enum time_event { persistent, not_persistent };
  static constexpr saltus::timed<time_event> time_event_list[] = {
      saltus::timed<time_event>{persistent, "is executed whatever the trigger is then"}.scheduled(4).carrying(1),
      saltus::timed<time_event>{not_persistent, "is executed if the trigger stays true"}.scheduled(4),
  };

  static void rhs(const auto& at, auto& dy) {
    dy[s] = pi * cos(pi * at.t);
    dy[early] = dy[late] = dy[kept] = dy[dropped] = 0.0 * at[s];
  }

  static void guards(const auto& at, auto& g) { g[trigger] = sin(pi * at.t) - 0.5; }

  static auto max_step(const auto& at) { return 0.1 + 0.0 * at[delay]; }

  static void transition(auto& now) {
    if (now.due(trigger) && now.above(trigger)) {
      now.after(persistent, now[delay], now.t);
      now.after(not_persistent, now[delay]);
    }
    if (now.due(trigger) && !now.above(trigger)) now.cancel(not_persistent);
    now.each_due(persistent, [&](const auto& values) {
      now[early] = values[0];
      now[late] = now.t;
      now[kept] += 1.0;
    });
    now.each_due(not_persistent, [&](const auto&) { now[dropped] += 1.0; });
  }
};
