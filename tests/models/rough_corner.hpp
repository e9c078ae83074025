// A body with three coordinates flies into a corner of up to four rough surfaces and reaches all of them at the same time. The normal and
// tangential directions of a contact are arbitrary, so contacts influence each other and may depend on each other.
#include <saltus.hpp>

struct rough_corner {
  static constexpr auto title = "Rough contacts at the same instant";
  static constexpr auto source = "test";
  static constexpr double span[] = {0.0, 1.5};
  static constexpr int most = 4;

  enum state { q, v = q + 3 };
  static constexpr auto first_velocity = v;
  static constexpr saltus::variable<state> state_list[] = {
      saltus::variable<state>{q, 0.0, "m", "coordinates (from the velocities: the corner is reached at t = 1)"}.of(3),
      saltus::variable<state>{v, -1.0, "m/s", "velocities"}.of(3),
  };
  enum parameter {
    across,
    along = across + 3 * most,
    inertia = along + 3 * most,
    mu = inertia + 3,
    restitution = mu + most,
    by_poisson,
    surfaces,
    driven
  };
  static constexpr saltus::variable<parameter> parameter_list[] = {
      saltus::variable<parameter>{across, 1.0, "1", "gradients of gaps, one after the other"}.of(3 * most),
      saltus::variable<parameter>{along, 1.0, "1", "and of what is kept by sticking"}.of(3 * most),
      saltus::variable<parameter>{inertia, 1.0, "kg", "masses"}.of(3),
      saltus::variable<parameter>{mu, 0.5, "1", "coefficients of friction"}.of(most),
      {restitution, 0.5, "1", "e"},
      {by_poisson, 0.0, "1", "1: of impulses, 0: of velocities"},
      {surfaces, 4.0, "1", "how many of them there are"},
      {driven, 0.0, "1", "1: a drive keeps the first velocity"},
  };
  enum discrete { closed, sticks = closed + most, drives = sticks + most, slips };
  static constexpr saltus::variable<discrete> discrete_list[] = {
      saltus::variable<discrete>{closed, 0.0, "1", "no contact lasts"}.of(most),
      saltus::variable<discrete>{sticks, 0.0, "1", "nor sticks"}.of(most),
      {drives, 0.0, "1", "as `driven`"},
      saltus::variable<discrete>{slips, 0.0, "m/s", "slip after the impact"}.of(most)};
  enum constraint { gap, stick = gap + most, drive = stick + most };
  static constexpr saltus::constrained<constraint> constraint_list[] = {
      saltus::constrained<constraint>{gap, saltus::holonomic, "m", "distance from a surface"}.of(most).when(closed),
      saltus::constrained<constraint>{stick, saltus::nonholonomic, "m/s", "speed along it"}.of(most).when(sticks),
      saltus::constrained<constraint>{drive, saltus::nonholonomic, "m/s", "the first velocity"}.when(drives)};
  enum guard { contact };
  static constexpr saltus::event_function<guard> guard_list[] = {
      saltus::event_function<guard>{contact, saltus::falling, saltus::unilateral, "a surface is reached"}.of(most)};

  static auto product(const auto& at, parameter gradient, state of, int k) {
    return at(gradient, 3 * k) * at(of, 0) + at(gradient, 3 * k + 1) * at(of, 1) + at(gradient, 3 * k + 2) * at(of, 2);
  }
  static void initial(auto& at) {
    for (int i = 0; i < 3; ++i) at(q, i) = -at(v, i);
    at[drives] = at[driven];
  }
  static void mass(const auto& at, auto& m) {
    for (int i = 0; i < 3; ++i) m(v, i, v, i) = at(inertia, i);
  }
  static void force(const auto&, auto& f) {
    for (int i = 0; i < 3; ++i) f(v, i) = 0.0;
  }
  static void constraints(const auto& at, auto& c) {
    for (int k = 0; k < most; ++k) {
      c(gap, k) = product(at, across, q, k);
      c(stick, k) = product(at, along, v, k);
    }
    c[drive] = at(v, 0) + 1.0;
  }
  static void guards(const auto& at, auto& g) {
    for (int k = 0; k < most; ++k) g(contact, k) = select(at[surfaces] > k + 0.5, product(at, across, q, k), 1.0);
  }
  static void transition(auto& now) {
    auto list = now.contacts();
    for (int k = 0; k < most; ++k)
      if (now.due(contact, k)) list.add(gap, stick, now(mu, k), k);
    now.impacts(list, now[restitution],
                now[by_poisson] > 0.5 ? saltus::restitution_law::poisson : saltus::restitution_law::newton);
    for (int k = 0; k < most; ++k) now(slips, k) = now.slip(stick, k);
    now.stop();
  }
};
