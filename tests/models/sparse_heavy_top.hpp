// The built-in problem with its matrices factorised as sparse ones, small as they are.
#include "../../problems/heavy_top.hpp"

struct sparse_heavy_top : heavy_top {
  static constexpr bool sparse_elimination = true;
};
