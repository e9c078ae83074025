// The built-in problem with sparse factorisations of its small matrices.
#include "../../problems/double_pendulum_with_stop.hpp"

struct sparse_double_pendulum_with_stop : double_pendulum_with_stop {
  static constexpr bool sparse_elimination = true;
};
