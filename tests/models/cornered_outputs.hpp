// x = x0 + t with outputs whose extrema lie at corners and jumps of their own.
#include <saltus.hpp>

struct cornered_outputs {
  static constexpr auto title = "outputs with extrema at corners and jumps";
  static constexpr auto source = "tests";
  static constexpr double span[] = {0.0, 5.0};
  enum state { x };
  static constexpr saltus::variable<state> state_list[] = {{x, 0.0, "1", "coordinate"}};
  enum parameter { slope, level, lift };
  static constexpr saltus::variable<parameter> parameter_list[] = {{slope, 0.5, "1", "slope before the corner"},
                                                                   {level, 3.0, "1", "level of the falling branch"},
                                                                   {lift, 2.0, "1", "value of a pulse"}};
  enum output { hat, clipped, distance, tooth, timed, pulse };
  static constexpr saltus::derived<output> output_list[] = {
      {hat, "1", "rises, then falls"},
      {clipped, "1", "rises to a level and stays"},
      {distance, "1", "distance to a point"},
      {tooth, "1", "falls at once where slope x is a whole number"},
      {timed, "1", "rises to a fixed time, then falls at once"},
      {pulse, "1", "constant for a time that moves"}};
  static void rhs(const auto&, auto& dy) { dy[x] = 1.0; }
  static void outputs(const auto& at, auto& out) {
    out[hat] = min(at[slope] * at[x], at[level] - at[x]);
    out[clipped] = min(at[x] * at[x], at[level]);
    out[distance] = abs(at[x] - at[level]);
    out[tooth] = at[slope] * at[x] - floor(at[slope] * at[x]);
    out[timed] = select(at.t < 2.0, at[slope] * at[x], 0.0 * at[x]);
    out[pulse] = select((at[x] > at[level] - 1.0) & (at[x] < at[level] + 1.0), at[lift] * at[level], 0.0 * at[x]);
  }
};
