// Three machines side by side that together use every event feature: a ball that comes to rest (Zeno) and is thrown again at
// time events, a block on a belt that sticks (sliding) and slips, and a load that is on while two conditions hold.
#include <saltus.hpp>

struct everything {
  static constexpr auto title = "time events, sliding, rest and conditions at once";
  static constexpr auto source = "tests";
  static constexpr double span[] = {0.0, 20.0};
  enum state { height, velocity, block, block_speed, load };
  static constexpr saltus::variable<state> state_list[] = {{height, 1.0, "m", "of the ball"},
                                                           {velocity, 0.0, "m/s", "of the ball"},
                                                           {block, 0.0, "m", "elongation of its spring"},
                                                           {block_speed, 0.0, "m/s", "velocity of the block"},
                                                           {load, 0.0, "1", "approaches 1 while on"}};
  enum parameter { restitution, period, toss_speed, belt_speed, friction, decay };
  static constexpr saltus::variable<parameter> parameter_list[] = {
      {restitution, 0.6, "1", "share of the speed kept by the ball"},
      {period, 4.0, "s", "of the throws"},
      {toss_speed, 4.0, "m/s", "of a throw"},
      {belt_speed, 0.2, "m/s", "velocity of the belt"},
      {friction, 1.0, "N", "largest friction of block and belt"},
      {decay, 3.0, "s/m", "of friction with speed"}};
  enum discrete { resting, on };
  static constexpr saltus::variable<discrete> discrete_list[] = {{resting, 0.0, "1", "the ball is at rest"},
                                                                 {on, 0.0, "1", "the load is on"}};
  enum guard { impact, stick, stretched, forward, half };
  static constexpr saltus::event_function<guard> guard_list[] = {
      {impact, saltus::falling, saltus::unilateral, "the ball reaches the floor"},
      saltus::event_function<guard>{stick, saltus::both, saltus::bilateral, "the block has the velocity of the belt"}
          .sliding(),
      saltus::event_function<guard>{stretched, saltus::both, saltus::bilateral, "block > 0.3"}.condition(),
      saltus::event_function<guard>{forward, saltus::both, saltus::bilateral, "block_speed > 0"}.condition(),
      {half, saltus::both, saltus::bilateral, "the load passes 1/2"}};
  enum time_event { toss, blink };
  static constexpr saltus::timed<time_event> time_event_list[] = {{toss, "a ball at rest is thrown"},
                                                                  {blink, "nothing happens"}};
  static void rhs(const auto& at, auto& dy) {
    const auto rests = at.is_on(resting);
    const auto relative = at[block_speed] - at[belt_speed];
    const auto slip = select(at.above(stick), relative, -relative);
    const auto force = at[friction] / (1.0 + at[decay] * slip);
    dy[height] = select(rests, 0.0, at[velocity]);
    dy[velocity] = select(rests, 0.0, -9.81 - 0.1 * at[velocity] * abs(at[velocity]));
    dy[block] = at[block_speed];
    dy[block_speed] = select(at.above(stick), -force, force) - at[block];
    dy[load] = at[on] - at[load];
  }
  static void guards(const auto& at, auto& g) {
    g[impact] = select(at.is_on(resting), 1.0, at[height]);
    g[stick] = at[block_speed] - at[belt_speed];
    g[stretched] = at[block] - 0.3;
    g[forward] = at[block_speed];
    g[half] = at[load] - 0.5;
  }
  static void time_events(const auto& at, auto& when) {
    when.every(toss, at[period], at[period]);
    when.at(blink, 1.5);
    when.at(blink, 11.5);
  }
  static void transition(auto& now) {
    if (now.due(impact)) now[velocity] = -now[restitution] * now[velocity];
    if (now.due(toss) && now.is_on(resting)) {
      now[resting] = 0.0;
      now[velocity] = now[toss_speed];
    }
  }
  static void mode(auto& now) { now[on] = now.above(stretched) && now.above(forward) ? 1.0 : 0.0; }
  static void rest(auto& now) {
    now[height] = now[velocity] = 0.0;
    now[resting] = 1.0;
  }
};
