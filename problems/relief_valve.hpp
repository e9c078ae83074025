// A pressure relief valve that hits its seat: a sweep over the flow rate shows equilibrium, chatter and grazing.
#include <saltus.hpp>

struct relief_valve {
  static constexpr auto   title  = "Relief valve with impacts";
  static constexpr auto   source = "C. Hos, A. R. Champneys, Physica D 241 (2012) 2068; the MPGOS tutorial's scaling";
  static constexpr double span[] = {0.0, 40.0};

  enum state { lift, velocity, pressure };
  static constexpr saltus::variable<state> state_list[] = {
      {lift, 0.2, "1", "valve lift above the seat"},
      {velocity, 0.0, "1", "valve velocity"},
      {pressure, 0.0, "1", "chamber pressure"},
  };

  enum parameter { damping, preload, flow, compressibility, restitution };
  static constexpr saltus::variable<parameter> parameter_list[] = {
      {damping, 1.25, "1", "viscous damping of the valve"},
      {preload, 10.0, "1", "precompression of the spring"},
      {flow, 4.0, "1", "flow rate into the chamber"},
      {compressibility, 20.0, "1", "stiffness of the trapped fluid"},
      {restitution, 0.8, "1", "velocity kept at an impact on the seat"},
  };

  enum guard { impact };
  static constexpr saltus::crossing<guard> guard_list[] = {
      {impact, saltus::falling, saltus::unilateral, "the valve reaches its seat"},
  };

  static void rhs(const auto& at, auto& dy) {
    dy[lift]     = at[velocity];
    dy[velocity] = at[pressure] - at[damping] * at[velocity] - (at[lift] + at[preload]);
    dy[pressure] = at[compressibility] * (at[flow] - at[lift] * sqrt(at[pressure]));
  }

  static void guards(const auto& at, auto& g) { g[impact] = at[lift]; }

  static void transition(auto& now) {
    if (now.due(impact)) now[velocity] = -now[restitution] * now[velocity];
  }
};
