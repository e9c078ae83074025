#include "bench/flops.hpp"

#include <algorithm>
#include <cmath>

#include "method/list.hpp"
#include "method/operations.hpp"
#include "spec/methods.hpp"

namespace saltus::host {

namespace {

/// Calls `body(method)` for the method of this name, if it is in the list.
template <class List, class F>
bool with_method(List list, const std::string& name, F&& body) {
  bool found = false;
  methods::for_each(list, [&](auto method) {
    if (name != method.name) return;
    body(method);
    found = true;
  });
  return found;
}

/// Operations of an implicit method on its matrix of n rows in a whole run. A sweep takes up to four derivatives; a
/// declared sparsity leads to fewer sweeps and more solutions than assumed here.
double linear_operations(const plan& p, const tally& counts) {
  const auto n = static_cast<double>(p.model.states.size());
  const auto steps = static_cast<double>(counts.steps + counts.rejected + counts.root_finding_steps);
  const double sweeps = p.model.equations == abi::implicit ? 2 * std::ceil(n / 4) : std::ceil((n + 1) / 4);
  const auto iterations = std::max(0.0, static_cast<double>(counts.rhs_evaluations) - steps * sweeps);
  double all = 0;
  with_method(methods::implicit_methods{}, p.method, [&](auto method) {
    using Method = decltype(method);
    if constexpr (Method::kind == methods::family::collocation)
      all = steps * (lu_operations(n) + complex_lu_operations(n) + solve_operations(n)) +
            iterations / Method::stages * (solve_operations(n) + complex_solve_operations(n));
    else if constexpr (Method::kind == methods::family::rosenbrock)
      all = steps * (lu_operations(n) + Method::stages * solve_operations(n));
    else all = steps * (lu_operations(n) + solve_operations(n)) + iterations * solve_operations(n);
  });
  return all;
}

}  // namespace

std::optional<step_operations> step_operations_of(const std::string& name) {
  std::optional<step_operations> r;
  with_method(methods::explicit_methods{}, name, [&](auto method) {
    using Method = decltype(method);
    r = {evaluations_per_step<Method>, operations_per_state<Method>()};
  });
  return r;
}

// Column j of n: n - 1 - k multiply-adds for each k < j; the reciprocal of the pivot, a product to choose it, and
// n - 1 - j products.
double lu_operations(double n) { return n * (n - 1) * (2 * n - 1) / 3 + n * (n - 1) / 2 + 2 * n; }
double solve_operations(double n) { return 2 * n * (n - 1) + n; }
// A complex multiply-add counts eight, a product six. The choice of pivots and their reciprocals are left out.
double complex_lu_operations(double n) { return 4 * n * (n - 1) * (2 * n - 1) / 3 + 3 * n * (n - 1); }
double complex_solve_operations(double n) { return 8 * n * (n - 1) + 6 * n; }

std::optional<operations> operations_of(const plan& p, const tally& counts) {
  if (p.model.rhs_flops < 0 || p.model.guard_flops < 0 || counts.switched > 0) return {};
  // The matrix operations of stages in descriptor form depend on the constraints, and those of a series on the
  // functions it contains.
  if (const auto& method = method_called(p.method); method.for_mechanics || method.is_series) return {};
  const auto evaluations = static_cast<double>(counts.rhs_evaluations);
  operations r;
  r.rhs = evaluations * static_cast<double>(p.model.rhs_flops);
  r.guards = static_cast<double>(counts.steps + counts.rejected) * static_cast<double>(p.model.guard_flops);
  if (const auto step = step_operations_of(p.method))
    r.sums = evaluations / step->evaluations * step->sums_per_state * static_cast<double>(p.model.states.size());
  else r.linear = linear_operations(p, counts);
  return r;
}

}  // namespace saltus::host
