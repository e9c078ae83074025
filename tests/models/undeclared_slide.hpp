// A relay whose fields on both sides point to its switching surface, and which does not declare sliding.
#include <saltus.hpp>

struct undeclared_slide {
  static constexpr auto title = "relay that would slide";
  static constexpr auto source = "tests";
  static constexpr double span[] = {0.0, 5.0};
  enum state { x };
  static constexpr saltus::variable<state> state_list[] = {{x, 0.7, "1", "x' = drift - sign x"}};
  enum parameter { drift, level };
  static constexpr saltus::variable<parameter> parameter_list[] = {{drift, 0.3, "1", "beside the relay"},
                                                                   {level, 0.0, "1", "of x at the surface"}};
  enum guard { surface };
  static constexpr saltus::event_function<guard> guard_list[] = {
      {surface, saltus::both, saltus::bilateral, "x passes its level"}};
  static void initial(auto& at) { at[x] = at[level] + 0.7; }
  static void rhs(const auto& at, auto& dy) { dy[x] = at[drift] - select(at.above(surface), 1.0, -1.0) + 0.0 * at[x]; }
  static void guards(const auto& at, auto& g) { g[surface] = at[x] - at[level]; }
};
