// A house under a thermostat, through days with the outside temperature given by a table. A spec may replace it by measurements, under
// [tables].
#include <saltus.hpp>

struct house {
  static constexpr auto title = "House under a thermostat, with the temperature outside as a table";
  static constexpr auto source = "one room of lumped heat capacity: C dT/dt = P - (T - outdoor) / R; made for saltus";
  static constexpr double span[] = {0.0, 168.0};

  /// A clear day in spring, made up: coldest at sunrise, warmest in the afternoon.
  static constexpr saltus::knot day[] = {{0.0, 4.0},   {3.0, 2.5},   {6.0, 1.5},   {8.0, 4.0},  {10.0, 8.0},
                                         {12.0, 11.0}, {15.0, 13.0}, {18.0, 10.5}, {21.0, 6.5}, {24.0, 4.0}};

  enum table { outdoor };
  static constexpr saltus::tabulated<table> table_list[] = {
      saltus::tabulated<table>{outdoor, "degC", "temperature outside", saltus::interpolation::linear,
                               saltus::at_ends::periodic}
          .with(day),
  };

  enum state { temperature, heat };
  static constexpr saltus::variable<state> state_list[] = {
      {temperature, 20.0, "degC", "temperature of the house"},
      {heat, 0.0, "kWh", "heat used"},
  };

  enum parameter { resistance, capacity, power, low, high };
  static constexpr saltus::variable<parameter> parameter_list[] = {
      {resistance, 5.0, "K/kW", "to the flow of heat through the walls"},
      {capacity, 4.0, "kWh/K", "of the house for heat"},
      {power, 6.0, "kW", "of the heater"},
      {low, 19.0, "degC", "the heater starts below this"},
      {high, 21.0, "degC", "the heater stops above this"},
  };

  enum discrete { heater };
  static constexpr saltus::variable<discrete> discrete_list[] = {
      {heater, 0.0, "1", "1 while the heater is on"},
  };

  enum guard { cold, hot };
  static constexpr saltus::event_function<guard> guard_list[] = {
      {cold, saltus::falling, saltus::bilateral, "the house is too cold: heater on"},
      {hot, saltus::rising, saltus::bilateral, "the house is too hot: heater off"},
  };

  enum output { outside };
  static constexpr saltus::derived<output> output_list[] = {{outside, "degC", "temperature outside"}};

  static void rhs(const auto& at, auto& dy) {
    const auto heating = select(at.is_on(heater), at[power], 0.0);
    dy[temperature] = (heating - (at[temperature] - at[outdoor]) / at[resistance]) / at[capacity];
    dy[heat] = heating;
  }

  static void guards(const auto& at, auto& g) {
    g[cold] = at[temperature] - at[low];
    g[hot] = at[temperature] - at[high];
  }

  static void outputs(const auto& at, auto& out) { out[outside] = at[outdoor]; }

  static void transition(auto& now) {
    if (now.due(cold)) now[heater] = 1.0;
    if (now.due(hot)) now[heater] = 0.0;
  }
};
