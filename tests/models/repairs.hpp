// A machine fails and is repaired at random times; its noise is an Ornstein-Uhlenbeck process, stepped by its exact transition.
#include <saltus.hpp>

struct repairs {
  static constexpr auto title = "Failures and repairs at random times";
  static constexpr double span[] = {0.0, 10.0};

  enum state { up };
  static constexpr saltus::variable<state> state_list[] = {{up, 0.0, "h", "time in which the machine has run"}};

  enum parameter { failing, mending, theta, sigma, step };
  static constexpr saltus::variable<parameter> parameter_list[] = {
      {failing, 0.5, "1/h", "rate of failures while it runs"},
      {mending, 1.5, "1/h", "rate of repairs while it is down"},
      {theta, 0.7, "1/h", "rate at which the noise forgets"},
      {sigma, 0.4, "h^-0.5", "strength of the noise"},
      {step, 0.5, "h", "between values of the noise"},
  };

  enum discrete { runs, failures, noise, before };
  static constexpr saltus::variable<discrete> discrete_list[] = {
      {runs, 1.0, "1", "1 while the machine runs"},
      {failures, 0.0, "1", "number of failures"},
      {noise, 0.0, "1", "stationary process"},
      {before, 0.0, "1", "the noise one step before"},
  };

  enum time_event { change, tick };
  static constexpr saltus::timed<time_event> time_event_list[] = {
      saltus::timed<time_event>{change, "the machine fails, or is repaired"}.scheduled(1),
      {tick, "the noise moves on"},
  };

  enum stream { waiting_times, motion };
  static constexpr saltus::random_stream<stream> stream_list[] = {
      {waiting_times, "times to a failure, and of repairs"},
      {motion, "of the noise"},
  };

  static void initial(auto& at) {
    at.after(change, -log(at.uniform(waiting_times)) / at[failing]);
    at[noise] = at[sigma] / sqrt(2.0 * at[theta]) * at.normal(motion);
  }

  static void rhs(const auto& at, auto& dy) { dy[up] = at[runs]; }

  static void time_events(const auto& at, auto& when) { when.every(tick, at[step], at[step]); }

  static void transition(auto& now) {
    now.each_due(change, [&](const auto&) {
      if (now.is_on(runs)) now[failures] += 1.0;
      now[runs] = 1.0 - now[runs];
      now.after(change, -log(now.uniform(waiting_times)) / (now.is_on(runs) ? now[failing] : now[mending]));
    });
    if (now.due(tick)) {
      const auto decay = exp(-now[theta] * now[step]);
      now[before] = now[noise];
      now[noise] =
          now[noise] * decay + now[sigma] * sqrt((1.0 - decay * decay) / (2.0 * now[theta])) * now.normal(motion);
    }
  }
};
