// A crank drives a slider through a rod, in coordinates of every body: a loop with four closure conditions. It also passes the dead points,
// where the slider turns back and its position does not tell which way the crank moves on.
#include "parts/slider_crank.hpp"

struct slider_crank : slider_crank_of<slider_crank> {
  static constexpr auto title = "Slider and crank, a closed loop";

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
  enum constraint { pin_x, pin_y, wrist_x, wrist_y };
  static constexpr saltus::constrained<constraint> constraint_list[] = {
      {pin_x, saltus::holonomic, "m", "the rod is on the crank, x"},
      {pin_y, saltus::holonomic, "m", "the rod is on the crank, y"},
      {wrist_x, saltus::holonomic, "m", "the rod is on the slider, x"},
      {wrist_y, saltus::holonomic, "m", "the rod is on the slider, y"}};
  enum invariant { total };
  static constexpr saltus::conserved<invariant> invariant_list[] = {{total, "J", "energy, where nothing rubs"}};
  enum output { energy, side_force };
  static constexpr saltus::derived<output> output_list[] = {{energy, "J", "kinetic and potential energy"},
                                                            {side_force, "N", "of the rod's end on its guide, upward"}};

  // A velocity stands five places behind its coordinate.
  static void initial(auto& at) {
    place(
        at, [&](state i) -> auto& { return at(i, 5); });
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
  static void constraints(const auto& at, auto& c) { close(at, c); }
  static void guards(const auto& at, auto& g) { g[outer] = g[inner] = at[v_slider]; }
  static auto energy_of(const auto& at) {
    const auto rods = at[vx] * at[vx] + at[vy] * at[vy] + at[length] * at[length] / 12.0 * at[v_rod] * at[v_rod];
    return 0.5 * (at[inertia] * at[v_crank] * at[v_crank] + at[m_rod] * rods +
                  at[m_slider] * at[v_slider] * at[v_slider]) +
           at[m_rod] * at[gravity] * at[y];
  }
  static void invariants(const auto& at, auto& i) { i[total] = select(at[friction] == 0.0, energy_of(at), 0.0); }
  static void outputs(const auto& at, auto& out) {
    out[energy] = energy_of(at);
    out[side_force] = at.multiplier(wrist_y);
  }
};
