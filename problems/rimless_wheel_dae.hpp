// The rimless wheel (rimless_wheel.hpp) by the coordinates of its hub and a constraint: the standing leg keeps its length. When the next
// leg meets the ground, the constraint holds for its foot, and the projection removes the velocity along that leg: the plastic impact.
// A wheel too slow for the next leg rocks between two legs until it stands still on both.
//
// The unit of length is a leg, the unit of time sqrt(leg length / gravity), the unit of mass the wheel's, at its hub. x runs down the
// slope.
#include <saltus.hpp>

struct rimless_wheel_dae {
  static constexpr auto title = "Rimless wheel by the coordinates of its hub";
  static constexpr auto source = "T. McGeer, Int. J. Robotics Research 9 (1990) 62; as a constrained system";
  static constexpr double span[] = {0.0, 40.0};

  enum state { x, y, vx, vy };
  static constexpr auto first_velocity = vx;
  static constexpr saltus::variable<state> state_list[] = {{x, 0.0, "1", "of the hub, down the slope"},
                                                           {y, 1.0, "1", "of the hub, off the slope"},
                                                           {vx, 0.0, "1", "dx/dt"},
                                                           {vy, 0.0, "1", "dy/dt"}};
  enum parameter { half_angle, slope, speed };
  static constexpr saltus::variable<parameter> parameter_list[] = {
      {half_angle, 0.39269908169872414, "rad", "alpha: half the angle between two legs"},
      {slope, 0.08, "rad", "gamma: inclination of the ground"},
      {speed, 0.5, "1", "of the hub at the start, just after an impact"}};
  enum discrete { foot, resting };
  static constexpr saltus::variable<discrete> discrete_list[] = {
      {foot, 0.0, "1", "where the leg stands"}, {resting, 0.0, "1", "1 once the wheel stands still on two legs"}};
  enum constraint { leg, other };
  static constexpr saltus::constrained<constraint> constraint_list[] = {
      {leg, saltus::holonomic, "1", "length of the standing leg"},
      saltus::constrained<constraint>{other, saltus::holonomic, "1", "of the one before it, at rest"}.when(resting)};
  enum guard { next, last };
  static constexpr saltus::event_function<guard> guard_list[] = {
      {next, saltus::falling, saltus::unilateral, "the next leg meets the ground"},
      {last, saltus::falling, saltus::unilateral, "rolling back, the last leg meets the ground"}};
  enum output { force_of_leg };
  static constexpr saltus::derived<output> output_list[] = {{force_of_leg, "1", "along the standing leg"}};

  static void initial(auto& at) {
    at[x] = -sin(at[half_angle]);
    at[y] = cos(at[half_angle]);
    at[vx] = at[speed] * cos(at[half_angle]);
    at[vy] = at[speed] * sin(at[half_angle]);
  }
  static void mass(const auto&, auto& m) { m(vx, vx) = m(vy, vy) = 1.0; }
  static void force(const auto& at, auto& f) {
    f[vx] = sin(at[slope]);
    f[vy] = -cos(at[slope]);
  }
  /// Distance of the hub from the end of a leg, `steps` from the standing one, as a constraint; its gradient has length 1 where that leg
  /// stands.
  static auto distance(const auto& at, double steps) {
    const auto along = at[x] - at[foot] - (2.0 * steps) * sin(at[half_angle]);
    return 0.5 * (along * along + at[y] * at[y] - 1.0);
  }
  static void constraints(const auto& at, auto& c) {
    c[leg] = distance(at, 0.0);
    c[other] = distance(at, 1.0);
  }
  static void guards(const auto& at, auto& g) {
    g[next] = select(at.is_on(resting), 1.0, distance(at, 1.0));
    g[last] = select(at.is_on(resting), 1.0, distance(at, -1.0));
  }
  static void transition(auto& now) {
    if (now.due(next)) now[foot] += 2.0 * sin(now[half_angle]);
    else now[foot] -= 2.0 * sin(now[half_angle]);
  }
  static void rest(auto& now) {
    if (now[x] < now[foot]) now[foot] -= 2.0 * sin(now[half_angle]);
    now[resting] = 1.0;
    now[vx] = now[vy] = 0.0;
    now[x] = now[foot] + sin(now[half_angle]);
    now[y] = cos(now[half_angle]);
  }
  static void outputs(const auto& at, auto& out) { out[force_of_leg] = at.multiplier(leg); }
};
