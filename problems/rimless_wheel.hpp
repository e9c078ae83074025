// A wheel of spokes without a rim that rolls down a slope, the simplest walker: an inverted pendulum on the standing leg, and a plastic
// impact when the next leg meets the ground. The unit of time is sqrt(leg length / gravity).
//
// theta, the angle of the standing leg from the vertical, runs from gamma - alpha to gamma + alpha, where 2 alpha is the angle between
// legs and gamma the slope. At the impact theta jumps back by 2 alpha and the speed is multiplied by r = cos(2 alpha). A leg adds
// 4 sin(gamma) sin(alpha) to the square of the speed, so that after impacts
//
//     w^2 <- r^2 (w^2 + 4 sin(gamma) sin(alpha)),   steady at   w^2 = 4 sin(gamma) sin(alpha) / tan(2 alpha)^2,
//
// if that speed carries the wheel over the top, w^2 > 2 - 2 cos(gamma - alpha). A slower wheel rocks between two legs with impacts that
// accumulate, and comes to rest on both.
#include <saltus.hpp>

struct rimless_wheel {
  static constexpr auto title = "Rimless wheel";
  static constexpr auto source =
      "T. McGeer, Int. J. Robotics Research 9 (1990) 62; M. J. Coleman, A. Chatterjee, A. Ruina, Dyn. Stab. Syst. 12 "
      "(1997) 139";
  static constexpr double span[] = {0.0, 10.0};
  static constexpr double pi = 3.14159265358979323846;

  enum state { angle, velocity };
  static constexpr saltus::variable<state> state_list[] = {
      {angle, 0.0, "rad", "angle of the standing leg from the vertical, downhill (default: just after an impact)"},
      {velocity, 0.5, "rad", "angular velocity, per unit of time"},
  };

  enum parameter { half_angle, slope };
  static constexpr saltus::variable<parameter> parameter_list[] = {
      {half_angle, pi / 8.0, "rad", "alpha: half the angle between two legs"},
      {slope, 0.08, "rad", "gamma: inclination of the ground"},
  };

  enum discrete { resting };
  static constexpr saltus::variable<discrete> discrete_list[] = {
      {resting, 0.0, "1", "1 once the wheel stands still on two legs"},
  };

  enum guard { front, back };
  static constexpr saltus::event_function<guard> guard_list[] = {
      {front, saltus::falling, saltus::unilateral, "the next leg meets the ground"},
      {back, saltus::falling, saltus::unilateral, "rocking back, the last leg meets the ground"},
  };

  static void initial(auto& at) { at[angle] = at[slope] - at[half_angle]; }

  static void rhs(const auto& at, auto& dy) {
    dy[angle] = at[velocity];
    dy[velocity] = select(at.is_on(resting), 0.0, sin(at[angle]));
  }

  static void guards(const auto& at, auto& g) {
    g[front] = select(at.is_on(resting), 1.0, (at[slope] + at[half_angle]) - at[angle]);
    g[back] = select(at.is_on(resting), 1.0, at[angle] - (at[slope] - at[half_angle]));
  }

  // The leg that has landed becomes the standing leg.
  static void transition(auto& now) {
    if (now.due(front)) now[angle] = now[slope] - now[half_angle];
    if (now.due(back)) now[angle] = now[slope] + now[half_angle];
    now[velocity] *= cos(2.0 * now[half_angle]);
  }

  static void rest(auto& now) {
    now[angle] = now[slope] - now[half_angle];
    now[velocity] = 0.0;
    now[resting] = 1.0;
  }
};
