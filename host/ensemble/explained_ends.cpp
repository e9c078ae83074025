#include "ensemble/explained_ends.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <Eigen/SVD>

#include "abi/status.hpp"
#include "base/error.hpp"

namespace saltus::host {

namespace {

using rows_at = void(double t, const double* states, const double* parameters, const double* discretes, double* rows);
using finder = int(double t, const double* states, const double* parameters, const double* discretes, double* rates,
                   int* which);

/// Where an instance has ended, as functions of its model take it.
struct last_point {
  std::vector<double> y, p, d;

  last_point(const chunk_data& chunk, std::size_t slot) {
    const auto take = [&](std::vector<double>& to, const std::vector<double>& columns) {
      for (std::size_t at = slot; at < columns.size(); at += chunk.status.size()) to.push_back(columns[at]);
    };
    take(y, chunk.final_state), take(p, chunk.parameters), take(d, chunk.final_discrete);
  }
};

/// model_value of kernels/form/not_finite.hpp
enum { is_none, is_state, is_rate, is_guard, is_output, is_derivative };

std::string name_of(const model& m, int what, int which) {
  const auto i = static_cast<std::size_t>(which), n = m.states.size();
  switch (what) {
    case is_derivative:
      return fmt::format("the derivative of the right-hand side of `{}` by `{}`", m.states[i / n].name,
                         m.states[i % n].name);
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

status status_of(const chunk_data& chunk, std::size_t slot) { return static_cast<status>(chunk.status[slot]); }

std::string explain(const model& m, const chunk_data& chunk, std::size_t slot, finder* find) {
  const last_point at(chunk, slot);
  const auto& y = at.y;
  const double t = chunk.t_final[slot], span = chunk.t_end[slot] - chunk.t_begin[slot];
  std::vector<double> dy(m.states.size(), 0.0), ignored(dy), there(y);
  int which = 0;
  if (const int what = find(t, y.data(), at.p.data(), at.d.data(), dy.data(), &which); what != is_none) {
    if (what == is_output) return {};
    if (status_of(chunk, slot) == status::singular && what != is_derivative) return {};
    const bool is_event = what == is_state && status_of(chunk, slot) == status::not_finite;
    return fmt::format("{} is not finite at t = {:.10g}{}{}", name_of(m, what, which), t,
                       is_event ? ": a transition has made it so" : "",
                       what == is_state ? "" : ", " + values_text(m, y));
  }
  if (status_of(chunk, slot) == status::singular) return {};
  // The last point is finite, so a step left the domain of the model. Tries ever longer Euler steps along the slope
  // here until one does.
  for (double h = std::max(std::fabs(t), std::fabs(span)) * std::numeric_limits<double>::epsilon();
       h < std::fabs(span) * 1e-3; h *= 2) {
    const double step = std::copysign(h, span);
    for (std::size_t i = 0; i < y.size(); ++i) there[i] = y[i] + step * dy[i];
    const int what = find(t + step, there.data(), at.p.data(), at.d.data(), ignored.data(), &which);
    if (what == is_rate || what == is_guard)
      return fmt::format("{} is not finite just beyond t = {:.10g}, {}", name_of(m, what, which), t, values_text(m, y));
  }
  return {};
}

}  // namespace

std::int64_t dependent_rows(std::span<const double> rows, std::size_t count, bool nearly) {
  constexpr double singular = 1e-10, part = 1e-4, part_nearly = 0.05;
  const std::size_t columns = count > 0 ? rows.size() / count : 0;
  // Rows are scaled to length one, so that units of constraints do not matter.
  std::vector<std::size_t> of;
  Eigen::MatrixXd a(static_cast<Eigen::Index>(columns), static_cast<Eigen::Index>(count));
  for (std::size_t k = 0; k < count; ++k) {
    const Eigen::Map<const Eigen::VectorXd> row(&rows[k * columns], static_cast<Eigen::Index>(columns));
    if (!row.allFinite()) return 0;
    if (row.norm() > 0) a.col(static_cast<Eigen::Index>(of.size())) = row / row.norm(), of.push_back(k);
  }
  if (of.empty()) return 0;
  const auto n = static_cast<Eigen::Index>(of.size());
  const Eigen::JacobiSVD<Eigen::MatrixXd> svd(a.leftCols(n), Eigen::ComputeFullV);
  const auto& values = svd.singularValues();
  std::int64_t bits = 0;
  for (Eigen::Index i = 0; i < n; ++i) {
    const double value = i < values.size() ? values[i] : 0.0;
    if (!(value <= singular || (nearly && i == n - 1))) continue;
    const Eigen::VectorXd v = svd.matrixV().col(i).cwiseAbs();
    for (Eigen::Index k = 0; k < n; ++k)
      if (v[k] > (value <= singular ? part : part_nearly) * v.maxCoeff() && of[static_cast<std::size_t>(k)] < 62)
        bits |= std::int64_t{1} << of[static_cast<std::size_t>(k)];
  }
  return bits;
}

void* late_function::address() {
  const std::lock_guard lock(mutex_);
  if (!std::exchange(tried_, true)) {
    const auto text = fmt::format(
        "#include \"saltus.hpp\"\n"
        "#include \"{0}\"\n"
        "#include \"{2}\"\n"
        "using model_here = ::{1};\n"
        "extern \"C\" __attribute__((visibility(\"default\"))) {3} {{ return {4}; }}\n",
        plan_.model.header.string(), plan_.model.name, header_, signature_, call_);
    try {
      module_ = build_module(text, plan_.model.header, stop_, optimised::no);
    } catch (const error&) {}  // a failing explanation must not fail the run
  }
  return module_ ? module_->code->symbol("saltus_late_function") : nullptr;
}

end_explainer::end_explainer(const plan& p, const cancellation& stop)
    : plan_(p),
      jacobian_rows_(
          p, stop, "model/jacobian_rows.hpp",
          "void saltus_late_function(double t, const double* y, const double* p, const double* d, double* rows)",
          "saltus::jacobian_rows<model_here>(t, y, p, d, rows)"),
      first_not_finite_(p, stop, "form/not_finite.hpp",
                        "int saltus_late_function(double t, const double* y, const double* p, const double* d, double* "
                        "dy, int* which)",
                        "static_cast<int>(saltus::first_not_finite<model_here>(t, y, p, d, dy, which))") {}

void end_explainer::find_dependent(chunk_data& chunk) {
  const model& m = plan_.model;
  const auto rows = static_cast<std::size_t>(
      std::count_if(m.constraints.begin(), m.constraints.end(), [](const constraint& c) { return !c.quaternion; }));
  if (rows < 2) return;
  const std::size_t velocities = m.states.size() - static_cast<std::size_t>(m.coordinates);
  for (std::size_t i = 0; i < chunk.status.size(); ++i) {
    const auto why = static_cast<status>(chunk.status[i]);
    if (why != status::inconsistent && why != status::dead_point) continue;
    const auto function = reinterpret_cast<rows_at*>(jacobian_rows_.address());
    if (function == nullptr) return;
    std::vector<double> j(rows * velocities);
    const last_point at(chunk, i);
    try {
      function(chunk.t_final[i], at.y.data(), at.p.data(), at.d.data(), j.data());
    } catch (...) { continue; }
    chunk.note_writer_on_host();
    chunk.dependent[i] = dependent_rows(j, rows, why == status::dead_point);
  }
}

void end_explainer::find_not_finite(chunk_data& chunk) {
  if (chunk.has_all_finished()) return;
  bool has_singular = false;  // one is examined: a matrix may be singular because a derivative is not finite
  for (std::size_t i = 0; i < chunk.status.size(); ++i) {
    const auto why = status_of(chunk, i);
    const bool is_singular = why == status::singular && !std::exchange(has_singular, true);
    if (why != status::not_finite && why != status::bad_start && !is_singular) continue;
    const auto find = reinterpret_cast<finder*>(first_not_finite_.address());
    if (find == nullptr) return;
    try {
      chunk.not_finite = {chunk.first_id + static_cast<std::int64_t>(i), why, explain(plan_.model, chunk, i, find)};
    } catch (...) {}  // the model may throw anything
    if (!is_singular || !chunk.not_finite.text.empty()) return;
    chunk.not_finite = {};
  }
}

}  // namespace saltus::host
