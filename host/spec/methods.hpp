// The methods as a spec sees them: their names and the equations that each can solve.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "spec/model.hpp"
#include "spec/names.hpp"
#include "spec/spec_choices.hpp"

namespace saltus::host {

struct method_traits {
  std::string_view name;
  int embedded_order;  ///< 0: no error estimate
  bool certifies;      ///< its error estimate holds for every right-hand side
  bool is_explicit, is_rosenbrock;
  int highest_index;   ///< highest index of algebraic states that it can solve for
  bool for_mechanics;  ///< it integrates only mechanical models
  bool is_series;      ///< it runs the model over truncated power series
  int order;
  int stages_at_once;  ///< stages whose equations are solved together
};

/// All methods.
const std::vector<method_traits>& known_methods();
/// The method of that name, which must be known.
const method_traits& method_called(std::string_view name);
/// Is the error estimate of this method good enough for detection = "certified"?
bool certifies(std::string_view method);

/// The feature by which a model differs from dy/dt = f(t, y), in words.
const char* special_about(const model& m);
/// Why no method can integrate the model's equations of any order; empty for all other models.
std::string no_method_for(const model& m);
/// Why a method cannot solve a model; empty if it can.
std::string obstacle(const method_traits& method, const model& m);
/// The methods that can solve a model.
names methods_for(const model& m);
/// The Taylor method for a tolerance: "taylor" in a spec.
std::string series_method_for(double rtol);
/// Stack bytes of a step per lane, for large data only: matrices of implicit methods, series of equations of any order
/// and their coordinates. The lanes of a thread must not exceed `largest_stack` together. `directions`: number of
/// derivatives carried along.
std::int64_t stack_of_lane(const model& m, std::string_view method, coordinates of, std::int64_t directions = 0);
inline constexpr std::int64_t largest_stack = std::int64_t{4} << 20;
/// The method for a model whose spec names none.
std::string default_method(const model& m);

}  // namespace saltus::host
