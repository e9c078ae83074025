// The n-link chain with three links; the built-in problem has ten.
#include "../../problems/parts/n_link_chain.hpp"

struct chain_of_3 : n_link_chain_of<3> {
  static constexpr auto title = "Chain of 3 links";
};
