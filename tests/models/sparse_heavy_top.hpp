// The built-in problem with sparse factorisations of its small matrices.
#include "../../problems/heavy_top.hpp"

struct sparse_heavy_top : heavy_top {
  static constexpr bool sparse_elimination = true;
};
