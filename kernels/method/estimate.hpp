// Properties of a method's error estimate, from its constants alone.
#pragma once

namespace saltus::methods {

/// True if the error estimate holds for every f. A step can then be certified (event/certify.hpp).
template <class Method>
inline constexpr bool certifies = Method::embedded_order > 0 && !Method::blind_estimate;

/// The order of the error estimate: it is O(h^(error_order + 1)), and a step-size controller takes the corresponding root.
template <class Method>
inline constexpr int error_order =
    Method::two_errors ? 2 * Method::embedded_order - Method::embedded3_order : Method::embedded_order;

}  // namespace saltus::methods
