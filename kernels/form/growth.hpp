// Growth of small differences: a form whose instances carry k of them, S, behind the states, and how much they have grown. They obey
// dS/dt = f_y S, and go through events, as derivatives by initial values do (form/sensitivities.hpp). After every step they are made
// orthonormal again (Gram and Schmidt), so that the sums of the logarithms of what is taken out grow as Lyapunov exponents times time
// (G. Benettin et al., Meccanica 15 (1980) 9; through events: P. Mueller, Chaos, Solitons and Fractals 5 (1995) 1671).
// engine/follow_growth.hpp does that. Their errors count in the choice of steps: at rest the states would allow any.
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
  static constexpr bool follows_growth = true;
  static constexpr bool keeps_derivatives = false;
  using form::directions;
  using form::model_states;
  using form::states;

  /// Rates are those of parts of the time, `batches` of them: from their spread comes the error of the mean.
  static constexpr int batches = 16;

  template <class Real>
  struct held : form::template held<Real> {
    Real growth_from;                   ///< what came before that time does not count
    Real begun, part_begun;             ///< when it began to count, and the part that is under way
    Real parts;                         ///< that are over
    Real grazings;                      ///< events that were met with hardly any speed
    vec<Real, k> grown;                 ///< logarithms, since it counts
    vec<Real, k> grown_before;          ///< the part under way
    vec<Real, k> rates, squared_rates;  ///< sums of those of the parts that are over
  };

  static constexpr bool has_memory = true;
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

  /// Differences to begin with: in no special direction, since one that leads along an invariant subspace would stay there.
  template <class Real>
  SALTUS_FN static void set_differences(vec<Real, states>& y) {
    for (int j = 0; j < k; ++j)
      for (int i = 0; i < model_states; ++i) {
        // the fractional part of a multiple of the golden ratio
        const double multiple = 0.6180339887498949 * (1 + i + (model_states + 1) * j);
        const double fraction = multiple - static_cast<double>(static_cast<int>(multiple));
        y[form::place(i, j)] = Real((i == j ? 1.0 : 0.0) + fraction - 0.5);
      }
  }
};

}  // namespace saltus
