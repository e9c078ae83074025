// The equations of a model as the host receives them: a graph whose nodes are operations and whose arrows point to the operands. The host
// reads the orders of derivatives off it, for any choice of the branches of selections.
#pragma once

namespace saltus {

/// The kind of a node.
enum class operation : int {
  held,        ///< depends on parameters, time and literals alone: node 0
  unknown,     ///< a: its number
  discrete,    ///< a: the number of the discrete variable
  guard,       ///< a: the number of the guard whose sign is held through a step
  sum,         ///< a + b
  product,     ///< a b
  quotient,    ///< a / b
  function,    ///< of a, and of b unless that is 0
  derivative,  ///< the b-th time derivative of a
  choice,      ///< condition a ? b : c
  // conditions
  always,  ///< a: 1 true, 0 false
  less,    ///< a < b, and so on; if a or b is 0, that operand is the number `value`; c: 1 if it held
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

/// The relation of a comparison: operation::less and those after it.
enum class relation : int { less, less_equal, greater, greater_equal, equal, unequal };

struct expression {
  int operation;  ///< saltus::operation
  int a, b, c;
  double value;
};

}  // namespace saltus
