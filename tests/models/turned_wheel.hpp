// Constraints of index 2 in closed form: a point turns on a circle of the radius r, at the angle atan2(y, x) + speed t. The force along the
// radius balances an outflow, z + bend z^2 = growth t. At a mark of y the radius changes, and x and y follow along the radius. When z reaches
// its own mark x is set, and y follows.
#include <saltus.hpp>

struct turned_wheel {
  static constexpr auto title = "Point on a circle whose radius changes";
  static constexpr auto source = "tests";
  static constexpr double span[] = {0.0, 2.0};
  enum state { x, y, z };
  static constexpr saltus::variable<state> state_list[] = {
      {x, 0.9, "1", "moved to the circle at the start"},
      {y, 0.2, "1", "moved to the circle at the start"},
      saltus::variable<state>{z, 0.5, "1", "force along the radius"}.algebraic(2),
  };
  enum parameter { speed, radius, wider, mark, bend, growth, strong, keep };
  static constexpr saltus::variable<parameter> parameter_list[] = {{speed, 1.3, "1", "of turning"},
                                                                   {radius, 1.0, "1", "at the start"},
                                                                   {wider, 1.5, "1", "radius behind the mark"},
                                                                   {mark, 0.5, "1", "of y"},
                                                                   {bend, 0.3, "1", "of the force"},
                                                                   {growth, 0.8, "1", "of the outflow"},
                                                                   {strong, 0.9, "1", "mark of z"},
                                                                   {keep, 0.7, "1", "what x is multiplied by there"}};
  enum discrete { now_at, pulled };
  static constexpr saltus::variable<discrete> discrete_list[] = {
      {now_at, 0.0, "1", "the radius, less that at the start"},
      {pulled, 0.0, "1", "1 after z has reached its mark, where rounding may let it pass again"}};
  enum guard { passes, pulls };
  static constexpr saltus::event_function<guard> guard_list[] = {
      {passes, saltus::rising, saltus::bilateral, "y passes its mark"},
      {pulls, saltus::rising, saltus::bilateral, "z passes its mark"},
  };
  enum output { power };
  static constexpr saltus::derived<output> output_list[] = {{power, "1", "x z"}};
  static void rhs(const auto& at, auto& dy) {
    const auto out = at[z] + at[bend] * at[z] * at[z] - at[growth] * at.t, r = at[radius] + at[now_at];
    dy[x] = out * at[x] - at[speed] * at[y];
    dy[y] = out * at[y] + at[speed] * at[x];
    dy[z] = at[x] * at[x] + at[y] * at[y] - r * r;
  }
  static void guards(const auto& at, auto& g) {
    g[passes] = at[y] - at[mark];
    g[pulls] = at[z] - at[strong];
  }
  static void outputs(const auto& at, auto& out) { out[power] = at[x] * at[z]; }
  static void transition(auto& now) {
    if (now.due(passes)) now[now_at] = now[wider] - now[radius];
    if (now.due(pulls) && !now.is_on(pulled)) now[x] = now[keep] * now[x], now[pulled] = 1.0;
  }
};
