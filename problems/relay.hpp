// A relay that drives a double integrator towards its switching line s = c x + v = 0, and then keeps it there:
//
//     x' = v,   v' = d - K sign(s)
//
// Far out the solution crosses the line. Within |d + c v| < K both sides push onto the line and the solution slides, x' = -c x, for any
// disturbance d: the principle of sliding-mode control. With the defaults it crosses at t = 2.3166, overshoots, and slides from
// t = 3.4054 on. From x = 10 it crosses twice, the second time for 0.2 units of time.
#include <saltus.hpp>

struct relay {
  static constexpr auto title = "Relay control of a double integrator with sliding mode";
  static constexpr auto source = "V. I. Utkin, Sliding Modes in Control and Optimization, Springer 1992, chapter 1";
  static constexpr double span[] = {0.0, 6.0};

  enum state { position, velocity };
  static constexpr saltus::variable<state> state_list[] = {
      {position, 4.0, "1", "x, to be brought to zero"},
      {velocity, 0.0, "1", "v"},
  };

  enum parameter { gain, slope, disturbance };
  static constexpr saltus::variable<parameter> parameter_list[] = {
      {gain, 1.0, "1", "K: what the relay gives"},
      {slope, 1.0, "1", "c: rate at which x decays on the switching line"},
      {disturbance, 0.2, "1", "d: unknown to the relay; rejected while smaller than K"},
  };

  enum guard { switching };
  static constexpr saltus::event_function<guard> guard_list[] = {
      saltus::event_function<guard>{switching, saltus::both, saltus::bilateral, "s changes sign: the relay switches"}
          .sliding(),
  };

  static void rhs(const auto& at, auto& dy) {
    dy[position] = at[velocity];
    dy[velocity] = at[disturbance] + select(at.above(switching), -at[gain], at[gain]);
  }

  static void guards(const auto& at, auto& g) { g[switching] = at[slope] * at[position] + at[velocity]; }
};
