// Constraints of index 2 in closed form: a point on the unit circle at the angle t + sin(t) / 2, where the force along the normal,
// (z^2 - (2 + sin t)^2) / 4, is zero.
#include <saltus.hpp>

struct circle_2 {
  static constexpr auto title = "Circle, index 2";
  static constexpr auto source = "tests";
  static constexpr double span[] = {0.0, 3.0};
  enum state { x, y, z };
  static constexpr saltus::variable<state> state_list[] = {
      {x, 1.0, "1", "cosine of the angle"},
      {y, 0.0, "1", "sine of the angle"},
      saltus::variable<state>{z, 1.5, "1", "2 + sin t"}.algebraic(2),
  };
  enum parameter { stretch, turn_at, nan_from };
  static constexpr saltus::variable<parameter> parameter_list[] = {
      {stretch, 1.0, "1", "what the event multiplies x and y by: the constraint allows 1 alone"},
      {turn_at, 0.5, "1", "of y: where the event is"},
      {nan_from, 1e6, "s", "from then on the force is not a number"},
  };
  enum discrete { turns };
  static constexpr saltus::variable<discrete> discrete_list[] = {{turns, 0.0, "1", "events"}};
  enum guard { passes, thick };
  static constexpr saltus::event_function<guard> guard_list[] = {
      {passes, saltus::both, saltus::bilateral, "y passes a mark"},
      {thick, saltus::rising, saltus::bilateral, "z reaches 2.9"},
  };
  static void initial(auto& at) {
    const auto angle = at.t + 0.5 * sin(at.t);
    at[x] = cos(angle);
    at[y] = sin(angle);
  }
  static void rhs(const auto& at, auto& dy) {
    const auto speed = 1.0 + 0.5 * cos(at.t), wanted = 2.0 + sin(at.t);
    const auto force = 0.25 * (at[z] * at[z] - wanted * wanted) + 0.0 * sqrt(at[nan_from] - at.t);
    dy[x] = force * at[x] - speed * at[y];
    dy[y] = force * at[y] + speed * at[x];
    dy[z] = at[x] * at[x] + at[y] * at[y] - 1.0;
  }
  static void guards(const auto& at, auto& g) {
    g[passes] = at[y] - at[turn_at];
    g[thick] = at[z] - 2.9;
  }
  static void transition(auto& now) {
    if (!now.due(passes)) return;
    now[turns] += 1.0;
    now[x] *= now[stretch];
    now[y] *= now[stretch];
  }
};
