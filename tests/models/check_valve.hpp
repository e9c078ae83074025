// A vessel behind a valve: if open, it has the pressure of the main (index 2); if closed, nothing flows (index 1). The structural offsets
// of both branches together are right for the closed valve, but not for the open one.
#include <saltus.hpp>

struct check_valve {
  static constexpr double span[] = {0.0, 1.0};

  enum state { pressure, flow };
  static constexpr saltus::variable<state> state_list[] = {{pressure, 1.0, "bar", "in the vessel"},
                                                           {flow, 0.0, "bar/s", "into the vessel"}};
  enum discrete { open };
  static constexpr saltus::variable<discrete> discrete_list[] = {{open, 0.0, "1", "1 while the valve is open"}};

  static void residual(const auto& at, auto& r) {
    r[pressure] = at.d(pressure, 1) - at[flow];
    r[flow] = select(at.is_on(open), at[pressure] - (2.0 + sin(at.t)), at[flow]);
  }
};
