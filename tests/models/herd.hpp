// Eight states that are drawn to their mean, which decays as m' = -decay m^2, and one driven state. With d the distances from the mean at
// the start,  x_i = d_i e^(-draw t) + m / (1 + decay m t),  driven = force t^3 / 3.
#include <saltus.hpp>

struct herd {
  static constexpr auto title = "herd";
  static constexpr auto source = "tests";
  static constexpr double span[] = {0.0, 2.0};
  static constexpr int members = 8;
  enum state { x, driven = members };
  static constexpr saltus::variable<state> state_list[] = {saltus::variable<state>{x, 1.0, "m", "of each"}.of(members),
                                                           {driven, 0.0, "m", "by a force that grows"}};
  enum parameter { draw, decay, force };
  static constexpr saltus::variable<parameter> parameter_list[] = {{draw, 0.8, "1/s", "towards the mean"},
                                                                   {decay, 0.3, "1/(m s)", "of the mean"},
                                                                   {force, 0.9, "m/s3", "on the driven one"}};
  static void initial(auto& at) {
    for (int i = 0; i < members; ++i) at(x, i) = 1.0 + 0.25 * i;
  }
  static void rhs(const auto& at, auto& dy) {
    auto mean = at(x, 0);
    for (int i = 1; i < members; ++i) mean = mean + at(x, i);
    mean = mean * 0.125;
    for (int i = 0; i < members; ++i) dy(x, i) = at[draw] * (mean - at(x, i)) - at[decay] * mean * mean;
    dy[driven] = at[force] * at.t * at.t;
  }
};
