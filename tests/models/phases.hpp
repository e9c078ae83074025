// x = t, and faster and slower outputs whose means have closed forms.
#include <saltus.hpp>

struct phases {
  static constexpr auto title = "a phase, and functions of it";
  static constexpr auto source = "tests";
  static constexpr double span[] = {0.0, 7.0};
  enum state { x };
  static constexpr saltus::variable<state> state_list[] = {{x, 0.0, "rad", "phase"}};
  enum output { fast, growing };
  static constexpr saltus::derived<output> output_list[] = {{fast, "1", "cos^2(10 x)"}, {growing, "1", "exp(x / 10)"}};
  static void rhs(const auto&, auto& dy) { dy[x] = 1.0; }
  static void outputs(const auto& at, auto& out) {
    const auto c = cos(10.0 * at[x]);
    out[fast] = c * c;
    out[growing] = exp(0.1 * at[x]);
  }
};
