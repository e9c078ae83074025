// Two zeros of a guard inside one step, so that it has the same sign at both ends. The model deliberately has no longest step: the cubic
// Hermite interpolant is exact on this quadratic and must find both zeros.
#include <saltus.hpp>

struct two_roots {
  static constexpr auto title = "Two roots in one step";
  static constexpr auto source = "analysis: (t - a) (t - b) = 0 at t = a and t = b";
  static constexpr double span[] = {0.1, 1.0};

  enum state { y };
  static constexpr saltus::variable<state> state_list[] = {
      {y, 0.0, "1", "does not change"},
  };

  enum parameter { first, second };
  static constexpr saltus::variable<parameter> parameter_list[] = {
      {first, 0.5, "1", "the first zero"},
      {second, 0.6, "1", "the second zero"},
  };

  enum discrete { count };
  static constexpr saltus::variable<discrete> discrete_list[] = {
      {count, 0.0, "1", "zeros passed so far"},
  };

  enum guard { zero };
  static constexpr saltus::event_function<guard> guard_list[] = {
      {zero, saltus::both, saltus::bilateral, "the quadratic changes sign"},
  };

  static void rhs(const auto&, auto& dy) { dy[y] = 0.0; }

  static void guards(const auto& at, auto& g) { g[zero] = (at.t - at[first]) * (at.t - at[second]); }

  static void transition(auto& now) { now[count] += 1.0; }
};
