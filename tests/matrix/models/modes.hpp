// Conditions: watering goes on when it is dry and dark, and off when it is wet or light. Most changes of sign change no mode.
#include <saltus.hpp>

struct modes {
  static constexpr auto title = "a mode that follows from the signs of guards";
  static constexpr auto source = "tests: closed form between events (tests/matrix/forms.py)";
  static constexpr double span[] = {0.0, 3.0};

  enum state { x, y, z };
  static constexpr saltus::variable<state> state_list[] = {
      {x, 1.0, "1", "of a point that turns"}, {y, 0.0, "1", "of the point"}, {z, 0.9, "1", "water"}};
  enum parameter { turn, k };
  static constexpr saltus::variable<parameter> parameter_list[] = {{turn, 4.0, "1/s", "rate at which the point turns"},
                                                                   {k, 1.5, "1/s", "rate at which water goes"}};
  enum discrete { on };
  static constexpr saltus::variable<discrete> discrete_list[] = {{on, 0.0, "1", "1 while water comes"}};
  enum guard { dry, wet, dark };
  static constexpr saltus::event_function<guard> guard_list[] = {
      saltus::event_function<guard>{dry, saltus::both, saltus::bilateral, "there is little water"}.condition(),
      saltus::event_function<guard>{wet, saltus::both, saltus::bilateral, "there is much water"}.condition(),
      saltus::event_function<guard>{dark, saltus::both, saltus::bilateral, "it is dark"}.condition()};
  enum output { fast, slow };
  static constexpr saltus::derived<output> output_list[] = {{fast, "1", "much faster than the states"},
                                                            {slow, "1", "as slow as z"}};

  static void rhs(const auto& at, auto& dy) {
    dy[x] = -at[turn] * at[y];
    dy[y] = at[turn] * at[x];
    dy[z] = at[k] * (at[on] - at[z]);
  }
  static void guards(const auto& at, auto& g) {
    g[dry] = 0.35 - at[z];
    g[wet] = at[z] - 0.7;
    g[dark] = -at[x];
  }
  static void mode(auto& now) {
    if (now.above(dry) && now.above(dark)) now[on] = 1.0;
    if (now.above(wet) || !now.above(dark)) now[on] = 0.0;
  }
  static void outputs(const auto& at, auto& out) {
    out[fast] = (0.5 + at[z]) * cos(40.0 * at.t - 1.0);
    out[slow] = at[z] * at[z];
  }
};
