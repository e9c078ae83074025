// 8 marbles in a jar: 48 states, 44 guards.
#include "parts/marble_jar.hpp"

struct marble_jar_8 : marble_jar_of<8> {
  static constexpr auto title = "Marble jar: 8 marbles, 44 guards";
};
