// What a spec must know of the methods: which there are, and what each can solve.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "spec/model.hpp"
#include "spec/names.hpp"

namespace saltus::host {

struct method_traits {
  std::string_view name;
  int embedded_order;  ///< 0: no error estimate
  bool certifies;      ///< its error estimate holds for every right-hand side
  bool is_explicit, is_rosenbrock;
  int highest_index;   ///< of algebraic states that it can solve for
  bool for_mechanics;  ///< it integrates mechanical models alone
  bool is_series;      ///< it runs the model over truncated power series
  int order;
};

/// All of them.
const std::vector<method_traits>& known_methods();
/// The method of that name, which must be known.
const method_traits& method_called(std::string_view name);
/// Is the error estimate of this method good enough for detection = "certified"?
bool certifies(std::string_view method);

/// What a model has that dy/dt = f(t, y) has not.
const char* special_about(const model& m);
/// Why a model cannot be run: there is no method for equations of any order; empty for all others.
std::string no_method_for(const model& m);
/// What speaks against a method for a model; empty if nothing does.
std::string obstacle(const method_traits& method, const model& m);
/// The methods that can solve a model.
names methods_for(const model& m);
/// The Taylor series that a tolerance asks for: what a spec calls "taylor".
std::string series_method_for(double rtol);
/// Bytes of a thread's stack that a step takes for each lane, as far as it is much: matrices of implicit methods, series of equations of
/// any order and their coordinates. They must not be more than `largest_stack` together.
/// `directions`: derivatives that are carried along.
std::int64_t stack_of_lane(const model& m, std::string_view method, std::string_view coordinates,
                           std::int64_t directions = 0);
inline constexpr std::int64_t largest_stack = std::int64_t{4} << 20;
/// What a model is solved with unless its spec says otherwise.
std::string default_method(const model& m);

}  // namespace saltus::host
