// A chain of 10 links: 30 coordinates, 20 constraints.
#include "parts/n_link_chain.hpp"

struct n_link_chain : n_link_chain_of<10> {
  static constexpr auto title = "Chain of 10 links in redundant coordinates";
};
