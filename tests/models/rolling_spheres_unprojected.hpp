// The rolling spheres of the built-in problem whose positions decay onto the contact without projection (Compere's run A).
#include "../../problems/rolling_spheres.hpp"

struct rolling_spheres_unprojected : rolling_spheres {
  static constexpr bool projects_positions = false;
};
