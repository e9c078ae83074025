// The built-in problem with its matrices factorised as sparse ones, small as they are.
#include "../../problems/rolling_spheres.hpp"

struct sparse_rolling_spheres : rolling_spheres {
  static constexpr bool sparse_elimination = true;
};
