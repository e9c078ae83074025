// Two cranks and their coupler by three angles, as equations of any order: a parallelogram that turns at constant speed and is flat at
// t = 1/2.
#include <saltus.hpp>

struct parallel_cranks {
  static constexpr double span[] = {0.0, 1.0};
  enum state { first, coupler, second, along, across };
  static constexpr saltus::variable<state> state_list[] = {{first, -0.5, "rad", ""},
                                                           {coupler, 0.0, "rad", ""},
                                                           {second, -0.5, "rad", ""},
                                                           {along, 0.0, "N", ""},
                                                           {across, 0.0, "N", ""}};
  enum parameter { crank, torque };
  static constexpr saltus::variable<parameter> parameter_list[] = {{crank, 0.4, "m", ""},
                                                                   {torque, 0.0, "N m", "on the coupler"}};
  static void initial(auto& at) {
    at.d(first, 1) = at.d(second, 1) = 1.0;
    at.d(coupler, 1) = 0.0;
  }
  static void residual(const auto& at, auto& r) {
    const auto turn = [&](state angle) { return at[across] * cos(at[angle]) - at[along] * sin(at[angle]); };
    r[first] = at.d(first, 2) - at[crank] * turn(first);
    r[coupler] = at.d(coupler, 2) - turn(coupler) - at[torque];
    r[second] = at.d(second, 2) + at[crank] * turn(second);
    r[along] = at[crank] * (cos(at[first]) - cos(at[second])) + cos(at[coupler]) - 1.0;
    r[across] = at[crank] * (sin(at[first]) - sin(at[second])) + sin(at[coupler]);
  }
};
