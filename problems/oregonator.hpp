// The Belousov-Zhabotinskii reaction in three concentrations: a limit cycle on which they rise and fall by up to five orders of magnitude,
// once in about 303 time units and mostly within a few of them.
#include <saltus.hpp>

struct oregonator {
  static constexpr auto title = "Oregonator";
  static constexpr auto source =
      "R. J. Field, R. M. Noyes, J. Chem. Phys. 60 (1974) 1877, as in E. Hairer, G. Wanner, Solving ODEs II, IV.10 "
      "(OREGO)";
  static constexpr double span[] = {0.0, 360.0};

  enum state { y1, y2, y3 };
  static constexpr saltus::variable<state> state_list[] = {
      {y1, 1.0, "1", "bromous acid, scaled"},
      {y2, 2.0, "1", "bromide, scaled"},
      {y3, 3.0, "1", "cerium(IV), scaled"},
  };

  enum parameter { s, q, w };
  static constexpr saltus::variable<parameter> parameter_list[] = {
      {s, 77.27, "1", "ratio of the rates of bromous acid and bromide"},
      {q, 8.375e-6, "1", "decay of bromous acid by itself"},
      {w, 0.161, "1", "rate of cerium(IV)"},
  };

  static void rhs(const auto& at, auto& dy) {
    dy[y1] = at[s] * (at[y2] + at[y1] * (1.0 - at[q] * at[y1] - at[y2]));
    dy[y2] = (at[y3] - (1.0 + at[y1]) * at[y2]) / at[s];
    dy[y3] = at[w] * (at[y1] - at[y3]);
  }
};
