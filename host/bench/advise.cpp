#include "bench/advise.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <numeric>

#include <fmt/format.h>

#include "abi/module.hpp"
#include "backend/make.hpp"
#include "base/error.hpp"
#include "base/text.hpp"
#include "bench/references.hpp"
#include "bench/sample_runner.hpp"
#include "compile/chosen_shape.hpp"
#include "method/list.hpp"
#include "spec/methods.hpp"
#include "study/tune.hpp"

namespace saltus::host {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double largest_rtol = 1e-2, smallest_rtol = 1e-13;

double rounded_down(double x) {
  const double unit = std::pow(10.0, std::floor(std::log10(x)) - 1);
  return std::floor(x / unit * (1 + 1e-9)) * unit;
}

/// The rtol to try next, after one with `over` times the error that is asked for.
double next_rtol(double rtol, double over) {
  constexpr double aim = 0.6;
  double factor = 30.0;  // where there was no error at all
  if (over == infinity) factor = 0.1;
  else if (over > 0) factor = std::clamp(aim / over, 1e-3, 30.0);
  return rounded_down(std::clamp(rtol * factor, smallest_rtol, largest_rtol));
}

class adviser {
 public:
  adviser(const bench_options& options, const cancellation& stop) : options_(options), sample_(options, stop) {
    sample_.choose_size();
    references_ = std::make_unique<references>(sample_);
    advice_.asked = sample_.asked();
    advice_.alike = sample_.alike();
    advice_.device = sample_.device();
    advice_.limit = options.limit;
    advice_.instances = references_->instances();
    advice_.with_reference = references_->with_reference();
    for (const int k : {0, 1}) advice_.references[k] = references_->method(k);
    advice_.reference_rtol = references_->rtol();
    best().what = choice_of(asked());
  }

  advice run() {
    note(measure(choice_of(asked()), false), " as it is");
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

  // ---- what is tried

  void try_methods() {
    for (const auto& method : methods_to_try()) {
      method_choice choice = choice_of(asked());
      choice.method = method;
      consider(choice);
    }
  }

  void try_controllers() {
    for (const char* controller : controller_names) {
      method_choice choice = best().what;
      choice.controller = controller;
      if (controller != best().what.controller) consider(choice);
    }
  }

  void try_detections() {
    if (asked().model.guards.empty()) return;
    for (const char* detection : detection_names) {
      method_choice choice = best().what;
      choice.detection = detection;
      if (detection == best().what.detection) continue;
      if (choice.detection == "hermite" || certifies(choice.method)) consider(choice);
    }
  }

  std::vector<std::string> methods_to_try() const {
    if (!options_.methods.empty()) return methods_named();
    std::vector<std::string> r = {method_name(asked())};
    const auto add = [&](const char* name, bool fits) {
      if (fits && name != r.front()) r.push_back(name);
    };
    methods::for_each(methods::all_methods{}, [&](auto method) { add(method.name, method.embedded_order > 0); });
    add("auto", asked().model.equations == abi::plain);
    return r;
  }

  std::vector<std::string> methods_named() const {
    std::vector<std::string> known;
    methods::for_each(methods::all_methods{}, [&](auto method) { known.push_back(method.name); });
    known.push_back("auto");
    const auto list = split_at_commas(options_.methods);
    for (const auto& name : list)
      if (std::find(known.begin(), known.end(), name) == known.end())
        throw error(exit_usage,
                    fmt::format("--methods {}: {}", options_.methods, suggest(name, {known.begin(), known.end()})));
    return list;
  }

  void consider(const method_choice& choice) {
    if (sample_.out_of_time()) {
      advice_.left_out.push_back(name_of(choice, asked()));
      return;
    }
    const choice_result result = measure(choice, true);
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

  // ---- how it is measured

  /// Seconds, at most: what is slower by far need not end.
  double patience() { return std::max(1.0, 20 * (best().seconds.median > 0 ? best().seconds.median : 1.0)); }

  choice_result measure(const method_choice& choice, bool tuned) {
    choice_result result;
    result.what = choice;
    try {
      const plan p = sample_.plan_of(choice);
      sample_.backend_of(p);
      if (tuned) tune_rtol(result, p);
      else run_with(result, p, choice.rtol);
      if (result.trouble.empty()) time(result);
    } catch (const error& e) {
      if (e.exit_code != exit_usage) throw;
      result.trouble = "does not fit the model";
    }
    return result;
  }

  void run_with(choice_result& result, plan p, double rtol) {
    sample_.set_tolerance(p, rtol);
    const auto where = make_backend(p, sample_.stop());  // the tolerance is part of it; the module is in the cache
    const auto computed = sample_.results_of(p, *where, patience());
    if (!computed) {
      result.trouble =
          sample_.is_stopped() ? "interrupted" : fmt::format("more than {:.2g} s at rtol {:.2g}", patience(), rtol);
      return;
    }
    result.what.rtol = rtol;
    references_->judge(result, *computed);
  }

  /// The largest rtol whose median error is not above what was asked for, to within a factor of about three.
  void tune_rtol(choice_result& result, const plan& p) {
    constexpr int max_attempts = 6;
    constexpr double near = 0.3;
    double rtol = result.what.rtol;
    choice_result found;
    for (int attempt = 0; attempt < max_attempts; ++attempt) {
      result.trouble.clear();
      run_with(result, p, rtol);
      if (!result.trouble.empty()) break;
      const double over = result.error / asked().rtol;
      if (over <= 1 && (found.error == infinity || result.what.rtol > found.what.rtol)) found = result;
      if (over <= 1 && over > near) break;
      if (over <= 1 && attempt > 0 && found.what.rtol == result.what.rtol && rtol >= largest_rtol) break;
      const double next = next_rtol(rtol, over);
      if (next == rtol) break;
      // Once one is accepted, what was refused is not tried again.
      if (found.error < infinity && over > 1 && next <= found.what.rtol) break;
      rtol = next;
    }
    if (found.error < infinity) result = found;
    else if (result.trouble.empty())
      result.trouble = fmt::format("median error {:.1e} at rtol {:.1e}", result.error, result.what.rtol);
  }

  void time(choice_result& result) {
    constexpr double enough = 1.0;  // seconds
    const plan p = sample_.plan_of(result.what);
    const auto where = make_backend(p, sample_.stop());
    std::vector<double> seconds;
    for (int round = 0; round < options_.rounds && !sample_.is_stopped(); ++round) {
      seconds.push_back(sample_.mean_seconds(p, *where));
      if (round > 0 && std::accumulate(seconds.begin(), seconds.end(), 0.0) > enough) break;
    }
    if (sample_.is_stopped()) result.trouble = "interrupted";
    result.seconds = spread_of(seconds);
  }

  /// Lanes change no bit: they need no line in the spec, but what is fastest with the best method is remembered.
  void tune_best() {
    const plan p = sample_.plan_of(best().what);
    if (sample_.out_of_time() || remembered_shape(p)) return;
    for (const auto& tried : tune_lanes(p, sample_.stop()))
      sample_.say("{}: {:.4g} us per instance and thread in {}\n", name_of(best().what, asked()), 1e6 * tried.seconds,
                  host::name_of(tried.shape));
  }

  /// The spec as it is and the best, in turns: what else the machine does changes in the meantime.
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
  std::unique_ptr<references> references_;
  advice advice_;
};

}  // namespace

advice advise(const bench_options& options, const cancellation& stop) { return adviser(options, stop).run(); }

}  // namespace saltus::host
