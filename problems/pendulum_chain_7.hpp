// Three pendula side by side: the first has a rod of fixed length, that of each other is longer by a part of the tension of the
// rod before it. Its length is known only after two derivatives of the one before: index 7.
#include "parts/pendula.hpp"

struct pendulum_chain_7 : pendula_of<3> {
  static constexpr auto title = "Chain of three pendula, index 7";
};
