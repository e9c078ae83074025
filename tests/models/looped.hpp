// Periodic tables and one that holds its end values: their values and their integrals.
#include <saltus.hpp>

struct looped {
  static constexpr auto title = "Periodic tables";
  static constexpr auto source = "tests/test_tables.cpp";

  enum table { line, monotone, smooth, held };
  static constexpr saltus::tabulated<table> table_list[] = {
      {line, "1", "straight lines", saltus::interpolation::linear, saltus::at_ends::periodic},
      {monotone, "1", "monotone cubics", saltus::interpolation::pchip, saltus::at_ends::periodic},
      {smooth, "1", "a periodic spline", saltus::interpolation::spline, saltus::at_ends::periodic},
      {held, "1", "straight lines", saltus::interpolation::linear, saltus::at_ends::held},
  };

  enum state { of_line, of_monotone, of_smooth, of_held };
  static constexpr saltus::variable<state> state_list[] = {
      {of_line, 0.0, "1", "integral"},
      {of_monotone, 0.0, "1", "integral"},
      {of_smooth, 0.0, "1", "integral"},
      {of_held, 0.0, "1", "integral"},
  };

  enum output { line_value, monotone_value, smooth_value, held_value };
  static constexpr saltus::derived<output> output_list[] = {{line_value, "1", "the table"},
                                                            {monotone_value, "1", "the table"},
                                                            {smooth_value, "1", "the table"},
                                                            {held_value, "1", "the table"}};

  static void rhs(const auto& at, auto& dy) {
    dy[of_line] = at[line];
    dy[of_monotone] = at[monotone];
    dy[of_smooth] = at[smooth];
    dy[of_held] = at[held];
  }

  static void outputs(const auto& at, auto& out) {
    out[line_value] = at[line];
    out[monotone_value] = at[monotone];
    out[smooth_value] = at[smooth];
    out[held_value] = at[held];
  }
};
