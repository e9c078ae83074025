// polynomial_guard.hpp with guards of one direction: the opposite crossings are no events, and a step may have any number of them.
#include "polynomial_guard.hpp"

struct one_way_polynomials : polynomial_guard {
  static constexpr auto title = "Two guards of one direction with given roots";
  static constexpr saltus::event_function<guard> guard_list[] = {
      {a, saltus::rising, saltus::bilateral, "where it rises through a root"},
      {b, saltus::falling, saltus::bilateral, "where it falls through one"},
  };
};
