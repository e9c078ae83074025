// The built-in problem with sparse factorisations of its small matrices.
#include "../../problems/car_axis.hpp"

struct sparse_car_axis : car_axis {
  static constexpr bool sparse_elimination = true;
};
