// A ball falls onto a hard ground, which is a spring and a damper: contacts of a third of a millisecond between flights of half a second.
// The bounces fade until the ball no longer leaves the ground. It then settles on the compressed spring, at -m g / k, in an oscillation
// that decays in a time of 2 m / c. From there on the solution is constant, and only stiffness is left. With much damping, c^2 > 4 k m, the
// ball does not bounce at all.
//
// In contact m v' = -m g - k y - c v. The force jumps by c v at the beginning and the end of a contact. With m = 1 a bounce keeps about
// exp(-pi c / sqrt(4 k - c^2)) of the velocity.
#include <saltus.hpp>

struct stiff_ball {
  static constexpr auto title = "Ball on a stiff ground, until it rests";
  static constexpr auto source = "a damped oscillator in contact, a parabola in flight; figures of our own";
  static constexpr double span[] = {0.0, 4.0};

  enum state { height, velocity };
  static constexpr saltus::variable<state> state_list[] = {
      {height, 1.0, "m", "height above the uncompressed ground"},
      {velocity, 0.0, "m/s", "velocity, upwards"},
  };

  enum parameter { gravity, mass, stiffness, damping };
  static constexpr saltus::variable<parameter> parameter_list[] = {
      {gravity, 9.81, "m/s2", "acceleration of gravity, downwards"},
      {mass, 1.0, "kg", "mass"},
      {stiffness, 1e8, "N/m", "of the ground"},
      {damping, 2000.0, "N s/m", "of the ground"},
  };

  enum guard { contact };
  static constexpr saltus::event_function<guard> guard_list[] = {
      {contact, saltus::both, saltus::bilateral, "the ball reaches or leaves the ground"},
  };

  static void rhs(const auto& at, auto& dy) {
    const auto push = -(at[stiffness] * at[height] + at[damping] * at[velocity]) / at[mass];
    dy[height] = at[velocity];
    dy[velocity] = select(at.above(contact), 0.0, push) - at[gravity];
  }

  static void guards(const auto& at, auto& g) { g[contact] = at[height]; }
};
