// A slider crank whose wrist pin has play: a journal at the end of the rod in a bearing of the slider. While the journal flies through the
// gap there is no joint. It meets the bearing by impacts without friction, ever lower ones, until it touches and slides along the bearing.
// It separates when the contact force falls to zero, and meets the bearing on another side.
#include <saltus.hpp>

struct slider_crank_with_clearance {
  static constexpr auto title = "Slider crank with clearance in its wrist";
  static constexpr auto source = "textbook; by minimal coordinates in tests/reference/clearance.py";
  static constexpr double span[] = {0.0, 1.0};

  enum state { crank, x, y, rod, slider, v_crank, vx, vy, v_rod, v_slider };
  static constexpr auto first_velocity = v_crank;
  static constexpr bool mass_is_diagonal = true;
  static constexpr saltus::variable<state> state_list[] = {
      {crank, 0.3, "rad", "angle of the crank, from the slider's way"},
      {x, 0.0, "m", "middle of the rod (default: as the crank is)"},
      {y, 0.0, "m", "middle of the rod, height (default: as the crank is)"},
      {rod, 0.0, "rad", "angle of the rod (default: as the crank is)"},
      {slider, 0.0, "m", "position of the slider (default: as the crank is)"},
      {v_crank, 8.0, "rad/s", "d crank/dt"},
      {vx, 0.0, "m/s", "dx/dt"},
      {vy, 0.0, "m/s", "dy/dt"},
      {v_rod, 0.0, "rad/s", "d rod/dt"},
      {v_slider, 0.0, "m/s", "d slider/dt"}};
  enum parameter { radius, length, inertia, m_rod, m_slider, gravity, clearance, restitution, slowest };
  static constexpr saltus::variable<parameter> parameter_list[] = {
      {radius, 0.2, "m", "of the crank"},
      {length, 0.5, "m", "of the rod"},
      {inertia, 0.03, "kg m2", "of the crank about its axis, where its centre of mass is"},
      {m_rod, 0.6, "kg", "of the rod, slender"},
      {m_slider, 0.8, "kg", "of the slider"},
      {gravity, 9.81, "m/s2", "acceleration of gravity, across the slider's way"},
      {clearance, 0.005, "m", "radius of the bearing less that of the journal"},
      {restitution, 0.3, "1", "of journal and bearing"},
      {slowest, 1e-6, "m/s", "a journal that would leave more slowly after an impact stays on the bearing"}};
  enum discrete { touching };
  static constexpr saltus::variable<discrete> discrete_list[] = {
      {touching, 0.0, "1", "1 while the journal is on the bearing"}};
  enum constraint { pin_x, pin_y, bearing };
  static constexpr saltus::constrained<constraint> constraint_list[] = {
      {pin_x, saltus::holonomic, "m", "the rod is on the crank, x"},
      {pin_y, saltus::holonomic, "m", "the rod is on the crank, y"},
      saltus::constrained<constraint>{bearing, saltus::holonomic, "m", "what is left of the play"}.when(touching)};
  enum guard { meets, parts };
  static constexpr saltus::event_function<guard> guard_list[] = {
      {meets, saltus::falling, saltus::unilateral, "the journal meets the bearing"},
      {parts, saltus::falling, saltus::bilateral, "the bearing no longer presses"}};
  enum output { energy, play, press };
  static constexpr saltus::derived<output> output_list[] = {{energy, "J", "kinetic and potential energy"},
                                                            {play, "m", "what is left of the play"},
                                                            {press, "N", "between journal and bearing"}};

  /// The configuration without play: the journal is in the middle of its bearing.
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
    f[v_crank] = f[vx] = f[v_rod] = f[v_slider] = 0.0;
    f[vy] = -at[m_rod] * at[gravity];
  }
  // The gradient with respect to the journal's position has length 1 in contact, so the multiplier is the force.
  static auto left(const auto& at) {
    const auto dx = at[x] + 0.5 * at[length] * cos(at[rod]) - at[slider];
    const auto dy = at[y] + 0.5 * at[length] * sin(at[rod]);
    return (at[clearance] * at[clearance] - dx * dx - dy * dy) / (2.0 * at[clearance]);
  }
  static void constraints(const auto& at, auto& c) {
    c[pin_x] = at[x] - 0.5 * at[length] * cos(at[rod]) - at[radius] * cos(at[crank]);
    c[pin_y] = at[y] - 0.5 * at[length] * sin(at[rod]) - at[radius] * sin(at[crank]);
    c[bearing] = left(at);
  }

  static void guards(const auto& at, auto& g) {
    g[meets] = select(at.is_on(touching), 1.0, left(at));
    g[parts] = select(at.is_on(touching), at.multiplier(bearing), 1.0);
  }
  static void transition(auto& now) {
    if (now.due(parts)) now.release(bearing);
    if (now.due(meets)) {
      now.impact(bearing, now[restitution]);
      if (now.velocity_of(bearing) < now[slowest]) now[touching] = 1.0;
    }
  }
  // Impacts accumulate: from their limit on the journal touches.
  static void rest(auto& now) { now[touching] = 1.0; }

  static void outputs(const auto& at, auto& out) {
    const auto rods = at[vx] * at[vx] + at[vy] * at[vy] + at[length] * at[length] / 12.0 * at[v_rod] * at[v_rod];
    out[energy] = 0.5 * (at[inertia] * at[v_crank] * at[v_crank] + at[m_rod] * rods +
                         at[m_slider] * at[v_slider] * at[v_slider]) +
                  at[m_rod] * at[gravity] * at[y];
    out[play] = left(at);
    out[press] = at.multiplier(bearing);
  }
};
