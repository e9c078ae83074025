// The direction of time. Backward, engine time is minus the model's time, and so is every derivative by it: f, and the time
// derivatives that a residual contains. Nothing else of the engine knows of it.
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
  /// Derivatives by the model's time as those by engine time, and back.
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
