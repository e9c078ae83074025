// A body braked by a constant force until it has a given speed, which it then keeps.
#include <saltus.hpp>

struct braked {
  static constexpr auto title = "A body braked to a given speed";
  static constexpr auto source = "own";
  static constexpr double span[] = {0.0, 2.0};

  enum state { x, v };
  static constexpr auto first_velocity = v;
  static constexpr saltus::variable<state> state_list[] = {{x, 0.0, "m", "position"}, {v, 3.0, "m/s", "speed"}};
  enum parameter { target, braking };
  static constexpr saltus::variable<parameter> parameter_list[] = {{target, 2.0, "m/s", "the speed to be kept"},
                                                                   {braking, 1.0, "m/s2", "how fast it is approached"}};
  enum constraint { pace };
  static constexpr saltus::constrained<constraint> constraint_list[] = {
      {pace, saltus::nonholonomic, "m/s", "the speed is kept"}};

  static void mass(const auto&, auto& m) { m(v, v) = 1.0; }
  static void force(const auto&, auto& f) { f[v] = 0.0; }
  static void constraints(const auto& at, auto& c) { c[pace] = at[v] - at[target]; }
  static void reaching(const auto& at, auto& eta) { eta[pace] = at[braking]; }
};
