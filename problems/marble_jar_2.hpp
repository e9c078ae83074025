// 2 marbles in a jar: 12 states, 5 guards.
#include "parts/marble_jar.hpp"

struct marble_jar_2 : marble_jar_of<2> {
  static constexpr auto title = "Marble jar: 2 marbles, 5 guards";
};
