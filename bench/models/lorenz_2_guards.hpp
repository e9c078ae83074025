#include "parts/guarded_lorenz.hpp"

struct lorenz_2_guards : guarded_lorenz<2> {
  static constexpr auto title = "Lorenz, 2 guards that never fire";
};
