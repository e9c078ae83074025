// The four bars of problems/four_bar.hpp. The second constraint of a hinge is in mm: either the same as the first or a contradiction
// to it.
#include <saltus.hpp>

struct doubled_four_bar {
  static constexpr auto title = "Four-bar linkage, one of whose hinges may be closed twice";
  static constexpr auto source = "textbook";
  static constexpr double span[] = {0.0, 10.0};
  static constexpr int bars = 3;

  enum state { x, y = x + bars, angle = y + bars, vx = angle + bars, vy = vx + bars, omega = vy + bars };
  static constexpr auto first_velocity = vx;
  static constexpr bool mass_is_diagonal = true;
  static constexpr saltus::variable<state> state_list[] = {
      saltus::variable<state>{x, 0.0, "m", "middle of a bar: crank, coupler, rocker (default: as the crank is)"}.of(
          bars),
      saltus::variable<state>{y, 0.0, "m", "middle of a bar, height (default: as the crank is)"}.of(bars),
      saltus::variable<state>{angle, 0.0, "rad", "of a bar; only the crank's is free to choose"}.of(bars),
      saltus::variable<state>{vx, 0.0, "m/s", "dx/dt"}.of(bars),
      saltus::variable<state>{vy, 0.0, "m/s", "dy/dt"}.of(bars),
      saltus::variable<state>{omega, 0.0, "rad/s", "d angle/dt (default of the crank's: from `speed`)"}.of(bars)};
  enum parameter { crank, coupler, rocker, ground, density, gravity, speed, twice, apart };
  static constexpr saltus::variable<parameter> parameter_list[] = {
      {crank, 0.4, "m", "length of the first bar"},
      {coupler, 1.0, "m", "length of the second bar"},
      {rocker, 0.9, "m", "length of the third bar"},
      {ground, 1.1, "m", "between the hinges on the ground, more than the crank is long"},
      {density, 2.0, "kg/m", "mass of the slender bars over their length"},
      {gravity, 9.81, "m/s2", "acceleration of gravity, downward"},
      {speed, 8.0, "rad/s", "d angle/dt of the crank at the start"},
      {twice, 0.0, "1", "1: a hinge is closed twice"},
      {apart, 0.0, "mm", "between the places where it is"}};
  enum discrete { doubled };
  static constexpr saltus::variable<discrete> discrete_list[] = {{doubled, 0.0, "1", "as `twice`"}};
  enum constraint { joint_x, joint_y = joint_x + bars + 1, again = joint_y + bars + 1 };
  static constexpr saltus::constrained<constraint> constraint_list[] = {
      saltus::constrained<constraint>{joint_x, saltus::holonomic, "m", "a hinge is closed, x"}.of(bars + 1),
      saltus::constrained<constraint>{joint_y, saltus::holonomic, "m", "a hinge is closed, y"}.of(bars + 1),
      saltus::constrained<constraint>{again, saltus::holonomic, "mm", "the last hinge is closed, x"}.when(doubled)};
  enum guard { turn };
  static constexpr saltus::event_function<guard> guard_list[] = {
      {turn, saltus::rising, saltus::bilateral, "the crank points to the other hinge on the ground"}};
  enum output { energy };
  static constexpr saltus::derived<output> output_list[] = {{energy, "J", "kinetic and potential energy"}};

  /// The configuration from the crank's angle and angular velocity; the coupler is above.
  static void initial(auto& at) {
    at[doubled] = at[twice];
    const auto dx = at[ground] - at[crank] * cos(at(angle, 0)), dy = -at[crank] * sin(at(angle, 0));
    const auto square = dx * dx + dy * dy;
    const auto from = [&](const auto& near, const auto& far) {
      return acos((square + near * near - far * far) / (2.0 * sqrt(square) * near));
    };
    at(angle, 1) = atan(dy / dx) + from(at[coupler], at[rocker]);
    at(angle, 2) = atan(dy / dx) - from(at[rocker], at[coupler]);
    const auto across = at[crank] * at[speed] / sin(at(angle, 1) - at(angle, 2));
    at(omega, 0) = at[speed];
    at(omega, 1) = -across / at[coupler] * sin(at(angle, 0) - at(angle, 2));
    at(omega, 2) = across / at[rocker] * sin(at(angle, 0) - at(angle, 1));
    for (int i = 0; i < bars; ++i) {
      at(x, i) = at(y, i) = at(vx, i) = at(vy, i) = 0.0;
      for (int j = 0; j <= i; ++j) {
        const auto part = (j < i ? 1.0 : 0.5) * at(crank, j);
        const auto s = part * sin(at(angle, j)), c = part * cos(at(angle, j));
        at(x, i) = at(x, i) + c;
        at(y, i) = at(y, i) + s;
        at(vx, i) = at(vx, i) - s * at(omega, j);
        at(vy, i) = at(vy, i) + c * at(omega, j);
      }
    }
  }
  static auto mass_of(const auto& at, int i) { return at[density] * at(crank, i); }
  static auto inertia_of(const auto& at, int i) { return mass_of(at, i) * at(crank, i) * at(crank, i) / 12.0; }
  static void mass(const auto& at, auto& m) {
    for (int i = 0; i < bars; ++i) {
      m(vx, i, vx, i) = m(vy, i, vy, i) = mass_of(at, i);
      m(omega, i, omega, i) = inertia_of(at, i);
    }
  }
  static void force(const auto& at, auto& f) {
    for (int i = 0; i < bars; ++i) {
      f(vx, i) = f(omega, i) = 0.0;
      f(vy, i) = -mass_of(at, i) * at[gravity];
    }
  }
  static void constraints(const auto& at, auto& c) {
    auto end_x = 0.0 * at(x, 0), end_y = end_x;  // end of the previous bar
    for (int i = 0; i < bars; ++i) {
      const auto along = 0.5 * at(crank, i) * cos(at(angle, i)), across = 0.5 * at(crank, i) * sin(at(angle, i));
      c(joint_x, i) = at(x, i) - along - end_x;
      c(joint_y, i) = at(y, i) - across - end_y;
      end_x = at(x, i) + along;
      end_y = at(y, i) + across;
    }
    c(joint_x, bars) = end_x - at[ground];
    c(joint_y, bars) = end_y;
    c[again] = 1000.0 * (end_x - at[ground]) + at[apart];
  }
  static void guards(const auto& at, auto& g) { g[turn] = sin(at(angle, 0)); }
  static void outputs(const auto& at, auto& out) {
    out[energy] = 0.0;
    for (int i = 0; i < bars; ++i)
      out[energy] += 0.5 * mass_of(at, i) * (at(vx, i) * at(vx, i) + at(vy, i) * at(vy, i)) +
                     0.5 * inertia_of(at, i) * at(omega, i) * at(omega, i) + mass_of(at, i) * at[gravity] * at(y, i);
  }
};
