// Two constant fields that meet on the diagonal of a plane, both pushing onto it: the solution slides along x = y.
//
// Right of the diagonal (x > y) the field is f+ = (u_plus, v_plus), left of it f- = (u_minus, v_minus). Across it, in
// the direction n = (1, -1), they push with p+ = u_plus - v_plus and p- = u_minus - v_minus. Where p+ < 0 < p-
// Filippov's solution follows alpha f+ + (1 - alpha) f- with alpha = p- / (p- - p+), which stays on the diagonal. With
// the defaults it arrives at t = 1/7, alpha = 10/17, and slides with x' = y' = -6/17: x(1) = y(1) = 31/34.
#include <saltus.hpp>

struct filippov_plane {
  static constexpr auto title = "Sliding along the diagonal of a plane";
  static constexpr auto source =
      "A. F. Filippov, Differential Equations with Discontinuous Righthand Sides, Kluwer 1988, section 4; fields of "
      "our own";
  static constexpr double span[] = {0.0, 1.0};

  enum state { x, y };
  static constexpr saltus::variable<state> state_list[] = {
      {x, 1.5, "1", "first coordinate"},
      {y, 1.0, "1", "second coordinate"},
  };

  enum parameter { u_plus, v_plus, u_minus, v_minus };
  static constexpr saltus::variable<parameter> parameter_list[] = {
      {u_plus, -2.0, "1", "rate of x where x > y"},
      {v_plus, 1.5, "1", "rate of y where x > y"},
      {u_minus, 2.0, "1", "rate of x where x < y"},
      {v_minus, -3.0, "1", "rate of y where x < y"},
  };

  enum guard { diagonal };
  static constexpr saltus::event_function<guard> guard_list[] = {
      saltus::event_function<guard>{diagonal, saltus::both, saltus::bilateral, "x - y passes zero"}.sliding(),
  };

  static void rhs(const auto& at, auto& dy) {
    dy[x] = select(at.above(diagonal), at[u_plus], at[u_minus]);
    dy[y] = select(at.above(diagonal), at[v_plus], at[v_minus]);
  }

  static void guards(const auto& at, auto& g) { g[diagonal] = at[x] - at[y]; }
};
