// Izhikevich's spiking neuron: two equations with one quadratic term, and a reset of both variables at the top of a spike. The time event
// `onset` switches a current on, which makes the neuron fire, quickly at first, until u slows it down. The parameters a, b, c, d choose the
// kind of neuron: (0.02, 0.2, -65, 8) is regular spiking, (0.02, 0.2, -50, 2) chattering, (0.1, 0.2, -65, 2) fast spiking.
#include <saltus.hpp>

struct izhikevich {
  static constexpr auto title = "Izhikevich neuron";
  static constexpr auto source = "E. M. Izhikevich, IEEE Trans. Neural Networks 14 (2003) 1569";
  static constexpr double span[] = {0.0, 200.0};

  enum state { v, u };
  static constexpr saltus::variable<state> state_list[] = {
      {v, -65.0, "mV", "membrane potential"},
      {u, -13.0, "mV/ms", "recovery variable (default: b v)"},
  };

  enum parameter { a, b, c, d, peak, background, stimulus, onset };
  static constexpr saltus::variable<parameter> parameter_list[] = {
      {a, 0.02, "1/ms", "rate of recovery"},
      {b, 0.2, "1/ms", "how strongly u follows v"},
      {c, -65.0, "mV", "v after a spike"},
      {d, 8.0, "mV/ms", "what a spike adds to u"},
      {peak, 30.0, "mV", "v at the top of a spike"},
      {background, 0.0, "mV/ms", "current before the onset"},
      {stimulus, 10.0, "mV/ms", "current after the onset"},
      {onset, 10.0, "ms", "when the current changes"},
  };

  enum discrete { current };
  static constexpr saltus::variable<discrete> discrete_list[] = {
      {current, 0.0, "mV/ms", "injected current (default: background or stimulus, as the time says)"},
  };

  enum guard { spike };
  static constexpr saltus::event_function<guard> guard_list[] = {
      {spike, saltus::rising, saltus::bilateral, "v passes the top of a spike: v and u are reset"},
  };

  enum time_event { step };
  static constexpr saltus::timed<time_event> time_event_list[] = {
      {step, "the stimulus is switched on"},
  };

  static void initial(auto& at) {
    at[u] = at[b] * at[v];
    at[current] = select(at.t < at[onset], at[background], at[stimulus]);
  }

  static void rhs(const auto& at, auto& dy) {
    dy[v] = (0.04 * at[v] + 5.0) * at[v] + 140.0 - at[u] + at[current];
    dy[u] = at[a] * (at[b] * at[v] - at[u]);
  }

  static void guards(const auto& at, auto& g) { g[spike] = at[v] - at[peak]; }

  static void time_events(const auto& at, auto& when) { when.at(step, at[onset]); }

  static void transition(auto& now) {
    if (now.due(step)) now[current] = now[stimulus];
    if (now.due(spike)) {
      now[v] = now[c];
      now[u] += now[d];
    }
  }
};
