// A driven quantity whose gain doubles beyond +-1/2: two guards on one state, crossed in both directions, seven events.
// y = sin(w t) inside the band and 2 sin(w t) -+ 1/2 outside, so it crosses +-1/2 where sin(w t) = +-1/2.
#include <saltus.hpp>

struct carver_2a {
  static constexpr auto title = "Carver problem 2, bilateral: gain switched at two thresholds";
  static constexpr auto source =
      "in place of M. B. Carver, Math. Comput. Simul. 20 (1978) 190: its counts (one state, two guards, seven events; "
      "M. D. Compere (2001), tables 5.2 and 5.4), equations of our own";
  static constexpr double span[] = {0.0, 3.0};
  static constexpr double pi = 3.14159265358979323846;

  enum state { y };
  static constexpr saltus::variable<state> state_list[] = {
      {y, 0.0, "1", "the driven quantity"},
  };

  enum parameter { frequency };
  static constexpr saltus::variable<parameter> parameter_list[] = {
      {frequency, 3.5, "1", "angular frequency w of the drive"},
  };

  enum discrete { gain };
  static constexpr saltus::variable<discrete> discrete_list[] = {
      {gain, 1.0, "1", "1 inside the band, 2 outside"},
  };

  enum guard { upper, lower };
  static constexpr saltus::event_function<guard> guard_list[] = {
      {upper, saltus::both, saltus::bilateral, "y crosses 1/2"},
      {lower, saltus::both, saltus::bilateral, "y crosses -1/2"},
  };

  static void rhs(const auto& at, auto& dy) { dy[y] = at[gain] * at[frequency] * cos(at[frequency] * at.t); }

  static void guards(const auto& at, auto& g) {
    g[upper] = at[y] - 0.5;
    g[lower] = at[y] + 0.5;
  }

  // Every crossing enters or leaves the band.
  static void transition(auto& now) { now[gain] = 3.0 - now[gain]; }

  // y' depends on time alone, so a loose tolerance would let a step span whole waves of y and their crossings.
  static auto max_step(const auto& at) { return 0.2 * (2.0 * pi) / at[frequency]; }
};
