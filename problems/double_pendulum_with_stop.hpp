// A swinging leg: two rods, of which the lower one can bend to one side only. When the knee is straight it meets a stop and bounces, ever
// lower, until it rests there. The leg is then one rod, until the torque in the stop falls to zero.
#include <saltus.hpp>

struct double_pendulum_with_stop {
  static constexpr auto title = "Double pendulum with a stop";
  static constexpr auto source = "Lagrange's equations in two angles: tests/reference/stopped_pendulum.py";
  static constexpr double span[] = {0.0, 5.0};

  enum state { x1, y1, angle1, x2, y2, angle2, vx1, vy1, omega1, vx2, vy2, omega2 };
  static constexpr auto first_velocity = vx1;
  static constexpr bool mass_is_diagonal = true;
  static constexpr saltus::variable<state> state_list[] = {{x1, 0.0, "m", "centre of the thigh, downward"},
                                                           {y1, 0.0, "m", "to the side"},
                                                           {angle1, 0.5, "rad", "of the thigh, 0 below"},
                                                           {x2, 0.0, "m", "centre of the shank, downward"},
                                                           {y2, 0.0, "m", "to the side"},
                                                           {angle2, -0.9, "rad", "of the shank"},
                                                           {vx1, 0.0, "m/s", "dx1/dt"},
                                                           {vy1, 0.0, "m/s", "dy1/dt"},
                                                           {omega1, 0.0, "rad/s", "d angle1/dt"},
                                                           {vx2, 0.0, "m/s", "dx2/dt"},
                                                           {vy2, 0.0, "m/s", "dy2/dt"},
                                                           {omega2, 0.0, "rad/s", "d angle2/dt"}};
  enum parameter { mass1, mass2, length1, length2, gravity, restitution, slowest };
  static constexpr saltus::variable<parameter> parameter_list[] = {
      {mass1, 8.0, "kg", "of the thigh, a uniform rod"},
      {mass2, 4.0, "kg", "of the shank, a uniform rod"},
      {length1, 0.42, "m", "of the thigh"},
      {length2, 0.45, "m", "of the shank"},
      {gravity, 9.81, "m/s2", "acceleration of gravity"},
      {restitution, 0.5, "1", "of the stop"},
      {slowest, 1e-7, "rad/s", "a knee that opens more slowly after an impact stays straight"}};
  enum discrete { straight };
  static constexpr saltus::variable<discrete> discrete_list[] = {
      {straight, 0.0, "1", "1 while the knee rests on its stop"}};
  enum constraint { hip_x, hip_y, knee_x, knee_y, stop };
  static constexpr saltus::constrained<constraint> constraint_list[] = {
      {hip_x, saltus::holonomic, "m", "the thigh hangs on the hip, downward"},
      {hip_y, saltus::holonomic, "m", "the thigh hangs on the hip, to the side"},
      {knee_x, saltus::holonomic, "m", "the shank hangs on the thigh, downward"},
      {knee_y, saltus::holonomic, "m", "the shank hangs on the thigh, to the side"},
      saltus::constrained<constraint>{stop, saltus::holonomic, "rad", "how far the knee is bent"}.when(straight)};
  enum guard { meets, parts };
  static constexpr saltus::event_function<guard> guard_list[] = {
      {meets, saltus::falling, saltus::unilateral, "the knee meets its stop"},
      {parts, saltus::falling, saltus::bilateral, "the stop no longer presses"}};
  enum output { energy, torque };
  static constexpr saltus::derived<output> output_list[] = {{energy, "J", "kinetic and potential energy"},
                                                            {torque, "N m", "of the stop"}};

  static void initial(auto& at) {
    at[x1] = 0.5 * at[length1] * cos(at[angle1]);
    at[y1] = 0.5 * at[length1] * sin(at[angle1]);
    at[x2] = 2.0 * at[x1] + 0.5 * at[length2] * cos(at[angle2]);
    at[y2] = 2.0 * at[y1] + 0.5 * at[length2] * sin(at[angle2]);
  }
  static void mass(const auto& at, auto& m) {
    m(vx1, vx1) = m(vy1, vy1) = at[mass1];
    m(vx2, vx2) = m(vy2, vy2) = at[mass2];
    m(omega1, omega1) = at[mass1] * at[length1] * at[length1] * (1.0 / 12.0);
    m(omega2, omega2) = at[mass2] * at[length2] * at[length2] * (1.0 / 12.0);
  }
  static void force(const auto& at, auto& f) {
    f[vx1] = at[mass1] * at[gravity];
    f[vx2] = at[mass2] * at[gravity];
    f[vy1] = f[vy2] = f[omega1] = f[omega2] = 0.0;
  }
  static void constraints(const auto& at, auto& c) {
    const auto c1 = 0.5 * at[length1] * cos(at[angle1]), s1 = 0.5 * at[length1] * sin(at[angle1]);
    c[hip_x] = at[x1] - c1;
    c[hip_y] = at[y1] - s1;
    c[knee_x] = at[x2] - 0.5 * at[length2] * cos(at[angle2]) - (at[x1] + c1);
    c[knee_y] = at[y2] - 0.5 * at[length2] * sin(at[angle2]) - (at[y1] + s1);
    c[stop] = at[angle1] - at[angle2];
  }
  static void guards(const auto& at, auto& g) {
    g[meets] = select(at.is_on(straight), 1.0, at[angle1] - at[angle2]);
    g[parts] = select(at.is_on(straight), at.multiplier(stop), 1.0);
  }
  static void transition(auto& now) {
    if (now.due(meets)) {
      now.impact(stop, now[restitution]);
      if (now.velocity_of(stop) < now[slowest]) now[straight] = 1.0;
    }
    if (now.due(parts)) now.release(stop, 1.0);
  }
  static void rest(auto& now) {
    if (now.due(meets)) now[straight] = 1.0;
  }
  static void outputs(const auto& at, auto& out) {
    const auto turn1 = at[length1] * at[omega1], turn2 = at[length2] * at[omega2];
    out[energy] =
        at[mass1] *
            (0.5 * (at[vx1] * at[vx1] + at[vy1] * at[vy1] + turn1 * turn1 * (1.0 / 12.0)) - at[gravity] * at[x1]) +
        at[mass2] *
            (0.5 * (at[vx2] * at[vx2] + at[vy2] * at[vy2] + turn2 * turn2 * (1.0 / 12.0)) - at[gravity] * at[x2]);
    out[torque] = select(at.is_on(straight), at.multiplier(stop), 0.0);
  }
};
