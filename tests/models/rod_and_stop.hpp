// A rod on a pivot in redundant coordinates that hits a stop, and that a magnet holds for a while: a constraint that is
// switched on and off.
#include <saltus.hpp>

struct rod_and_stop {
  static constexpr auto title = "Rod with a stop and a magnet";
  static constexpr auto source = "tests";
  static constexpr double span[] = {0.0, 3.0};

  enum state { x, y, angle, slide, vx, vy, omega, vslide };
  static constexpr auto first_velocity = vx;
  static constexpr saltus::variable<state> state_list[] = {{x, 0.0, "m", "centre of mass, downward"},
                                                           {y, 0.0, "m", "centre of mass, to the side"},
                                                           {angle, 0.9, "rad", "of the rod, 0 below"},
                                                           {slide, 0.0, "m", "a block on a spring beside it"},
                                                           {vx, 0.0, "m/s", "velocity"},
                                                           {vy, 0.0, "m/s", "velocity"},
                                                           {omega, 0.0, "rad/s", "velocity"},
                                                           {vslide, 0.7, "m/s", "velocity"}};
  enum parameter { gravity, at_angle, restitution, spring, until };
  static constexpr saltus::variable<parameter> parameter_list[] = {{gravity, 9.81, "m/s2", "acceleration of gravity"},
                                                                   {at_angle, -0.4, "rad", "where the stop is"},
                                                                   {restitution, 0.8, "1", "of the stop"},
                                                                   {spring, 30.0, "N/m", "of the block"},
                                                                   {until, 2.4, "s", "the latch lets go"}};
  enum discrete { latched };
  static constexpr saltus::variable<discrete> discrete_list[] = {
      {latched, 0.0, "1", "1: the block moves with the rod"}};
  enum constraint { latch, joint_x, joint_y };
  static constexpr saltus::constrained<constraint> constraint_list[] = {
      saltus::constrained<constraint>{latch, saltus::holonomic, "m", "the block is beside the rod's centre"}.when(
          latched),
      {joint_x, saltus::holonomic, "m", "the upper end stays where it is, downward"},
      {joint_y, saltus::holonomic, "m", "the upper end stays where it is, to the side"}};
  enum guard { stop, meets };
  static constexpr saltus::event_function<guard> guard_list[] = {
      {stop, saltus::falling, saltus::unilateral, "the rod meets the stop"},
      {meets, saltus::falling, saltus::bilateral, "the rod meets the block"}};
  enum time_event { lets_go };
  static constexpr saltus::timed<time_event> time_event_list[] = {{lets_go, "the latch lets go"}};

  static void initial(auto& at) {
    at[x] = 0.5 * cos(at[angle]);
    at[y] = 0.5 * sin(at[angle]);
    at[vx] = -0.5 * sin(at[angle]) * at[omega];
    at[vy] = 0.5 * cos(at[angle]) * at[omega];
  }
  static void mass(const auto&, auto& matrix) {
    matrix(vx, vx) = matrix(vy, vy) = 3.0;
    matrix(omega, omega) = 0.25;
    matrix(vslide, vslide) = 0.5;
  }
  static void force(const auto& at, auto& f) {
    f[vx] = 3.0 * at[gravity];
    f[vy] = 0.0;
    f[omega] = 0.0;
    f[vslide] = -at[spring] * at[slide];
  }
  static void constraints(const auto& at, auto& c) {
    c[latch] = at[slide] - at[y];
    c[joint_x] = at[x] - 0.5 * cos(at[angle]);
    c[joint_y] = at[y] - 0.5 * sin(at[angle]);
  }
  static void guards(const auto& at, auto& g) {
    g[stop] = at[angle] - at[at_angle];
    g[meets] = at[y] - at[slide] + 3.0 * at[latched];
  }
  static void time_events(const auto& at, auto& when) { when.at(lets_go, at[until]); }
  static void transition(auto& now) {
    if (now.due(stop)) {
      now[vx] = -now[restitution] * now[vx];
      now[vy] = -now[restitution] * now[vy];
      now[omega] = -now[restitution] * now[omega];
      if (now.is_on(latched)) now[vslide] = -now[restitution] * now[vslide];
    }
    if (now.due(meets)) now[latched] = 1.0;
    if (now.due(lets_go)) now[latched] = 0.0;
  }
};
