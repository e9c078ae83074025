// What the equations of a model are made of, as the host is told it: nodes of a graph whose arrows go from what is made to what it
// is made of. The orders of derivatives are read off it, for any choice of the branches of selections.
#pragma once

namespace saltus {

/// What a node is.
enum class operation : int {
  held,        ///< made of parameters, time and literals alone: node 0
  unknown,     ///< a: its number
  discrete,    ///< a: the number of the discrete variable
  guard,       ///< a: the number of the guard whose sign is held through a step
  sum,         ///< of a and b
  product,     ///< of a and b
  quotient,    ///< a over b
  function,    ///< of a, and of b if that is not 0
  derivative,  ///< of a by time, b times
  choice,      ///< condition a: b, or else c
  // conditions
  always,  ///< a: 1 true, 0 false
  less,    ///< a < b, and so on; where a or b is 0 it is the number `value`; c: 1 if it held
  less_equal,
  greater,
  greater_equal,
  equal,
  unequal,
  all_of,   ///< a and b
  any_of,   ///< a or b
  one_of,   ///< a or b, but not both
  negation  ///< not a
};

/// What a comparison asks: operation::less and those after it.
enum class relation : int { less, less_equal, greater, greater_equal, equal, unequal };

struct expression {
  int operation;  ///< saltus::operation
  int a, b, c;
  double value;
};

}  // namespace saltus
