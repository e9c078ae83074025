// The direction of time. In a run backward, engine time is minus the model's time, and derivatives change their sign: f, and the time
// derivatives in a residual. No other part of the engine depends on the direction.
#pragma once

#include "number/base.hpp"

namespace saltus {

struct forward_time {
  static constexpr int sign = 1;
  /// The model's time at engine time t.
  template <class Value>
  SALTUS_FN static Value of_model(Value t) {
    return t;
  }
  /// Converts derivatives with respect to the model's time into those with respect to engine time, and back.
  template <class Value, int n>
  SALTUS_FN static void turn(vec<Value, n>&) {}
  template <class Value>
  SALTUS_FN static Value turned(Value rate) {
    return rate;
  }
};

struct backward_time {
  static constexpr int sign = -1;
  template <class Value>
  SALTUS_FN static Value of_model(Value t) {
    return -t;
  }
  template <class Value, int n>
  SALTUS_FN static void turn(vec<Value, n>& rates) {
    each<n>([&](int i) SALTUS_INLINE_LAMBDA { rates[i] = -rates[i]; });
  }
  template <class Value>
  SALTUS_FN static Value turned(Value rate) {
    return -rate;
  }
};

}  // namespace saltus
