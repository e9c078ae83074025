// Newton's cradle: five equal bobs in a row that just touch at rest. Some are raised at the left and let go; as many leave at the right.
// The bobs are pendulums of small amplitude, so all clicks happen at odd multiples of a quarter period.
//
// An impact passes through the row as a sequence of impacts of two bobs, all at the same time. Each round of event iteration settles the
// pairs that touch and approach, from left to right; k raised bobs make k (5 - k) impacts in a click. With e < 1 the bobs in between keep
// some of the speed, and the order decides how much. Below e = 0.3 the impacts of a click do not end, and neither does event iteration:
// status event_loop.
//
// Displacements are measured from each bob's own rest position, so that a gap of zero is exactly zero: bobs that rest against each other,
// or swing together, have the same numbers and no event.
#include <saltus.hpp>

struct newtons_cradle {
  static constexpr auto title = "Newton's cradle";
  static constexpr auto source =
      "F. Herrmann, P. Schmaelzle, Am. J. Phys. 49 (1981) 761; impacts of two at a time by Newton's law";
  static constexpr double span[] = {0.0, 5.0};
  static constexpr int bobs = 5;
  static constexpr int gaps = bobs - 1;

  enum state { displacement, velocity = displacement + bobs };
  static constexpr saltus::variable<state> state_list[] = {
      saltus::variable<state>{displacement, 0.0, "m", "displacement to the right (default: by `raised`)"}.of(bobs),
      saltus::variable<state>{velocity, 0.0, "m/s", "velocity to the right"}.of(bobs),
  };

  enum parameter { frequency, restitution, raised, amplitude };
  static constexpr saltus::variable<parameter> parameter_list[] = {
      {frequency, 3.14159265358979323846, "rad/s", "angular frequency of a pendulum (default: a period of 2 s)"},
      {restitution, 1.0, "1", "share e of the speed of approach kept by two bobs after their impact"},
      {raised, 1.0, "1", "number of bobs raised at the left"},
      {amplitude, 0.1, "m", "how far they are raised"},
  };

  enum guard { contact };
  static constexpr saltus::event_function<guard> guard_list[] = {
      saltus::event_function<guard>{contact, saltus::falling, saltus::unilateral, "a bob meets its right neighbour"}.of(
          gaps),
  };

  static void initial(auto& at) {
    for (int i = 0; i < bobs; ++i) at(displacement, i) = select(at[raised] > i + 0.5, -at[amplitude], 0.0);
  }

  static void rhs(const auto& at, auto& dy) {
    const auto w2 = at[frequency] * at[frequency];
    for (int i = 0; i < bobs; ++i) {
      dy(displacement, i) = at(velocity, i);
      dy(velocity, i) = -w2 * at(displacement, i);
    }
  }

  static void guards(const auto& at, auto& g) {
    for (int i = 0; i < gaps; ++i) g(contact, i) = at(displacement, i + 1) - at(displacement, i);
  }

  /// The event lies an ulp before the contact of bobs i and i + 1. The faster bob moves the rest of the way, with all that touch it;
  /// otherwise the gap would close much later in an event of its own.
  static void touch(auto& now, int i) {
    const auto left = now(displacement, i), right = now(displacement, i + 1);
    if (abs(now(velocity, i)) >= abs(now(velocity, i + 1)))
      for (int j = i; j >= 0 && now(displacement, j) == left; --j) now(displacement, j) = right;
    else
      for (int j = i + 1; j < bobs && now(displacement, j) == right; ++j) now(displacement, j) = left;
  }

  static void transition(auto& now) {
    for (int i = 0; i < gaps; ++i) {
      const auto v = now(velocity, i), w = now(velocity, i + 1);
      if (!now.due(contact, i) || v <= w) continue;  // an impact further left may have separated them
      touch(now, i);
      const auto given = 0.5 * (1.0 + now[restitution]), kept = 0.5 * (1.0 - now[restitution]);
      now(velocity, i) = given * w + kept * v;
      now(velocity, i + 1) = given * v + kept * w;
    }
  }
};
