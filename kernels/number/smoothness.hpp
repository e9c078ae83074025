// The smoothness of a model's functions: for the host, which finds it (model/describe.hpp), and for modules, which are told.
#pragma once

namespace saltus {

/// The change of a function with t and the states through a step. Each kind includes those before it.
enum class smoothness : int {
  held,  ///< not at all
  linear,
  smooth,
  piecewise,  ///< its branch may end within the step, as those of `abs`, `max`, `floor`, or a `select` by a state
  unknown
};

}  // namespace saltus
