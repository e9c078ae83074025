// Two exponentials between walls; they swap their rates whenever one reaches a wall. Event n happens at t_n = (ln 2) / 2 + (3/2) ln 2 (1 -
// 2^(1 - n)), so the events accumulate at 2 ln 2. Twenty happen before t = 1.386293.
#include <saltus.hpp>

struct bok_3 {
  static constexpr auto title = "BOK problem 3: accumulating unilateral events";
  static constexpr auto source =
      "L. G. Birta, T. I. Oren, D. L. Kettenis, Trans. Soc. Comput. Simul. 2 (1985) 189, problem 3; "
      "G. Mao, L. R. Petzold, Comput. Math. Appl. 43 (2002) 65, example 2";
  static constexpr double span[] = {0.0, 1.386293};

  enum state { y1, y2, y3 };
  static constexpr saltus::variable<state> state_list[] = {
      {y1, 0.5, "1", "stays at or below 1"},
      {y2, -0.5, "1", "stays at or above -1"},
      {y3, 0.0, "1", "integral of y1 + y2"},
  };

  enum discrete { rate_1, rate_2 };
  static constexpr saltus::variable<discrete> discrete_list[] = {
      {rate_1, 2.0, "1", "growth rate of y1"},
      {rate_2, -1.0, "1", "growth rate of y2"},
  };

  enum guard { upper, lower };
  static constexpr saltus::event_function<guard> guard_list[] = {
      {upper, saltus::falling, saltus::unilateral, "y1 arrives at 1: the rates are swapped"},
      {lower, saltus::falling, saltus::unilateral, "y2 arrives at -1: the rates are swapped"},
  };

  static void rhs(const auto& at, auto& dy) {
    dy[y1] = at[rate_1] * at[y1];
    dy[y2] = at[rate_2] * at[y2];
    dy[y3] = at[y1] + at[y2];
  }

  static void guards(const auto& at, auto& g) {
    g[upper] = 1.0 - at[y1];
    g[lower] = 1.0 + at[y2];
  }

  static void transition(auto& now) {
    if (now.due(upper) || now.due(lower)) {
      const auto held = now[rate_1];
      now[rate_1] = now[rate_2];
      now[rate_2] = held;
    }
  }
};
