// The built-in problem with its matrices factorised as sparse ones, small as they are.
#include "../../problems/double_pendulum_with_stop.hpp"

struct sparse_double_pendulum_with_stop : double_pendulum_with_stop {
  static constexpr bool sparse_elimination = true;
};
