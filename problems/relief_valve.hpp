// A pressure relief valve that hits its seat: a sweep over the flow rate shows equilibrium, chatter and grazing. At low flow the impacts
// accumulate, and the valve rests on its seat until the pressure lifts it again.
#include <saltus.hpp>

struct relief_valve {
  static constexpr auto title = "Relief valve with impacts";
  static constexpr auto source = "C. Hos, A. R. Champneys, Physica D 241 (2012) 2068; the MPGOS tutorial's scaling";
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

  enum discrete { seated };
  static constexpr saltus::variable<discrete> discrete_list[] = {
      {seated, 0.0, "1", "1 while the valve rests on its seat"},
  };

  enum guard { impact, lift_off };
  static constexpr saltus::event_function<guard> guard_list[] = {
      {impact, saltus::falling, saltus::unilateral, "the valve reaches its seat"},
      {lift_off, saltus::rising, saltus::bilateral, "the pressure overcomes the spring of the resting valve"},
  };

  static void rhs(const auto& at, auto& dy) {
    const auto force = at[pressure] - at[damping] * at[velocity] - (at[lift] + at[preload]);
    dy[lift] = at[velocity];
    dy[velocity] = select(at.is_on(seated), 0.0, force);
    dy[pressure] = at[compressibility] * (at[flow] - at[lift] * sqrt(at[pressure]));
  }

  static void guards(const auto& at, auto& g) {
    g[impact] = at[lift];
    g[lift_off] = select(at.is_on(seated), at[pressure] - at[preload], -1.0);
  }

  static void transition(auto& now) {
    if (now.due(impact)) now[velocity] = -now[restitution] * now[velocity];
    if (now.due(lift_off)) now[seated] = 0.0;
  }

  static void rest(auto& now) {
    now[lift] = now[velocity] = 0.0;
    if (now[pressure] < now[preload]) now[seated] = 1.0;
  }
};
