// The built-in problem with its matrices factorised as sparse ones, small as they are.
#include "../../problems/rolling_disc.hpp"

struct sparse_rolling_disc : rolling_disc {
  static constexpr bool sparse_elimination = true;
};
