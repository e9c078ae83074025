// A ramp whose slope changes at a mark, as does an output that depends on it: equations and outputs that depend on the side of a guard,
// no transition.
#include <saltus.hpp>

struct two_slopes {
  static constexpr auto title = "a ramp with two slopes";
  static constexpr auto source = "tests";
  static constexpr double span[] = {0.0, 3.0};
  enum state { x };
  static constexpr saltus::variable<state> state_list[] = {{x, 0.0, "m", "ramp"}};
  enum parameter { before, behind, mark, high, low };
  static constexpr saltus::variable<parameter> parameter_list[] = {{before, 0.5, "m/s", "slope before the mark"},
                                                                   {behind, 0.25, "m/s", "slope behind it"},
                                                                   {mark, 0.75, "m", "where it changes"},
                                                                   {high, 2.0, "N/m", "load before the mark"},
                                                                   {low, 0.5, "N/m", "load behind it"}};
  enum guard { there };
  static constexpr saltus::event_function<guard> guard_list[] = {
      {there, saltus::both, saltus::bilateral, "the mark is passed"}};
  enum output { load };
  static constexpr saltus::derived<output> output_list[] = {{load, "N", "load"}};
  static void rhs(const auto& at, auto& dy) { dy[x] = select(at.above(there), at[behind], at[before]) + 0.0 * at[x]; }
  static void guards(const auto& at, auto& g) { g[there] = at[x] - at[mark]; }
  static void outputs(const auto& at, auto& out) { out[load] = select(at.above(there), at[low], at[high]) * at[x]; }
};
