// A plant with a digital controller: it samples the plant at its clock, and its command arrives after a transport delay with jitter, so that
// commands may overtake each other.
#include <saltus.hpp>

struct sampled_loop {
  static constexpr auto title = "Digital controller with transport delay and jitter";
  static constexpr double span[] = {0.0, 6.0};

  enum state { x };
  static constexpr saltus::variable<state> state_list[] = {{x, 1.0, "1", "the plant, x' = u - x"}};

  enum parameter { gain, period, transport, jitter };
  static constexpr saltus::variable<parameter> parameter_list[] = {
      {gain, 0.8, "1", "u = -gain x"},
      {period, 0.25, "s", "between samples"},
      {transport, 0.6, "s", "mean delay of a command"},
      {jitter, 0.35, "s", "largest deviation of the delay"},
  };

  enum discrete { u, samples };
  static constexpr saltus::variable<discrete> discrete_list[] = {
      {u, 0.0, "1", "command at the plant"},
      {samples, 0.0, "1", "number of samples so far"},
  };

  enum time_event { sample, command };
  static constexpr saltus::timed<time_event> time_event_list[] = {
      {sample, "the controller samples"},
      saltus::timed<time_event>{command, "a command arrives"}.scheduled(8).carrying(1),
  };

  static void rhs(const auto& at, auto& dy) { dy[x] = at[u] - at[x]; }

  static void time_events(const auto& at, auto& when) { when.every(sample, at[period], at[period]); }

  static void transition(auto& now) {
    now.each_due(command, [&](const auto& sent) { now[u] = sent[0]; });
    if (now.due(sample)) {
      now[samples] += 1.0;
      now.after(command, now[transport] + now[jitter] * sin(now[samples] * now[samples]), -now[gain] * now[x]);
    }
  }
};
