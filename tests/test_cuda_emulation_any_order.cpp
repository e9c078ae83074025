// Equations of any order on the emulated device: a valve whose modes have different offsets, with events and samples, must be bit-identical
// to lanes for every batch, number of places and number of threads.
#include "saltus.hpp"

#include "../problems/hydraulic_check_valve.hpp"

// The table that a module has (host/compile/module_text.cpp): shut, then open.
template <>
inline constexpr saltus::offsets<2, 2, 6, 5, 1> saltus::offsets_of<hydraulic_check_valve>{
    {{0, 0}, {0, 1}},
    {{1, 0}, {1, 0}},
    {{0, 0, 0}, {0, 1, 1}, {1, 1, 1}, {0, 0, 0}, {0, 1, 1}, {1, 0, 2}},
    {0, 3, 6},
    {0, 0, 0, 0, 1},
    {0, 2, 5},
    {{0, hydraulic_check_valve::open, static_cast<int>(saltus::relation::greater), 0.5}},
    {0, 1},
    {0, 0}};
template <>
inline constexpr saltus::series_room saltus::room_of_series<hydraulic_check_valve> = {60, 60};

#include "compile/compiler.hpp"
#include "emulation_cases.hpp"

namespace saltus::test {
namespace {

using valve = hydraulic_check_valve;

/// A run with the values of an instance as its states.
host::plan valves(double t_end, double tolerance) {
  auto p = plan_of<valve>(t_end, tolerance);
  const auto m = host::model_from(describe<valve>::get("model"), {}, {});
  p.model.states = m.states;
  p.model.record = m.record;
  p.model.offsets = m.offsets;
  p.atol.assign(p.model.states.size(), tolerance);
  return p;
}

TEST(any_order, offsets_are_those_of_the_analysis) {
  const auto found = valves(1.0, 1e-6).model.offsets;
  ASSERT_TRUE(found.has_value());
  ASSERT_EQ(found->sets.size(), 2u);
  for (std::size_t set = 0; set < 2; ++set)
    for (std::size_t i = 0; i < 2; ++i) {
      EXPECT_EQ(found->sets[set].c[i], offsets_of<valve>.c[set][i]);
      EXPECT_EQ(found->sets[set].d[i], offsets_of<valve>.d[set][i]);
    }
  EXPECT_EQ(found->set_of, (std::vector<int>{0, 1}));
}

TEST(any_order, series_have_the_bits_of_lanes) {
  expect_same_as_lanes<engine_of<valve, "taylor12", double, true>>(valves(2.0, 1e-7), valve::leak, 0.1, 0.4);
}

TEST(any_order, explicit_methods_have_the_bits_of_lanes) {
  expect_same_as_lanes<engine_of<valve, "dop853", double, false>>(valves(1.0, 1e-5), valve::leak, 0.1, 0.4);
}

TEST(any_order, local_coordinates_have_the_bits_of_lanes) {
  using in_local_coordinates =
      engine<form_of<valve>, methods::by_name<"dp5">, double, options{.coordinates = coordinates::unitary}>;
  expect_same_as_lanes<in_local_coordinates>(valves(1.0, 1e-5), valve::leak, 0.1, 0.4);
}

}  // namespace
}  // namespace saltus::test
