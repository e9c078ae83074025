// A block falls on a shaken floor, bounces until a bounce is too slow, then rests on it, and is lifted by a growing force.
#include <saltus.hpp>

struct contact {
  static constexpr auto title = "mechanical system with a contact that closes and opens";
  static constexpr auto source = "tests: closed form between events (tests/matrix/forms.py)";
  static constexpr double span[] = {0.0, 3.0};

  enum state { x, z, vx, vz };
  static constexpr auto first_velocity = vx;
  static constexpr saltus::variable<state> state_list[] = {
      {x, 1.0, "m", "to the side"}, {z, 0.5, "m", "height"}, {vx, 0.0, "m/s", "dx/dt"}, {vz, 0.0, "m/s", "dz/dt"}};
  enum parameter { restitution };
  static constexpr saltus::variable<parameter> parameter_list[] = {{restitution, 0.5, "1", "share of the speed kept"}};
  enum discrete { lies };
  static constexpr saltus::variable<discrete> discrete_list[] = {{lies, 0.0, "1", "1 while it lies"}};
  enum constraint { gap };
  static constexpr saltus::constrained<constraint> constraint_list[] = {
      saltus::constrained<constraint>{gap, saltus::holonomic, "m", "height above the floor"}.when(lies)};
  enum guard { lands, lifts };
  static constexpr saltus::event_function<guard> guard_list[] = {
      {lands, saltus::falling, saltus::unilateral, "it meets the floor"},
      {lifts, saltus::falling, saltus::bilateral, "the floor no longer carries it"}};
  enum output { fast, slow, load };
  static constexpr saltus::derived<output> output_list[] = {
      {fast, "1", "much faster than the states"}, {slow, "1", "as slow as z"}, {load, "N", "of the floor"}};

  static void mass(const auto&, auto& m) { m(vx, vx) = m(vz, vz) = 2.0; }
  static void force(const auto& at, auto& f) {
    f[vx] = -2.0 * 4.0 * at[x];
    f[vz] = 2.0 * (-10.0 + 12.0 * sin(3.0 * at.t + 3.0));
  }
  static void constraints(const auto& at, auto& c) { c[gap] = at[z]; }
  static void guards(const auto& at, auto& g) {
    g[lands] = select(at.is_on(lies), 1.0, at[z]);
    g[lifts] = select(at.is_on(lies), at.multiplier(gap), 1.0);
  }
  static void transition(auto& now) {
    if (now.due(lifts)) now.release(gap);
    if (now.due(lands)) {
      now.impact(gap, now[restitution]);
      if (now.velocity_of(gap) < 0.8) now[lies] = 1.0;
    }
  }
  static void outputs(const auto& at, auto& out) {
    out[fast] = (0.5 + at[x]) * cos(40.0 * at.t - 1.0);
    out[slow] = at[z] * at[z];
    out[load] = at.multiplier(gap);
  }
};
