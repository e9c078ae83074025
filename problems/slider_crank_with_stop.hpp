// A slider crank that is driven against a stop of its slider. The slider bounces, ever lower, until it rests there; then the mechanism
// stands still until the driving torque has reversed and the force on the stop falls to zero.
#include <saltus.hpp>

struct slider_crank_with_stop {
  static constexpr auto title = "Slider crank with a stop";
  static constexpr auto source = "textbook; by minimal coordinates in tests/reference/clearance.py";
  static constexpr double span[] = {0.0, 3.0};

  enum state { crank, x, y, rod, slider, v_crank, vx, vy, v_rod, v_slider };
  static constexpr auto first_velocity = v_crank;
  static constexpr bool mass_is_diagonal = true;
  static constexpr saltus::variable<state> state_list[] = {
      {crank, -1.5, "rad", "angle of the crank, from the slider's way"},
      {x, 0.0, "m", "middle of the rod (default: as the crank is)"},
      {y, 0.0, "m", "middle of the rod, height (default: as the crank is)"},
      {rod, 0.0, "rad", "angle of the rod (default: as the crank is)"},
      {slider, 0.0, "m", "position of the slider (default: as the crank is)"},
      {v_crank, 2.0, "rad/s", "d crank/dt"},
      {vx, 0.0, "m/s", "dx/dt"},
      {vy, 0.0, "m/s", "dy/dt"},
      {v_rod, 0.0, "rad/s", "d rod/dt"},
      {v_slider, 0.0, "m/s", "d slider/dt"}};
  enum parameter { radius, length, inertia, m_rod, m_slider, gravity, torque, rate, place, restitution, slowest };
  static constexpr saltus::variable<parameter> parameter_list[] = {
      {radius, 0.2, "m", "of the crank"},
      {length, 0.5, "m", "of the rod"},
      {inertia, 0.03, "kg m2", "of the crank about its axis, where its centre of mass is"},
      {m_rod, 0.6, "kg", "of the rod, slender"},
      {m_slider, 0.8, "kg", "of the slider"},
      {gravity, 9.81, "m/s2", "acceleration of gravity, across the slider's way"},
      {torque, 3.0, "N m", "on the crank at the start; it goes as a cosine of time"},
      {rate, 1.0, "rad/s", "of that cosine"},
      {place, 0.62, "m", "position of the slider at the stop"},
      {restitution, 0.5, "1", "of the stop"},
      {slowest, 1e-6, "m/s", "a slider that would leave more slowly after an impact stays at the stop"}};
  enum discrete { touching };
  static constexpr saltus::variable<discrete> discrete_list[] = {
      {touching, 0.0, "1", "1 while the slider is at the stop"}};
  enum constraint { pin_x, pin_y, wrist_x, wrist_y, stop };
  static constexpr saltus::constrained<constraint> constraint_list[] = {
      {pin_x, saltus::holonomic, "m", "the rod is on the crank, x"},
      {pin_y, saltus::holonomic, "m", "the rod is on the crank, y"},
      {wrist_x, saltus::holonomic, "m", "the rod is on the slider, x"},
      {wrist_y, saltus::holonomic, "m", "the rod is on the slider, y"},
      saltus::constrained<constraint>{stop, saltus::holonomic, "m", "from the slider to the stop"}.when(touching)};
  enum guard { meets, parts };
  static constexpr saltus::event_function<guard> guard_list[] = {
      {meets, saltus::falling, saltus::unilateral, "the slider meets the stop"},
      {parts, saltus::falling, saltus::bilateral, "the stop no longer presses"}};
  enum output { press };
  static constexpr saltus::derived<output> output_list[] = {{press, "N", "of the stop on the slider"}};

  /// The configuration for the crank's angle and its angular velocity, with the slider on the side of the rod.
  static void initial(auto& at) {
    const auto s = sin(at[crank]), c = cos(at[crank]);
    const auto sine = -at[radius] / at[length] * s, cosine = sqrt(1.0 - sine * sine);
    at[rod] = asin(sine);
    at[v_rod] = -at[radius] / at[length] * c / cosine * at[v_crank];
    at[x] = at[radius] * c + 0.5 * at[length] * cosine;
    at[y] = at[radius] * s + 0.5 * at[length] * sine;
    at[slider] = at[radius] * c + at[length] * cosine;
    at[vx] = -at[radius] * s * at[v_crank] - 0.5 * at[length] * sine * at[v_rod];
    at[vy] = at[radius] * c * at[v_crank] + 0.5 * at[length] * cosine * at[v_rod];
    at[v_slider] = -at[radius] * s * at[v_crank] - at[length] * sine * at[v_rod];
  }
  static void mass(const auto& at, auto& m) {
    m(v_crank, v_crank) = at[inertia];
    m(vx, vx) = m(vy, vy) = at[m_rod];
    m(v_rod, v_rod) = at[m_rod] * at[length] * at[length] / 12.0;
    m(v_slider, v_slider) = at[m_slider];
  }
  static void force(const auto& at, auto& f) {
    f[v_crank] = at[torque] * cos(at[rate] * at.t);
    f[vx] = f[v_rod] = f[v_slider] = 0.0;
    f[vy] = -at[m_rod] * at[gravity];
  }
  static void constraints(const auto& at, auto& c) {
    const auto along = 0.5 * at[length] * cos(at[rod]), across = 0.5 * at[length] * sin(at[rod]);
    c[pin_x] = at[x] - along - at[radius] * cos(at[crank]);
    c[pin_y] = at[y] - across - at[radius] * sin(at[crank]);
    c[wrist_x] = at[x] + along - at[slider];
    c[wrist_y] = at[y] + across;
    c[stop] = at[place] - at[slider];
  }

  static void guards(const auto& at, auto& g) {
    g[meets] = select(at.is_on(touching), 1.0, at[place] - at[slider]);
    g[parts] = select(at.is_on(touching), at.multiplier(stop), 1.0);
  }
  static void transition(auto& now) {
    if (now.due(parts)) now.release(stop);
    if (now.due(meets)) {
      now.impact(stop, now[restitution]);
      if (now.velocity_of(stop) < now[slowest]) now[touching] = 1.0;
    }
  }
  // Impacts accumulate: from their limit on the slider stays.
  static void rest(auto& now) { now[touching] = 1.0; }

  static void outputs(const auto& at, auto& out) { out[press] = at.multiplier(stop); }
};
