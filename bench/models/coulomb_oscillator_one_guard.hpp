// The driven oscillator with Coulomb friction as other solvers get it (bench/peers/problems.hpp): one guard, whose meaning
// depends on the mode, and one transition. problems/coulomb_oscillator.hpp states the same problem as an automaton.
#include <saltus.hpp>

struct coulomb_oscillator_one_guard {
  static constexpr auto title = "Driven oscillator with Coulomb friction, one guard";
  static constexpr auto source =
      "J. P. Den Hartog, Trans. ASME 53 (1931) 107; S. W. Shaw, J. Sound Vib. 108 (1986) 305";
  static constexpr double span[] = {0.0, 50.0};
  static constexpr double pi = 3.14159265358979323846, frequency = 0.5, holds = 0.6, drags = 0.5;

  enum state { position, velocity };
  static constexpr saltus::variable<state> state_list[] = {
      {position, 0.0, "m", "elongation of the spring"},
      {velocity, 0.0, "m/s", "velocity of the mass"},
  };

  enum parameter { amplitude };
  static constexpr saltus::variable<parameter> parameter_list[] = {
      {amplitude, 1.0, "N", "amplitude of the drive, above `holds`"},
  };

  enum discrete { sense };
  static constexpr saltus::variable<discrete> discrete_list[] = {
      {sense, 1.0, "1", "1 moving right, -1 moving left, 0 stuck"},
  };

  enum guard { change };
  static constexpr saltus::event_function<guard> guard_list[] = {
      {change, saltus::falling, saltus::unilateral, "the mass comes to a halt, or breaks loose"},
  };

  static auto force(auto& at) { return at[amplitude] * cos(frequency * at.t) - at[position]; }

  static void rhs(const auto& at, auto& dy) {
    dy[position] = at[velocity];
    dy[velocity] = select(at[sense] == 0.0, 0.0, force(at) - drags * at[sense]);
  }

  static void guards(const auto& at, auto& g) {
    const auto now = force(at);
    g[change] = select(at[sense] == 0.0, holds * holds - now * now, at[sense] * at[velocity]);
  }

  static void transition(auto& now) {
    const auto pushes = force(now);
    const bool halts(now[sense] != 0.0), held(pushes * pushes <= holds * holds), right(pushes > 0.0);
    now[velocity] = 0.0;
    now[sense] = halts && held ? 0.0 : right ? 1.0 : -1.0;
  }

  // While the mass sticks only the drive changes: within a fifth of its period the force passes `holds` at most once.
  static auto max_step(const auto&) { return 0.2 * (2.0 * pi) / frequency; }
};
