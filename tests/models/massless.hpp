// The body of parts/massless_base.hpp on y = x^2: x'' = -(1 + 2 c) x, and the multiplier is c.
#include "parts/massless_base.hpp"

struct massless : massless_base {
  static constexpr double span[] = {0.0, 2.0};
  enum constraint { curve };
  static constexpr saltus::constrained<constraint> constraint_list[] = {{curve, saltus::holonomic, "m", ""}};
  enum output { off, push };
  static constexpr saltus::derived<output> output_list[] = {{off, "m", "x - cos(sqrt(1 + 2 c) t)"},
                                                            {push, "N", "multiplier - c"}};
  static void constraints(const auto& at, auto& k) {
    k[curve] = at[bound] * (height(at) - place(at) * place(at)) + (1.0 - at[bound]) * (place(at) - 1.0);
  }
  static void outputs(const auto& at, auto& out) {
    out[off] = place(at) - cos(sqrt(1.0 + 2.0 * at[c]) * at.t);
    out[push] = at.multiplier(curve) - at[c];
  }
};
