// Six derivatives of sin t by a chain of unknowns, the first of which is given. There is no degree of freedom; the solution is
//
//     x_0 = sin t, x_1 = cos t, x_2 = -sin t, x_3 = -cos t, x_4 = sin t, x_5 = cos t, x_6 = -sin t
#include "parts/index_chain.hpp"

struct index_chain_7 : index_chain_of<7> {
  static constexpr auto title = "Chain of derivatives, index 7";
};
