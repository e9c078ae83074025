// Everything that can happen at a given time: guards of each kind that depend on time alone, single ones and a family, and time events.
// Discrete variables count what fired, and what fired together.
#include <saltus.hpp>

struct timetable {
  static constexpr auto title = "guards of time, and time events";
  static constexpr auto source = "tests";
  static constexpr double span[] = {0.0, 2.0};
  static constexpr double never = 1e6;
  enum state { level, clock };
  static constexpr saltus::variable<state> state_list[] = {
      {level, 0.0, "1", "grows at rate 1, and by `jump` at a kick"}, {clock, 0.0, "1", "time"}};
  enum parameter {
    sense,
    mark,
    rise_at = mark + 4,
    fall_at,
    ceiling_at,
    ground_at,
    kick_at,
    twin_at,
    period,
    first,
    jump
  };
  static constexpr saltus::variable<parameter> parameter_list[] = {
      {sense, 1.0, "1", "sign of the four guards that have a direction"},
      saltus::variable<parameter>{mark, never, "1", "time of a guard of direction both, on `clock`"}.of(4),
      {rise_at, never, "1", "time of the rising bilateral guard"},
      {fall_at, never, "1", "time of the falling bilateral guard"},
      {ceiling_at, never, "1", "time of the rising unilateral guard"},
      {ground_at, never, "1", "time of the falling unilateral guard"},
      {kick_at, never, "1", "time of the time event `kick`"},
      {twin_at, never, "1", "time of the time event `twin`"},
      {period, never, "1", "of the time event `pulse`"},
      {first, never, "1", "pulse"},
      {jump, 0.0, "1", "what a kick adds to level"}};
  enum discrete { marks, rises, falls, ceilings, grounds, kicks, twins, pulses, transitions, max_together };
  static constexpr saltus::variable<discrete> discrete_list[] = {
      {marks, 0.0, "1", "events of the family"},
      {rises, 0.0, "1", "events of `rise`"},
      {falls, 0.0, "1", "events of `fall`"},
      {ceilings, 0.0, "1", "events of `ceiling`, which opens"},
      {grounds, 0.0, "1", "events of `ground`, which opens"},
      {kicks, 0.0, "1", "events of `kick`"},
      {twins, 0.0, "1", "events of `twin`"},
      {pulses, 0.0, "1", "events of `pulse`"},
      {transitions, 0.0, "1", "calls of `transition`"},
      {max_together, 0.0, "1", "the most that was due in one of them"}};
  enum guard { pass, rise = pass + 4, fall, ceiling, ground };
  static constexpr saltus::event_function<guard> guard_list[] = {
      saltus::event_function<guard>{pass, saltus::both, saltus::bilateral, "t passes a mark"}.of(4),
      {rise, saltus::rising, saltus::bilateral, "t passes rise_at"},
      {fall, saltus::falling, saltus::bilateral, "t passes fall_at"},
      {ceiling, saltus::rising, saltus::unilateral, "t reaches ceiling_at"},
      {ground, saltus::falling, saltus::unilateral, "t reaches ground_at"}};
  enum time_event { kick, twin, pulse };
  static constexpr saltus::timed<time_event> time_event_list[] = {
      {kick, "adds to level"}, {twin, "changes nothing"}, {pulse, "periodic"}};
  static void initial(auto& at) { at[clock] = at.t; }
  static void rhs(const auto& at, auto& dy) {
    dy[level] = 1.0 + 0.0 * at[level];
    dy[clock] = 1.0 + 0.0 * at[clock];
  }
  static void guards(const auto& at, auto& g) {
    for (int i = 0; i < 4; ++i) g(pass, i) = at[clock] - at(mark, i);
    g[rise] = at[sense] * (at.t - at[rise_at]);
    g[fall] = at[sense] * (at[fall_at] - at.t);
    g[ceiling] = select(at.is_on(ceilings), -1.0, at[sense] * (at.t - at[ceiling_at]));
    g[ground] = select(at.is_on(grounds), 1.0, at[sense] * (at[ground_at] - at.t));
  }
  static void time_events(const auto& at, auto& when) {
    when.at(kick, at[kick_at]);
    when.at(twin, at[twin_at]);
    when.every(pulse, at[period], at[first]);
  }
  static void transition(auto& now) {
    double due = 0.0;
    const auto count = [&](auto what, auto in) {
      if (!now.due(what)) return;
      now[in] += 1.0;
      due += 1.0;
    };
    for (int i = 0; i < 4; ++i) count(static_cast<guard>(pass + i), marks);
    count(rise, rises);
    count(fall, falls);
    count(ceiling, ceilings);
    count(ground, grounds);
    count(kick, kicks);
    count(twin, twins);
    count(pulse, pulses);
    if (now.due(kick)) now[level] += now[jump];
    now[transitions] += 1.0;
    if (now[max_together] < due) now[max_together] = due;
  }
};
