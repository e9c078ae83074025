// A car's axis on two springs, one of which rolls over a bumpy road: constraints that depend on time. The springs are so stiff
// that the axis answers at once to what is slow.
#include <saltus.hpp>

struct car_axis {
  static constexpr auto title = "Car axis: index 3, constraints that move";
  static constexpr auto source =
      "S. Schneider, thesis, Geneva 1994; CWI and Bari test set for initial value problem solvers";
  static constexpr double span[] = {0.0, 3.0};

  enum state { xl, yl, xr, yr, vxl, vyl, vxr, vyr };
  static constexpr auto first_velocity = vxl;
  static constexpr bool mass_is_diagonal = true;
  static constexpr saltus::variable<state> state_list[] = {{xl, 0.0, "1", "left end of the axis"},
                                                           {yl, 0.5, "1", "left end of the axis, height"},
                                                           {xr, 1.0, "1", "right end of the axis"},
                                                           {yr, 0.5, "1", "right end of the axis, height"},
                                                           {vxl, -0.5, "1", "dxl/dt"},
                                                           {vyl, 0.0, "1", "dyl/dt"},
                                                           {vxr, -0.5, "1", "dxr/dt"},
                                                           {vyr, 0.0, "1", "dyr/dt"}};
  enum parameter { M, eps, length, spring, height, frequency };
  static constexpr saltus::variable<parameter> parameter_list[] = {
      {M, 10.0, "1", "mass"},
      {eps, 0.01, "1", "the springs' stiffness is 1/eps^2"},
      {length, 1.0, "1", "between wheels, and of the axis"},
      {spring, 0.5, "1", "length of a spring at rest"},
      {height, 0.1, "1", "of the bumps"},
      {frequency, 10.0, "1", "of the bumps"},
  };
  enum constraint { upright, axis };
  static constexpr saltus::constrained<constraint> constraint_list[] = {
      {upright, saltus::holonomic, "1", "the left spring is perpendicular to the line between the wheels"},
      {axis, saltus::holonomic, "1", "the axis keeps its length: the square of it"}};
  enum guard { level };
  static constexpr saltus::event_function<guard> guard_list[] = {
      {level, saltus::rising, saltus::bilateral, "the right end rises through the height where it started"}};
  enum output { force_upright, force_axis };
  static constexpr saltus::derived<output> output_list[] = {{force_upright, "1", "multiplier of the first constraint"},
                                                            {force_axis, "1", "multiplier of the second constraint"}};

  static auto bump(const auto& at) { return at[height] * sin(at[frequency] * at.t); }
  static auto wheel(const auto& at) {
    const auto y = bump(at);
    return sqrt(at[length] * at[length] - y * y);
  }
  static auto scale(const auto& at) { return 0.5 * at[M] * at[eps] * at[eps]; }
  static void mass(const auto& at, auto& m) { m(vxl, vxl) = m(vyl, vyl) = m(vxr, vxr) = m(vyr, vyr) = scale(at); }
  static void force(const auto& at, auto& f) {
    const auto dx = at[xr] - wheel(at), dy = at[yr] - bump(at);
    const auto left = at[spring] / sqrt(at[xl] * at[xl] + at[yl] * at[yl]) - 1.0;
    const auto right = at[spring] / sqrt(dx * dx + dy * dy) - 1.0;
    f[vxl] = left * at[xl];
    f[vyl] = left * at[yl] - scale(at);
    f[vxr] = right * dx;
    f[vyr] = right * dy - scale(at);
  }
  static void constraints(const auto& at, auto& c) {
    const auto dx = at[xl] - at[xr], dy = at[yl] - at[yr];
    c[upright] = at[xl] * wheel(at) + at[yl] * bump(at);
    c[axis] = dx * dx + dy * dy - at[length] * at[length];
  }
  static void guards(const auto& at, auto& g) { g[level] = at[yr] - 0.5; }
  static void outputs(const auto& at, auto& out) {
    out[force_upright] = at.multiplier(upright);
    out[force_axis] = at.multiplier(axis);
  }
};
