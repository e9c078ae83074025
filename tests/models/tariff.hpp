// A store that is filled while a price is low: tables of two kinds, one of which jumps, in guards, right-hand sides and transitions.
#include <saltus.hpp>

struct tariff {
  static constexpr auto title = "A store of heat by a tariff";
  static constexpr auto source = "tests/test_cuda_emulation_tables.cpp";

  static constexpr saltus::knot prices[] = {{0.0, 1.0}, {0.7, 4.0}, {1.0, 2.0}, {1.9, 3.0}, {2.4, 1.0}};
  static constexpr saltus::knot demands[] = {{-1.0, 0.5}, {0.2, 1.5}, {1.1, 0.1}, {3.0, 2.0}, {7.0, 0.3}};

  enum table { price, demand };
  static constexpr saltus::tabulated<table> table_list[] = {
      saltus::tabulated<table>{price, "1", "of heat", saltus::interpolation::step, saltus::at_ends::periodic}.with(
          prices),
      saltus::tabulated<table>{demand, "1", "for heat", saltus::interpolation::pchip, saltus::at_ends::held}.with(
          demands),
  };

  enum state { store, cost };
  static constexpr saltus::variable<state> state_list[] = {{store, 2.0, "1", "heat"}, {cost, 0.0, "1", "paid"}};

  enum parameter { worth };
  static constexpr saltus::variable<parameter> parameter_list[] = {
      {worth, 2.5, "1", "price up to which heat is bought"}};

  enum discrete { buys };
  static constexpr saltus::variable<discrete> discrete_list[] = {{buys, 0.0, "1", "1 while heat is bought"}};

  enum guard { cheap, full };
  static constexpr saltus::event_function<guard> guard_list[] = {
      {cheap, saltus::both, saltus::bilateral, "the price passes what heat is worth, which is more in an empty store"},
      {full, saltus::rising, saltus::bilateral, "the store is full"},
  };

  enum output { payment };
  static constexpr saltus::derived<output> output_list[] = {{payment, "1", "paid for each unit of time"}};

  static void initial(auto& at) { at[cost] = 0.1 * at[price]; }
  static void rhs(const auto& at, auto& dy) {
    dy[store] = 3.0 * at[buys] - at[demand] * at[store];
    dy[cost] = 3.0 * at[buys] * at[price];
  }
  static void guards(const auto& at, auto& g) {
    g[cheap] = at[worth] - 0.2 * at[store] - at[price];
    g[full] = at[store] - 3.0;
  }
  static void outputs(const auto& at, auto& out) { out[payment] = 3.0 * at[buys] * at[price]; }
  static void transition(auto& now) {
    if (now.due(full)) now[buys] = 0.0;
    if (now.due(cheap)) now[buys] = now.above(cheap) ? 1.0 : 0.0;
    now[cost] += 0.01 * now[price];
  }
};
