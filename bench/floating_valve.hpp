// The relief valve without its seat: the same equations and no guard, to measure the cost of event detection.
#include <saltus.hpp>

struct floating_valve {
  static constexpr auto title = "Relief valve without a seat";
  static constexpr auto source = "problems/relief_valve.hpp, less its guard";
  static constexpr double span[] = {0.0, 40.0};

  enum state { lift, velocity, pressure };
  static constexpr saltus::variable<state> state_list[] = {
      {lift, 0.2, "1", "valve lift"},
      {velocity, 0.0, "1", "valve velocity"},
      {pressure, 0.0, "1", "chamber pressure"},
  };

  enum parameter { damping, preload, flow, compressibility };
  static constexpr saltus::variable<parameter> parameter_list[] = {
      {damping, 1.25, "1", "viscous damping of the valve"},
      {preload, 10.0, "1", "precompression of the spring"},
      {flow, 8.0, "1", "flow rate into the chamber"},
      {compressibility, 20.0, "1", "stiffness of the trapped fluid"},
  };

  static void rhs(const auto& at, auto& dy) {
    dy[lift] = at[velocity];
    dy[velocity] = at[pressure] - at[damping] * at[velocity] - (at[lift] + at[preload]);
    dy[pressure] = at[compressibility] * (at[flow] - at[lift] * sqrt(at[pressure]));
  }
};
