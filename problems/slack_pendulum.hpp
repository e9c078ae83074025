// A weight on a rope: a pendulum while the rope is taut, free flight while it is slack, and a pull where it becomes taut again.
// The rope's tension is the multiplier of its constraint; where it falls to zero the constraint is switched off.
//
// From the lowest point with the speed v the rope stays taut all the way round if v^2 > 5 g l, and all the time if v^2 < 2 g l.
// Between them it becomes slack at the height h = (v^2 - 2 g l)/(3 g) above the point of suspension, with speed^2 = g h, and the
// weight flies along a parabola that the circle osculates: it becomes taut again at the angle 3 a where it was slack at the angle
// a, sin a = h/l (angles from the horizontal, one on each side).
#include <saltus.hpp>

struct slack_pendulum {
  static constexpr auto title = "Pendulum on a rope that becomes slack";
  static constexpr auto source = "an exercise of mechanics; the lasting contact is a constraint that is switched";
  static constexpr double span[] = {0.0, 6.0};

  enum state { x, y, vx, vy };
  static constexpr auto first_velocity = vx;
  static constexpr saltus::variable<state> state_list[] = {{x, 0.0, "m", "of the weight, to the side"},
                                                           {y, -1.0, "m", "of the weight, upward"},
                                                           {vx, 0.0, "m/s", "dx/dt"},
                                                           {vy, 0.0, "m/s", "dy/dt"}};
  enum parameter { mass_, length, gravity, restitution, slowest, speed };
  static constexpr saltus::variable<parameter> parameter_list[] = {
      {mass_, 1.0, "kg", "of the weight"},
      {length, 1.0, "m", "of the rope"},
      {gravity, 1.0, "m/s2", "acceleration of gravity"},
      {restitution, 0.0, "1", "share of the speed along the rope that the pull gives back"},
      {slowest, 1e-6, "m/s", "the rope stays taut where a pull would give back less"},
      {speed, 1.8708286933869707, "m/s", "at the start, at the lowest point (default: the root of 3.5)"}};
  enum discrete { taut };
  static constexpr saltus::variable<discrete> discrete_list[] = {{taut, 1.0, "1", "1 while the rope is taut"}};

  enum constraint { rope };
  static constexpr saltus::constrained<constraint> constraint_list[] = {
      saltus::constrained<constraint>{rope, saltus::holonomic, "m", "what is left of the rope's length"}.when(taut)};

  enum guard { slack, pull };
  static constexpr saltus::event_function<guard> guard_list[] = {
      {slack, saltus::falling, saltus::bilateral, "the tension of the rope falls to zero"},
      {pull, saltus::falling, saltus::unilateral, "the slack rope is stretched out"}};

  enum output { tension, play, energy };
  static constexpr saltus::derived<output> output_list[] = {{tension, "N", "of the rope"},
                                                            {play, "m", "what is left of the length of the rope"},
                                                            {energy, "J", "kinetic and potential energy"}};

  static void initial(auto& at) {
    at[y] = -at[length];
    at[vx] = at[speed];
  }
  static void mass(const auto& at, auto& m) { m(vx, vx) = m(vy, vy) = at[mass_]; }
  static void force(const auto& at, auto& f) {
    f[vx] = 0.0;
    f[vy] = -at[mass_] * at[gravity];
  }
  // Its gradient has the length 1 where the rope is taut: the multiplier is the tension.
  static auto left(const auto& at) {
    return (at[length] * at[length] - at[x] * at[x] - at[y] * at[y]) / (2.0 * at[length]);
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
  // Pulls accumulate: from their limit on the rope is taut.
  static void rest(auto& now) { now[taut] = 1.0; }

  static void outputs(const auto& at, auto& out) {
    out[tension] = at.multiplier(rope);
    out[play] = left(at);
    out[energy] = at[mass_] * (0.5 * (at[vx] * at[vx] + at[vy] * at[vy]) + at[gravity] * at[y]);
  }
};
