// Schedules in ways that are none: in `mode`, for a time event that is not scheduled, with more numbers than the item carries.
#include <saltus.hpp>

struct misused_schedules {
  static constexpr auto title = "Schedules that are none";
  static constexpr double span[] = {0.0, 3.0};

  enum state { x };
  static constexpr saltus::variable<state> state_list[] = {{x, 0.0, "1", "grows at rate 1"}};

  enum parameter { how };
  static constexpr saltus::variable<parameter> parameter_list[] = {{how, 0.0, "1", "which misuse; 0: none"}};

  enum time_event { tick, bare, loaded };
  static constexpr saltus::timed<time_event> time_event_list[] = {
      {tick, "at t = 1"},
      saltus::timed<time_event>{bare, "carries nothing"}.scheduled(2),
      saltus::timed<time_event>{loaded, "carries two numbers"}.scheduled(2).carrying(2),
  };

  static void rhs(const auto&, auto& dy) { dy[x] = 1.0; }

  static void time_events(const auto&, auto& when) { when.at(tick, 1.0); }

  static void mode(auto& now) {
    if (int(now[how]) == 1 && now.t > 0.5) now.after(bare, 1.0);
  }

  static void transition(auto& now) {
    if (!now.due(tick)) return;
    if (int(now[how]) == 0) now.after(loaded, 1.0, 1.0);
    if (int(now[how]) == 2) now.after(tick, 1.0);
    if (int(now[how]) == 3) now.after(bare, 1.0, 4.0);
    if (int(now[how]) == 4) now.after(loaded, 1.0, 4.0, 5.0);
  }
};
