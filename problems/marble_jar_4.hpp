// 4 marbles in a jar: 24 states, 14 guards.
#include "parts/marble_jar.hpp"

struct marble_jar_4 : marble_jar_of<4> {
  static constexpr auto title = "Marble jar: 4 marbles, 14 guards";
};
