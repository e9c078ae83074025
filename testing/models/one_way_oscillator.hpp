// oscillating_guards.hpp with guards of one direction.
#include "oscillating_guards.hpp"

struct one_way_oscillator : oscillating_guards {
  static constexpr auto title = "Two guards of one direction with known roots along an oscillator";
  static constexpr saltus::event_function<guard> guard_list[] = {
      {a, saltus::rising, saltus::bilateral, "where it rises through a root"},
      {b, saltus::falling, saltus::bilateral, "where it falls through one"},
  };
};
