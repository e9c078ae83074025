// A rod that slides on one end. The contact force on that end both lifts the rod and turns it, and so does its friction. Beyond a
// coefficient of friction of 4/3 there are angles at which a push up moves the end down, and Coulomb's law leaves no acceleration, or
// two (Painleve's paradox, 1895). There an instance ends, with status `painleve`.
//
// With s = +1 or -1 the direction of the slip, the end's vertical acceleration per unit of the contact's force is
//
//     (1 + 3 cos(angle) (cos(angle) + s mu sin(angle))) / m,    first zero for s = -1, mu = 4/3, tan(angle) = 2
#include <saltus.hpp>

struct painleve_rod {
  static constexpr auto title = "Painleve's sliding rod";
  static constexpr auto source =
      "P. Painleve, C. R. Acad. Sci. 121 (1895) 112; F. Genot, B. Brogliato, Eur. J. Mech. A 18 (1999) 653";
  static constexpr double span[] = {0.0, 1.0};

  enum state { x, y, angle, vx, vy, omega };
  static constexpr auto first_velocity = vx;
  static constexpr saltus::variable<state> state_list[] = {
      {x, 0.0, "m", "centre of mass, horizontal"},
      {y, 0.0, "m", "centre of mass, upward (default: so that the end is at `height`)"},
      {angle, 1.0, "rad", "of the rod from the horizontal; it stands on its left end"},
      {vx, -1.0, "m/s", "dx/dt"},
      {vy, 0.0, "m/s", "dy/dt"},
      {omega, 0.0, "rad/s", "d angle/dt"}};
  enum parameter { inertia, half_length, gravity, mu, height };
  static constexpr saltus::variable<parameter> parameter_list[] = {{inertia, 1.0, "kg", "mass of the rod"},
                                                                   {half_length, 1.0, "m", "half of its length"},
                                                                   {gravity, 9.81, "m/s2", "acceleration of gravity"},
                                                                   {mu, 1.0, "1", "coefficient of friction"},
                                                                   {height, 0.0, "m", "of the end at the start"}};
  enum discrete { closed, sticks, direction };
  static constexpr saltus::variable<discrete> discrete_list[] = {{closed, 0.0, "1", "1 while the end is on the floor"},
                                                                 {sticks, 0.0, "1", "1 while it sticks there"},
                                                                 {direction, 0.0, "1", "1 or -1 while it slips"}};
  enum constraint { stick, floor_ };
  static constexpr saltus::constrained<constraint> constraint_list[] = {
      saltus::constrained<constraint>{stick, saltus::nonholonomic, "m/s", "velocity of the end"}.when(sticks),
      saltus::constrained<constraint>{floor_, saltus::holonomic, "m", "height of the end"}.when(closed)};
  enum guard { lands, lifts, halts, slips_right, slips_left };
  static constexpr saltus::event_function<guard> guard_list[] = {
      {lands, saltus::falling, saltus::unilateral, "the end meets the floor"},
      {lifts, saltus::falling, saltus::bilateral, "the floor no longer carries the end"},
      {halts, saltus::falling, saltus::bilateral, "the end stops slipping"},
      {slips_right, saltus::falling, saltus::bilateral, "friction can no longer hold it on its left"},
      {slips_left, saltus::falling, saltus::bilateral, "friction can no longer hold it on its right"}};
  enum output { force_, energy };
  static constexpr saltus::derived<output> output_list[] = {{force_, "N", "of the floor, upward"},
                                                            {energy, "J", "kinetic and potential energy"}};

  static void initial(auto& at) {
    at[y] = at[height] + at[half_length] * sin(at[angle]);
    const auto on = at[height] <= 0.0;
    at[closed] = select(on, 1.0, 0.0);
    const auto slip = at[vx] + at[half_length] * sin(at[angle]) * at[omega];
    at[direction] = select(on, select(slip < 0.0, -1.0, 1.0), 0.0);
  }
  static void mass(const auto& at, auto& m) {
    m(vx, vx) = m(vy, vy) = at[inertia];
    m(omega, omega) = at[inertia] * at[half_length] * at[half_length] / 3.0;
  }
  static void force(const auto& at, auto& f) {
    f[vx] = f[omega] = 0.0;
    f[vy] = -at[inertia] * at[gravity];
  }
  static auto gap(const auto& at) { return at[y] - at[half_length] * sin(at[angle]); }
  static auto slip(const auto& at) { return at[vx] + at[half_length] * sin(at[angle]) * at[omega]; }
  static void constraints(const auto& at, auto& c) {
    c[stick] = slip(at);
    c[floor_] = gap(at);
  }
  static void friction(const auto& at, auto& b) { b(stick, floor_) = -at[mu] * at[direction]; }

  static void guards(const auto& at, auto& g) {
    const auto most = at[mu] * at.multiplier(floor_);
    const auto holds = at.is_on(closed) & at.is_on(sticks);
    g[lands] = select(at.is_on(closed), 1.0, gap(at));
    g[lifts] = select(at.is_on(closed), at.multiplier(floor_), 1.0);
    g[halts] = select(at.is_on(closed) & !at.is_on(sticks), at[direction] * slip(at), 1.0);
    g[slips_right] = select(holds, most + at.multiplier(stick), 1.0);
    g[slips_left] = select(holds, most - at.multiplier(stick), 1.0);
  }
  static void slide(auto& now, double side) {
    now[direction] = side;
    now.release(stick, side);
  }
  static void transition(auto& now) {
    if (now.due(lands)) {
      now.impact(floor_, 0.0);  // without friction
      now[closed] = 1.0;
      now[direction] = now.velocity_of(stick) < 0.0 ? -1.0 : 1.0;
    }
    if (now.due(lifts)) {
      now[sticks] = now[direction] = 0.0;
      now.release(floor_);
      return;
    }
    if (now.due(halts)) {
      now[sticks] = 1.0;
      now[direction] = 0.0;
    }
    if (now.due(slips_right)) slide(now, 1.0);
    if (now.due(slips_left)) slide(now, -1.0);
  }
  static void outputs(const auto& at, auto& out) {
    const auto w = at[half_length] * at[omega];
    out[force_] = at.multiplier(floor_);
    out[energy] = at[inertia] * (0.5 * (at[vx] * at[vx] + at[vy] * at[vy]) + w * w / 6.0 + at[gravity] * at[y]);
  }
};
