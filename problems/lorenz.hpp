// The Lorenz equations: a smooth, chaotic model without guards, the usual first measure of speed.
#include <saltus.hpp>

struct lorenz {
  static constexpr auto title = "Lorenz equations";
  static constexpr auto source = "E. N. Lorenz, J. Atmos. Sci. 20 (1963) 130, eqs. 25-27";
  static constexpr double span[] = {0.0, 10.0};

  enum state { x, y, z };
  static constexpr saltus::variable<state> state_list[] = {
      {x, 10.0, "1", "intensity of the convection"},
      {y, 10.0, "1", "temperature difference between rising and sinking fluid"},
      {z, 10.0, "1", "departure of the temperature profile from linear"},
  };

  enum parameter { sigma, rho, beta };
  static constexpr saltus::variable<parameter> parameter_list[] = {
      {sigma, 10.0, "1", "Prandtl number"},
      {rho, 28.0, "1", "Rayleigh number over its critical value"},
      {beta, 8.0 / 3.0, "1", "aspect ratio of the convection cell"},
  };

  static void rhs(const auto& at, auto& dy) {
    dy[x] = at[sigma] * (at[y] - at[x]);
    dy[y] = at[x] * (at[rho] - at[z]) - at[y];
    dy[z] = at[x] * at[y] - at[beta] * at[z];
  }
};
