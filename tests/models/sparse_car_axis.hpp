// The built-in problem with its matrices factorised as sparse ones, small as they are.
#include "../../problems/car_axis.hpp"

struct sparse_car_axis : car_axis {
  static constexpr bool sparse_elimination = true;
};
