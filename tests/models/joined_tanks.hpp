// A singular mass matrix whose rows mix time derivatives, in closed form: m p + q decays at the rate k, and q = c p^2 + d t + shift is a
// constraint that no single row states. At its mark p is multiplied, and q follows; where m p + q passes its own mark the constraint is
// shifted, and p and q move so that m p + q stays.
#include <saltus.hpp>

struct joined_tanks {
  static constexpr auto title = "Two tanks that exchange their contents at once";
  static constexpr auto source = "tests";
  static constexpr double span[] = {0.0, 2.0};
  static constexpr bool mass_is_singular = true;
  enum state { p, q };
  static constexpr saltus::variable<state> state_list[] = {{p, 1.5, "1", "first content"},
                                                           {q, 1.0, "1", "second content"}};
  enum parameter { m, k, c, d, mark, up, low, kick };
  static constexpr saltus::variable<parameter> parameter_list[] = {{m, 1.2, "1", "weight of p"},
                                                                   {k, 0.6, "1/s", "rate of the decay"},
                                                                   {c, 0.4, "1", "of p^2"},
                                                                   {d, 0.3, "1/s", "of the time"},
                                                                   {mark, 1.0, "1", "of p"},
                                                                   {up, 1.3, "1", "what p is multiplied by there"},
                                                                   {low, 1.5, "1", "mark of m p + q"},
                                                                   {kick, 0.2, "1", "shift of the constraint there"}};
  enum discrete { raised, shift };
  static constexpr saltus::variable<discrete> discrete_list[] = {{raised, 0.0, "1", "1 after p has been at its mark"},
                                                                 {shift, 0.0, "1", "of the constraint"}};
  enum guard { falls, sinks };
  static constexpr saltus::event_function<guard> guard_list[] = {
      {falls, saltus::falling, saltus::bilateral, "p passes its mark"},
      {sinks, saltus::falling, saltus::bilateral, "m p + q passes its mark"}};
  enum output { product };
  static constexpr saltus::derived<output> output_list[] = {{product, "1", "p q"}};
  static void mass(const auto& at, auto& to) {
    to(p, p) = at[m], to(p, q) = 1.0;
    to(q, p) = 2.0 * at[m], to(q, q) = 2.0;
  }
  static void rhs(const auto& at, auto& dy) {
    const auto decay = -at[k] * (at[m] * at[p] + at[q]);
    dy[p] = decay;
    dy[q] = 2.0 * decay + (at[q] - at[c] * at[p] * at[p] - at[d] * at.t - at[shift]);
  }
  static void guards(const auto& at, auto& g) {
    g[falls] = at[p] - at[mark];
    g[sinks] = at[m] * at[p] + at[q] - at[low];
  }
  static void outputs(const auto& at, auto& out) { out[product] = at[p] * at[q]; }
  static void transition(auto& now) {
    if (now.due(falls) && !now.is_on(raised)) now[p] = now[up] * now[p], now[raised] = 1.0;
    if (now.due(sinks)) now[shift] = now[kick];
  }
};
