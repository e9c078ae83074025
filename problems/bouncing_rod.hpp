// A rod falls on a smooth floor and bounces on its two ends until it lies still: contacts close, last, and open again. If both ends meet
// the floor, or one does while the other lies there, the impact is that of all contacts at once, or of one after the other, as `one_by_one`
// says. Without friction no force moves the rod sideways.
#include <saltus.hpp>

struct bouncing_rod {
  static constexpr auto title = "Rod that bounces on both ends";
  static constexpr auto source =
      "an exercise of mechanics; F. Pfeiffer, C. Glocker, Multibody Dynamics with Unilateral Contacts, 1996";
  static constexpr double span[] = {0.0, 4.0};

  enum state { y, angle, vy, omega };
  static constexpr auto first_velocity = vy;
  static constexpr saltus::variable<state> state_list[] = {
      {y, 1.0, "m", "height of the centre of mass"},
      {angle, 0.3, "rad", "of the rod from the horizontal; above 0 its left end is the lower one"},
      {vy, 0.0, "m/s", "dy/dt"},
      {omega, 0.0, "rad/s", "d angle/dt"}};
  enum parameter { inertia, half_length, gravity, restitution, slowest, one_by_one };
  static constexpr saltus::variable<parameter> parameter_list[] = {
      {inertia, 1.0, "kg", "mass of the rod"},
      {half_length, 0.5, "m", "half its length"},
      {gravity, 9.81, "m/s2", "acceleration of gravity"},
      {restitution, 0.5, "1", "share of the speed of an end that an impact gives back"},
      {slowest, 1e-4, "m/s", "an end stays on the floor where an impact would give back less"},
      {one_by_one, 0.0, "1", "1: one after the other, the left one first"}};
  enum discrete { lies };
  static constexpr saltus::variable<discrete> discrete_list[] = {
      saltus::variable<discrete>{lies, 0.0, "1", "1 while an end lies on the floor"}.of(2)};
  enum constraint { gap };
  static constexpr saltus::constrained<constraint> constraint_list[] = {
      saltus::constrained<constraint>{gap, saltus::holonomic, "m", "height of the left end, and of the right"}
          .of(2)
          .when(lies)};
  enum guard { lands, lifts = lands + 2 };
  static constexpr saltus::event_function<guard> guard_list[] = {
      saltus::event_function<guard>{lands, saltus::falling, saltus::unilateral, "an end meets the floor"}.of(2),
      saltus::event_function<guard>{lifts, saltus::falling, saltus::bilateral, "the floor no longer carries an end"}.of(
          2)};
  enum output { energy };
  static constexpr saltus::derived<output> output_list[] = {{energy, "J", "kinetic and potential energy"}};

  static void mass(const auto& at, auto& m) {
    m(vy, vy) = at[inertia];
    m(omega, omega) = at[inertia] * at[half_length] * at[half_length] * (1.0 / 3.0);
  }
  static void force(const auto& at, auto& f) {
    f[vy] = -at[inertia] * at[gravity];
    f[omega] = 0.0;
  }
  static auto height(const auto& at, int k) { return at[y] + (k == 0 ? -1.0 : 1.0) * at[half_length] * sin(at[angle]); }
  static void constraints(const auto& at, auto& c) {
    for (int k = 0; k < 2; ++k) c(gap, k) = height(at, k);
  }
  static void guards(const auto& at, auto& g) {
    for (int k = 0; k < 2; ++k) {
      g(lands, k) = select(at.is_on(lies, k), 1.0, height(at, k));
      g(lifts, k) = select(at.is_on(lies, k), at.multiplier(gap, k), 1.0);
    }
  }
  static void transition(auto& now) {
    constraint hit[2];
    int count = 0;
    bool impact = false;
    for (int k = 0; k < 2; ++k) {
      if (now.due(lifts, k)) now.release(gap, 1.0, k);
      impact = impact || now.due(lands, k);
      if (now.due(lands, k) || now.is_on(lies, k)) hit[count++] = static_cast<constraint>(gap + k);
    }
    if (!impact) return;
    if (now[one_by_one] > 0.5) {
      // An end that lies on the floor is not a constraint now, but one of the contacts.
      now(lies, 0) = now(lies, 1) = 0.0;
      for (int turn = 0; turn < 2; ++turn)
        for (int i = 0; i < count; ++i) now.impact(hit[i], now[restitution]);
    } else {
      now.impacts(hit, count, now[restitution]);
    }
    for (int i = 0; i < count; ++i) {
      const int k = hit[i] - gap;
      if (now.velocity_of(gap, k) < now[slowest]) now(lies, k) = 1.0;
      else if (now.is_on(lies, k)) now.release(gap, 1.0, k);
    }
  }
  static void rest(auto& now) {
    for (int k = 0; k < 2; ++k)
      if (now.due(lands, k)) now(lies, k) = 1.0;
  }
  static void outputs(const auto& at, auto& out) {
    const auto w = at[half_length] * at[omega];
    out[energy] = at[inertia] * (0.5 * at[vy] * at[vy] + w * w * (1.0 / 6.0) + at[gravity] * at[y]);
  }
};
