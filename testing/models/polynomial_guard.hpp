// Guards with known roots: polynomials in the state y, which equals the time,
//
//     g(y) = scale  product over i < degree of (y - root_i)  times  (y - centre)^2 + height^2 if height >= 0
//
// The product form has the right sign for every y: y - root rounds to zero only if it is zero.
#include <saltus.hpp>

struct polynomial_guard {
  static constexpr auto title = "Two guards with given roots";
  static constexpr auto source = "of our own, for tests";
  static constexpr double span[] = {0.0, 1.0};
  static constexpr int roots = 8;

  enum state { y };
  static constexpr saltus::variable<state> state_list[] = {{y, 0.0, "1", "the time"}};

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
    scale_b
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
  };

  enum guard { a, b };
  static constexpr saltus::event_function<guard> guard_list[] = {
      {a, saltus::both, saltus::bilateral, "at the roots of odd multiplicity"},
      {b, saltus::both, saltus::bilateral, "at the roots of odd multiplicity"},
  };

  static void rhs(const auto&, auto& dy) { dy[y] = 1.0; }

  static auto polynomial(const auto& at, parameter root, parameter degree, parameter centre, parameter height,
                         parameter scale) {
    const auto off = at[y] - at[centre];
    auto g = at[scale] * select(at[height] >= 0.0, off * off + at[height] * at[height], 1.0);
    for (int i = 0; i < roots; ++i) g = g * select(at[degree] > i + 0.5, at[y] - at(root, i), 1.0);
    return g;
  }

  static void guards(const auto& at, auto& g) {
    g[a] = polynomial(at, root_a, degree_a, centre_a, height_a, scale_a);
    g[b] = polynomial(at, root_b, degree_b, centre_b, height_b, scale_b);
  }
};
