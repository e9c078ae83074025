// Two clocks and a gate: every kind of coincidence of two different guards. Discrete variables count the events.
#include <saltus.hpp>

struct clocks {
  static constexpr auto title = "two clocks";
  static constexpr auto source = "tests";
  static constexpr double span[] = {0.0, 2.0};
  enum state { first, second };
  static constexpr saltus::variable<state> state_list[] = {{first, 0.0, "1", "runs at rate 1"},
                                                           {second, 0.0, "1", "runs at rate 2"}};
  enum parameter { first_mark, second_mark };
  static constexpr saltus::variable<parameter> parameter_list[] = {{first_mark, 1.0, "1", "where guard a fires"},
                                                                   {second_mark, 2.0, "1", "where guard b fires"}};
  enum discrete { count_a, count_b, together };
  static constexpr saltus::variable<discrete> discrete_list[] = {
      {count_a, 0.0, "1", "events of a"},
      {count_b, 0.0, "1", "events of b"},
      {together, 0.0, "1", "transitions in which both were due"}};
  enum guard { a, b, same_as_b };
  static constexpr saltus::event_function<guard> guard_list[] = {
      {a, saltus::rising, saltus::bilateral, "first passes its mark"},
      {b, saltus::rising, saltus::unilateral, "second reaches its mark"},
      {same_as_b, saltus::both, saltus::bilateral, "as b, counted nowhere"}};
  static void rhs(const auto& at, auto& dy) {
    dy[first] = 1.0 + 0.0 * at[first];
    dy[second] = 2.0 + 0.0 * at[first];
  }
  static void guards(const auto& at, auto& g) {
    g[a] = at[first] - at[first_mark];
    g[b] = at[second] - at[second_mark];
    g[same_as_b] = at[second] - at[second_mark];
  }
  static void transition(auto& now) {
    if (now.due(a)) now[count_a] = now[count_a] + 1.0;
    if (now.due(b)) {
      now[count_b] = now[count_b] + 1.0;
      now[second] = now[second] - 10.0;  // below its mark for good
    }
    if (now.due(a) && now.due(b)) now[together] = now[together] + 1.0;
  }
};
