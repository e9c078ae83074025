// A plane whose vector field switches on the circle r = 1. In polar coordinates, with w = 2 (r > 1) or -1 (r < 1),
//
//     r' = r (out_0 + out_1 t + push),  angle' = spin_out    where r > 1
//     r' = r (in_0 + in_1 t + push),    angle' = spin_in     where r < 1
//
// On the circle the solution slides while out < 0 < in. A time event changes `push`; the line x = 0 has a guard of its own.
#include <saltus.hpp>

struct ring {
  static constexpr auto title = "sliding along a circle";
  static constexpr auto source = "tests";
  static constexpr double span[] = {0.0, 10.0};
  enum state { x, y };
  static constexpr saltus::variable<state> state_list[] = {{x, 2.0, "1", "coordinate"}, {y, 0.0, "1", "coordinate"}};
  enum parameter { out_0, out_1, in_0, in_1, spin_out, spin_in, push_at, push_out, push_in };
  static constexpr saltus::variable<parameter> parameter_list[] = {
      {out_0, -1.0, "1", "radial rate outside at t = 0"}, {out_1, 0.0, "1", "and its growth"},
      {in_0, 2.0, "1", "radial rate inside at t = 0"},    {in_1, 0.0, "1", "and its growth"},
      {spin_out, 2.0, "1", "angular rate outside"},       {spin_in, -1.0, "1", "angular rate inside"},
      {push_at, 1e6, "1", "when the pushes are added"},   {push_out, 0.0, "1", "to the radial rate outside"},
      {push_in, 0.0, "1", "to the radial rate inside"}};
  enum discrete { pushed };
  static constexpr saltus::variable<discrete> discrete_list[] = {{pushed, 0.0, "1", "1 after the push"}};
  enum guard { circle, axis };
  static constexpr saltus::event_function<guard> guard_list[] = {
      saltus::event_function<guard>{circle, saltus::both, saltus::bilateral, "r passes 1"}.sliding(),
      {axis, saltus::both, saltus::bilateral, "x passes 0"}};
  enum time_event { push };
  static constexpr saltus::timed<time_event> time_event_list[] = {{push, "the pushes are added"}};
  static void rhs(const auto& at, auto& dy) {
    const auto outside = at.above(circle);
    const auto out = at[out_0] + at[out_1] * at.t + at[pushed] * at[push_out];
    const auto in = at[in_0] + at[in_1] * at.t + at[pushed] * at[push_in];
    const auto radial = select(outside, out, in);
    const auto spin = select(outside, at[spin_out], at[spin_in]);
    dy[x] = radial * at[x] - spin * at[y];
    dy[y] = radial * at[y] + spin * at[x];
  }
  static void guards(const auto& at, auto& g) {
    g[circle] = at[x] * at[x] + at[y] * at[y] - 1.0;
    g[axis] = at[x];
  }
  static void time_events(const auto& at, auto& when) { when.at(push, at[push_at]); }
  static void transition(auto& now) {
    if (now.due(push)) now[pushed] = 1.0;
  }
};
