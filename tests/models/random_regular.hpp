// A regular M(y) y' = f with a known solution and random coefficients of any size: with u_i = y_i / 10^size_i,
//
//     10^equation_i sum_j A_ij(u) (u_j' - phi_j'(t) + 10^stiff_j (x_j + x_j^3)) = 0,   x = u - phi(t),
//
// and phi_i = above + sin(w_i t + p_i); the first phi can be constant. The start is on phi.
#include <saltus.hpp>

struct random_regular {
  static constexpr auto title = "Random regular system";
  static constexpr auto source = "tests";
  static constexpr double span[] = {0.0, 2.0};
  static constexpr bool mass_varies = true;
  static constexpr int n = 3;

  enum state { y };
  static constexpr saltus::variable<state> state_list[] = {saltus::variable<state>{y, 0.0, "1", "on phi"}.of(n)};
  enum parameter {
    size,
    equation = size + n,
    coupling = equation + n,
    bend = coupling + n * (n - 1),
    stiff = bend + n,
    w = stiff + n,
    p = w + n,
    above = p + n,
    still
  };
  static constexpr saltus::variable<parameter> parameter_list[] = {
      saltus::variable<parameter>{size, 0.0, "1", "decimal logarithm of the size of a state"}.of(n),
      saltus::variable<parameter>{equation, 0.0, "1", "decimal logarithm of the scale of an equation"}.of(n),
      saltus::variable<parameter>{coupling, 0.0, "1", "of A outside its diagonal, row by row"}.of(n*(n - 1)),
      saltus::variable<parameter>{bend, 0.0, "1", "part of A that depends on the states"}.of(n),
      saltus::variable<parameter>{stiff, 0.0, "1", "decimal logarithm of a rate of return to phi"}.of(n),
      saltus::variable<parameter>{w, 1.0, "1/s", "of phi"}.of(n),
      saltus::variable<parameter>{p, 0.0, "1", "of phi"}.of(n),
      {above, 2.0, "1", "mean of phi"},
      {still, 0.0, "1", "1: the first of phi stands still"},
  };
  enum output { error };
  static constexpr saltus::derived<output> output_list[] = {{error, "1", "the largest |x|"}};

  static auto ten_to(const auto& x) { return exp(2.302585092994045684 * x); }
  static auto moves(const auto& at, int i) { return i == 0 ? 1.0 - at[still] : 1.0 + 0.0 * at[still]; }
  static auto phi(const auto& at, int i) { return at[above] + moves(at, i) * sin(at(w, i) * at.t + at(p, i)); }
  static auto phi_rate(const auto& at, int i) { return moves(at, i) * at(w, i) * cos(at(w, i) * at.t + at(p, i)); }
  static auto u(const auto& at, int i) { return at(y, i) / ten_to(at(size, i)); }

  /// Entry A_ij, with the scale of its equation.
  static auto matrix(const auto& at, int i, int j) {
    const auto other = u(at, (i + 1) % n);
    const auto bent = at(bend, i) * (i == 1 ? cos(other) : sin(other));
    const auto fixed = i == j ? 1.0 + 0.0 * at(bend, i) : at(coupling, i * (n - 1) + (j > i ? j - 1 : j));
    return ten_to(at(equation, i)) * (j == i ? fixed + 0.0 * bent : fixed + bent);
  }

  static void initial(auto& at) {
    for (int i = 0; i < n; ++i) at(y, i) = phi(at, i) * ten_to(at(size, i));
  }
  static void rhs(const auto& at, auto& dy) {
    for (int i = 0; i < n; ++i) {
      auto sum = 0.0 * u(at, i);
      for (int j = 0; j < n; ++j) {
        const auto x = u(at, j) - phi(at, j);
        sum = sum + matrix(at, i, j) * (phi_rate(at, j) - ten_to(at(stiff, j)) * (x + x * x * x));
      }
      dy(y, i) = sum;
    }
  }
  static void mass(const auto& at, auto& m) {
    for (int i = 0; i < n; ++i)
      for (int j = 0; j < n; ++j) m(state(y + i), state(y + j)) = matrix(at, i, j) / ten_to(at(size, j));
  }
  static void outputs(const auto& at, auto& out) {
    out[error] = abs(u(at, 0) - phi(at, 0));
    for (int i = 1; i < n; ++i) out[error] = max(out[error], abs(u(at, i) - phi(at, i)));
  }
};
