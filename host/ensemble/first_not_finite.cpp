#include "ensemble/first_not_finite.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <vector>

#include <fmt/format.h>

#include "abi/status.hpp"
#include "base/error.hpp"

namespace saltus::host {

namespace {

/// model_value of kernels/form/not_finite.hpp
enum { is_none, is_state, is_rate, is_guard, is_output };

std::string name_of(const model& m, int what, int which) {
  const auto i = static_cast<std::size_t>(which);
  switch (what) {
    case is_state: return "state `" + m.states[i].name + "`";
    case is_rate: return "the right-hand side of `" + m.states[i].name + "`";
    case is_guard: return "guard `" + m.guards[i].name + "`";
    default: return "output `" + m.outputs[i].name + "`";
  }
}

std::string values_text(const model& m, const std::vector<double>& y) {
  constexpr std::size_t most = 6;
  std::string text;
  for (std::size_t i = 0; i < std::min(most, y.size()); ++i)
    text += fmt::format("{}{} = {:.6g}", i > 0 ? ", " : "", m.states[i].name, y[i]);
  return y.size() > most ? text + ", ..." : text;
}

}  // namespace

not_finite_finder::finder* not_finite_finder::function() {
  const std::lock_guard lock(mutex_);
  if (!std::exchange(tried_, true)) {
    const auto text = fmt::format(
        "#include \"saltus.hpp\"\n"
        "#include \"{}\"\n"
        "#include \"form/not_finite.hpp\"\n"
        "extern \"C\" __attribute__((visibility(\"default\"))) int saltus_first_not_finite(\n"
        "    double t, const double* y, const double* p, const double* d, double* dy, int* which) {{\n"
        "  return static_cast<int>(saltus::first_not_finite<::{}>(t, y, p, d, dy, which));\n"
        "}}\n",
        plan_.model.header.string(), plan_.model.name);
    try {
      module_ = build_module(text, plan_.model.header, stop_, optimised::no);
    } catch (const error&) {}  // a failing explanation must not fail the run
  }
  return module_ ? reinterpret_cast<finder*>(module_->code->symbol("saltus_first_not_finite")) : nullptr;
}

std::string not_finite_finder::explain(const chunk_data& chunk, std::size_t slot, finder* find) const {
  const model& m = plan_.model;
  const std::size_t n = chunk.status.size();
  const auto of_slot = [&](const std::vector<double>& columns) {
    std::vector<double> r;
    for (std::size_t at = slot; at < columns.size(); at += n) r.push_back(columns[at]);
    return r;
  };
  const auto y = of_slot(chunk.final_state), p = of_slot(chunk.parameters), d = of_slot(chunk.final_discrete);
  const double t = chunk.t_final[slot], span = chunk.t_end[slot] - chunk.t_begin[slot];
  std::vector<double> dy(m.states.size(), 0.0), ignored(dy), there(y);
  int which = 0;
  if (const int what = find(t, y.data(), p.data(), d.data(), dy.data(), &which); what != is_none) {
    if (what == is_output) return {};
    const bool is_event = what == is_state && static_cast<status>(chunk.status[slot]) == status::not_finite;
    return fmt::format("{} is not finite at t = {:.10g}{}{}", name_of(m, what, which), t,
                       is_event ? ": a transition has made it so" : "",
                       what == is_state ? "" : ", " + values_text(m, y));
  }
  // The last point is finite, so a step left the domain of the model. Tries ever longer Euler steps along the slope
  // here until one does.
  for (double h = std::max(std::fabs(t), std::fabs(span)) * std::numeric_limits<double>::epsilon();
       h < std::fabs(span) * 1e-3; h *= 2) {
    const double step = std::copysign(h, span);
    for (std::size_t i = 0; i < y.size(); ++i) there[i] = y[i] + step * dy[i];
    const int what = find(t + step, there.data(), p.data(), d.data(), ignored.data(), &which);
    if (what == is_rate || what == is_guard)
      return fmt::format("{} is not finite just beyond t = {:.10g}, {}", name_of(m, what, which), t, values_text(m, y));
  }
  return {};
}

void not_finite_finder::look_at(chunk_data& chunk) {
  if (chunk.has_all_finished()) return;
  for (std::size_t i = 0; i < chunk.status.size(); ++i) {
    const auto why = static_cast<status>(chunk.status[i]);
    if (why != status::not_finite && why != status::bad_start) continue;
    const auto find = function();
    if (find == nullptr) return;
    try {
      chunk.not_finite = {chunk.first_id + static_cast<std::int64_t>(i), why, explain(chunk, i, find)};
    } catch (...) {}  // the model may throw anything
    return;
  }
}

}  // namespace saltus::host
