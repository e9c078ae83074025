// 10 marbles in a jar: 60 states, 65 guards.
#include "parts/marble_jar.hpp"

struct marble_jar_10 : marble_jar_of<10> {
  static constexpr auto title = "Marble jar: 10 marbles, 65 guards";
};
