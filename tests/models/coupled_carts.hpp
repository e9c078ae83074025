// Two carts on a vertical rail: the lower one bounces on the floor, and a rod couples and uncouples them. Every motion between events is a
// polynomial, so trajectories and their derivatives have closed forms (test_mechanical_sensitivities.cpp).
#include <saltus.hpp>

struct coupled_carts {
  static constexpr auto title = "Two carts that a rod couples";
  static constexpr auto source = "tests";
  static constexpr double span[] = {0.0, 2.0};

  enum state { x_1, x_2, v_1, v_2 };
  static constexpr auto first_velocity = v_1;
  static constexpr bool mass_is_diagonal = true;
  static constexpr saltus::variable<state> state_list[] = {{x_1, 1.0, "m", "height of the lower cart"},
                                                           {x_2, 2.5, "m", "height of the upper cart"},
                                                           {v_1, 0.0, "m/s", "its velocity"},
                                                           {v_2, 0.0, "m/s", "its velocity"}};
  enum parameter { mass_1, mass_2, gravity, thrust, length, restitution, bounce, period, kick, hard, begins_coupled };
  static constexpr saltus::variable<parameter> parameter_list[] = {
      {mass_1, 1.0, "kg", "of the lower cart"},
      {mass_2, 0.5, "kg", "of the upper cart"},
      {gravity, 9.81, "m/s2", "acceleration of gravity"},
      {thrust, 2.0, "N", "on the upper cart"},
      {length, 1.0, "m", "of the rod"},
      {restitution, 0.8, "1", "of the floor"},
      {bounce, 0.6, "1", "restitution of the rod's end"},
      {period, 0.7, "s", "between pulses"},
      {kick, 1.5, "m/s", "change of a velocity by a pulse"},
      {hard, 0.0, "1", "1: the rod does not catch the upper cart"},
      {begins_coupled, 0.0, "1", "1: the carts are coupled from the start, wherever they are put"}};
  enum discrete { coupled, resting };
  static constexpr saltus::variable<discrete> discrete_list[] = {{coupled, 0.0, "1", "1 while the rod couples them"},
                                                                 {resting, 0.0, "1", "never on"}};
  enum constraint { floor, rod };
  static constexpr saltus::constrained<constraint> constraint_list[] = {
      saltus::constrained<constraint>{floor, saltus::holonomic, "m", "the height of the lower cart"}.when(resting),
      saltus::constrained<constraint>{rod, saltus::holonomic, "m", "the distance is the rod's length"}.when(coupled)};
  enum guard { lands, meets };
  static constexpr saltus::event_function<guard> guard_list[] = {
      {lands, saltus::falling, saltus::unilateral, "the lower cart lands"},
      {meets, saltus::falling, saltus::unilateral, "the carts come as close as the rod is long"}};
  enum time_event { pulse };
  static constexpr saltus::timed<time_event> time_event_list[] = {{pulse, "a pulse"}};
  enum output { tension };
  static constexpr saltus::derived<output> output_list[] = {{tension, "N", "of the rod"}};

  static void initial(auto& at) { at[coupled] = at[begins_coupled]; }
  static void mass(const auto& at, auto& m) {
    m(v_1, v_1) = at[mass_1];
    m(v_2, v_2) = at[mass_2];
  }
  static void force(const auto& at, auto& f) {
    f[v_1] = -at[mass_1] * at[gravity];
    f[v_2] = at[thrust] - at[mass_2] * at[gravity];
  }
  static void constraints(const auto& at, auto& c) {
    c[floor] = at[x_1];
    c[rod] = at[x_2] - at[x_1] - at[length];
  }
  static void guards(const auto& at, auto& g) {
    g[lands] = at[x_1];
    g[meets] = select(at.is_on(coupled), 1.0, at[x_2] - at[x_1] - at[length]);
  }
  static void time_events(const auto& at, auto& when) { when.every(pulse, at[period], at[period]); }
  static void transition(auto& now) {
    if (now.due(lands)) now.impact(floor, now[restitution]);
    if (now.due(meets)) {
      if (now[hard] > 0.5) now.impact(rod, now[bounce]);
      else now[coupled] = 1.0;
    }
    if (now.due(pulse)) {
      if (now.is_on(coupled)) {
        now[coupled] = 0.0;
        now[v_2] += now[kick];
      } else {
        now[v_1] -= now[kick];
      }
    }
  }
  static void outputs(const auto& at, auto& out) { out[tension] = at.multiplier(rod); }
};
