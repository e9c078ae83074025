// The kinds of equations: one list for linear algebra, forms and the host.
#pragma once

namespace saltus {

/// The equations of a system.
enum class equations : int {
  plain,          ///< dy/dt = f(t, y)
  semi_explicit,  ///< the same, but some of f are constraints: 0 = f_i(t, y)
  with_mass,      ///< M dy/dt = f(t, y); M depends on parameters and discrete variables alone and may be singular
  implicit,       ///< 0 = r(t, y, dy/dt)
  any_order       ///< 0 = f(t, x, x', x'', ...): derivatives of any order, of any index
};
inline constexpr const char* equations_names[] = {"plain", "semi_explicit", "with_mass", "implicit", "any_order"};
constexpr const char* name_of(equations e) { return equations_names[static_cast<int>(e)]; }

}  // namespace saltus
