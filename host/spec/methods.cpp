#include "spec/methods.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include <fmt/format.h>

#include "abi/choices.hpp"
#include "method/list.hpp"

namespace saltus::host {

const std::vector<method_traits>& known_methods() {
  static const std::vector<method_traits> list = [] {
    std::vector<method_traits> r;
    methods::for_each(methods::all_methods{}, [&](auto m) {
      const int together = [] {
        if constexpr (requires { decltype(m)::mu_pair; }) return decltype(m)::stages;
        else return 1;
      }();
      r.push_back({m.name, m.embedded_order, methods::certifies<decltype(m)>, m.is_explicit, m.is_rosenbrock,
                   m.highest_index, m.for_mechanics, is_series_method<decltype(m)>, m.order, together});
    });
    return r;
  }();
  return list;
}

const method_traits& method_called(std::string_view name) {
  return *std::find_if(known_methods().begin(), known_methods().end(), [&](const auto& m) { return m.name == name; });
}

bool certifies(std::string_view method) { return method_called(method).certifies; }

std::string no_method_for(const model& m) {
  if (m.equations != abi::any_order || m.offsets) return {};
  return fmt::format("no method integrates {}: {}; saltus describe has its structure", m.name, m.why_unsolved);
}

const char* special_about(const model& m) {
  constexpr const char* words[] = {"", "algebraic states", "a mass matrix", "implicit equations",
                                   "equations with derivatives of any order"};
  return words[static_cast<int>(m.equations)];
}

std::string obstacle(const method_traits& method, const model& m) {
  if (const auto none = no_method_for(m); !none.empty()) return "must be left out: " + none;
  if (m.offsets && m.offsets->array && (method.is_series || !method.is_explicit))
    return fmt::format("must be an explicit method, as structure = \"array\" gives {} a time derivative, and no {}",
                       m.name, method.is_series ? "series" : "matrices of index 1");
  if (method.is_explicit && m.equations != abi::plain && m.equations != abi::any_order)
    return fmt::format("must be an implicit method, as {} has {}", m.name, special_about(m));
  if (method.is_series && m.coordinates > 0)
    return fmt::format("must not be {}, which finds no series of {}, a mechanical model", method.name, m.name);
  if (method.for_mechanics && m.coordinates == 0)
    return fmt::format("must not be {}, which integrates mechanical models alone: {} has no velocities and constraints",
                       method.name, m.name);
  if (method.for_mechanics && 2 * m.coordinates != static_cast<int>(m.states.size()))
    return fmt::format(
        "must not be {}, which is for coordinates whose time derivatives are the velocities: {} has others",
        method.name, m.name);
  if (method.for_mechanics && m.reaches)
    return fmt::format("must not be {}, which starts on the constraints: those of {} are reached in time", method.name,
                       m.name);
  for (const constraint& c : m.constraints)
    if (method.for_mechanics && !c.holonomic)
      return fmt::format("must not be {}, which is for holonomic constraints alone: {} of {} is nonholonomic",
                         method.name, c.name, m.name);
  if (method.is_series && !m.delays.empty())
    return fmt::format("must not be {}, which finds no series of delayed states, such as {} has", method.name, m.name);
  if (method.highest_index < highest_index(m))
    return fmt::format("must be a method for index {0}, as {1} has algebraic states of index {0}", highest_index(m),
                       m.name);
  if (method.is_rosenbrock && m.equations == abi::implicit)
    return fmt::format("must not be a Rosenbrock method, as {} has {}", m.name, special_about(m));
  return {};
}

names methods_for(const model& m) {
  names all;
  for (const auto& method : known_methods())
    if (obstacle(method, m).empty()) all.push_back(method.name);
  return all;
}

std::string series_method_for(double rtol) {
  // With p terms for each factor e^-2 of the tolerance, a step is e^-2 of the radius of convergence (Jorba and Zou
  // 2005, 3.2). A fifth more terms costs less than the steps it saves.
  const double enough = 1.2 * (1.0 - 0.5 * std::log(rtol));
  std::string name;
  for (const auto& method : known_methods())
    if (method.is_series && (name.empty() || method_called(name).order < enough)) name = method.name;
  return name;
}

std::int64_t stack_of_lane(const model& m, std::string_view method, coordinates of, std::int64_t directions) {
  constexpr std::int64_t number = sizeof(double);
  const auto square = [](std::size_t n) { return static_cast<std::int64_t>(n * n); };
  if (m.offsets && m.offsets->array) {
    const auto& array = *m.offsets->array;
    const auto unknowns = std::ssize(array.order), values = std::ssize(m.states);
    const std::int64_t order = *std::max_element(array.order.begin(), array.order.end());
    // Its matrix, the reflected matrix and their source; series of numbers and of duals; the constraints with their
    // derivatives.
    const auto columns = values + unknowns * array.times + values;
    const auto constraints = unknowns + array.rows - array.rank;
    const auto series = unknowns + 1 + std::max(m.kept_series, 256);
    return number *
           (3 * array.rows * columns + 3 * series * (order + array.times + 1) + 3 * std::max(m.kept_numbers, 256) +
            6 * values * values + (of == coordinates::all ? 2 : 8) * constraints * values);
  }
  if (m.offsets) {
    std::int64_t highest = 0, constraints = 0;
    for (const auto& set : m.offsets->sets) {
      highest = std::max<std::int64_t>(highest, *std::max_element(set.d.begin(), set.d.end()));
      constraints = std::max<std::int64_t>(constraints, std::accumulate(set.c.begin(), set.c.end(), std::ssize(set.c)));
    }
    // Their Jacobian, directions and factors.
    const auto local =
        of == coordinates::all ? 0 : constraints * (4 * static_cast<std::int64_t>(m.states.size()) + 5 * constraints);
    const auto unknowns = m.record->equations.size();
    const auto series = static_cast<std::int64_t>(unknowns) + 1 + std::max(m.kept_series, 256);
    const std::int64_t numbers = std::max(m.kept_numbers, 256);
    const std::int64_t terms = method_called(method).is_series ? method_called(method).order : 1;
    // J, its source in duals, and its factors; for an implicit step the same for all values, with up to four duals at
    // once.
    const bool is_explicit = method_called(method).is_explicit;
    const std::int64_t duals = is_explicit ? 2 : 7;
    return number * (series * (terms + highest + 1 + duals * (highest + 1)) + (1 + duals) * numbers +
                     4 * square(unknowns) + local + (is_explicit ? 0 : 4 * square(m.states.size())));
  }
  if (method_called(method).is_series && directions > 0) {
    // Series of the states, of time and of all intermediate results.
    const auto series = std::ssize(m.states) + 1 + (m.kept_series < 0 ? 256 : m.kept_series);
    return number * (1 + directions) * (series * (method_called(method).order + 1) + std::max(m.kept_numbers, 0));
  }
  if (method_called(method).is_explicit) return 0;
  // Beside J, M, the matrix of the step and its factors, of which Radau IIA has as many as stages: their derivatives, or
  // a matrix of all stages.
  const std::int64_t together = std::max(method_called(method).stages_at_once, 3);
  const std::int64_t derived = directions > 0 ? 4 * (1 + directions) + 2 * together * together : 0;
  return number * (1 + together + derived) * square(m.states.size());
}

std::string default_method(const model& m) {
  if (m.equations == abi::plain) return "dp5";
  if (m.equations == abi::any_order) return m.offsets && m.offsets->array ? "dop853" : "taylor";
  return m.equations == abi::implicit || highest_index(m) > 1 ? "radau5" : "rodas5p";
}

}  // namespace saltus::host
