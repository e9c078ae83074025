// A crank drives a slider through a rod, by coordinates of every body: a loop that is closed four times, at its dead points, too,
// where the slider turns back and does not say which way the crank goes on.
#include <saltus.hpp>

struct slider_crank {
  static constexpr auto title = "Slider and crank, a closed loop";
  static constexpr auto source = "textbook";
  static constexpr double span[] = {0.0, 10.0};

  enum state { crank, x, y, rod, slider, v_crank, vx, vy, v_rod, v_slider };
  static constexpr auto first_velocity = v_crank;
  static constexpr bool mass_is_diagonal = true;
  static constexpr saltus::variable<state> state_list[] = {
      {crank, 0.0, "rad", "angle of the crank, from the slider's way"},
      {x, 0.0, "m", "middle of the rod (default: as the crank is)"},
      {y, 0.0, "m", "middle of the rod, height (default: as the crank is)"},
      {rod, 0.0, "rad", "angle of the rod (default: as the crank is)"},
      {slider, 0.0, "m", "position of the slider (default: as the crank is)"},
      {v_crank, 8.0, "rad/s", "d crank/dt"},
      {vx, 0.0, "m/s", "dx/dt"},
      {vy, 0.0, "m/s", "dy/dt"},
      {v_rod, 0.0, "rad/s", "d rod/dt"},
      {v_slider, 0.0, "m/s", "d slider/dt"}};
  enum parameter { radius, length, inertia, m_rod, m_slider, gravity, friction };
  static constexpr saltus::variable<parameter> parameter_list[] = {
      {radius, 0.2, "m", "of the crank"},
      {length, 0.5, "m", "of the rod"},
      {inertia, 0.03, "kg m2", "of the crank about its axis, where its centre of mass is"},
      {m_rod, 0.6, "kg", "of the rod, slender"},
      {m_slider, 0.8, "kg", "of the slider"},
      {gravity, 9.81, "m/s2", "acceleration of gravity, across the slider's way"},
      {friction, 0.0, "N s/m", "viscous, of the slider"}};
  enum constraint { pin_x, pin_y, wrist_x, wrist_y };
  static constexpr saltus::constrained<constraint> constraint_list[] = {
      {pin_x, saltus::holonomic, "m", "the rod is on the crank, x"},
      {pin_y, saltus::holonomic, "m", "the rod is on the crank, y"},
      {wrist_x, saltus::holonomic, "m", "the rod is on the slider, x"},
      {wrist_y, saltus::holonomic, "m", "the rod is on the slider, y"}};
  enum guard { outer, inner };
  static constexpr saltus::event_function<guard> guard_list[] = {
      {outer, saltus::falling, saltus::bilateral, "the slider turns back at its outer dead point"},
      {inner, saltus::rising, saltus::bilateral, "the slider turns back at its inner dead point"}};
  enum output { energy, side_force };
  static constexpr saltus::derived<output> output_list[] = {{energy, "J", "kinetic and potential energy"},
                                                            {side_force, "N", "of the rod's end on its guide, upward"}};

  /// The point of the configuration that the crank's angle and its rate make, with the slider on the side of the rod.
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
    f[v_crank] = 0.0;
    f[vx] = 0.0;
    f[vy] = -at[m_rod] * at[gravity];
    f[v_rod] = 0.0;
    f[v_slider] = -at[friction] * at[v_slider];
  }
  static void constraints(const auto& at, auto& c) {
    const auto along = 0.5 * at[length] * cos(at[rod]), across = 0.5 * at[length] * sin(at[rod]);
    c[pin_x] = at[x] - along - at[radius] * cos(at[crank]);
    c[pin_y] = at[y] - across - at[radius] * sin(at[crank]);
    c[wrist_x] = at[x] + along - at[slider];
    c[wrist_y] = at[y] + across;
  }
  static void guards(const auto& at, auto& g) { g[outer] = g[inner] = at[v_slider]; }
  static void outputs(const auto& at, auto& out) {
    const auto rods = at[vx] * at[vx] + at[vy] * at[vy] + at[length] * at[length] / 12.0 * at[v_rod] * at[v_rod];
    out[energy] = 0.5 * (at[inertia] * at[v_crank] * at[v_crank] + at[m_rod] * rods +
                         at[m_slider] * at[v_slider] * at[v_slider]) +
                  at[m_rod] * at[gravity] * at[y];
    out[side_force] = at.multiplier(wrist_y);
  }
};
