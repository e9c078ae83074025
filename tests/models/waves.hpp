// x = exp(-k t), and an output that oscillates at a separate frequency.
#include <saltus.hpp>

struct waves {
  static constexpr auto title = "a swing that dies away";
  static constexpr auto source = "tests";
  static constexpr double span[] = {0.0, 10.0};
  enum state { x };
  static constexpr saltus::variable<state> state_list[] = {{x, 1.0, "1", "amplitude"}};
  enum parameter { k, w, phase };
  static constexpr saltus::variable<parameter> parameter_list[] = {{k, 0.1, "1/s", "rate at which it dies away"},
                                                                   {w, 3.0, "rad/s", "rate at which it swings"},
                                                                   {phase, 0.0, "rad", "at t = 0"}};
  enum output { wave, its_k, its_w, its_phase };
  static constexpr saltus::derived<output> output_list[] = {
      {wave, "1", "x cos(w t + phase)"}, {its_k, "1/s", "k"}, {its_w, "rad/s", "w"}, {its_phase, "rad", "phase"}};
  static void rhs(const auto& at, auto& dy) { dy[x] = -at[k] * at[x]; }
  static void outputs(const auto& at, auto& out) {
    out[wave] = at[x] * cos(at[w] * at.t + at[phase]);
    out[its_k] = at[k];
    out[its_w] = at[w];
    out[its_phase] = at[phase];
  }
};
