// E5 of the stiff DETEST problems (W. H. Enright, T. E. Hull, B. Lindberg, BIT 15 (1975) 10) over the time span of the Test Set for IVP
// Solvers: pyrolysis, to 1e13. The law y2 = y3 + y4 holds throughout.
#include <saltus.hpp>

struct pyrolysis {
  static constexpr double span[] = {0.0, 1e13};
  enum state { y1, y2, y3, y4 };
  static constexpr saltus::variable<state> state_list[] = {
      {y1, 1.76e-3, "1", ""}, {y2, 0.0, "1", ""}, {y3, 0.0, "1", ""}, {y4, 0.0, "1", ""}};
  static void rhs(const auto& at, auto& dy) {
    const double A = 7.89e-10, B = 1.1e7, C = 1.13e3, M = 1e6;
    const auto a = A * at[y1], b = B * at[y1] * at[y3], c = M * C * at[y2] * at[y3], d = C * at[y4];
    dy[y1] = -a - b;
    dy[y2] = a - c;
    dy[y3] = (a - c) - (b - d);
    dy[y4] = b - d;
  }
};
