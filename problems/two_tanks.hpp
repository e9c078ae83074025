// Two tanks, one filled by a pump under two-point control, joined by a pipe at the bottom and one at some height.
//
// All flows are Torricelli's, q = S sqrt(2 g head). The upper pipe carries water while a level is above it. Its flow begins as the square
// root of the level above it, with an infinite derivative at the point where the guard fires. The controller keeps the level of the second
// tank between two marks by switching the pump on and off.
#include <saltus.hpp>

struct two_tanks {
  static constexpr auto title = "Two tanks with two-point control";
  static constexpr auto source =
      "two of the three tanks of B. Heiming, J. Lunze, Definition of the three-tank benchmark problem for controller "
      "reconfiguration, European Control Conference, Karlsruhe 1999; two-point control and round numbers of our own";
  static constexpr double span[] = {0.0, 600.0};

  enum state { level_1, level_2 };
  static constexpr saltus::variable<state> state_list[] = {
      {level_1, 0.25, "m", "level of the tank that is filled"},
      {level_2, 0.10, "m", "level of the tank that supplies the consumer"},
  };

  enum parameter { area, lower_pipe, upper_pipe, outlet, pipe_height, inflow, low, high, gravity };
  static constexpr saltus::variable<parameter> parameter_list[] = {
      {area, 0.015, "m2", "cross-section of either tank"},
      {lower_pipe, 2e-5, "m2", "effective cross-section of the pipe at the bottom"},
      {upper_pipe, 4e-5, "m2", "effective cross-section of the upper pipe"},
      {outlet, 3e-5, "m2", "effective cross-section of the outlet of the second tank"},
      {pipe_height, 0.3, "m", "height of the upper pipe"},
      {inflow, 1.5e-4, "m3/s", "flow of the pump while it is on"},
      {low, 0.12, "m", "level of the second tank below which the pump starts"},
      {high, 0.22, "m", "level of the second tank above which the pump stops"},
      {gravity, 9.81, "m/s2", "acceleration of gravity"},
  };

  enum discrete { pump };
  static constexpr saltus::variable<discrete> discrete_list[] = {
      {pump, 1.0, "1", "1 while the pump is on"},
  };

  enum guard { too_low, too_high, spill_1, spill_2, balance };
  static constexpr saltus::event_function<guard> guard_list[] = {
      {too_low, saltus::falling, saltus::bilateral, "the second tank falls below its low mark: pump on"},
      {too_high, saltus::rising, saltus::bilateral, "the second tank rises above its high mark: pump off"},
      {spill_1, saltus::both, saltus::bilateral, "the level of the first tank passes the upper pipe"},
      {spill_2, saltus::both, saltus::bilateral, "the level of the second tank passes the upper pipe"},
      {balance, saltus::both, saltus::bilateral, "the levels are equal: the flow between the tanks reverses"},
  };

  enum output { outflow };
  static constexpr saltus::derived<output> output_list[] = {
      {outflow, "m3/s", "flow to the consumer"},
  };

  /// Speed of the flow under a head of water, in m/s; towards the lower side.
  static auto torricelli(const auto& at, const auto& head) {
    const auto speed = sqrt(2.0 * at[gravity] * abs(head));
    return select(head > 0.0, speed, select(head < 0.0, -speed, 0.0 * head));  // without a derivative of the root at 0
  }

  static void rhs(const auto& at, auto& dy) {
    const auto above_1 = max(at[level_1] - at[pipe_height], 0.0);
    const auto above_2 = max(at[level_2] - at[pipe_height], 0.0);
    const auto between =
        at[lower_pipe] * torricelli(at, at[level_1] - at[level_2]) + at[upper_pipe] * torricelli(at, above_1 - above_2);
    dy[level_1] = (at[pump] * at[inflow] - between) / at[area];
    dy[level_2] = (between - at[outlet] * torricelli(at, at[level_2])) / at[area];
  }

  static void guards(const auto& at, auto& g) {
    g[too_low] = at[level_2] - at[low];
    g[too_high] = at[level_2] - at[high];
    g[spill_1] = at[level_1] - at[pipe_height];
    g[spill_2] = at[level_2] - at[pipe_height];
    g[balance] = at[level_1] - at[level_2];
  }

  // The other three guards have no effect here: they make a step begin or end where the derivative of the square root is infinite.
  static void transition(auto& now) {
    if (now.due(too_low)) now[pump] = 1.0;
    if (now.due(too_high)) now[pump] = 0.0;
  }

  static void outputs(const auto& at, auto& out) { out[outflow] = at[outlet] * torricelli(at, at[level_2]); }
};
