// The built-in problem with sparse factorisations of its small matrices.
#include "../../problems/rolling_disc.hpp"

struct sparse_rolling_disc : rolling_disc {
  static constexpr bool sparse_elimination = true;
};
