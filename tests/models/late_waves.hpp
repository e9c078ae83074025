// Nothing happens until an event switches a wave on. An output has a corner that no state shows.
#include <saltus.hpp>

struct late_waves {
  static constexpr auto title = "Waves that begin late";
  static constexpr auto source = "the project's own";
  static constexpr double span[] = {0.0, 10.0};
  enum state { clock, x };
  static constexpr saltus::variable<state> state_list[] = {{clock, 0.0, "s", "time"},
                                                           {x, 0.0, "s", "of the wave above zero"}};
  enum parameter { w, place };
  static constexpr saltus::variable<parameter> parameter_list[] = {{w, 5.0, "1/s", "angular frequency"},
                                                                   {place, 4.0, "s", "of the corner"}};
  enum discrete { on };
  static constexpr saltus::variable<discrete> discrete_list[] = {{on, 0.0, "1", "1 after five seconds"}};
  enum output { corner };
  static constexpr saltus::derived<output> output_list[] = {
      {corner, "s", "least at `place`, with slopes of two signs"}};
  enum time_event { begins };
  static constexpr saltus::timed<time_event> time_event_list[] = {{begins, "the wave begins"}};

  static void rhs(const auto& at, auto& dy) {
    dy[clock] = 1.0;
    dy[x] = at[on] * select(sin(at[w] * at.t) > 0.0, 1.0, 0.0);
  }
  static void outputs(const auto& at, auto& out) { out[corner] = abs(at[clock] - at[place]) + 0.3 * at[clock]; }
  static void time_events(const auto&, auto& when) { when.at(begins, 5.0); }
  static void transition(auto& now) { now[on] = 1.0; }
};
