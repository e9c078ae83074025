// A driven mass with dry friction as a hybrid automaton of three modes, without sliding: it moves right, moves left, or
// is stuck, and the meaning of a guard depends on the mode.
//
//     moving:  m x'' = A cos(w t) - k x - F_kinetic sense,   sense = 1 or -1
//     stuck:   x' = 0 while |A cos(w t) - k x| <= F_static
//
// A mass that comes to a halt is stuck for the moment; `mode` then lets it go at once if the force exceeds F_static (it
// turns back), or later, when it does. While it moves, the force may pass F_static without effect: those guards
// are conditions, and a root that changes no mode is no event.
#include <saltus.hpp>

struct coulomb_oscillator {
  static constexpr auto title = "Driven oscillator with Coulomb friction";
  static constexpr auto source =
      "J. P. Den Hartog, Trans. ASME 53 (1931) 107; S. W. Shaw, J. Sound Vib. 108 (1986) 305, with F_static > "
      "F_kinetic";
  static constexpr double span[] = {0.0, 40.0};
  static constexpr double pi = 3.14159265358979323846;

  enum state { position, velocity };
  static constexpr saltus::variable<state> state_list[] = {
      {position, 0.0, "m", "elongation of the spring"},
      {velocity, 0.0, "m/s", "velocity of the mass"},
  };

  enum parameter { mass, stiffness, amplitude, frequency, static_friction, kinetic_friction };
  static constexpr saltus::variable<parameter> parameter_list[] = {
      {mass, 1.0, "kg", "mass"},
      {stiffness, 1.0, "N/m", "stiffness of the spring"},
      {amplitude, 1.0, "N", "amplitude A of the drive"},
      {frequency, 0.5, "rad/s", "angular frequency w of the drive"},
      {static_friction, 0.6, "N", "force that friction withstands at rest, if above kinetic_friction"},
      {kinetic_friction, 0.5, "N", "friction while the mass moves"},
  };

  enum discrete { sense };
  static constexpr saltus::variable<discrete> discrete_list[] = {
      {sense, 0.0, "1", "1 moving right, -1 moving left, 0 stuck"},
  };

  enum guard { halt, push_right, push_left };
  static constexpr saltus::event_function<guard> guard_list[] = {
      {halt, saltus::falling, saltus::unilateral, "the mass comes to a halt"},
      saltus::event_function<guard>{push_right, saltus::both, saltus::bilateral, "the force passes F_static"}
          .condition(),
      saltus::event_function<guard>{push_left, saltus::both, saltus::bilateral, "the force passes -F_static"}
          .condition(),
  };

  /// Force of drive and spring, in N.
  static auto force(const auto& at) { return at[amplitude] * cos(at[frequency] * at.t) - at[stiffness] * at[position]; }

  static void rhs(const auto& at, auto& dy) {
    const auto stuck = at[sense] == 0.0;
    dy[position] = at[velocity];
    dy[velocity] = select(stuck, 0.0, (force(at) - at[kinetic_friction] * at[sense]) / at[mass]);
  }

  static void guards(const auto& at, auto& g) {
    g[halt] = at[sense] * at[velocity];                                     // zero for as long as the mass is stuck
    const auto withstood = max(at[static_friction], at[kinetic_friction]);  // what moves the mass keeps it moving
    g[push_right] = force(at) - withstood;
    g[push_left] = force(at) + withstood;
  }

  static void transition(auto& now) {
    if (now.due(halt)) {
      now[velocity] = 0.0;
      now[sense] = 0.0;
    }
  }

  static void mode(auto& now) {
    if (now[sense] != 0.0) return;
    if (now[velocity] != 0.0) now[sense] = sign(now[velocity]);  // a start with a velocity
    else if (now.above(push_right)) now[sense] = 1.0;
    else if (!now.above(push_left)) now[sense] = -1.0;
  }

  // While the mass is stuck only the drive changes: within a fifth of its cycle the force passes F_static at most once.
  static auto max_step(const auto& at) { return 0.2 * (2.0 * pi) / at[frequency]; }
};
