// Two planes with sparse factorisations of their small matrices.
#include "two_planes.hpp"

struct sparse_two_planes : two_planes {
  static constexpr bool sparse_elimination = true;
};
