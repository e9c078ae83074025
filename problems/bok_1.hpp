// A line that crosses, touches or misses a sine wave: y1 = sin(pi t) against A t. There are three events for A below 0.403300554264834 and
// one above. Near that value two events are close together and the guard hardly changes sign. Each event scales the integrand of y3, so a
// missed or late event shows in y3(3).
#include <saltus.hpp>

struct bok_1 {
  static constexpr auto title = "BOK problem 1: near-tangent bilateral events";
  static constexpr auto source =
      "L. G. Birta, T. I. Oren, D. L. Kettenis, Trans. Soc. Comput. Simul. 2 (1985) 189, problem 1; "
      "G. Mao, L. R. Petzold, Comput. Math. Appl. 43 (2002) 65, example 3";
  static constexpr double span[] = {0.0, 3.0};
  static constexpr double pi = 3.14159265358979323846;

  enum state { y1, y2, y3 };
  static constexpr saltus::variable<state> state_list[] = {
      {y1, 0.0, "1", "sin(pi t)"},
      {y2, 1.0, "1", "cos(pi t)"},
      {y3, 0.0, "1", "integral of u^3"},
  };

  enum parameter { A };
  static constexpr saltus::variable<parameter> parameter_list[] = {
      {A, 0.4, "1", "slope of the line"},
  };

  enum discrete { u };
  static constexpr saltus::variable<discrete> discrete_list[] = {
      {u, 1.0, "1", "cube root of the rate of y3"},
  };

  enum guard { line };
  static constexpr saltus::event_function<guard> guard_list[] = {
      {line, saltus::both, saltus::bilateral, "the wave crosses the line"},
  };

  static void rhs(const auto& at, auto& dy) {
    dy[y1] = pi * at[y2];
    dy[y2] = -pi * at[y1];
    dy[y3] = at[u] * at[u] * at[u];
  }

  static void guards(const auto& at, auto& g) { g[line] = at[y1] - at[A] * at.t; }

  static void transition(auto& now) {
    if (now.due(line)) now[u] = -now[u] * now[y1];
  }
};
