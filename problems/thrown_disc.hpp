// A disc is thrown with backspin, bounces on a rough floor until it lies there, slides until it rolls, and comes back. Friction acts at
// each impact and while the disc slides; every phase has a closed form.
#include <saltus.hpp>

struct thrown_disc {
  static constexpr auto title = "Thrown disc on a rough floor";
  static constexpr auto source = "C. A. de Coulomb's law of friction, at impacts as J. J. Moreau has it (1988)";
  static constexpr double span[] = {0.0, 6.0};

  enum state { x, y, angle, vx, vy, omega };
  static constexpr auto first_velocity = vx;
  static constexpr saltus::variable<state> state_list[] = {
      {x, 0.0, "m", "of the centre"},     {y, 1.0, "m", "height of the centre"},
      {angle, 0.0, "rad", "of the disc"}, {vx, 1.0, "m/s", "dx/dt"},
      {vy, 0.0, "m/s", "dy/dt"},          {omega, 60.0, "rad/s", "d angle/dt"}};
  enum parameter { inertia, shape, radius, gravity, restitution, mu, slowest };
  static constexpr saltus::variable<parameter> parameter_list[] = {
      {inertia, 0.2, "kg", "mass of the disc"},
      {shape, 0.5, "1", "moment of inertia over mass and radius^2: 1/2 of a disc, 2/5 of a ball, 1 of a hoop"},
      {radius, 0.1, "m", "of the disc"},
      {gravity, 9.81, "m/s2", "acceleration of gravity"},
      {restitution, 0.6, "1", "share of the vertical speed that an impact gives back"},
      {mu, 0.2, "1", "coefficient of friction"},
      {slowest, 0.01, "m/s", "the disc stays on the floor where an impact would give back less"}};
  enum discrete { lies, rolls, direction };
  static constexpr saltus::variable<discrete> discrete_list[] = {
      {lies, 0.0, "1", "1 while the disc is on the floor"},
      {rolls, 0.0, "1", "1 while it rolls there"},
      {direction, 0.0, "1", "of the slip while it slides there, 1 or -1"}};
  enum constraint { roll, floor };
  static constexpr saltus::constrained<constraint> constraint_list[] = {
      saltus::constrained<constraint>{roll, saltus::nonholonomic, "m/s", "slip of the lowest point"}.when(rolls),
      saltus::constrained<constraint>{floor, saltus::holonomic, "m", "height of the lowest point"}.when(lies)};
  enum guard { lands, halts };
  static constexpr saltus::event_function<guard> guard_list[] = {
      {lands, saltus::falling, saltus::unilateral, "the disc meets the floor"},
      {halts, saltus::falling, saltus::bilateral, "the slip ends, and the disc rolls"}};
  enum output { slip, energy };
  static constexpr saltus::derived<output> output_list[] = {{slip, "m/s", "of the lowest point"},
                                                            {energy, "J", "kinetic and potential energy"}};

  static auto moment(const auto& at) { return at[shape] * at[inertia] * at[radius] * at[radius]; }
  static auto slip_of(const auto& at) { return at[vx] + at[radius] * at[omega]; }

  static void mass(const auto& at, auto& m) {
    m(vx, vx) = m(vy, vy) = at[inertia];
    m(omega, omega) = moment(at);
  }
  static void force(const auto& at, auto& f) {
    f[vx] = f[omega] = 0.0;
    f[vy] = -at[inertia] * at[gravity];
  }
  static void constraints(const auto& at, auto& c) {
    c[roll] = slip_of(at);
    c[floor] = at[y] - at[radius];
  }
  static void friction(const auto& at, auto& b) { b(roll, floor) = -at[mu] * at[direction]; }

  static void guards(const auto& at, auto& g) {
    g[lands] = select(at.is_on(lies), 1.0, at[y] - at[radius]);
    g[halts] = select(at.is_on(rolls) | !at.is_on(lies), 1.0, at[direction] * slip_of(at));
  }
  static void settle(auto& now) {
    now[lies] = 1.0;
    const auto left = now.slip(roll);
    now[rolls] = left == 0.0 ? 1.0 : 0.0;
    now[direction] = left == 0.0 ? 0.0 : left > 0.0 ? 1.0 : -1.0;
  }
  static void transition(auto& now) {
    if (now.due(lands)) {
      auto hit = now.contacts();
      hit.add(floor, roll, now[mu]);
      const bool bounces = -now[restitution] * now[vy] >= now[slowest];
      if (bounces) now.impacts(hit, now[restitution]);
      else now.impacts(hit, 0.0);
      if (!bounces) settle(now);
    }
    if (now.due(halts)) {
      now[rolls] = 1.0;
      now[direction] = 0.0;
    }
  }
  static void outputs(const auto& at, auto& out) {
    out[slip] = slip_of(at);
    out[energy] = 0.5 * at[inertia] * (at[vx] * at[vx] + at[vy] * at[vy]) + 0.5 * moment(at) * at[omega] * at[omega] +
                  at[inertia] * at[gravity] * at[y];
  }
};
