// Parts on a belt: each enters with its number and mass, and reaches a bin after the time of travel. At a time the parts with even numbers
// are taken off.
#include <saltus.hpp>

struct conveyor {
  static constexpr auto title = "Parts on a belt";
  static constexpr double span[] = {0.0, 10.0};

  enum state { bin };
  static constexpr saltus::variable<state> state_list[] = {
      {bin, 0.0, "kg", "mass in the bin, which loses a part of it"}};

  enum parameter { travel, loss, cleared_at, faster };
  static constexpr saltus::variable<parameter> parameter_list[] = {
      {travel, 3.3, "s", "time of travel of the first part"},
      {loss, 0.1, "1/s", "relative loss of the bin"},
      {cleared_at, 5.5, "s", "time at which parts with even numbers are taken off; then all later ones with number 9"},
      {faster, 0.0, "s", "each part travels shorter by this than the one before it"},
  };

  enum discrete { entered, order, taken, on_the_belt };
  static constexpr saltus::variable<discrete> discrete_list[] = {
      {entered, 0.0, "1", "number of parts that have entered"},
      {order, 0.0, "1", "numbers of the parts that have come, as digits"},
      {taken, 0.0, "1", "number of parts taken off"},
      {on_the_belt, 0.0, "1", "number of parts on the belt after the last event"},
  };

  enum time_event { enters, cleared, arrives };
  static constexpr saltus::timed<time_event> time_event_list[] = {
      {enters, "a part enters, every second from 1 on"},
      {cleared, "parts are taken off"},
      saltus::timed<time_event>{arrives, "a part falls into the bin"}.scheduled(5).carrying(2),
  };

  enum output { on_belt };
  static constexpr saltus::derived<output> output_list[] = {{on_belt, "1", "number of parts on the belt"}};

  static void rhs(const auto& at, auto& dy) { dy[bin] = -at[loss] * at[bin]; }

  static void time_events(const auto& at, auto& when) {
    when.every(enters, 1.0, 1.0);
    when.at(cleared, at[cleared_at]);
  }

  static void transition(auto& now) {
    now.each_due(arrives, [&](const auto& part) {
      now[bin] += part[1];
      now[order] = 10.0 * now[order] + part[0];
    });
    if (now.due(enters)) {
      now[entered] += 1.0;
      now.after(arrives, now[travel] - now[faster] * (now[entered] - 1.0), now[entered], 0.5 + now[entered]);
    }
    if (now.due(cleared)) now[taken] += now.cancel(arrives, [](const auto& part) { return int(part[0]) % 2 == 0; });
    now[on_the_belt] = now.waiting(arrives);
  }

  static void outputs(const auto& at, auto& out) { out[on_belt] = at.waiting(arrives); }
};
