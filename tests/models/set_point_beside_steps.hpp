// The same beside a table that jumps, at whose knots guards are looked at anew.
#include "parts/set_point_base.hpp"

struct lines_and_steps {
  enum table { aim, steps };
  static constexpr saltus::tabulated<table> table_list[] = {
      {aim, "1", "set point", saltus::interpolation::linear, saltus::at_ends::periodic},
      {steps, "1", "not read", saltus::interpolation::step, saltus::at_ends::held}};
};

struct set_point_beside_steps : set_point_base<lines_and_steps> {
  static constexpr auto title = "a switch at a set point, beside steps";
};
