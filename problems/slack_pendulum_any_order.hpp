// The weight on a rope (slack_pendulum.hpp) with different equations in its two modes: a taut rope keeps its length (index 3), a slack rope
// does not pull (index 1). No offsets serve both.
#include "parts/slack_pendulum.hpp"

struct slack_pendulum_any_order : slack_pendulum_of<slack_pendulum_any_order> {
  static constexpr auto title = "Pendulum on a rope that becomes slack, index 3 and 1";

  enum state { x, y, vx, vy, tension };
  static constexpr saltus::variable<state> state_list[] = {{x, 0.0, "m", "of the weight, to the side"},
                                                           {y, -1.0, "m", "of the weight, upward"},
                                                           {vx, 0.0, "m/s", "dx/dt"},
                                                           {vy, 0.0, "m/s", "dy/dt"},
                                                           {tension, 4.5, "N", "of the rope; a guess at the start"}};
  enum equation { way_x, way_y, force_x, force_y, rope };
  static constexpr saltus::equated<equation> equation_list[] = {
      {way_x, "m/s", "the velocity is that of the place"},
      {way_y, "m/s", "the velocity is that of the place"},
      {force_x, "N", "forces on the weight"},
      {force_y, "N", "forces on the weight"},
      {rope, "m or N", "the rope keeps its length, or has no tension"}};
  enum output { play, energy };
  static constexpr saltus::derived<output> output_list[] = {{play, "m", "what is left of the length of the rope"},
                                                            {energy, "J", "kinetic and potential energy"}};

  static void residual(const auto& at, auto& r) {
    r[way_x] = at.d(x, 1) - at[vx];
    r[way_y] = at.d(y, 1) - at[vy];
    r[force_x] = at[mass_] * at.d(vx, 1) + at[tension] * at[x] / at[length];
    r[force_y] = at[mass_] * (at.d(vy, 1) + at[gravity]) + at[tension] * at[y] / at[length];
    r[rope] = select(at.is_on(taut), left(at), at[tension]);
  }

  static void guards(const auto& at, auto& g) {
    g[slack] = select(at.is_on(taut), at[tension], 1.0);
    g[pull] = select(at.is_on(taut), 1.0, left(at));
  }
  static void transition(auto& now) {
    if (now.due(slack)) {
      // A few ulps inside the length at which the rope would pull, because the slack grows only as the cube of time.
      const auto inside = 1.0 - 1e-15;
      now[x] = inside * now[x];
      now[y] = inside * now[y];
      now[tension] = 0.0;
      now[taut] = 0.0;
    }
    if (now.due(pull)) {
      const auto rate = (now[x] * now[vx] + now[y] * now[vy]) / (now[x] * now[x] + now[y] * now[y]);  // of stretching
      const auto impulse = (1.0 + now[restitution]) * rate;
      now[vx] = now[vx] - impulse * now[x];
      now[vy] = now[vy] - impulse * now[y];
      if (now[restitution] * rate * now[length] < now[slowest]) now[taut] = 1.0;
    }
  }

  static void outputs(const auto& at, auto& out) {
    out[play] = left(at);
    out[energy] = energy_of(at);
  }
};
