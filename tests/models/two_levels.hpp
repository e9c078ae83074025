// A turning point and two guards near their largest values along it, one linear in the states and one quadratic.
#include <saltus.hpp>

struct two_levels {
  static constexpr auto title = "two levels that are passed for a short time";
  static constexpr auto source = "tests";
  static constexpr double span[] = {0.0, 40.0};
  enum state { x, v };
  static constexpr saltus::variable<state> state_list[] = {{x, 0.0, "1", "sin(t + phase)"},
                                                           {v, 1.0, "1", "cos(t + phase)"}};
  enum parameter { depth, phase };
  static constexpr saltus::variable<parameter> parameter_list[] = {
      {depth, 0.01, "1", "part of the amplitudes that is above the levels"}, {phase, 0.0, "rad", "at the start"}};
  enum guard { line, product };
  static constexpr saltus::event_function<guard> guard_list[] = {
      {line, saltus::both, saltus::bilateral, "x passes its level"},
      {product, saltus::rising, saltus::bilateral, "x^2 + x v/2 rises through its level"}};
  static void initial(auto& at) {
    at[x] = sin(at[phase]);
    at[v] = cos(at[phase]);
  }
  static void rhs(const auto& at, auto& dy) {
    dy[x] = at[v];
    dy[v] = -at[x];
  }
  static void guards(const auto& at, auto& g) {
    g[line] = at[x] - (1.0 - at[depth]);
    g[product] = at[x] * at[x] + 0.5 * at[x] * at[v] - 0.5 - 0.55901699437494742410 * (1.0 - at[depth]);
  }
};
