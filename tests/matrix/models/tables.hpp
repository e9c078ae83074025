// Tables: z follows a piecewise linear table, and sum integrates a cubic spline and a step function.
#include <saltus.hpp>

struct tables {
  static constexpr auto title = "functions of time by knots";
  static constexpr auto source = "tests: closed form between knots (tests/matrix/forms.py)";
  static constexpr double span[] = {0.0, 3.0};
  static constexpr saltus::knot lines[] = {{0.0, 0.0}, {0.45, 1.2}, {1.0, -0.4}, {1.5, 0.0}};
  static constexpr saltus::knot curve[] = {{-3.0, 0.2}, {-1.3, 0.9}, {0.0, 0.1}, {0.8, 0.8}, {1.7, -0.3}, {3.0, 0.4}};
  static constexpr saltus::knot stairs[] = {{-2.0, 0.3}, {-0.9, -0.2}, {0.6, 0.4}, {1.9, -0.1}};

  enum table { driven, bent, stepped };
  static constexpr saltus::tabulated<table> table_list[] = {
      saltus::tabulated<table>{driven, "1", "straight lines", saltus::interpolation::linear, saltus::at_ends::periodic}
          .with(lines),
      saltus::tabulated<table>{bent, "1", "a natural spline", saltus::interpolation::spline, saltus::at_ends::none}
          .with(curve),
      saltus::tabulated<table>{stepped, "1", "steps", saltus::interpolation::step, saltus::at_ends::held}.with(stairs)};

  enum state { z, sum };
  static constexpr saltus::variable<state> state_list[] = {{z, 0.9, "1", "follows"}, {sum, 0.0, "1", "integral"}};
  enum parameter { k };
  static constexpr saltus::variable<parameter> parameter_list[] = {{k, 1.5, "1/s", "rate with which z follows"}};
  enum guard { half };
  static constexpr saltus::event_function<guard> guard_list[] = {
      {half, saltus::both, saltus::bilateral, "z passes 0.4"}};
  enum output { fast, slow };
  static constexpr saltus::derived<output> output_list[] = {{fast, "1", "much faster than the states"},
                                                            {slow, "1", "as slow as z"}};

  static void rhs(const auto& at, auto& dy) {
    dy[z] = at[k] * (at[driven] - at[z]);
    dy[sum] = at[bent] + at[stepped];
  }
  static void guards(const auto& at, auto& g) { g[half] = at[z] - 0.4; }
  static void outputs(const auto& at, auto& out) {
    out[fast] = (0.5 + at[z]) * cos(40.0 * at.t - 1.0);
    out[slow] = at[z] * at[z];
  }
};
