// Prothero and Robinson's problem: y = cos t for every rate of relaxation. It has marks that are passed, and a gate that switches
// stiffness on and off.
#include <saltus.hpp>

struct relaxing {
  static constexpr auto title = "Relaxation to a slow curve";
  static constexpr auto source = "A. Prothero, A. Robinson, Math. Comput. 28 (1974) 145";
  static constexpr double span[] = {0.0, 10.0};
  enum state { y, growth };
  static constexpr saltus::variable<state> state_list[] = {
      {y, 1.0, "1", "cos t"},
      {growth, 1.0, "1", "exp(sin t)"},
  };
  enum parameter { rate, mark, kick, stiff_from, nan_from };
  static constexpr saltus::variable<parameter> parameter_list[] = {
      {rate, 1.0, "1/s", "of the relaxation"},
      {mark, 0.5, "1", "of y"},
      {kick, 0.0, "1", "what y jumps by at the mark: gone after a few times 1/rate"},
      {stiff_from, -1.0, "s", "before it the rate is 1/s"},
      {nan_from, 1e6, "s", "from then on y' is not a number"},
  };
  enum discrete { passes };
  static constexpr saltus::variable<discrete> discrete_list[] = {{passes, 0.0, "1", "events"}};
  enum guard { passing, stiffens };
  static constexpr saltus::event_function<guard> guard_list[] = {
      {passing, saltus::falling, saltus::bilateral, "y falls through the mark"},
      {stiffens, saltus::rising, saltus::bilateral, "the rate changes"},
  };
  static void rhs(const auto& at, auto& dy) {
    const auto now = select(at.above(stiffens), at[rate], 1.0);
    dy[y] = -now * (at[y] - cos(at.t)) - sin(at.t);
    dy[y] += select(at.t < at[nan_from], 0.0, sqrt(at[nan_from] - at.t - 1.0));
    dy[growth] = at[growth] * at[y];
  }
  static void guards(const auto& at, auto& g) {
    g[passing] = at[y] - at[mark];
    g[stiffens] = at.t - at[stiff_from];
  }
  static void transition(auto& now) {
    if (!now.due(passing)) return;
    now[passes] += 1.0;
    now[y] += now[kick];
  }
};
