// Tables of several curves: integrals of lines and of steps that one parameter chooses, and of a line that all instances read.
#include <saltus.hpp>

struct curved {
  static constexpr auto title = "integrals of curves";
  static constexpr auto source = "tests";
  static constexpr double span[] = {0.0, 4.0};

  enum parameter { number, gain };
  static constexpr saltus::variable<parameter> parameter_list[] = {{number, 0.0, "1", "number of the curves"},
                                                                   {gain, 1.0, "1", "of the lines"}};

  enum table { line, steps, common };
  static constexpr saltus::tabulated<table> table_list[] = {
      saltus::tabulated<table>{line, "1", "lines", saltus::interpolation::linear, saltus::at_ends::held}.chosen_by(
          number),
      saltus::tabulated<table>{steps, "1", "steps", saltus::interpolation::step, saltus::at_ends::periodic}.chosen_by(
          number),
      {common, "1", "what all read", saltus::interpolation::linear, saltus::at_ends::held}};

  enum state { of_line, of_steps, of_common };
  static constexpr saltus::variable<state> state_list[] = {{of_line, 0.0, "1", "integral of the line"},
                                                           {of_steps, 0.0, "1", "integral of the steps"},
                                                           {of_common, 0.0, "1", "integral of what all read"}};

  enum guard { high };
  static constexpr saltus::event_function<guard> guard_list[] = {
      {high, saltus::rising, saltus::bilateral, "the steps jump to more than 2.5"}};

  static void rhs(const auto& at, auto& dy) {
    dy[of_line] = at[gain] * at[line];
    dy[of_steps] = at[steps];
    dy[of_common] = at[common];
  }
  static void guards(const auto& at, auto& g) { g[high] = at[steps] - 2.5; }
};
