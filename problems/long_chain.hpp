// A chain of 33 links: 99 coordinates, 66 constraints, each of which involves two links.
#include "parts/n_link_chain.hpp"

struct long_chain : n_link_chain_of<33> {
  static constexpr auto title = "Chain of 33 links in redundant coordinates";
};
