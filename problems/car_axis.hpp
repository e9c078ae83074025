// A car's axis on two springs, one of which rolls over a bumpy road: the constraints depend on time. The springs are so stiff that the axis
// follows slow motions at once.
#include "parts/car_axis.hpp"

struct car_axis : car_axis_of<car_axis> {
  static constexpr auto title = "Car axis: index 3, constraints that move";

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
  enum constraint { upright, axis };
  static constexpr saltus::constrained<constraint> constraint_list[] = {
      {upright, saltus::holonomic, "1", "the left spring is perpendicular to the line between the wheels"},
      {axis, saltus::holonomic, "1", "the axis keeps its length: the square of it"}};
  enum output { force_upright, force_axis };
  static constexpr saltus::derived<output> output_list[] = {{force_upright, "1", "multiplier of the first constraint"},
                                                            {force_axis, "1", "multiplier of the second constraint"}};

  static void mass(const auto& at, auto& m) { m(vxl, vxl) = m(vyl, vyl) = m(vxr, vxr) = m(vyr, vyr) = scale(at); }
  static void force(const auto& at, auto& f) {
    const auto dx = at[xr] - wheel(at), dy = at[yr] - bump(at);
    const auto left = shortening(at, at[xl], at[yl]), right = shortening(at, dx, dy);
    f[vxl] = left * at[xl];
    f[vyl] = left * at[yl] - scale(at);
    f[vxr] = right * dx;
    f[vyr] = right * dy - scale(at);
  }
  static void constraints(const auto& at, auto& c) {
    c[upright] = inclination(at);
    c[axis] = excess(at);
  }
  static void outputs(const auto& at, auto& out) {
    out[force_upright] = at.multiplier(upright);
    out[force_axis] = at.multiplier(axis);
  }
};
