// A body with three coordinates flies into the apex of a cone of eight planes and reaches all of them at the same time, so the contacts
// depend on each other. Newton's impact law applies to one contact after another or to all at once.
#include <saltus.hpp>

struct cone {
  static constexpr auto title = "Eight contacts at the same instant";
  static constexpr auto source = "test";
  static constexpr double span[] = {0.0, 1.5};
  static constexpr int planes = 8;

  enum state { q, v = q + 3 };
  static constexpr auto first_velocity = v;
  static constexpr saltus::variable<state> state_list[] = {
      saltus::variable<state>{q, 0.0, "m", "coordinates (from the velocities: the apex is reached at t = 1)"}.of(3),
      saltus::variable<state>{v, -1.0, "m/s", "velocities"}.of(3),
  };
  enum parameter { normal, inertia = normal + 3 * planes, restitution = inertia + 3, one_by_one, driven };
  static constexpr saltus::variable<parameter> parameter_list[] = {
      saltus::variable<parameter>{normal, 1.0, "1", "gradients of the gaps, one after the other"}.of(3 * planes),
      saltus::variable<parameter>{inertia, 1.0, "kg", "masses"}.of(3),
      {restitution, 0.5, "1", "e"},
      {one_by_one, 0.0, "1", "1: one after the other, in their order"},
      {driven, 0.0, "1", "1: the speed towards the first plane may not change"},
  };
  enum discrete { closed, drives = closed + planes };
  static constexpr saltus::variable<discrete> discrete_list[] = {
      saltus::variable<discrete>{closed, 0.0, "1", "no contact lasts"}.of(planes), {drives, 0.0, "1", "as `driven`"}};
  enum constraint { gap, drive = gap + planes };
  static constexpr saltus::constrained<constraint> constraint_list[] = {
      saltus::constrained<constraint>{gap, saltus::holonomic, "m", "distance from a plane"}.of(planes).when(closed),
      saltus::constrained<constraint>{drive, saltus::nonholonomic, "m/s", "the speed towards the first plane"}.when(
          drives)};
  enum guard { contact };
  static constexpr saltus::event_function<guard> guard_list[] = {
      saltus::event_function<guard>{contact, saltus::falling, saltus::unilateral, "a plane is reached"}.of(planes)};

  static auto along(const auto& at, state of, int k) {
    return at(normal, 3 * k) * at(of, 0) + at(normal, 3 * k + 1) * at(of, 1) + at(normal, 3 * k + 2) * at(of, 2);
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
    for (int k = 0; k < planes; ++k) c(gap, k) = along(at, q, k);
    c[drive] = along(at, v, 0) + 1.0;
  }
  static void guards(const auto& at, auto& g) {
    for (int k = 0; k < planes; ++k) g(contact, k) = along(at, q, k);
  }
  static void transition(auto& now) {
    if (now[one_by_one] > 0.5) {
      for (int k = 0; k < planes; ++k) now.impact(gap, now[restitution], k);
      return;
    }
    constraint due[planes];
    int count = 0;
    for (int k = 0; k < planes; ++k)
      if (now.due(contact, k)) due[count++] = static_cast<constraint>(gap + k);
    now.impacts(due, count, now[restitution]);
  }
};
