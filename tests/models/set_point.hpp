// A set point alone.
#include "parts/set_point_base.hpp"

struct lines_alone {
  enum table { aim };
  static constexpr saltus::tabulated<table> table_list[] = {
      {aim, "1", "set point", saltus::interpolation::linear, saltus::at_ends::periodic}};
};

struct set_point : set_point_base<lines_alone> {
  static constexpr auto title = "a switch at a set point";
};
