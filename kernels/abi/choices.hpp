// The choices that a spec makes by a word and a module receives as text or as a number. Each enumeration stands beside its words: word k
// names choice k.
#pragma once

namespace saltus {

/// How the next step size follows from errors (method/controller.hpp).
enum class controller_kind { elementary, pi, h211b };
inline constexpr const char* controller_names[] = {"elementary", "pi", "h211b"};

/// How the errors of the states are combined into one norm (method/norm.hpp).
enum class norm_kind { rms, max, compere };
inline constexpr const char* norm_names[] = {"rms", "max", "compere"};

/// How steps are searched for roots of guards (event/detect.hpp, event/certify.hpp).
enum class detection { hermite, certified };
inline constexpr const char* detection_names[] = {"hermite", "certified"};

/// Which quantities explicit methods integrate for equations of any order (form/local_coordinates.hpp). `all`: every value, and the end of
/// a step is projected onto the constraints. `unitary`, `partitioned`: as many quantities as there are degrees of freedom, along orthogonal
/// directions or a subset of the values; the constraints give the rest in each stage.
enum class coordinates { all, unitary, partitioned };
inline constexpr const char* coordinates_names[] = {"all", "unitary", "partitioned"};

/// A table between its knots. step: the value of the knot before. linear: straight lines. pchip: monotone cubics (F. N. Fritsch, J.
/// Butland, SIAM J. Sci. Stat. Comput. 5 (1984) 300). spline: a cubic spline with a continuous second derivative, zero at the ends.
enum class interpolation : int { step, linear, pchip, spline };
inline constexpr const char* interpolation_names[] = {"step", "linear", "pchip", "spline"};
constexpr const char* name_of(interpolation i) { return interpolation_names[static_cast<int>(i)]; }

/// A table beyond its knots. none: no value, so the knots must cover the span of a run. held: the value of the first or last knot.
/// periodic: the table repeats.
enum class at_ends : int { none, held, periodic };
inline constexpr const char* at_ends_names[] = {"none", "held", "periodic"};
constexpr const char* name_of(at_ends a) { return at_ends_names[static_cast<int>(a)]; }

namespace abi {

/// How models with constraints are initialised consistently.
enum consistency : int { algebraic = 0, nearest = 1, given = 2 };
inline constexpr const char* consistency_names[] = {"algebraic", "nearest", "given"};

/// How the matrices of a mechanical system are factorised: by size, as measured to be faster, or as the model says.
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
