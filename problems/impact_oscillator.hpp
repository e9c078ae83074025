// A driven oscillator that hits a wall: x'' + x = cos(w t) for x <= 0, v <- -r v at x = 0. It starts on its own periodic orbit with one
// impact per period T of the drive, so that every impact is known in advance.
//
// With a = 1 / (1 - w^2), k = tan(T / 2) and t* the time of an impact, the orbit until the next one is
//     x = a cos(w t) + c cos(t - t*) + s sin(t - t*);
// it leaves the wall with -r u and returns with u after T, which gives
//     c = -a cos(w t*),  s = a w sin(w t*) - r u,
//     cos(w t*) = u p,  p = (1 + r) / (2 a k),  sin(w t*) = u q,  q = (r - 1) / (2 a w),  u = 1 / sqrt(p^2 + q^2).
// At the default parameters the orbit is unstable: an error grows by a factor of 2.96 from one impact to the next.
//
// When the impacts die out while the drive presses the oscillator against the wall, it rests there until the drive turns.
#include <saltus.hpp>

struct impact_oscillator {
  static constexpr auto title = "Impact oscillator on its period-1 orbit";
  static constexpr auto source = "S. W. Shaw, P. J. Holmes, J. Sound Vib. 90 (1983) 129";
  static constexpr double span[] = {0.0, 8.0};
  static constexpr double pi = 3.14159265358979323846;

  enum state { position, velocity };
  static constexpr saltus::variable<state> state_list[] = {
      {position, 0.0, "1", "distance beyond the wall, never positive (default: on the periodic orbit)"},
      {velocity, 0.0, "1", "velocity towards the wall (default: on the periodic orbit)"},
  };

  enum parameter { restitution, frequency };
  static constexpr saltus::variable<parameter> parameter_list[] = {
      {restitution, 0.8, "1", "share of the speed kept at an impact"},
      {frequency, 2.8, "1", "angular frequency of the drive over that of the oscillator"},
  };

  enum discrete { resting };
  static constexpr saltus::variable<discrete> discrete_list[] = {
      {resting, 0.0, "1", "1 while the drive holds the oscillator at the wall"},
  };

  enum guard { impact, release };
  static constexpr saltus::event_function<guard> guard_list[] = {
      {impact, saltus::rising, saltus::unilateral, "the oscillator reaches the wall"},
      {release, saltus::rising, saltus::bilateral, "the drive turns away from the wall, at which it rests"},
  };

  /// The point of the periodic orbit at t = 0, from the last impact before it.
  static void initial(auto& at) {
    const auto w = at[frequency], r = at[restitution];
    const auto a = 1.0 / (1.0 - w * w);
    const auto k = tan(pi / w);
    const auto p = (1.0 + r) / (2.0 * a * k);
    const auto q = (r - 1.0) / (2.0 * a * w);
    const auto u = 1.0 / sqrt(p * p + q * q);
    const auto c = -a * u * p;
    const auto s = a * w * u * q - r * u;

    const auto angle = atan(q / p);
    const auto phase = select(p < 0.0, angle + pi, angle);                 // w t*, in (-pi/2, 3 pi/2)
    const auto since = select(phase > 0.0, 2.0 * pi - phase, -phase) / w;  // from the last impact to t = 0
    at[position] = a + c * cos(since) + s * sin(since);
    at[velocity] = s * cos(since) - c * sin(since);
  }

  static void rhs(const auto& at, auto& dy) {
    dy[position] = at[velocity];
    dy[velocity] = select(at.is_on(resting), 0.0, cos(at[frequency] * at.t) - at[position]);
  }

  static void guards(const auto& at, auto& g) {
    g[impact] = at[position];
    g[release] = select(at.is_on(resting), -cos(at[frequency] * at.t), -1.0);
  }

  static void transition(auto& now) {
    if (now.due(impact)) now[velocity] = -now[restitution] * now[velocity];
    if (now.due(release)) now[resting] = 0.0;
  }

  static void rest(auto& now) {
    now[position] = now[velocity] = 0.0;
    if (cos(now[frequency] * now.t) > 0.0) now[resting] = 1.0;
  }
};
