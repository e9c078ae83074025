// More engines for test_cuda_emulation.cpp: derivatives by parameters and initial values, through events, by Taylor series and by an implicit
// method.
#include "../problems/robertson.hpp"
#include "emulation_cases.hpp"
#include "models/two_loops.hpp"

// A module has the room that its model needs.
template <>
inline constexpr saltus::series_room saltus::room_of_series<two_loops> = {16, 16};

namespace saltus::test {
namespace {

using host::target;

template <class Model, methods::text Method, int... Of>
using derived_engine = engine<sensitivities<form_of<Model>, false, Of...>, methods::by_name<Method>, double,
                              options{.samples = true}, reduction<reduce::max, false, 0>>;

template <methods::text Method>
void expect_loops() {
  auto p = plan_of<two_loops>(3.0, 1e-6);
  p.model.parameters[two_loops::x_mark].value = -0.3;
  p.model.parameters[two_loops::y_mark].value = -0.4;
  p.model.parameters[two_loops::keep].value = 0.7;
  p.model.parameters[two_loops::mix].value = 0.2;
  p.model.parameters[two_loops::dose].value = 0.4;
  p.model.parameters[two_loops::period].value = 0.7;
  p.sensitivities = {{target::kind::parameter, two_loops::x_mark, "x_mark"},
                     {target::kind::parameter, two_loops::period, "period"},
                     {target::kind::state, two_loops::y, "y"}};
  expect_same_as_lanes<derived_engine<two_loops, Method, two_loops::x_mark, two_loops::period, -1 - two_loops::y>>(
      p, two_loops::x_rate, 0.5, 2.0);
}

TEST(cuda_emulation, derivatives_through_events) { expect_loops<"dp5">(); }
TEST(cuda_emulation, derivatives_by_taylor_series) { expect_loops<"taylor8">(); }

TEST(cuda_emulation, derivatives_by_a_rosenbrock_method) {
  auto p = plan_of<robertson>(40.0, 1e-6);
  p.sensitivities = {{target::kind::parameter, robertson::k2, "k2"}};
  expect_same_as_lanes<derived_engine<robertson, "rodas5p", robertson::k2>>(p, robertson::k1, 0.02, 0.08);
}

}  // namespace
}  // namespace saltus::test
