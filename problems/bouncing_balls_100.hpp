// A hundred balls, dropped from heights 1e-9 m apart, bounce on springs and dampers: events come in groups of a hundred, at first 2.26e-10
// s apart. Each ball passes the ground twelve times in the default span.
//
// Flight is a parabola. In contact m v' = -m g - k y - c v, so y is about -m g / k a damped wave of angular frequency sqrt(k / m - (c / 2
// m)^2) that decays as exp(-c t / 2 m). The force jumps by c v at the beginning and the end of a contact.
#include <saltus.hpp>

struct bouncing_balls_100 {
  static constexpr auto title = "100 bouncing balls: nearly concurrent bilateral events";
  static constexpr auto source =
      "M. D. Compere (2001), section 5.3.3; mass, stiffness, damping and time span are of our own, with its 1200 "
      "events";
  static constexpr double span[] = {0.0, 3.7};
  static constexpr int balls = 100;

  enum state { height, velocity = height + balls };
  static constexpr saltus::variable<state> state_list[] = {
      saltus::variable<state>{height, 1.0, "m", "height above the ground (default: 1e-9 m apart)"}.of(balls),
      saltus::variable<state>{velocity, 0.0, "m/s", "velocity, upwards"}.of(balls),
  };

  enum parameter { gravity, mass, stiffness, damping };
  static constexpr saltus::variable<parameter> parameter_list[] = {
      {gravity, 9.81, "m/s2", "acceleration of gravity, downwards"},
      {mass, 1.0, "kg", "mass of a ball"},
      {stiffness, 1e4, "N/m", "of the ground"},
      {damping, 10.0, "N s/m", "of the ground"},
  };

  enum guard { contact };
  static constexpr saltus::event_function<guard> guard_list[] = {
      saltus::event_function<guard>{contact, saltus::both, saltus::bilateral, "the ball reaches or leaves the ground"}
          .of(balls),
  };

  static void initial(auto& at) {
    for (int i = 0; i < balls; ++i) at(height, i) = 1.0 + 1e-9 * i;
  }

  static void rhs(const auto& at, auto& dy) {
    for (int i = 0; i < balls; ++i) {
      const auto push = -(at[stiffness] * at(height, i) + at[damping] * at(velocity, i)) / at[mass];
      dy(height, i) = at(velocity, i);
      dy(velocity, i) = select(at.above(contact, i), 0.0, push) - at[gravity];
    }
  }

  static void guards(const auto& at, auto& g) {
    for (int i = 0; i < balls; ++i) g(contact, i) = at(height, i);
  }
};
