// SDIRK 4(3) of Hairer and Wanner in descriptor form.
#pragma once

#include "method/tableaus/sdirk_4.hpp"

namespace saltus::methods {

/// abar of table 2 is a a: the velocities of the stages integrate the positions.
struct infl_sdirk_4 : in_descriptor_form<sdirk_4> {
  static constexpr const char* name = "inflsdirk4";
  static constexpr const char* title = "SDIRK 4(3) of Hairer and Wanner in descriptor form (InflSDIRK)";
  static constexpr const char* source = "E. J. Haug, D. Negrut, C. Engstler, table 2 and eqs. 30 to 54";
};

}  // namespace saltus::methods
