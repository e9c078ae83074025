#include "ensemble/dependent.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <Eigen/SVD>

#include "abi/status.hpp"
#include "base/error.hpp"

namespace saltus::host {

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

dependency_finder::rows_at* dependency_finder::function() {
  const std::lock_guard lock(mutex_);
  if (!std::exchange(tried_, true)) {
    const auto text = fmt::format(
        "#include \"saltus.hpp\"\n"
        "#include \"{}\"\n"
        "#include \"model/jacobian_rows.hpp\"\n"
        "extern \"C\" __attribute__((visibility(\"default\"))) void saltus_jacobian_rows(\n"
        "    double t, const double* y, const double* p, const double* d, double* rows) {{\n"
        "  saltus::jacobian_rows<::{}>(t, y, p, d, rows);\n"
        "}}\n",
        plan_.model.header.string(), plan_.model.name);
    try {
      module_ = build_module(text, plan_.model.header, stop_, optimised::no);
    } catch (const error&) {}  // a failing explanation must not fail the run
  }
  return module_ ? reinterpret_cast<rows_at*>(module_->code->symbol("saltus_jacobian_rows")) : nullptr;
}

void dependency_finder::look_at(chunk_data& chunk) {
  const model& m = plan_.model;
  const auto rows = static_cast<std::size_t>(
      std::count_if(m.constraints.begin(), m.constraints.end(), [](const constraint& c) { return !c.quaternion; }));
  if (rows < 2) return;
  const std::size_t n = chunk.status.size(), velocities = m.states.size() - static_cast<std::size_t>(m.coordinates);
  const auto of_slot = [&](const std::vector<double>& columns, std::size_t slot) {
    std::vector<double> r;
    for (std::size_t at = slot; at < columns.size(); at += n) r.push_back(columns[at]);
    return r;
  };
  for (std::size_t i = 0; i < n; ++i) {
    const auto why = static_cast<status>(chunk.status[i]);
    if (why != status::inconsistent && why != status::dead_point) continue;
    const auto at = function();
    if (at == nullptr) return;
    std::vector<double> j(rows * velocities);
    try {
      at(chunk.t_final[i], of_slot(chunk.final_state, i).data(), of_slot(chunk.parameters, i).data(),
         of_slot(chunk.final_discrete, i).data(), j.data());
    } catch (...) { continue; }
    chunk.note_writer_on_host();
    chunk.dependent[i] = dependent_rows(j, rows, why == status::dead_point);
  }
}

}  // namespace saltus::host
