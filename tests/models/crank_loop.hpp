// A crank, a rod and a slider in a loop, in absolute coordinates of three bodies: one degree of freedom, eight constraints. In both dead
// points, where crank and rod are collinear, the slider does not determine the crank. x points along the slide, y up.
#include <saltus.hpp>

struct crank_loop {
  static constexpr auto title = "Slider crank in redundant coordinates";
  static constexpr auto source = "tests";
  static constexpr double span[] = {0.0, 10.0};

  enum state {
    x_crank,
    y_crank,
    crank,
    x_rod,
    y_rod,
    rod,
    x_slider,
    y_slider,
    slider,
    vx_crank,
    vy_crank,
    w_crank,
    vx_rod,
    vy_rod,
    w_rod,
    vx_slider,
    vy_slider,
    w_slider
  };
  static constexpr auto first_velocity = vx_crank;
  static constexpr saltus::variable<state> state_list[] = {{x_crank, 0.0, "m", "centre of the crank, along the slide"},
                                                           {y_crank, 0.0, "m", "centre of the crank, upward"},
                                                           {crank, 0.5, "rad", "angle of the crank"},
                                                           {x_rod, 0.0, "m", "centre of the rod, along the slide"},
                                                           {y_rod, 0.0, "m", "centre of the rod, upward"},
                                                           {rod, 0.0, "rad", "angle of the rod"},
                                                           {x_slider, 0.0, "m", "the slider, along the slide"},
                                                           {y_slider, 0.0, "m", "the slider, upward"},
                                                           {slider, 0.0, "rad", "angle of the slider"},
                                                           {vx_crank, 0.0, "m/s", "velocity"},
                                                           {vy_crank, 0.0, "m/s", "velocity"},
                                                           {w_crank, 10.0, "rad/s", "angular velocity of the crank"},
                                                           {vx_rod, 0.0, "m/s", "velocity"},
                                                           {vy_rod, 0.0, "m/s", "velocity"},
                                                           {w_rod, 0.0, "rad/s", "angular velocity of the rod"},
                                                           {vx_slider, 0.0, "m/s", "velocity"},
                                                           {vy_slider, 0.0, "m/s", "velocity"},
                                                           {w_slider, 0.0, "rad/s", "angular velocity of the slider"}};
  enum parameter { radius, length, crank_mass, rod_mass, slider_mass, gravity };
  static constexpr saltus::variable<parameter> parameter_list[] = {
      {radius, 0.3, "m", "length of the crank"},      {length, 1.0, "m", "length of the rod, above that of the crank"},
      {crank_mass, 2.0, "kg", "mass of the crank"},   {rod_mass, 1.5, "kg", "mass of the rod"},
      {slider_mass, 1.0, "kg", "mass of the slider"}, {gravity, 9.81, "m/s2", "acceleration of gravity"}};
  enum constraint { pivot_x, pivot_y, pin_x, pin_y, wrist_x, wrist_y, guide, upright };
  static constexpr saltus::constrained<constraint> constraint_list[] = {
      {pivot_x, saltus::holonomic, "m", "the crank turns about the origin, along the slide"},
      {pivot_y, saltus::holonomic, "m", "the crank turns about the origin, upward"},
      {pin_x, saltus::holonomic, "m", "crank and rod, along the slide"},
      {pin_y, saltus::holonomic, "m", "crank and rod, upward"},
      {wrist_x, saltus::holonomic, "m", "rod and slider, along the slide"},
      {wrist_y, saltus::holonomic, "m", "rod and slider, upward"},
      {guide, saltus::holonomic, "m", "the slider stays on its slide"},
      {upright, saltus::holonomic, "rad", "the slider does not turn"}};
  enum output { energy };
  static constexpr saltus::derived<output> output_list[] = {{energy, "J", "kinetic and potential energy"}};

  static void initial(auto& at) {
    const auto a = at[radius], l = at[length], c = cos(at[crank]), s = sin(at[crank]), w = at[w_crank];
    const auto s_rod = -a * s / l, c_rod = sqrt(1.0 - s_rod * s_rod);
    at[rod] = atan2(s_rod, c_rod);
    at[w_rod] = -a * c * w / (l * c_rod);
    at[x_crank] = 0.5 * a * c;
    at[y_crank] = 0.5 * a * s;
    at[vx_crank] = -0.5 * a * s * w;
    at[vy_crank] = 0.5 * a * c * w;
    at[x_rod] = a * c + 0.5 * l * c_rod;
    at[y_rod] = 0.5 * a * s;
    at[vx_rod] = -a * s * w - 0.5 * l * s_rod * at[w_rod];
    at[vy_rod] = 0.5 * a * c * w;
    at[x_slider] = a * c + l * c_rod;
    at[vx_slider] = -a * s * w - l * s_rod * at[w_rod];
  }
  static auto crank_inertia(const auto& at) { return at[crank_mass] * at[radius] * at[radius] / 12.0; }
  static auto rod_inertia(const auto& at) { return at[rod_mass] * at[length] * at[length] / 12.0; }
  static void mass(const auto& at, auto& matrix) {
    matrix(vx_crank, vx_crank) = matrix(vy_crank, vy_crank) = at[crank_mass];
    matrix(w_crank, w_crank) = crank_inertia(at);
    matrix(vx_rod, vx_rod) = matrix(vy_rod, vy_rod) = at[rod_mass];
    matrix(w_rod, w_rod) = rod_inertia(at);
    matrix(vx_slider, vx_slider) = matrix(vy_slider, vy_slider) = at[slider_mass];
    matrix(w_slider, w_slider) = 0.01 * at[slider_mass];
  }
  static void force(const auto& at, auto& f) {
    f[vx_crank] = f[w_crank] = f[vx_rod] = f[w_rod] = f[vx_slider] = f[w_slider] = 0.0;
    f[vy_crank] = -(at[crank_mass] * at[gravity]);
    f[vy_rod] = -(at[rod_mass] * at[gravity]);
    f[vy_slider] = -(at[slider_mass] * at[gravity]);
  }
  static void constraints(const auto& at, auto& c) {
    const auto ax = 0.5 * at[radius] * cos(at[crank]), ay = 0.5 * at[radius] * sin(at[crank]);
    const auto lx = 0.5 * at[length] * cos(at[rod]), ly = 0.5 * at[length] * sin(at[rod]);
    c[pivot_x] = at[x_crank] - ax;
    c[pivot_y] = at[y_crank] - ay;
    c[pin_x] = at[x_crank] + ax - (at[x_rod] - lx);
    c[pin_y] = at[y_crank] + ay - (at[y_rod] - ly);
    c[wrist_x] = at[x_rod] + lx - at[x_slider];
    c[wrist_y] = at[y_rod] + ly - at[y_slider];
    c[guide] = at[y_slider];
    c[upright] = at[slider];
  }
  static void outputs(const auto& at, auto& out) {
    const auto twice = at[crank_mass] * (at[vx_crank] * at[vx_crank] + at[vy_crank] * at[vy_crank]) +
                       crank_inertia(at) * at[w_crank] * at[w_crank] +
                       at[rod_mass] * (at[vx_rod] * at[vx_rod] + at[vy_rod] * at[vy_rod]) +
                       rod_inertia(at) * at[w_rod] * at[w_rod] + at[slider_mass] * at[vx_slider] * at[vx_slider];
    out[energy] = 0.5 * twice + at[gravity] * (at[crank_mass] * at[y_crank] + at[rod_mass] * at[y_rod]);
  }
};
