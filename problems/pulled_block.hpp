// A block on a slope sticks, is pulled loose by a rope that tightens evenly, slides up until the rope breaks and the block has come to
// rest, and there sticks or slides down again: Coulomb's friction with all four of its switches. Sticking is a constraint, sliding a
// force proportional to the multiplier of the contact; every phase has a closed form.
#include <saltus.hpp>

struct pulled_block {
  static constexpr auto title = "Block pulled up a slope";
  static constexpr auto source = "C. A. de Coulomb's law of friction; an exercise of mechanics";
  static constexpr double span[] = {0.0, 4.0};

  enum state { x, y, vx, vy };
  static constexpr auto first_velocity = vx;
  static constexpr saltus::variable<state> state_list[] = {
      {x, 0.0, "m", "horizontal"}, {y, 0.0, "m", "vertical"}, {vx, 0.0, "m/s", "dx/dt"}, {vy, 0.0, "m/s", "dy/dt"}};
  enum parameter { inertia, gravity, slope, at_rest, sliding, pull_rate, break_time };
  static constexpr saltus::variable<parameter> parameter_list[] = {
      {inertia, 2.0, "kg", "mass of the block"},
      {gravity, 10.0, "m/s2", "acceleration of gravity"},
      {slope, 0.3, "rad", "of the plane, upwards to the right"},
      {at_rest, 0.5, "1", "coefficient of friction while it sticks, if above that of sliding"},
      {sliding, 0.4, "1", "coefficient of friction while it slides"},
      {pull_rate, 16.0, "N/s", "how fast the force of the rope grows, up the slope"},
      {break_time, 1.5, "s", "when the rope breaks"}};
  enum discrete { sticks, direction, pulled };
  static constexpr saltus::variable<discrete> discrete_list[] = {{sticks, 1.0, "1", "1 while the block sticks"},
                                                                 {direction, 0.0, "1", "1 while it slides up, -1 down"},
                                                                 {pulled, 1.0, "1", "1 until the rope breaks"}};
  enum constraint { stick, plane };
  static constexpr saltus::constrained<constraint> constraint_list[] = {
      saltus::constrained<constraint>{stick, saltus::nonholonomic, "m/s", "velocity up the slope"}.when(sticks),
      {plane, saltus::holonomic, "m", "distance from the plane"}};
  enum guard { slips_up, slips_down, halts };
  static constexpr saltus::event_function<guard> guard_list[] = {
      {slips_up, saltus::falling, saltus::bilateral, "friction can no longer hold the block against the rope"},
      {slips_down, saltus::falling, saltus::bilateral, "friction can no longer hold the block against its weight"},
      {halts, saltus::falling, saltus::bilateral, "the sliding block comes to rest"}};
  enum time_event { breaks };
  static constexpr saltus::timed<time_event> time_event_list[] = {{breaks, "the rope breaks"}};
  enum output { way, pressure, friction_force };
  static constexpr saltus::derived<output> output_list[] = {
      {way, "m", "up the slope"}, {pressure, "N", "of the plane on the block"}, {friction_force, "N", "up the slope"}};

  static void mass(const auto& at, auto& m) { m(vx, vx) = m(vy, vy) = at[inertia]; }
  static void force(const auto& at, auto& f) {
    const auto rope = at[pulled] * at[pull_rate] * at.t;
    f[vx] = rope * cos(at[slope]);
    f[vy] = rope * sin(at[slope]) - at[inertia] * at[gravity];
  }
  static auto speed(const auto& at) { return cos(at[slope]) * at[vx] + sin(at[slope]) * at[vy]; }
  static void constraints(const auto& at, auto& c) {
    c[stick] = speed(at);
    c[plane] = cos(at[slope]) * at[y] - sin(at[slope]) * at[x];
  }
  static void friction(const auto& at, auto& b) { b(stick, plane) = -at[sliding] * at[direction]; }

  static void guards(const auto& at, auto& g) {
    // The larger of the two frictions: at rest a smaller one would let the block slip at once.
    const auto most = max(at[at_rest], at[sliding]) * at.multiplier(plane);
    g[slips_up] = select(at.is_on(sticks), most + at.multiplier(stick), 1.0);
    g[slips_down] = select(at.is_on(sticks), most - at.multiplier(stick), 1.0);
    g[halts] = select(at.is_on(sticks), 1.0, at[direction] * speed(at));
  }
  static void time_events(const auto& at, auto& when) { when.at(breaks, at[break_time]); }
  static void slip(auto& now, double side) {
    now[direction] = side;
    now.release(stick, side);
  }
  static void transition(auto& now) {
    if (now.due(breaks)) now[pulled] = 0.0;
    if (now.due(slips_up)) slip(now, 1.0);
    if (now.due(slips_down)) slip(now, -1.0);
    if (now.due(halts)) {
      now[sticks] = 1.0;
      now[direction] = 0.0;
    }
  }
  static void outputs(const auto& at, auto& out) {
    out[way] = cos(at[slope]) * at[x] + sin(at[slope]) * at[y];
    out[pressure] = at.multiplier(plane);
    out[friction_force] = at.multiplier(stick) - at[sliding] * at[direction] * at.multiplier(plane);
  }
};
