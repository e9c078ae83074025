// y' = a y(t - tau) - decay y, with y = before until the start.
#include <saltus.hpp>

struct delayed_growth {
  static constexpr auto title = "Linear growth after a delay";
  static constexpr auto source =
      "R. D. Driver, Ordinary and Delay Differential Equations (1977), ch. 5: the method of steps";
  static constexpr double span[] = {0.0, 5.0};

  enum state { y };
  static constexpr saltus::variable<state> state_list[] = {{y, 1.0, "1", "amount"}};

  enum parameter { a, tau, before, decay, pace };
  static constexpr saltus::variable<parameter> parameter_list[] = {{a, -1.0, "1/s", "rate"},
                                                                   {tau, 1.0, "s", "delay"},
                                                                   {before, 1.0, "1", "amount before the start"},
                                                                   {decay, 0.0, "1/s", "rate of decay"},
                                                                   {pace, 1.0, "1", "by which the delay is divided"}};

  enum delay { lag };
  static constexpr saltus::lag<delay> delay_list[] = {{lag, "time from cause to effect"}};

  enum output { past };
  static constexpr saltus::derived<output> output_list[] = {{past, "1", "amount a delay ago"}};

  static void delays(const auto& at, auto& when) { when[lag] = at[tau] / at[pace]; }
  static void history(const auto& at, auto& was) { was[y] = at[before]; }
  static void rhs(const auto& at, auto& dy) { dy[y] = at[a] * at.delayed(y, lag) - at[decay] * at[y]; }
  static void outputs(const auto& at, auto& out) { out[past] = at.delayed(y, lag); }
};
