// A weight on a rope: a pendulum while the rope is taut, free flight while it is slack, and a pull when it becomes taut again. The rope's
// tension is the multiplier of its constraint; when it falls to zero the constraint is switched off.
#include "parts/slack_pendulum.hpp"

struct slack_pendulum : slack_pendulum_of<slack_pendulum> {
  static constexpr auto title = "Pendulum on a rope that becomes slack";

  enum state { x, y, vx, vy };
  static constexpr auto first_velocity = vx;
  static constexpr saltus::variable<state> state_list[] = {{x, 0.0, "m", "of the weight, to the side"},
                                                           {y, -1.0, "m", "of the weight, upward"},
                                                           {vx, 0.0, "m/s", "dx/dt"},
                                                           {vy, 0.0, "m/s", "dy/dt"}};
  enum constraint { rope };
  static constexpr saltus::constrained<constraint> constraint_list[] = {
      saltus::constrained<constraint>{rope, saltus::holonomic, "m", "what is left of the rope's length"}.when(taut)};

  enum output { tension, play, energy };
  static constexpr saltus::derived<output> output_list[] = {{tension, "N", "of the rope"},
                                                            {play, "m", "what is left of the length of the rope"},
                                                            {energy, "J", "kinetic and potential energy"}};

  static void mass(const auto& at, auto& m) { m(vx, vx) = m(vy, vy) = at[mass_]; }
  static void force(const auto& at, auto& f) {
    f[vx] = 0.0;
    f[vy] = -at[mass_] * at[gravity];
  }
  static void constraints(const auto& at, auto& c) { c[rope] = left(at); }

  static void guards(const auto& at, auto& g) {
    g[slack] = select(at.is_on(taut), at.multiplier(rope), 1.0);
    g[pull] = select(at.is_on(taut), 1.0, left(at));
  }
  static void transition(auto& now) {
    if (now.due(slack)) now.release(rope);
    if (now.due(pull)) {
      now.impact(rope, now[restitution]);
      if (now.velocity_of(rope) < now[slowest]) now[taut] = 1.0;
    }
  }
  static void outputs(const auto& at, auto& out) {
    out[tension] = at.multiplier(rope);
    out[play] = left(at);
    out[energy] = energy_of(at);
  }
};
