// The compound pendulum of the built-in problem with Compere's printed projection and his sigma.
#include "../../problems/compound_pendulum.hpp"

#include "printed_form.hpp"

struct compound_pendulum_printed : compound_pendulum {
  template <class Functions>
  using form = printed_form<Functions>;
  static constexpr saltus::constrained<constraint> constraint_list[] = {
      compound_pendulum::constraint_list[0].decaying(10.0), compound_pendulum::constraint_list[1].decaying(10.0)};
};
