// Taylor series of several orders; truncated power series give their coefficients: method/taylor_step.hpp.
#pragma once

#include "method/explicit_method.hpp"

namespace saltus::methods {

/// The series up to (t - t0)^Order. A step runs the model's right-hand side once per term, and evaluates it once at the end to measure the
/// defect of the series there.
template <int Order>
struct series_method : explicit_method {
  static constexpr const char *source = "Jorba and Zou 2005, Experimental Mathematics 14; Nedialkov and Ramdani";
  static constexpr bool is_series = true;
  static constexpr int order = Order, embedded_order = Order;
  static constexpr int stages = Order + 1;
  static constexpr bool fsal = false;
};

struct taylor_8 : series_method<8> {
  static constexpr const char *name = "taylor8", *title = "Taylor series of order 8";
};
struct taylor_12 : series_method<12> {
  static constexpr const char *name = "taylor12", *title = "Taylor series of order 12";
};
struct taylor_16 : series_method<16> {
  static constexpr const char *name = "taylor16", *title = "Taylor series of order 16";
};
struct taylor_20 : series_method<20> {
  static constexpr const char *name = "taylor20", *title = "Taylor series of order 20";
};

}  // namespace saltus::methods
