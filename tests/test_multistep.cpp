// The engine accepts a method that is not in its list and has a memory between steps (two-step Adams-Bashforth with an error
// estimate by Adams-Moulton): it parks and moves the memory, and forgets it at events.
#include <cmath>
#include <cstdio>

#include <gtest/gtest.h>

#include "saltus.hpp"

#include "../problems/bouncing_ball.hpp"
#include "../problems/lorenz.hpp"
#include "emulated_cuda.hpp"
#include "ensemble/settings.hpp"

namespace {

/// y1 = y + h ((1 + r) f - r f_before), r = h / (2 h_before); the first step after a start or a jump is Euler's, with the same trapezoidal
/// rule as its error estimate.
struct adams_2 : saltus::methods::explicit_method {
  static constexpr const char *name = "adams2", *title = "Adams 2(2)", *source = "Hairer, Norsett, Wanner I, III.5";
  static constexpr int order = 2, embedded_order = 1, stages = 1;
  static constexpr bool fsal = false, is_low_storage = true;

  template <class Real, int n>
  struct memory {
    saltus::vec<Real, n> f;
    Real h;  ///< 0: no memory

    template <class A, class B, class F>
    SALTUS_FN static constexpr void each(A& a, B& b, F&& body) {
      for (int i = 0; i < n; ++i) body(a.f[i], b.f[i]);
      body(a.h, b.h);
    }
    SALTUS_FN void forget(saltus::mask_of<Real> where) {
      h = select(where, Real(0.0), h);
      for (int i = 0; i < n; ++i) f[i] = select(where, Real(0.0), f[i]);
    }
    template <class Stages>
    SALTUS_FN void remember(const Stages& s, saltus::mask_of<Real> where) {
      h = select(where, s.h, h);
      for (int i = 0; i < n; ++i) f[i] = select(where, s.f0()[i], f[i]);
    }
  };
};

}  // namespace

namespace saltus {

template <class Method, class F, class Real, int n>
requires(low_storage<Method>&& is_same<Method, adams_2>) SALTUS_FN stages<Method, Real, n> step(
    const F& f, const solution_point<Real, n>& from, Real h) {
  const auto& [t, y, f0] = from;
  stages<Method, Real, n> s;
  s.t = t, s.h = h, s.y = y, s.slope0 = f0;
  const auto known = f.past().h > Real(0.0);
  const Real r = select(known, Real(0.5) * h / select(known, f.past().h, Real(1.0)), Real(0.0));
  for (int i = 0; i < n; ++i) s.y1[i] = fma(h, fma(r, f0[i] - f.past().f[i], f0[i]), y[i]);
  s.slope1 = f(t + h, s.y1);
  for (int i = 0; i < n; ++i) s.error[i] = fma(Real(0.5) * h, f0[i] + s.slope1[i], y[i] - s.y1[i]);
  return s;
}
template <class Method, class F, class Real, int n>
requires(low_storage<Method>&& is_same<Method, adams_2>) SALTUS_FN dense_output<Method, Real, n> interpolate(
    const F&, const stages<Method, Real, n>& s) {
  return detail::hermite<Method>(s);
}

}  // namespace saltus

namespace {

using namespace saltus;
using namespace saltus::test;

static_assert(methods::is_method<adams_2, pack<double, 4>, 3> && methods::has_memory<adams_2>);

// If its memory did not move with its instance, lanes would differ from one lane; the solution agrees with another method's.
TEST(multistep, has_the_same_bits_in_lanes_and_follows_the_solution) {
  using E = engine<form_of<bouncing_ball>, adams_2, double, options{}>;
  using reference = engine<form_of<bouncing_ball>, methods::dormand_prince_5, double, options{}>;
  const auto p = plan_of<bouncing_ball>(1.5, 1e-7);
  const auto chunk = [&] { return scattered_chunk(p, bouncing_ball::restitution, 0.5, 0.9, 60); };
  host::chunk_data one = chunk(), many = chunk(), exact = chunk();
  on_lanes<E, 1>(host::settings_of(p), one);
  on_lanes<E, 8>(host::settings_of(p), many);
  on_lanes<reference, 8>(host::settings_of(p), exact);
  EXPECT_EQ(differences(one, many), "");
  ASSERT_EQ(one.log.slot.size(), exact.log.slot.size());
  EXPECT_GT(one.log.slot.size(), 60u);
  for (std::size_t k = 0; k < exact.final_state.size(); ++k)
    EXPECT_NEAR(one.final_state[k], exact.final_state[k], 1e-4);
}

TEST(multistep, takes_part_in_error_control) {
  using E = engine<form_of<lorenz>, adams_2, double, options{}>;
  using reference = engine<form_of<lorenz>, methods::dormand_prince_5, double, options{}>;
  double off[2];
  int k = 0;
  for (const double tolerance : {1e-4, 1e-8}) {
    const auto p = plan_of<lorenz>(0.5, tolerance), fine = plan_of<lorenz>(0.5, 1e-12);
    auto here = scattered_chunk(p, lorenz::rho, 0.0, 28.0, 20),
         exact = scattered_chunk(fine, lorenz::rho, 0.0, 28.0, 20);
    on_lanes<E, 8>(host::settings_of(p), here);
    on_lanes<reference, 8>(host::settings_of(fine), exact);
    off[k] = 0.0;
    for (std::size_t i = 0; i < exact.final_state.size(); ++i)
      off[k] = std::max(off[k], std::abs(here.final_state[i] - exact.final_state[i]));
    std::printf("tolerance %.0e: off by %.1e after %lld steps of the first instance\n", tolerance, off[k],
                static_cast<long long>(here.steps[0]));
    ++k;
  }
  EXPECT_LT(off[1], 1e-2 * off[0]);
  EXPECT_LT(off[0], 0.1);
}

}  // namespace
