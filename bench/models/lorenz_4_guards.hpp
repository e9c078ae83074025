#include "parts/guarded_lorenz.hpp"

struct lorenz_4_guards : guarded_lorenz<4> {
  static constexpr auto title = "Lorenz, 4 guards that never fire";
};
