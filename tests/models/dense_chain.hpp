// The chain of ten links with dense factorisations.
#include "../../problems/n_link_chain.hpp"

struct dense_chain : n_link_chain {
  static constexpr bool sparse_elimination = false;
};
