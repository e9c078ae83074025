// A chain of index 3 beside a differential equation; constant matrices mix its equations and its unknowns:
// with z = M x the equations are N times z1 - sin t, z1' - z2, z2' - z3, z4' + z4 - cos t.
#include <saltus.hpp>

struct hidden_chain {
  static constexpr double span[] = {0.0, 2.0};

  enum state { a, b, c, d };
  static constexpr saltus::variable<state> state_list[] = {{a, 0.0, "1"}, {b, 0.0, "1"}, {c, 0.0, "1"}, {d, 0.0, "1"}};

  static void residual(const auto& at, auto& r) {
    const auto z1 = at[a] + at[b] + at[c], z2 = at[b] - at[c] + at[d], z3 = at[a] + 2.0 * at[d],
               z4 = at[a] - at[b] + at[d];
    const auto dz1 = at.d(a, 1) + at.d(b, 1) + at.d(c, 1), dz2 = at.d(b, 1) - at.d(c, 1) + at.d(d, 1),
               dz4 = at.d(a, 1) - at.d(b, 1) + at.d(d, 1);
    const auto e1 = z1 - sin(at.t), e2 = dz1 - z2, e3 = dz2 - z3, e4 = dz4 + z4 - cos(at.t);
    r[a] = e1 + e2 - e3 + e4;
    r[b] = e1 - 2.0 * e2 + e4;
    r[c] = e2 + e3 + 3.0 * e4;
    r[d] = 2.0 * e1 + e3 - e4;
  }
};
