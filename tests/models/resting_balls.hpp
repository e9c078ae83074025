// Two balls with different heights and restitutions come to rest on a table, which may throw them up again later.
#include <saltus.hpp>

struct resting_balls {
  static constexpr auto title = "two balls that come to rest";
  static constexpr auto source = "tests";
  static constexpr double span[] = {0.0, 10.0};
  enum state { height, velocity = height + 2 };
  static constexpr saltus::variable<state> state_list[] = {
      saltus::variable<state>{height, 1.0, "m", "above the table"}.of(2),
      saltus::variable<state>{velocity, 0.0, "m/s", "upwards"}.of(2)};
  enum parameter { gravity, restitution, throw_at = restitution + 2, throw_speed };
  static constexpr saltus::variable<parameter> parameter_list[] = {
      {gravity, 9.81, "m/s2", "acceleration of gravity"},
      saltus::variable<parameter>{restitution, 0.7, "1", "share of the speed kept"}.of(2),
      {throw_at, 1e6, "s", "when the table throws up what rests on it"},
      {throw_speed, 3.0, "m/s", "how fast"}};
  enum discrete { resting, thrown = resting + 2 };
  static constexpr saltus::variable<discrete> discrete_list[] = {
      saltus::variable<discrete>{resting, 0.0, "1", "1 while a ball rests"}.of(2), {thrown, 0.0, "1", "throws"}};
  enum guard { contact };
  static constexpr saltus::event_function<guard> guard_list[] = {
      saltus::event_function<guard>{contact, saltus::falling, saltus::unilateral, "a ball reaches the table"}.of(2)};
  enum time_event { toss };
  static constexpr saltus::timed<time_event> time_event_list[] = {{toss, "the table throws"}};
  static void rhs(const auto& at, auto& dy) {
    for (int i = 0; i < 2; ++i) {
      dy(height, i) = select(at.is_on(resting, i), 0.0, at(velocity, i));
      dy(velocity, i) = select(at.is_on(resting, i), 0.0, -at[gravity]);
    }
  }
  static void guards(const auto& at, auto& g) {
    for (int i = 0; i < 2; ++i) g(contact, i) = select(at.is_on(resting, i), 1.0, at(height, i));
  }
  static void time_events(const auto& at, auto& when) { when.at(toss, at[throw_at]); }
  static void transition(auto& now) {
    for (int i = 0; i < 2; ++i) {
      if (now.due(contact, i)) now(velocity, i) = -now(restitution, i) * now(velocity, i);
      if (now.due(toss) && now.is_on(resting, i)) {
        now(resting, i) = 0.0;
        now(velocity, i) = now[throw_speed];
      }
    }
    if (now.due(toss)) now[thrown] += 1.0;
  }
  static void rest(auto& now) {
    for (int i = 0; i < 2; ++i)
      if (now.due(contact, i)) {
        now(height, i) = now(velocity, i) = 0.0;
        now(resting, i) = 1.0;
      }
  }
};
