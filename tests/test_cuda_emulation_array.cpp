// Equations of any order by their derivative array on the emulated device: lanes that choose their columns separately, with events and
// samples, must be bit-identical to CPU lanes for every batch, number of places and number of threads.
#include "saltus.hpp"

#include "models/floating_loop.hpp"

// The table that a module has (host/compile/module_text.cpp).
template <>
inline constexpr saltus::array_offsets<3> saltus::offsets_of<floating_loop>{2, 5, 1.0, {1, 1, 1}, {0, 0, 0}};
template <>
inline constexpr saltus::series_room saltus::room_of_series<floating_loop> = {60, 60};

#include "compile/compiler.hpp"
#include "compile/derivative_arrays.hpp"
#include "emulation_cases.hpp"
#include "testing/source_folder.hpp"

namespace saltus::test {
namespace {

using loop = floating_loop;

/// A run with the values of an instance as its states.
host::plan loops(double t_end, double tolerance) {
  auto p = plan_of<loop>(t_end, tolerance);
  const auto m =
      host::by_derivative_array(host::describe_model(saltus::test::in_source("tests/models/floating_loop.hpp")));
  EXPECT_EQ(m.offsets->array->times, offsets_of<loop>.times);
  EXPECT_EQ(m.offsets->array->rank, offsets_of<loop>.rank);
  p.model.states = m.states;
  p.model.record = m.record;
  p.model.offsets = m.offsets;
  p.atol.assign(p.model.states.size(), tolerance);
  return p;
}

TEST(derivative_array, has_the_bits_of_lanes) {
  expect_same_as_lanes<engine_of<loop, "dp5", double, true>>(loops(2.0, 1e-7), loop::g1, 0.5, 2.0);
}

TEST(derivative_array, local_coordinates_have_the_bits_of_lanes) {
  using in_local_coordinates =
      engine<form_of<loop>, methods::by_name<"dp5">, double, options{.coordinates = coordinates::unitary}>;
  expect_same_as_lanes<in_local_coordinates>(loops(1.0, 1e-5), loop::g1, 0.5, 2.0);
}

}  // namespace
}  // namespace saltus::test
