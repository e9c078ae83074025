// The rolling spheres of the built-in problem, from a consistent start, with Compere's printed projection.
#include "../../problems/rolling_spheres.hpp"

struct rolling_spheres_printed : rolling_spheres {
  static constexpr bool printed_projection = true;
  static void reaching() = delete;
};
