// The slider and its crank (slider_crank.hpp) by Newton's and Euler's equations of each body with the forces of the four joints.
#include "parts/slider_crank.hpp"

struct slider_crank_any_order : slider_crank_of<slider_crank_any_order> {
  static constexpr auto title = "Slider and crank as a residual, index 3";

  enum state { crank, x, y, rod, slider, force_pin_x, force_pin_y, force_wrist_x, force_wrist_y };
  static constexpr saltus::variable<state> state_list[] = {
      {crank, 0.0, "rad", "angle of the crank, from the slider's way"},
      {x, 0.0, "m", "middle of the rod (default: as the crank is)"},
      {y, 0.0, "m", "middle of the rod, height (default: as the crank is)"},
      {rod, 0.0, "rad", "angle of the rod (default: as the crank is)"},
      {slider, 0.0, "m", "position of the slider (default: as the crank is)"},
      {force_pin_x, 0.0, "N", "of the crank on the rod, x"},
      {force_pin_y, 0.0, "N", "of the crank on the rod, y"},
      {force_wrist_x, 0.0, "N", "of the slider on the rod, x"},
      {force_wrist_y, 0.0, "N", "of the guide on the rod's end, upward"}};
  enum equation { crank_turns, rod_moves_x, rod_moves_y, rod_turns, slider_moves, pin_x, pin_y, wrist_x, wrist_y };
  static constexpr saltus::equated<equation> equation_list[] = {
      {crank_turns, "N m", "torques on the crank"}, {rod_moves_x, "N", "forces on the rod, x"},
      {rod_moves_y, "N", "forces on the rod, y"},   {rod_turns, "N m", "torques on the rod"},
      {slider_moves, "N", "forces on the slider"},  {pin_x, "m", "the rod is on the crank, x"},
      {pin_y, "m", "the rod is on the crank, y"},   {wrist_x, "m", "the rod is on the slider, x"},
      {wrist_y, "m", "the rod is on the slider, y"}};

  static void initial(auto& at) {
    at.d(crank, 1) = 8.0;
    place(
        at, [&](state i) -> auto& { return at.d(i, 1); });
  }
  static void residual(const auto& at, auto& r) {
    const auto along = 0.5 * at[length] * cos(at[rod]), across = 0.5 * at[length] * sin(at[rod]);
    const auto pull_x = at[force_pin_x] - at[force_wrist_x], pull_y = at[force_wrist_y] - at[force_pin_y];
    r[crank_turns] = at[inertia] * at.d(crank, 2) -
                     at[radius] * (sin(at[crank]) * at[force_pin_x] - cos(at[crank]) * at[force_pin_y]);
    r[rod_moves_x] = at[m_rod] * at.d(x, 2) - at[force_pin_x] - at[force_wrist_x];
    r[rod_moves_y] = at[m_rod] * (at.d(y, 2) + at[gravity]) - at[force_pin_y] - at[force_wrist_y];
    r[rod_turns] = at[m_rod] * at[length] * at[length] / 12.0 * at.d(rod, 2) - across * pull_x - along * pull_y;
    r[slider_moves] = at[m_slider] * at.d(slider, 2) + at[friction] * at.d(slider, 1) + at[force_wrist_x];
    close(at, r);
  }
  static void guards(const auto& at, auto& g) { g[outer] = g[inner] = at.d(slider, 1); }
};
