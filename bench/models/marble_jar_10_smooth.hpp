// problems/marble_jar_10.hpp for a solver of smooth equations: a contact pushes where its gap is negative, and the
// switching points are not located.
#include "../../problems/parts/marble_jar.hpp"

struct marble_jar_10_smooth {
  using jar = marble_jar_of<10>;
  static constexpr auto title = "Marble jar without events: 10 marbles";
  static constexpr auto source = "problems/marble_jar_10.hpp, less its guards";
  static constexpr const auto& span = jar::span;

  using state = jar::state;
  using parameter = jar::parameter;
  using output = jar::output;
  static constexpr const auto& state_list = jar::state_list;
  static constexpr const auto& parameter_list = jar::parameter_list;
  static constexpr const auto& output_list = jar::output_list;

  /// A point at which the sign of a guard is the sign of its gap at this point, not at the start of the step.
  template <class Point>
  struct unlocked {
    const Point& at;

    const auto& operator[](auto i) const { return at[i]; }
    const auto& operator()(auto i, int k) const { return at(i, k); }
    auto above(jar::guard contact, int k) const {
      if (contact == jar::plane) return jar::plane_gap(at, k) >= 0.0;
      if (contact == jar::cylinder) return jar::cylinder_gap(at, k) >= 0.0;
      auto r = jar::plane_gap(at, 0) >= 0.0;
      jar::each_pair([&](int i, int j, int number) {
        if (number == k) r = jar::pair_gap(at, i, j) >= 0.0;
      });
      return r;
    }
  };

  static void initial(auto& at) { jar::initial(at); }
  template <class Point>
  static void rhs(const Point& at, auto& dy) {
    jar::rhs(unlocked<Point>{at}, dy);
  }
  static void outputs(const auto& at, auto& out) { jar::outputs(at, out); }
};
