// The rolling spheres of the built-in problem, from a consistent start, with Compere's printed projection.
#include "../../problems/rolling_spheres.hpp"

#include "printed_form.hpp"

struct rolling_spheres_printed : rolling_spheres {
  template <class Functions>
  using form = printed_form<Functions>;
  static void reaching() = delete;
};
