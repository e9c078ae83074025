// The interface of a method: sail, land and detection use nothing else of it.
//
// A method is a type of constants, derived from one of the families in explicit_method.hpp and implicit_method.hpp or from a
// family of its own:
//     name, title, source       the key in a spec, the name for people, the source of the coefficients
//     order, embedded_order     of the advancing formula, and of the embedded one; 0: no error estimate
//     two_errors, embedded3_order, blind_estimate     properties of the error estimate: `error_order`, `certifies`
//     is_explicit               a step evaluates f; otherwise it solves equations and may fail to
//     is_series                 of an explicit method: it finds the Taylor series (method/taylor_step.hpp)
//     stages, fsal              of an explicit method: a step with known f(t, y) evaluates f `stages` times, or once less if FSAL
//     highest_index             of the algebraic states that it can integrate
//     extra_stages              evaluations for the dense output
//     dense_rows                terms of the dense output beyond the cubic Hermite polynomial
//     is_rosenbrock             the slope at the beginning of a step is not used
//     for_mechanics             it integrates mechanical models alone, and its steps end on their constraints by themselves
//
// and the functions, found by overload for the method as first template argument:
//     step<Method>(system, from, h)                 one step of length h from the point `from`: a `stages`
//     error_norm_squared<Method, Norm>(s, rtol, atol)     of the step s: it is accepted if this is <= 1
//     local_error(s)                                the error estimate, component by component, with its sign
//     interpolate<Method>(f, s)                     the dense output, of any type that is_interpolant (method/dense_output.hpp)
//     middle_off_cubic(s)                           the middle of the step, where the method `knows_middle`
//
// The result of a step is `stages<Method, Real, n>`: t, h, y, y1, f0(), f1(), set_end_slope(i, slope), take(from, where).
// Location moves the end of a step by a small part of it and sets y1, h and the slope there. `interpolate` must then follow the same
// solution to the new end, so data that it keeps of the step may not depend on h.
//
// A method that solves equations also has in its result: solved, singular, residual, residual_of, evaluations, and error and
// interpolant_error, the error estimates at its end and of its dense output. Its `step<Method, WithInterpolant>` takes one more argument,
// which is called with the step before it is judged (the projection onto constraints).
//
// A method that remembers something between steps (a multistep method its past) declares
//     template <class Real, int n> struct memory {
//       static constexpr void each(a, b, body);         body(of a, of b) for every number kept: parking moves them
//       void forget(where);                             at the start, and after every jump
//       void remember(s, where);                        takes in an accepted step s
//     };
// Its step reads the memory as system.past(). It lies in the instance and is parked, moved and put into snapshots with it.
#pragma once

#include "method/estimate.hpp"
#include "number/real.hpp"
#include "number/solution_point.hpp"

namespace saltus {

/// The result of a step: one specialisation for each family of methods.
template <class Method, class Real, int n>
struct stages;

/// Explicit methods that keep all stages until the step has ended: method/erk.hpp.
template <class Method>
concept keeps_stages = Method::is_explicit && !Method::is_low_storage && !Method::is_series;

/// Methods that find the solution's Taylor series: method/taylor_step.hpp. One series serves steps of any length.
template <class Method>
concept is_series_method = Method::is_explicit && Method::is_series;

/// True if the middle of a step is known better than by the cubic through its ends, without an evaluation: middle_off_cubic(s).
template <class Method>
inline constexpr bool knows_middle = [] {
  if constexpr (Method::is_explicit) return Method::middle_order > 3;
  else return Method::dense_rows > 0;
}();

/// Right-hand-side evaluations of one explicit step whose f(t, y) is known.
template <class Method>
inline constexpr int evaluations_per_step = Method::fsal ? Method::stages - 1 : Method::stages;

namespace methods {

/// True if the method remembers something between steps.
template <class Method>
concept has_memory = requires {
  typename Method::template memory<pack<double, 1>, 1>;
};

/// The constants of a method.
template <class Method>
concept described = requires(const char* text, int number, bool yes) {
  text = Method::name;
  text = Method::title;
  text = Method::source;
  number = Method::order;
  number = Method::embedded_order;
  number = Method::embedded3_order;
  number = Method::highest_index;
  number = Method::extra_stages;
  number = Method::dense_rows;
  yes = Method::two_errors;
  yes = Method::blind_estimate;
  yes = Method::is_explicit;
  yes = Method::is_rosenbrock;
  yes = Method::for_mechanics;
};

/// The interface of a step's result.
template <class Stages, class Real>
concept stages_of_step = requires(Stages s, const Stages& from, mask_of<Real> where, Real x) {
  x = from.t;
  x = from.h;
  x = from.y[0];
  x = from.y1[0];
  x = from.f0()[0];
  x = from.f1()[0];
  s.set_end_slope(0, x);
  s.take(from, where);
};
template <class Stages, class Real>
concept stages_of_solved_step = stages_of_step<Stages, Real> && requires(const Stages& s, mask_of<Real> where, Real x) {
  where = s.solved;
  where = s.singular;
  x = s.error[0];
  x = s.interpolant_error[0];
  x = s.residual;
  x = s.residual_of;
  s.evaluations;
};

/// The interface that the engine requires of a method.
template <class Method, class Real, int n>
concept is_method = described<Method> && stages_of_step<stages<Method, Real, n>, Real> &&
    (Method::is_explicit || stages_of_solved_step<stages<Method, Real, n>, Real>);

namespace detail {
template <class Held, class Memory>
struct with_memory : Held {
  Memory past;
};
template <class Held, class Method, class Real, int n>
auto held_with_memory_of() {
  if constexpr (has_memory<Method>) return with_memory<Held, typename Method::template memory<Real, n>>{};
  else return Held{};
}
}  // namespace detail

/// `Held`, together with the method's memory if it has one.
template <class Held, class Method, class Real, int n>
using held_with_memory = decltype(detail::held_with_memory_of<Held, Method, Real, n>());

}  // namespace methods

namespace detail {
/// y + h slope.
template <class Real, int n>
SALTUS_FN vec<Real, n> advance(const vec<Real, n>& y, Real h, const vec<Real, n>& slope) {
  vec<Real, n> r;
  each<n>([&](int i) SALTUS_INLINE_LAMBDA { r[i] = fma(h, slope[i], y[i]); });
  return r;
}
}  // namespace detail

}  // namespace saltus
