// T. Ishigami, T. Homma, "An importance quantification technique in uncertainty analysis for computer models", ISUMA 1990: a
// function of three inputs as the final value of a state. It cannot be evaluated if a is below `limit`.
#include <saltus.hpp>

struct ishigami {
  static constexpr auto title = "Ishigami's function";
  static constexpr auto source = "Ishigami, Homma 1990";
  static constexpr double span[] = {0.0, 1.0};
  enum state { y };
  static constexpr saltus::variable<state> state_list[] = {{y, 0.0, "1", "the function at the end"}};
  enum parameter { a, b, c, limit };
  static constexpr saltus::variable<parameter> parameter_list[] = {
      {a, 0.0, "1", "first input"},
      {b, 0.0, "1", "second input"},
      {c, 0.0, "1", "third input"},
      {limit, -10.0, "1", "below it there is no value"},
  };
  static void rhs(const auto& at, auto& dy) {
    const auto s = sin(at[b]), cc = at[c] * at[c];
    dy[y] = sin(at[a]) * (1.0 + 0.1 * cc * cc) + 7.0 * s * s + 0.0 * sqrt(at[a] - at[limit]);
  }
};
