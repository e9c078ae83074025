// Growth of small differences: a form whose instances carry k of them, S, behind the states, and their growth. They obey dS/dt = f_y S and
// pass through events like derivatives with respect to initial values (form/sensitivities.hpp). After every step they are made orthonormal
// again (Gram and Schmidt); the sums of the logarithms of the factors grow as Lyapunov exponents times time (G. Benettin et al., Meccanica
// 15 (1980) 9; through events: P. Mueller, Chaos, Solitons and Fractals 5 (1995) 1671). engine/orthonormal.hpp does that. The errors of S
// count in step-size control, because states at rest would allow any step.
#pragma once

#include "form/sensitivities.hpp"

namespace saltus {

namespace detail {
template <class Base, class Directions>
struct by_initial_values;
template <class Base, int... j>
struct by_initial_values<Base, index_list<j...>> {
  using type = sensitivities<Base, true, (-1 - j)...>;
};
}  // namespace detail

/// The first `k` exponents.
template <class Base, int k>
struct growth : detail::by_initial_values<Base, detail::indices<k>>::type {
  using form = typename detail::by_initial_values<Base, detail::indices<k>>::type;
  static_assert(k >= 1 && k <= Base::states, "there are as many exponents as states");
  static constexpr bool lyapunov = true;
  static constexpr bool keeps_derivatives = false;
  using form::directions;
  using form::model_states;
  using form::states;

  /// Growth rates are averaged over `batches` parts of the time; their spread gives the error of the mean.
  static constexpr int batches = 16;

  template <class Real>
  struct step_constants : form::template step_constants<Real> {
    Real growth_from;                   ///< growth before this time does not count
    Real begun, part_begun;             ///< when counting began, and when the current part began
    Real parts;                         ///< completed parts
    Real grazings;                      ///< events met with hardly any speed
    vec<Real, k> grown;                 ///< logarithms of growth since counting began
    vec<Real, k> grown_before;          ///< the same at the beginning of the current part
    vec<Real, k> rates, squared_rates;  ///< sums over the completed parts
  };

  template <class A, class B, class F>
  SALTUS_FN static constexpr void each_memory(A& a, B& b, F&& body) {
    form::each_memory(a, b, body);
    body(a.growth_from, b.growth_from);
    body(a.begun, b.begun);
    body(a.part_begun, b.part_begun);
    body(a.parts, b.parts);
    body(a.grazings, b.grazings);
    each<k>([&](int j) SALTUS_INLINE_LAMBDA {
      body(a.grown[j], b.grown[j]);
      body(a.grown_before[j], b.grown_before[j]);
      body(a.rates[j], b.rates[j]);
      body(a.squared_rates[j], b.squared_rates[j]);
    });
  }

  /// Initial differences, in no special direction: a direction along an invariant subspace would stay there.
  template <class Real>
  SALTUS_FN static void set_differences(vec<Real, states>& y) {
    for (int j = 0; j < k; ++j)
      for (int i = 0; i < model_states; ++i) {
        // the fractional part of a multiple of the golden ratio
        const double multiple = 0.6180339887498949 * (1 + i + (model_states + 1) * j);
        const double fraction = multiple - static_cast<double>(static_cast<int>(multiple));
        y[form::rate_index(i, j)] = Real((i == j ? 1.0 : 0.0) + fraction - 0.5);
      }
  }
};

}  // namespace saltus
