// Relaxation that a terminal guard ends, for some instances before the end of the time span.
#include <saltus.hpp>

struct stopping {
  static constexpr auto title = "ended by a terminal guard";
  static constexpr auto source = "tests: closed form (tests/matrix/forms.py)";
  static constexpr double span[] = {0.0, 3.0};

  enum state { x, y, z };
  static constexpr saltus::variable<state> state_list[] = {
      {x, 1.0, "1", "of a point that turns"}, {y, 0.0, "1", "of the point"}, {z, 0.9, "1", "decays"}};
  enum parameter { turn, k };
  static constexpr saltus::variable<parameter> parameter_list[] = {{turn, 2.0, "1/s", "rate at which the point turns"},
                                                                   {k, 1.5, "1/s", "rate at which z decays"}};
  enum guard { out, cross };
  static constexpr saltus::event_function<guard> guard_list[] = {
      {out, saltus::falling, saltus::bilateral, "z is used up", saltus::terminal},
      {cross, saltus::both, saltus::bilateral, "the point crosses the upright axis"}};
  enum output { fast, slow };
  static constexpr saltus::derived<output> output_list[] = {{fast, "1", "much faster than the states"},
                                                            {slow, "1", "as slow as z"}};

  static void rhs(const auto& at, auto& dy) {
    dy[x] = -at[turn] * at[y];
    dy[y] = at[turn] * at[x];
    dy[z] = -at[k] * at[z];
  }
  static void guards(const auto& at, auto& g) {
    g[out] = at[z] - 0.03;
    g[cross] = at[x];
  }
  static void outputs(const auto& at, auto& out_) {
    out_[fast] = (0.5 + at[z]) * cos(40.0 * at.t - 1.0);
    out_[slow] = at[z] * at[z];
  }
};
