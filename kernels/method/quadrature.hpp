// Quadratures: integrals over a step of quantities q(t, y). They are added equations z' = q that every method integrates by its own stages
// and weights, outside Newton's iteration and with an error estimate of its own (as CVODES does: A. C. Hindmarsh et al., ACM Trans. Math.
// Softw. 31 (2005) 363). So they have the order of the method.
//
// The integrands are q - q0 and (q - q0)^2, where q0 is the value at the beginning of the step. So a small variance beside a large mean
// loses no digits, and the first stage contributes nothing.
#pragma once

#include "method/combine.hpp"
#include "method/method_concept.hpp"
#include "number/math.hpp"
#include "number/with_rate.hpp"

namespace saltus {

/// The integrals over a step of `Count` quantities, and of the squares of the first `Squared` of them. Sum i belongs to quantity i, sum
/// Count + i to its square.
template <class Real, int Count, int Squared>
struct quadratures {
  static constexpr int count = Count, squared = Squared, sums = Count + Squared;
  vec<Real, Count> at_start;       ///< q0
  vec<Real, Count> low, high;      ///< the smallest and the largest q - q0 of a stage
  vec<Real, Count> at_end;         ///< q - q0 at the end of a trial step
  vec<Real, sums> integral;        ///< of q - q0 and (q - q0)^2 over the step
  vec<Real, sums> integral_error;  ///< estimates of their local errors

  /// max |q| and max |q - q0| over the stages
  SALTUS_FN Real largest(int i) const { return max(abs(at_start[i] + low[i]), abs(at_start[i] + high[i])); }
  /// The area between q and the straight line through its ends, over a step of length h.
  SALTUS_FN Real bulge(int i, Real h) const { return abs(fma(Real(-0.5) * h, at_end[i], integral[i])); }
  SALTUS_FN Real spread(int i) const { return max(-low[i], high[i]); }
  /// The mean of q - q0 over a step of length h, limited to the range of the stages.
  SALTUS_FN Real mean_change(int i, Real h) const { return min(max(integral[i] / h, low[i]), high[i]); }
  /// The mean of (q - q0 - mean_change)^2.
  SALTUS_FN Real variance(int i, Real h) const {
    const Real mean = mean_change(i, h);
    return max(fma(-mean, mean, integral[Count + i] / h), Real(0.0));
  }

  /// Copies `from` in the lanes of `where`.
  SALTUS_FN void take_quadratures(const quadratures& from, mask_of<Real> where) {
    const auto one = [&](Real& to, Real value) SALTUS_INLINE_LAMBDA { to = select(where, value, to); };
    each<Count>([&](int i) SALTUS_INLINE_LAMBDA {
      one(at_start[i], from.at_start[i]);
      one(low[i], from.low[i]);
      one(high[i], from.high[i]);
    });
    each<sums>([&](int i) SALTUS_INLINE_LAMBDA {
      one(integral[i], from.integral[i]);
      one(integral_error[i], from.integral_error[i]);
    });
  }

  /// Makes the integrals zero in the lanes of `where`, as over no time.
  SALTUS_FN void empty_quadratures(mask_of<Real> where) {
    const auto clear = [&](Real& sum) SALTUS_INLINE_LAMBDA { sum = select(where, Real(0.0), sum); };
    each<Count>([&](int i) SALTUS_INLINE_LAMBDA { clear(low[i]), clear(high[i]); });
    each<sums>([&](int i) SALTUS_INLINE_LAMBDA { clear(integral[i]), clear(integral_error[i]); });
  }

  /// Copies the first quantities of `from`, and the integrals of squares.
  SALTUS_FN void take_values(const quadratures& from, int how_many) {
    for (int i = Count; i < sums; ++i) {
      integral[i] = from.integral[i];
      integral_error[i] = from.integral_error[i];
    }
    for (int i = 0; i < how_many; ++i) {
      at_start[i] = from.at_start[i];
      low[i] = from.low[i];
      high[i] = from.high[i];
      at_end[i] = from.at_end[i];
      integral[i] = from.integral[i];
      integral_error[i] = from.integral_error[i];
    }
  }

 protected:
  /// Sets q0 and zeroes the integrals.
  SALTUS_FN void begin_quadratures(const vec<Real, Count>& q) {
    each<Count>([&](int i) SALTUS_INLINE_LAMBDA {
      at_start[i] = q[i];
      low[i] = high[i] = at_end[i] = Real(0.0);
    });
    each<sums>([&](int i) SALTUS_INLINE_LAMBDA { integral[i] = integral_error[i] = Real(0.0); });
  }
  /// The integrands for the quantities q.
  template <bool AtEnd = true>
  SALTUS_FN vec<Real, sums> integrands(const vec<Real, Count>& q) {
    vec<Real, sums> r;
    each<Count>([&](int i) SALTUS_INLINE_LAMBDA {
      r[i] = q[i] - at_start[i];
      low[i] = min(low[i], r[i]);
      high[i] = max(high[i], r[i]);
      if constexpr (AtEnd) at_end[i] = r[i];
      if (i < Squared) r[i < Squared ? Count + i : 0] = r[i] * r[i];
    });
    return r;
  }
};

/// A method that integrates quantities beside the states.
namespace methods {
template <class Method, int Count, int Squared>
struct with_quadratures : Method {
  static constexpr int quadratures = Count, squares = Squared;
};
}  // namespace methods

/// For a method that integrates no quantities: empty.
struct no_quadratures {
  template <class Mask>
  SALTUS_FN void take_quadratures(const no_quadratures&, const Mask&) {}
  template <class Mask>
  SALTUS_FN void empty_quadratures(const Mask&) {}
};

namespace detail {
template <class Method, class Real>
auto choose_quadratures() {
  if constexpr (Method::quadratures > 0) return quadratures<Real, Method::quadratures, Method::squares>{};
  else return no_quadratures{};
}
}  // namespace detail

/// The quadratures in the result of a step: a base of its `stages`.
template <class Method, class Real>
using quadratures_of = decltype(detail::choose_quadratures<Method, Real>());

namespace detail {

/// The weight of stage i in the advancing formula.
template <class Method>
SALTUS_FN constexpr double weight_at_end(int i) {
  constexpr bool is_last_stage = [] {
    if constexpr (Method::is_explicit) return Method::fsal;
    else return true;
  }();
  if constexpr (requires { Method::quadrature_b; }) return Method::quadrature_b[i];
  else if constexpr (is_last_stage) return Method::a[Method::stages - 1][i];
  else return Method::b[i];
}
/// Its weights in the error estimate, from one or two embedded formulas.
template <class Method>
SALTUS_FN constexpr double weight_of_error(int i) {
  if constexpr (requires { Method::quadrature_e; }) return Method::quadrature_e[i];
  else if constexpr (requires { Method::quadrature_safety; }) return Method::quadrature_safety * Method::e[i];
  else return Method::e[i];
}
template <class Method>
SALTUS_FN constexpr double weight_of_second_error(int i) {
  if constexpr (Method::two_errors) return Method::e3[i];
  else return 0.0;
}

/// Sums over the stages of a Runge-Kutta method.
template <class Method, class Real, bool = (Method::quadratures > 0)>
struct quadrature_sum {
  template <class System, class State>
  SALTUS_FN quadrature_sum(const System&, Real, const State&) {}
  template <int, class System, class State>
  SALTUS_FN void add(const System&, Real, const State&) {}
  template <class Stages>
  SALTUS_FN void finish(Stages&) {}
};
template <class Method, class Real>
struct quadrature_sum<Method, Real, true> : quadratures_of<Method, Real> {
  using base = quadratures_of<Method, Real>;
  vec<Real, base::sums> second_error;

  /// Begins the step at (t, y).
  template <class System, class State>
  SALTUS_FN quadrature_sum(const System& system, Real t, const State& y) {
    this->begin_quadratures(system.quantities(t, y));
    each<base::sums>([&](int i) SALTUS_INLINE_LAMBDA { second_error[i] = Real(0.0); });
  }
  /// Adds stage i at (t, y).
  template <int i, class System, class State>
  SALTUS_FN void add(const System& system, Real t, const State& y) {
    constexpr double b = weight_at_end<Method>(i), e = weight_of_error<Method>(i);
    constexpr double e3 = weight_of_second_error<Method>(i);
    if constexpr (b != 0.0 || e != 0.0 || e3 != 0.0) {
      const auto v = this->template integrands<Method::c[i] == 1.0>(system.quantities(t, y));
      each<base::sums>([&](int k) SALTUS_INLINE_LAMBDA {
        if constexpr (b != 0.0) this->integral[k] = fma(SALTUS_COEFFICIENT(Real, b), v[k], this->integral[k]);
        if constexpr (e != 0.0)
          this->integral_error[k] = fma(SALTUS_COEFFICIENT(Real, e), v[k], this->integral_error[k]);
        if constexpr (e3 != 0.0) second_error[k] = fma(SALTUS_COEFFICIENT(Real, e3), v[k], second_error[k]);
      });
    }
  }
  /// Ends the step s.
  template <class Stages>
  SALTUS_FN void finish(Stages& s) {
    each<base::sums>([&](int k) SALTUS_INLINE_LAMBDA {
      this->integral[k] = s.h * this->integral[k];
      if constexpr (Method::two_errors) {
        // The same formula as for the states: h err5^2 / sqrt(err5^2 + 0.01 err3^2).
        const Real e2 = this->integral_error[k] * this->integral_error[k],
                   both = fma(Real(0.01) * second_error[k], second_error[k], e2);
        this->integral_error[k] = select(both == Real(0.0), Real(0.0), s.h * e2 / sqrt(both));
      } else {
        this->integral_error[k] = s.h * this->integral_error[k];
      }
    });
    static_cast<base&>(s) = *this;
  }
};

}  // namespace detail

/// Extends the integrals of a step when its end moves by `onward`, a small part of it. The quantities are q0 at the old end and q1 at the
/// new one; the extension integrates the cubic through both.
template <class Stages, class Real, int count>
SALTUS_FN void extend_quadratures(Stages& s, Real onward, const with_rate<vec<Real, count>>& q0,
                                  const with_rate<vec<Real, count>>& q1, mask_of<Real> where) {
  each<count>([&](int i) SALTUS_INLINE_LAMBDA {
    const Real a = q0.value[i] - s.at_start[i], b = q1.value[i] - s.at_start[i], bend = onward * Real(1.0 / 12.0);
    const Real area = onward * fma(bend, q0.rate[i] - q1.rate[i], Real(0.5) * (a + b));
    s.integral[i] = select(where, s.integral[i] + area, s.integral[i]);
    s.low[i] = select(where, min(s.low[i], b), s.low[i]);
    s.high[i] = select(where, max(s.high[i], b), s.high[i]);
    if (i < Stages::squared) {
      Real& sum = s.integral[i < Stages::squared ? count + i : 0];
      const Real square = onward * fma(Real(2.0) * bend, a * q0.rate[i] - b * q1.rate[i], Real(0.5) * (a * a + b * b));
      sum = select(where, sum + square, sum);
    }
  });
}

}  // namespace saltus
