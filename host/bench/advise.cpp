#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "abi/module.hpp"
#include "backend/make.hpp"
#include "base/error.hpp"
#include "base/text.hpp"
#include "bench/advice.hpp"
#include "bench/sample_runner.hpp"
#include "bench/trials.hpp"
#include "compile/chosen_shape.hpp"
#include "method/list.hpp"
#include "spec/methods.hpp"
#include "study/tune.hpp"

namespace saltus::host {

namespace {

/// The methods in a comma-separated list.
std::vector<std::string> methods_named(const std::string& list) {
  std::vector<std::string> known;
  methods::for_each(methods::all_methods{}, [&](auto method) { known.push_back(method.name); });
  known.push_back("auto");
  const auto names = split_at_commas(list);
  for (const auto& name : names)
    if (std::find(known.begin(), known.end(), name) == known.end())
      throw error(exit_usage, fmt::format("--methods {}: {}", list, suggest(name, {known.begin(), known.end()})));
  return names;
}

/// The plan's own method first, then all that may suit the model.
std::vector<std::string> methods_beside(const plan& asked) {
  std::vector<std::string> r = {method_name(asked)};
  const auto add = [&](const char* name, bool fits) {
    if (fits && name != r.front()) r.push_back(name);
  };
  const auto series = series_method_for(asked.rtol);
  methods::for_each(methods::all_methods{}, [&](auto method) {
    add(method.name, method.embedded_order > 0 && (!is_series_method<decltype(method)> || method.name == series));
  });
  add("auto", asked.model.equations == abi::plain);
  return r;
}

/// Tries one choice after another and keeps the best.
class adviser {
 public:
  adviser(const bench_options& options, const cancellation& stop) : options_(options), sample_(options, stop) {
    sample_.choose_size();
    trials_.emplace(sample_);
    const references& known = trials_->compared_with();
    advice_.asked = sample_.asked();
    advice_.alike = sample_.alike();
    advice_.device = sample_.device();
    advice_.limit = options.limit;
    advice_.instances = known.instances();
    advice_.with_reference = known.with_reference();
    for (const int k : {0, 1}) advice_.references[k] = known.method(k);
    advice_.reference_rtol = known.rtol();
    best().what = choice_of(asked());
  }

  advice run() {
    note(trials_->measure(choice_of(asked()), false, patience()), " as it is");
    try_methods();
    if (best().error <= asked().rtol && options_.methods.empty()) {
      try_controllers();
      try_detections();
      if (sample_.is_cpu()) tune_best();
    }
    compare();
    return std::move(advice_);
  }

 private:
  const plan& asked() const { return sample_.asked(); }
  choice_result& best() { return advice_.best; }

  void try_methods() {
    for (const auto& method : options_.methods.empty() ? methods_beside(asked()) : methods_named(options_.methods)) {
      method_choice choice = choice_of(asked());
      choice.method = method;
      consider(choice);
    }
  }

  void try_controllers() {
    for (const auto controller : {controller_kind::elementary, controller_kind::pi, controller_kind::h211b}) {
      method_choice choice = best().what;
      choice.controller = controller;
      if (controller != best().what.controller) consider(choice);
    }
  }

  void try_detections() {
    if (asked().model.guards.empty()) return;
    for (const auto which : {detection::hermite, detection::certified}) {
      method_choice choice = best().what;
      choice.detection = which;
      if (which == best().what.detection) continue;
      if (choice.detection == detection::hermite || certifies(choice.method)) consider(choice);
    }
  }

  void consider(const method_choice& choice) {
    if (sample_.out_of_time()) {
      advice_.left_out.push_back(name_of(choice, asked()));
      return;
    }
    const choice_result result = trials_->measure(choice, true, patience());
    note(result, "");
    if (!result.trouble.empty() || !(result.error <= asked().rtol)) return;
    if (best().error > asked().rtol || result.seconds.median < best().seconds.median) best() = result;
  }

  void note(const choice_result& result, const char* remark) {
    advice_.tried.push_back(result);
    sample_.say("{}{}: {}\n", name_of(result.what, asked()), remark,
                result.trouble.empty() ? fmt::format("{:.3g} ms, median error {:.1e} at rtol {:.1e}",
                                                     1e3 * result.seconds.median, result.error, result.what.rtol)
                                       : result.trouble);
  }

  /// Seconds after which a choice that is far slower than the best is given up.
  double patience() { return std::max(1.0, 20 * (best().seconds.median > 0 ? best().seconds.median : 1.0)); }

  /// Lanes change no bit and need no line in the spec; the fastest shape for the best method is remembered.
  void tune_best() {
    const plan p = sample_.plan_of(best().what);
    if (sample_.out_of_time() || remembered_shape(p)) return;
    for (const auto& tried : tune_lanes(p, sample_.stop()))
      sample_.say("{}: {:.4g} us per instance and thread in {}\n", name_of(best().what, asked()), 1e6 * tried.seconds,
                  host::name_of(tried.shape));
  }

  /// Compares the spec as it is with the best choice in turns, so that other load affects both alike.
  void compare() {
    if (!advice_.as_it_is().trouble.empty() || !advice_.is_known() || advice_.lines().empty()) return;
    if (sample_.is_stopped()) return;
    const plan slow = sample_.plan_of(advice_.as_it_is().what), fast = sample_.plan_of(best().what);
    const auto one = make_backend(slow, sample_.stop()), other = make_backend(fast, sample_.stop());
    std::vector<double> ratios;
    for (int round = 0; round < std::max(3, options_.rounds) && !sample_.is_stopped(); ++round) {
      const double before = sample_.mean_seconds(slow, *one);
      ratios.push_back(before / sample_.mean_seconds(fast, *other));
    }
    advice_.times_as_fast = spread_of(ratios);
  }

  const bench_options& options_;
  sample_runner sample_;
  std::optional<trials> trials_;
  advice advice_;
};

}  // namespace

advice advise(const bench_options& options, const cancellation& stop) { return adviser(options, stop).run(); }

}  // namespace saltus::host
