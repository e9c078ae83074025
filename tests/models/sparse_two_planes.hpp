// Two planes with their matrices factorised as sparse ones, small as they are.
#include "two_planes.hpp"

struct sparse_two_planes : two_planes {
  static constexpr bool sparse_elimination = true;
};
