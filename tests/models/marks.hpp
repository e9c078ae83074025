// One state passes a thousand marks in an order other than that of the guards.
#include <saltus.hpp>

struct marks {
  static constexpr auto title = "a thousand marks";
  static constexpr auto source = "tests";
  static constexpr double span[] = {0.0, 1.0};
  static constexpr int number = 1000;
  enum state { y };
  static constexpr saltus::variable<state> state_list[] = {{y, 0.0, "1", "runs at rate 1"}};
  enum parameter { begin, gap };
  static constexpr saltus::variable<parameter> parameter_list[] = {{begin, 0.0005, "1", "the first mark"},
                                                                   {gap, 0.001, "1", "from one mark to the next"}};
  enum discrete { count, disorder };
  static constexpr saltus::variable<discrete> discrete_list[] = {{count, 0.0, "1", "marks passed"},
                                                                 {disorder, 0.0, "1", "marks that were not the next"}};
  enum guard { passed };
  static constexpr saltus::event_function<guard> guard_list[] = {
      saltus::event_function<guard>{passed, saltus::rising, saltus::bilateral, "y passes a mark"}.of(number)};
  /// Guard i has mark number (7 i + 3) mod 1000.
  static constexpr int place(int i) { return (7 * i + 3) % number; }
  static void rhs(const auto& at, auto& dy) { dy[y] = 1.0 + 0.0 * at[y]; }
  static void guards(const auto& at, auto& g) {
    for (int i = 0; i < number; ++i) g(passed, i) = at[y] - (at[begin] + at[gap] * static_cast<double>(place(i)));
  }
  static void transition(auto& now) {
    for (int i = 0; i < number; ++i)
      if (now.due(passed, i)) {
        if (!bool(now[count] == static_cast<double>(place(i)))) now[disorder] += 1.0;
        now[count] += 1.0;
      }
  }
};
