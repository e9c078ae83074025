// Random numbers, drawn at the start and at a time event, in outputs of discrete variables.
#include <saltus.hpp>

struct draws {
  static constexpr auto title = "Random numbers";
  static constexpr double span[] = {0.0, 2.0};

  enum state { x };
  static constexpr saltus::variable<state> state_list[] = {{x, 0.0, "1", "grows at rate 1"}};

  enum parameter { many };
  static constexpr saltus::variable<parameter> parameter_list[] = {{many, 0.0, "1", "draws before the last one"}};

  enum discrete { at_start, first, second, gauss, other, last };
  static constexpr saltus::variable<discrete> discrete_list[] = {
      {at_start, 0.0, "1", "uniform, drawn at the start from stream plain"},
      {first, 0.0, "1", "the next one, at t = 1"},
      {second, 0.0, "1", "and one more"},
      {gauss, 0.0, "1", "normal, from stream twins, member 1"},
      {other, 0.0, "1", "uniform, from stream twins, member 0"},
      {last, 0.0, "1", "uniform from stream plain, after many more"},
  };

  enum time_event { now_ };
  static constexpr saltus::timed<time_event> time_event_list[] = {{now_, "numbers are drawn"}};

  enum stream { plain, twins };
  static constexpr saltus::random_stream<stream> stream_list[] = {
      {plain, "of its own"},
      saltus::random_stream<stream>{twins, "a family"}.of(2),
  };

  static void initial(auto& at) { at[at_start] = at.uniform(plain); }

  static void rhs(const auto&, auto& dy) { dy[x] = 1.0; }

  static void time_events(const auto&, auto& when) { when.at(now_, 1.0); }

  static void transition(auto& now) {
    now[first] = now.uniform(plain);
    now[second] = now.uniform(plain);
    now[gauss] = now.normal(twins, 1);
    now[other] = now.uniform(twins, 0);
    for (int k = 0; k < int(now[many]); ++k) now.uniform(plain);
    now[last] = now.uniform(plain);
    now[x] += now[first];
  }
};
