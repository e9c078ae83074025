// A table of each kind: states that relax to the tables, integrals of the tables if `rate` is zero, and outputs that read them.
#include <saltus.hpp>

struct tabled {
  static constexpr auto title = "Four tables";
  static constexpr auto source = "tests/test_tables.cpp";

  enum table { steps, line, monotone, smooth };
  static constexpr saltus::tabulated<table> table_list[] = {
      {steps, "1", "value of the knot before", saltus::interpolation::step},
      {line, "1", "straight lines", saltus::interpolation::linear},
      {monotone, "1", "monotone cubics", saltus::interpolation::pchip},
      {smooth, "1", "a natural spline", saltus::interpolation::spline},
  };

  enum state { of_steps, of_line, of_monotone, of_smooth };
  static constexpr saltus::variable<state> state_list[] = {
      {of_steps, 0.0, "1", "follows the steps"},
      {of_line, 0.0, "1", "follows the lines"},
      {of_monotone, 0.0, "1", "follows the monotone cubics"},
      {of_smooth, 0.0, "1", "follows the spline"},
  };

  enum parameter { rate };
  static constexpr saltus::variable<parameter> parameter_list[] = {{rate, 0.0, "1", "at which states relax"}};

  enum output { step_value, line_value, monotone_value, smooth_value };
  static constexpr saltus::derived<output> output_list[] = {{step_value, "1", "the table"},
                                                            {line_value, "1", "the table"},
                                                            {monotone_value, "1", "the table"},
                                                            {smooth_value, "1", "the table"}};

  static void rhs(const auto& at, auto& dy) {
    dy[of_steps] = at[steps] - at[rate] * at[of_steps];
    dy[of_line] = at[line] - at[rate] * at[of_line];
    dy[of_monotone] = at[monotone] - at[rate] * at[of_monotone];
    dy[of_smooth] = at[smooth] - at[rate] * at[of_smooth];
  }

  static void outputs(const auto& at, auto& out) {
    out[step_value] = at[steps];
    out[line_value] = at[line];
    out[monotone_value] = at[monotone];
    out[smooth_value] = at[smooth];
  }
};
