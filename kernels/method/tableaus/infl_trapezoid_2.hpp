// Trapezoidal rule 2(1) in descriptor form.
#pragma once

#include "method/tableaus/trapezoid_2.hpp"

namespace saltus::methods {

/// abar of table 3 is a a: the velocities of the stages integrate the positions.
struct infl_trapezoid_2 : in_descriptor_form<trapezoid_2> {
  static constexpr const char* name = "infltrap";
  static constexpr const char* title = "Trapezoidal rule 2(1) in descriptor form (InflTrap)";
  static constexpr const char* source = "E. J. Haug, D. Negrut, C. Engstler, table 3 and eqs. 30 to 54";
};

}  // namespace saltus::methods
