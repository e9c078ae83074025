// 16 marbles in a jar: 96 states, 152 guards.
#include "parts/marble_jar.hpp"

struct marble_jar_16 : marble_jar_of<16> {
  static constexpr auto title = "Marble jar: 16 marbles, 152 guards";
};
