// More guards than states: one state passes twelve marks in an order other than that of the guards.
#include <saltus.hpp>

struct many_guards {
  static constexpr auto title = "twelve marks";
  static constexpr auto source = "tests";
  static constexpr double span[] = {0.0, 1.0};
  enum state { y };
  static constexpr saltus::variable<state> state_list[] = {{y, 0.0, "1", "runs at rate 1"}};
  enum discrete { order };
  static constexpr saltus::variable<discrete> discrete_list[] = {
      {order, 0.0, "1", "sum over events of (number of event) * (guard + 1)"}};
  enum guard { g0, g1, g2, g3, g4, g5, g6, g7, g8, g9, g10, g11 };
#define MARK(k) \
  { k, saltus::rising, saltus::bilateral, "y passes a mark" }
  static constexpr saltus::event_function<guard> guard_list[] = {MARK(g0), MARK(g1), MARK(g2),  MARK(g3),
                                                                 MARK(g4), MARK(g5), MARK(g6),  MARK(g7),
                                                                 MARK(g8), MARK(g9), MARK(g10), MARK(g11)};
#undef MARK
  static void rhs(const auto& at, auto& dy) { dy[y] = 1.0 + 0.0 * at[y]; }
  static void guards(const auto& at, auto& g) {
    // Guard k has its mark at ((5 k + 3) mod 12 + 0.5) / 12.
    for (int k = 0; k < 12; ++k) g[static_cast<guard>(k)] = at[y] - (((5 * k + 3) % 12) + 0.5) / 12.0;
  }
  static void transition(auto&) {}
};
