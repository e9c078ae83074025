#include "compile/derivative_arrays.hpp"

#include <algorithm>
#include <sstream>
#include <stdexcept>

#include <fmt/format.h>

#include "base/child.hpp"
#include "base/error.hpp"
#include "compile/compiler.hpp"
#include "structure/rank_of_array.hpp"
#include "structure/stages.hpp"

namespace saltus::host {

namespace {

constexpr int most_times = 9;

std::size_t at(int i) { return static_cast<std::size_t>(i); }

/// Quantities that stay fixed while the array is evaluated.
struct mode {
  std::vector<double> discretes, sides;
};

/// The declared mode, and one more for each condition on which the orders of derivatives depend, with the opposite
/// answer.
std::vector<mode> modes_of(const model& m, const conditions& known) {
  mode declared{{}, std::vector<double>(m.guards.size() + 1, 1.0)};
  for (const quantity& d : m.discretes) declared.discretes.push_back(d.value);
  std::vector<mode> all = {declared};
  for (int k = 0; k < known.count(); ++k) {
    const auto c = answerable(m, known, k);
    auto& other = all.emplace_back(declared);
    double& value = c.of_guard ? other.sides[at(c.index)] : other.discretes[at(c.index)];
    const bool was = known.declared[at(k)] == 1;
    const auto is = static_cast<operation>(static_cast<int>(operation::less) + c.relation);
    const bool above = is == operation::greater || is == operation::greater_equal;
    if (is == operation::equal || is == operation::unequal)
      value = (is == operation::equal) == was ? c.value + 1 : c.value;
    else value = above == was ? c.value - 1 : c.value + 1;
  }
  return all;
}

array_shape shape_of(const model& m, const conditions& known, const std::vector<int>& observed) {
  array_shape r{std::vector<int>(m.record->equations.size(), 0), {}, most_times};
  for (const auto& row : signature_of(*m.record, known).rows)
    for (const auto& e : row) r.order[at(e.column)] = std::max(r.order[at(e.column)], e.order);
  for (std::size_t j = 0; j < observed.size(); ++j) r.highest.push_back(std::max(r.order[j], observed[j]));
  return r;
}

/// Compiles the function that evaluates the array up to F^(most_times).
built build_array(const model& m, const array_shape& shape, const std::vector<int>& observed,
                  const cancellation& stop) {
  model_array array{};
  array.times = most_times, array.rank = 1, array.time_scale = 1.0, array.order = shape.order;
  const auto text = fmt::format(
      "#include \"form/array_for_host.hpp\"\n"
      "#include \"form/time_direction.hpp\"\n"
      "#include \"{0}\"\n"
      "{1}"
      "template <> inline constexpr saltus::series_room saltus::room_of_series<::{2}> = {{{3}, {4}}};\n"
      "extern \"C\" __attribute__((visibility(\"default\"))) void saltus_derivative_array(\n"
      "    double t, const double* p, const double* d, const double* sides, const double* x, double* f, double* by) "
      "{{\n"
      "  saltus::array_for_host<saltus::model_functions<::{2}, saltus::forward_time>>(t, p, d, sides, x, f, by);\n"
      "}}\n",
      m.header.string(), array_text(m.name, array, observed), m.name, 1 + std::max(m.kept_series, 255),
      1 + std::max(m.kept_numbers, 255));
  return build_module(text, m.header, stop, optimised::no);
}

array_rank rank_in(const built& module, const model& m, const array_shape& shape, const std::vector<mode>& modes,
                   const cancellation& stop) {
  using function =
      void(double t, const double* p, const double* d, const double* sides, const double* x, double* f, double* by);
  constexpr double longest = 120;  // seconds
  auto* const evaluate = reinterpret_cast<function*>(module.code->symbol("saltus_derivative_array"));
  std::vector<double> parameters, guess;
  for (const quantity& p : m.parameters) parameters.push_back(p.value);
  for (const auto& name : m.record->unknown_names) {
    const auto x = std::find_if(m.states.begin(), m.states.end(), [&](const quantity& q) { return q.name == name; });
    guess.push_back(x == m.states.end() || !(x->value == x->value) ? 0.0 : x->value);
  }
  std::vector<array_function> arrays;
  for (const mode& held : modes)
    arrays.push_back([&](const std::vector<double>& x, std::vector<double>& f, std::vector<double>& by) {
      evaluate(m.t_begin, parameters.data(), held.discretes.data(), held.sides.data(), x.data(), f.data(), by.data());
    });
  // A child process runs it, since the model's functions may crash or hang.
  const auto told = in_child(
      [&] {
        const auto r = rank_of_array(shape, arrays, guess, m.record->unknown_names);
        return fmt::format("{} {} {} {} {:.17g} {:.17g} {}", r.times, r.rank, r.freedom, r.points, r.time_scale, r.gap,
                           r.why);
      },
      longest, stop);
  std::istringstream text(told);
  array_rank r;
  text >> r.times >> r.rank >> r.freedom >> r.points >> r.time_scale >> r.gap >> std::ws;
  std::getline(text, r.why);
  return r;
}

}  // namespace

model by_derivative_array(const model& m, const cancellation& stop) {
  if (m.equations != abi::any_order || !m.record)
    throw error(exit_usage, fmt::format("{} has no equations of any order, 0 = r(t, x, x', x'', ...)", m.name));
  try {
    const auto structure = structure_of(m);
    if (!structure.analysis.is_sound()) throw std::invalid_argument("its equations are structurally singular");
    const auto observed = observed_orders(m, structure.known);
    const auto shape = shape_of(m, structure.known, observed);
    const auto found = rank_in(build_array(m, shape, observed, stop), m, shape, modes_of(m, structure.known), stop);
    if (!found.why.empty()) throw std::invalid_argument(found.why);
    model r = m;
    r.states.clear();
    for (std::size_t j = 0; j < shape.order.size(); ++j)
      r.states.push_back(*std::find_if(m.states.begin(), m.states.end(),
                                       [&](const quantity& q) { return q.name == m.record->unknown_names[j]; }));
    r.offsets = model_offsets{{},
                              {},
                              {},
                              observed,
                              model_array{found.times, found.rank, shape.size() * found.times, found.freedom,
                                          found.points, found.time_scale, found.gap, shape.order}};
    add_derivatives(r);
    return r;
  } catch (const std::invalid_argument& e) {
    throw error(exit_usage,
                fmt::format("the derivative array of {} does not say how to integrate it: {}", m.name, e.what()));
  }
}

model model_for(const spec_document& spec, const model& known, const cancellation& stop) {
  const bool by_array = known.equations == abi::any_order && asks_for_array(spec);
  return by_array ? by_derivative_array(known, stop) : known;
}

}  // namespace saltus::host
