// Three pendula side by side. The first has a rod of fixed length; the length of each other rod grows with the tension of the rod before
// it, and is known only after two derivatives of that: index 7.
#include "parts/pendula.hpp"

struct pendulum_chain_7 : pendula_of<3> {
  static constexpr auto title = "Chain of three pendula, index 7";
};
