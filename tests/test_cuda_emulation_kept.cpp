// More engines for test_cuda_emulation.cpp: reductions of every kind, with windows and without, and an event log that keeps some rows
// of an instance.
#include "emulation_cases.hpp"
#include "models/everything.hpp"
#include "models/rotor.hpp"

template <>
inline constexpr saltus::series_room saltus::room_of_series<rotor> = {60, 60};

namespace saltus::test {
namespace {

template <reduce Kind, bool Windowed = true>
using of_load = reduction<Kind, false, everything::load, Windowed>;

/// Numbers for windows as host/spec/read_reductions.cpp sets them.
void set_windows(host::plan& p, std::size_t reductions) {
  for (std::size_t j = 0; j < reductions; ++j) p.windows.insert(p.windows.end(), {3.0, 7.5, 0.75});
}

TEST(cuda_emulation, what_is_kept) {
  using kept =
      engine<form_of<everything>, methods::by_name<"dp5">, double, options{.samples = true, .bounds_log = true},
             of_load<reduce::max>, of_load<reduce::time_of_max>, of_load<reduce::time_of_min, false>,
             of_load<reduce::deviation>, of_load<reduce::rms, false>, of_load<reduce::value, false>,
             of_load<reduce::quantile>, reduction<reduce::count, false, everything::impact, true>,
             reduction<reduce::first, false, everything::half>, reduction<reduce::last, false, everything::stick>>;
  auto p = plan_of<everything>(10.0, 1e-6);
  set_windows(p, kept::reductions);
  p.logged.first = 2, p.logged.last = 3;
  p.logged.from = 1.0;
  p.logged.events.assign(20, 1);
  p.logged.events[everything::half] = 0;
  expect_same_as_lanes<kept>(p, everything::restitution, 0.3, 0.8);
}

TEST(cuda_emulation, what_is_kept_of_long_steps) {
  using kept =
      engine<form_of<rotor>, methods::by_name<"taylor8">, double, options{.logs_outputs = true},
             reduction<reduce::time_of_max, false, rotor::x, true>,
             reduction<reduce::deviation, true, rotor::square, true>, reduction<reduce::mean, false, rotor::v, true>,
             reduction<reduce::quantile, false, rotor::x, true>>;
  auto p = plan_of<rotor>(10.0, 1e-6);
  set_windows(p, kept::reductions);
  p.logged.outputs = true;
  expect_same_as_lanes<kept>(p, rotor::size, 0.3, 0.8);
}

}  // namespace
}  // namespace saltus::test
