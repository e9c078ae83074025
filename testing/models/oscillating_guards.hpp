// Guards with known roots along a solution with integration error: an oscillator of varying frequency, and a state that
// follows it stiffly,
//
//     u = cos(phi),  v = sin(phi),  phi' = pace (1 + swing cos(beat t)),     z' = -lambda (z - u) + u',  z = u
//
// and polynomials of them as in polynomial_guard.hpp: a in (1 + u) / 2 or in (1 + z) / 2, b in (1 + v) / 2. Between two turning points of
// the oscillator a guard passes all turning points of its polynomial, and the error control does not see them.
#include <saltus.hpp>

struct oscillating_guards {
  static constexpr auto title = "Two guards with known roots along an oscillator";
  static constexpr auto source = "of our own, for tests";
  static constexpr double span[] = {0.0, 10.0};
  static constexpr int roots = 8;

  enum state { u, v, z };
  static constexpr saltus::variable<state> state_list[] = {
      {u, 1.0, "1", "cos(phi)"}, {v, 0.0, "1", "sin(phi)"}, {z, 1.0, "1", "follows u"}};

  enum parameter {
    root_a,
    degree_a = root_a + roots,
    centre_a,
    height_a,
    scale_a,
    root_b,
    degree_b = root_b + roots,
    centre_b,
    height_b,
    scale_b,
    pace,
    swing,
    beat,
    lambda,
    follows
  };
  static constexpr saltus::variable<parameter> parameter_list[] = {
      saltus::variable<parameter>{root_a, 0.5, "1", "real roots of guard a; a repeated one is a multiple one"}.of(
          roots),
      {degree_a, 1.0, "1", "how many of them there are"},
      {centre_a, 0.5, "1", "real part of a complex pair"},
      {height_a, -1.0, "1", "imaginary part; negative: no pair"},
      {scale_a, 1.0, "1", "factor"},
      saltus::variable<parameter>{root_b, 0.5, "1", "the same of guard b"}.of(roots),
      {degree_b, 0.0, "1", "how many of them there are"},
      {centre_b, 0.5, "1", "real part of a complex pair"},
      {height_b, -1.0, "1", "imaginary part; negative: no pair"},
      {scale_b, 1.0, "1", "factor"},
      {pace, 1.0, "1/s", "mean angular frequency"},
      {swing, 0.0, "1", "how far it varies"},
      {beat, 1.0, "1/s", "how fast it varies"},
      {lambda, 1.0, "1/s", "rate at which z follows"},
      {follows, 0.0, "1", "1: guard a looks at z instead of u"},
  };

  enum guard { a, b };
  static constexpr saltus::event_function<guard> guard_list[] = {
      {a, saltus::both, saltus::bilateral, "at the roots of odd multiplicity"},
      {b, saltus::both, saltus::bilateral, "at the roots of odd multiplicity"},
  };

  static void rhs(const auto& at, auto& dy) {
    const auto frequency = at[pace] * (1.0 + at[swing] * cos(at[beat] * at.t));
    dy[u] = -frequency * at[v];
    dy[v] = frequency * at[u];
    dy[z] = -at[lambda] * (at[z] - at[u]) - frequency * at[v];
  }

  static auto polynomial(const auto& at, const auto& x, parameter root, parameter degree, parameter centre,
                         parameter height, parameter scale) {
    const auto off = x - at[centre];
    auto g = at[scale] * select(at[height] >= 0.0, off * off + at[height] * at[height], 1.0);
    for (int i = 0; i < roots; ++i) g = g * select(at[degree] > i + 0.5, x - at(root, i), 1.0);
    return g;
  }

  static void guards(const auto& at, auto& g) {
    const auto seen = select(at[follows] > 0.5, at[z], at[u]);
    g[a] = polynomial(at, 0.5 + 0.5 * seen, root_a, degree_a, centre_a, height_a, scale_a);
    g[b] = polynomial(at, 0.5 + 0.5 * at[v], root_b, degree_b, centre_b, height_b, scale_b);
  }
};
