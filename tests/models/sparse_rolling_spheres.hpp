// The built-in problem with sparse factorisations of its small matrices.
#include "../../problems/rolling_spheres.hpp"

struct sparse_rolling_spheres : rolling_spheres {
  static constexpr bool sparse_elimination = true;
};
