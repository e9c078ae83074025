// A damped oscillator driven by a relay that always pushes towards a level. It passes the level ever more slowly and after ever shorter
// times, 1.144 at first and 0.311 at the end, sixteen times in the default span.
//
// Between two passages x1' = x2, x2' = -a x2 + p with p = b below the level and -b above it, so that
//     x2 = p / a + (x2* - p / a) exp(-a s),  x1 = 1 + (p / a) s + (x2* - p / a) (1 - exp(-a s)) / a
// a time s after a passage with the speed x2*. In an infinite span the passages would accumulate.
#include <saltus.hpp>

struct bok_2 {
  static constexpr auto title = "BOK problem 2 (surrogate): bilateral events that come ever closer";
  static constexpr auto source =
      "surrogate for L. G. Birta, T. I. Oren, D. L. Kettenis, Trans. Soc. Comput. Simul. 2 (1985) 189, problem 2: its "
      "profile (two states, one bilateral guard, damping, 16 events; M. D. Compere (2001), tables 5.2 and 5.3), "
      "equations of our own";
  static constexpr double span[] = {0.0, 9.4};

  enum state { x1, x2 };
  static constexpr saltus::variable<state> state_list[] = {
      {x1, 0.0, "1", "position"},
      {x2, 0.0, "1", "velocity"},
  };

  enum parameter { damping, push, target };
  static constexpr saltus::variable<parameter> parameter_list[] = {
      {damping, 0.5, "1", "a: damping of the velocity"},
      {push, 4.0, "1", "b: acceleration by the relay"},
      {target, 1.0, "1", "the level it pushes towards"},
  };

  enum guard { level };
  static constexpr saltus::event_function<guard> guard_list[] = {
      {level, saltus::both, saltus::bilateral, "x1 passes the level: the relay switches"},
  };

  static void rhs(const auto& at, auto& dy) {
    dy[x1] = at[x2];
    dy[x2] = select(at.above(level), at[push], -at[push]) - at[damping] * at[x2];
  }

  static void guards(const auto& at, auto& g) { g[level] = at[target] - at[x1]; }
};
