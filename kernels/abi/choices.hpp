// What is chosen by a word in a spec and told to a module, by its text or by a number: each list of choices with its
// words. Choice k of a list is called by the k-th word.
#pragma once

namespace saltus {

/// How the next step size follows from errors (method/controller.hpp).
enum class controller_kind { elementary, pi, h211b };
inline constexpr const char* controller_names[] = {"elementary", "pi", "h211b"};

/// How the errors of the states make one (method/norm.hpp).
enum class norm_kind { rms, max, compere };
inline constexpr const char* norm_names[] = {"rms", "max", "compere"};

/// How steps are searched for roots of guards (event/detect.hpp, event/certify.hpp).
enum class detection { hermite, certified };
inline constexpr const char* detection_names[] = {"hermite", "certified"};

/// Which quantities explicit methods integrate where equations of any order are stepped (form/local_coordinates.hpp): all values,
/// of which the end of a step is put back onto the constraints; or as many as there are degrees of freedom, the others of a stage
/// following from the constraints: along orthogonal directions, or some of the values as they are.
enum class coordinates { all, unitary, partitioned };
inline constexpr const char* coordinates_names[] = {"all", "unitary", "partitioned"};

/// A number kept of a quantity over a trajectory, or of an event. Behind their names stands how a spec writes them.
enum class reduce {
  min,
  max,
  mean,
  integral,
  time_of_min,
  time_of_max,
  deviation,
  rms,
  value,
  quantile,
  count,
  first,
  last
};
inline constexpr const char* reduce_names[] = {"min",         "max",       "mean", "integral", "time_of_min",
                                               "time_of_max", "deviation", "rms",  "value",    "quantile",
                                               "count",       "first",     "last"};
inline constexpr const char* reduce_forms[] = {
    "min(x)", "max(x)",        "mean(x)",        "integral(x)",  "time(min(x))", "time(max(x))", "std(x)",
    "rms(x)", "value(x at t)", "quantile(x, p)", "count(event)", "first(event)", "last(event)"};
constexpr bool is_of_event(reduce r) { return r >= reduce::count; }
/// Is it taken with derivatives, too (engine/reduced_derivatives.hpp)?
constexpr bool has_derivative(reduce r, bool windowed) {
  return is_of_event(r) || r == reduce::value || (r <= reduce::integral && !windowed);
}

/// What a table is between its knots: the value of the knot before; straight lines; monotone cubics (F. N. Fritsch, J. Butland, SIAM
/// J. Sci. Stat. Comput. 5 (1984) 300); a cubic spline with a continuous second derivative, which is zero at the ends.
enum class interpolation : int { step, linear, pchip, spline };
inline constexpr const char* interpolation_names[] = {"step", "linear", "pchip", "spline"};
constexpr const char* name_of(interpolation i) { return interpolation_names[static_cast<int>(i)]; }

/// What a table is before its first knot and after its last one: it has no value there, and must cover the span of a run; the
/// values of these knots; it begins anew.
enum class at_ends : int { none, held, periodic };
inline constexpr const char* at_ends_names[] = {"none", "held", "periodic"};
constexpr const char* name_of(at_ends a) { return at_ends_names[static_cast<int>(a)]; }

namespace abi {

/// How models with constraints are given consistent values at their start.
enum consistency : int { algebraic = 0, nearest = 1, given = 2 };
inline constexpr const char* consistency_names[] = {"algebraic", "nearest", "given"};

/// How the matrices of a mechanical system are factorised: as it pays by its size (measured), or as its model says.
enum class elimination : int { as_measured = 0, dense = 1, sparse = 2 };

/// The crossings of a guard that count.
enum direction : int { falling = -1, both = 0, rising = 1 };
inline constexpr const char* direction_names[] = {"falling", "both", "rising"};
constexpr const char* name_of(direction d) { return direction_names[d - falling]; }

/// On which side of a guard's zero its event is placed.
enum sidedness : int {
  bilateral = 0,  ///< g goes through zero; the event is placed just past it (CEL+, Compere 5.4)
  unilateral = 1  ///< g never passes zero; the event is placed just before it (CEL-, Compere 5.5)
};
inline constexpr const char* sidedness_names[] = {"bilateral", "unilateral"};
constexpr const char* name_of(sidedness s) { return sidedness_names[s]; }

}  // namespace abi
}  // namespace saltus
