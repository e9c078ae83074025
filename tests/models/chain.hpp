// A transition that makes another guard due: a moves z through b's zero, and b sets z to 1/2 if `restore` is 1.
#include <saltus.hpp>

struct chain {
  static constexpr auto title = "event iteration";
  static constexpr auto source = "tests";
  static constexpr double span[] = {0.0, 2.0};
  enum state { x, z };
  static constexpr saltus::variable<state> state_list[] = {{x, 0.0, "1", "runs at rate 1"},
                                                           {z, 1.0, "1", "moved by events, and by drift after a"}};
  enum parameter { push, drift, restore };
  static constexpr saltus::variable<parameter> parameter_list[] = {
      {push, 2.0, "1", "what a takes from z"},
      {drift, 0.0, "1", "rate of z once a has fired"},
      {restore, 0.0, "1", "whether the unilateral guard's transition mends it"}};
  enum discrete { fired_a, fired_b };
  static constexpr saltus::variable<discrete> discrete_list[] = {{fired_a, 0.0, "1", "events of a"},
                                                                 {fired_b, 0.0, "1", "events of b"}};
  enum guard { a, b };
  static constexpr saltus::event_function<guard> guard_list[] = {
      {a, saltus::rising, saltus::bilateral, "x passes 1"}, {b, saltus::falling, saltus::unilateral, "z reaches 0"}};
  static void rhs(const auto& at, auto& dy) {
    dy[x] = 1.0 + 0.0 * at[x];
    dy[z] = at[drift] * at[fired_a] + 0.0 * at[z];
  }
  static void guards(const auto& at, auto& g) {
    g[a] = at[x] - 1.0;
    g[b] = at[z];
  }
  static void transition(auto& now) {
    if (now.due(a)) {
      now[fired_a] = now[fired_a] + 1.0;
      now[z] = now[z] - now[push];
    }
    if (now.due(b)) {
      now[fired_b] = now[fired_b] + 1.0;
      if (now[restore] > 0.5) now[z] = 0.5;
    }
  }
};
