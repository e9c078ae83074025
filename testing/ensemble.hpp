// Runs an ensemble inside a test by the same path as the program: flags -> spec -> plan -> compiled module -> scheduler.
#pragma once

#include <algorithm>
#include <atomic>
#include <string>
#include <string_view>
#include <vector>

#include "backend/make.hpp"
#include "base/paths.hpp"
#include "compile/compiler.hpp"
#include "compile/derivative_arrays.hpp"
#include "ensemble/pipeline.hpp"
#include "spec/spec.hpp"
#include "testing/source_folder.hpp"

namespace saltus::test {

/// One row of the event log.
struct event_row {
  std::int64_t instance;
  double time;
  std::string guard;                  ///< the guard or time event (host::event_names)
  std::vector<double> before, after;  ///< states, and outputs if they are logged
  std::vector<double> derivative;     ///< derivative of the event time
};

/// All results of a run, in memory.
struct outcome : abi::counters<std::vector<long long>> {
  host::plan plan;
  host::run_summary summary;
  std::vector<std::string> states;
  std::vector<double> final_state, final_output, final_discrete;  ///< [quantity][instance]
  std::vector<double> t_final, samples, reductions;
  std::vector<double> residual, switched;
  std::vector<long long> residual_of;
  std::vector<std::int64_t> dependent;
  std::vector<int> status, exception, switched_to, guard_history, sensitivity;
  std::vector<double> final_derivative;  ///< [parameter][state + output + t_final + reduction][instance]
  std::vector<double> gradient;          ///< [outcome, then its derivatives][instance]
  std::vector<event_row> log;            ///< by instance, then time

  double final(const std::string& state, std::int64_t instance = 0) const {
    for (std::size_t i = 0; i < plan.model.states.size(); ++i)
      if (plan.model.states[i].name == state)
        return final_state[i * static_cast<std::size_t>(plan.count) + static_cast<std::size_t>(instance)];
    throw std::runtime_error("no state " + state);
  }
  double output(std::size_t index, std::int64_t instance = 0) const {
    return final_output[index * static_cast<std::size_t>(plan.count) + static_cast<std::size_t>(instance)];
  }
  /// Derivative of number q (a final state, an output, t_final or a reduction, in this order) by parameter j.
  double derivative(std::size_t q, std::size_t j = 0, std::int64_t instance = 0) const {
    const auto of_one = host::sensitivity_columns(plan) / host::directions(plan);
    return final_derivative[(j * of_one + q) * static_cast<std::size_t>(plan.count) +
                            static_cast<std::size_t>(instance)];
  }
  /// Sample k of state (or output) q; the derivatives follow all of these.
  double sample(std::size_t q, std::int64_t instance, std::int64_t k) const {
    return samples[(q * static_cast<std::size_t>(plan.count) + static_cast<std::size_t>(instance)) *
                       static_cast<std::size_t>(plan.sample_count) +
                   static_cast<std::size_t>(k)];
  }
};

/// Runs `plan` on the CPU and gathers all chunks.
inline outcome run(host::plan p) {
  outcome r;
  const auto n = static_cast<std::size_t>(p.count);
  p.backend = host::backend_kind::cpu;
  r.plan = p;
  const auto ns = p.model.states.size(), no = p.model.outputs.size(), nr = p.reductions.size(),
             nd = p.model.discretes.size();
  const auto nt = static_cast<std::size_t>(p.sample_count);
  r.final_state.resize(ns * n), r.final_output.resize(no * n), r.final_discrete.resize(nd * n), r.t_final.resize(n),
      r.status.resize(n), r.exception.resize(n), r.residual.resize(n), r.residual_of.resize(n), r.dependent.resize(n),
      r.switched.resize(n), r.switched_to.resize(n);
  r.gradient.resize(host::gradient_columns(p) * n);
  r.sensitivity.resize(n), r.final_derivative.resize(host::sensitivity_columns(p) * n);
  const auto ks = host::sampled_columns(p), kd = host::directions(p), nl = host::logged_quantities(p);
  r.samples.resize(ks * n * nt), r.reductions.resize(nr * n), r.guard_history.resize(p.model.guards.size() * n);
  for (const auto counter : abi::counter_members<std::vector<long long>>) (r.*counter).resize(n);
  const auto names = host::event_names(p.model);
  const auto backend = host::make_cpu_backend(r.plan);
  const auto write = [&](const host::chunk_data& c, const host::tally&) {
    const auto first = static_cast<std::size_t>(c.first_id), count = static_cast<std::size_t>(c.count);
    const auto copy = [&](const auto& from, auto& to, std::size_t columns, std::size_t row) {
      for (std::size_t j = 0; j < columns; ++j)
        for (std::size_t i = 0; i < count * row; ++i) to[(j * n + first) * row + i] = from[j * count * row + i];
    };
    copy(c.final_state, r.final_state, ns, 1), copy(c.final_output, r.final_output, no, 1),
        copy(c.final_discrete, r.final_discrete, nd, 1);
    copy(c.t_final, r.t_final, 1, 1), copy(c.status, r.status, 1, 1), copy(c.exception, r.exception, 1, 1);
    copy(c.reductions, r.reductions, nr, 1);
    for (const auto counter : abi::counter_members<std::vector<long long>>) copy(c.*counter, r.*counter, 1, 1);
    copy(c.residual, r.residual, 1, 1), copy(c.residual_of, r.residual_of, 1, 1);
    if (!c.dependent.empty()) copy(c.dependent, r.dependent, 1, 1);
    copy(c.switched, r.switched, 1, 1), copy(c.switched_to, r.switched_to, 1, 1);
    copy(c.guard_history, r.guard_history, p.model.guards.size(), 1);
    copy(c.samples, r.samples, ks, nt);
    copy(c.final_derivative, r.final_derivative, host::sensitivity_columns(p), 1);
    copy(c.gradient, r.gradient, host::gradient_columns(p), 1);
    if (kd > 0 || host::has_gradient(p)) copy(c.sensitivity, r.sensitivity, 1, 1);
    c.log.for_each([&](const host::event_row& e) {
      r.log.push_back({c.first_id + e.slot,
                       e.time,
                       names[static_cast<std::size_t>(e.guard)],
                       {e.before, e.before + nl},
                       {e.after, e.after + nl},
                       {e.before + nl, e.before + nl + kd}});
    });
  };
  r.summary = host::run_ensemble(r.plan, *backend, host::cancellation(), {.write = write});
  // Chunks arrive in any order; the rows of one instance are in order. The comparison avoids "<", because a compiler that knows the kernels
  // would look for a template of that name.
  std::stable_sort(r.log.begin(), r.log.end(), [](const auto& a, const auto& b) { return b.instance > a.instance; });
  return r;
}

/// A plan from a model (a built-in's name or a header's path) and `key=value` settings, as `saltus run MODEL --set ...`.
/// `inject_exceptions=SHARE` is a setting of the plan alone: no spec has it.
inline host::plan plan_of(const std::string& model, const std::vector<std::string>& settings) {
  constexpr std::string_view inject = "inject_exceptions=";
  std::vector<host::flag> flags;
  double share = 0;
  for (const auto& s : settings) {
    if (s.starts_with(inject)) share = std::stod(s.substr(inject.size()));
    else flags.push_back({"--set", s});
  }
  const auto spec = host::from_model(model, flags);
  host::plan p = host::validate(spec, host::model_for(spec, host::describe_model(host::find_model(model))));
  p.inject_exceptions = share;
  return p;
}

inline outcome run(const std::string& model, const std::vector<std::string>& settings) {
  return test::run(plan_of(model, settings));  // host::run takes a plan, too
}

}  // namespace saltus::test
