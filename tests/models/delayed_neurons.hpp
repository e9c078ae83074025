// Leaky integrate-and-fire neurons whose spikes arrive after delays longer than the time between two spikes.
//
//     v' = drive - v; at v = 1 a spike, v = 0; a spike of neuron i arrives at neurons i + 1 and i + 7 after its delay, v += weight
#include <saltus.hpp>

struct delayed_neurons {
  static constexpr auto title = "Neurons with delayed synapses";
  static constexpr double span[] = {0.0, 12.0};
  static constexpr int neurons = 20;

  enum state { v };
  static constexpr saltus::variable<state> state_list[] = {
      saltus::variable<state>{v, 0.0, "1", "membrane potential, in thresholds"}.of(neurons)};

  enum parameter { drive, weight, delay, spread };
  static constexpr saltus::variable<parameter> parameter_list[] = {
      {drive, 1.3, "1", "drive of neuron 0"},
      {weight, 0.11, "1", "of a synapse"},
      {delay, 4.7, "1", "delay of neuron 0"},
      {spread, 0.137, "1", "the same of neuron i is larger by i times this; its drive by a tenth of it"},
  };

  enum discrete { spikes };
  static constexpr saltus::variable<discrete> discrete_list[] = {{spikes, 0.0, "1", "number of spikes so far"}};

  enum guard { threshold };
  static constexpr saltus::event_function<guard> guard_list[] = {
      saltus::event_function<guard>{threshold, saltus::rising, saltus::bilateral, "a neuron spikes"}.of(neurons)};

  enum time_event { arrival };
  static constexpr saltus::timed<time_event> time_event_list[] = {
      saltus::timed<time_event>{arrival, "a spike arrives"}.scheduled(200).carrying(2)};

  static void initial(auto& at) {
    for (int i = 0; i < neurons; ++i) at(v, i) = 0.045 * i;
  }

  static void rhs(const auto& at, auto& dy) {
    for (int i = 0; i < neurons; ++i) dy(v, i) = at[drive] + 0.1 * i * at[spread] - at(v, i);
  }

  static void guards(const auto& at, auto& g) {
    for (int i = 0; i < neurons; ++i) g(threshold, i) = at(v, i) - 1.0;
  }

  static void transition(auto& now) {
    now.each_due(arrival, [&](const auto& spike) {
      now(v, (int(spike[0]) + 1) % neurons) += spike[1];
      now(v, (int(spike[0]) + 7) % neurons) += spike[1];
    });
    for (int i = 0; i < neurons; ++i)
      if (now.due(threshold, i)) {
        now(v, i) = 0.0;
        now[spikes] += 1.0;
        now.after(arrival, now[delay] + i * now[spread], i, now[weight]);
      }
  }
};
