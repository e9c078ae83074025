#include "parts/guarded_lorenz.hpp"

struct lorenz_1_guards : guarded_lorenz<1> {
  static constexpr auto title = "Lorenz, 1 guards that never fire";
};
