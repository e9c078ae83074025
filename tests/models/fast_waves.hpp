// x = t, and the sum of two waves.
#include <saltus.hpp>

struct fast_waves {
  static constexpr auto title = "two waves that no step of the state resolves";
  static constexpr auto source = "tests";
  static constexpr double span[] = {0.0, 10.0};
  enum state { x };
  static constexpr saltus::variable<state> state_list[] = {{x, 0.0, "s", "t"}};
  enum parameter { w1, phase1, w2, phase2, share };
  static constexpr saltus::variable<parameter> parameter_list[] = {{w1, 150.0, "rad/s", "frequency of the first wave"},
                                                                   {phase1, 0.0, "rad", "its phase"},
                                                                   {w2, 3.0, "rad/s", "frequency of the second wave"},
                                                                   {phase2, 0.0, "rad", "its phase"},
                                                                   {share, 0.5, "1", "its amplitude"}};
  enum output { sum, its_w1, its_phase1, its_w2, its_phase2, its_share };
  static constexpr saltus::derived<output> output_list[] = {{sum, "1", "of both"},         {its_w1, "rad/s", "w1"},
                                                            {its_phase1, "rad", "phase1"}, {its_w2, "rad/s", "w2"},
                                                            {its_phase2, "rad", "phase2"}, {its_share, "1", "share"}};
  static void rhs(const auto&, auto& dy) { dy[x] = 1.0; }
  static void outputs(const auto& at, auto& out) {
    out[sum] = cos(at[w1] * at[x] + at[phase1]) + at[share] * cos(at[w2] * at[x] + at[phase2]);
    out[its_w1] = at[w1], out[its_phase1] = at[phase1], out[its_w2] = at[w2], out[its_phase2] = at[phase2];
    out[its_share] = at[share];
  }
};
