// ESDIRK 4(3) of Kennedy and Carpenter in descriptor form.
#pragma once

#include "method/tableaus/esdirk_4.hpp"

namespace saltus::methods {

/// Its stages have order 2, those of infl_sdirk_4 order 1; so it keeps more of its order where stiff springs turn with the motion.
struct infl_esdirk_4 : in_descriptor_form<esdirk_4> {
  static constexpr const char* name = "inflesdirk4";
  static constexpr const char* title = "ESDIRK 4(3) of Kennedy and Carpenter in descriptor form";
  static constexpr const char* source =
      "C. A. Kennedy, M. H. Carpenter, Appl. Numer. Math. 44 (2003) 139, by E. J. Haug, D. Negrut, C. Engstler, eqs. "
      "30 to 54";
};

}  // namespace saltus::methods
