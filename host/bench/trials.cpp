#include "bench/trials.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include <fmt/format.h>

#include "backend/make.hpp"
#include "base/error.hpp"
#include "bench/spread.hpp"

namespace saltus::host {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double largest_rtol = 1e-2, smallest_rtol = 1e-13;

double rounded_down(double x) {
  const double unit = std::pow(10.0, std::floor(std::log10(x)) - 1);
  return std::floor(x / unit * (1 + 1e-9)) * unit;
}

/// The rtol to try after one whose error was `over` times the requested one.
double next_rtol(double rtol, double over) {
  constexpr double aim = 0.6;
  double factor = 30.0;  // if there was no error at all
  if (over == infinity) factor = 0.1;
  else if (over > 0) factor = std::clamp(aim / over, 1e-3, 30.0);
  return rounded_down(std::clamp(rtol * factor, smallest_rtol, largest_rtol));
}

}  // namespace

choice_result trials::measure(const method_choice& choice, bool tuned, double patience) const {
  choice_result result;
  result.what = choice;
  try {
    const plan p = sample_.plan_of(choice);
    sample_.backend_of(p);
    if (tuned) tune_rtol(result, p, patience);
    else run_with(result, p, choice.rtol, patience);
    if (result.trouble.empty()) time(result);
  } catch (const error& e) {
    if (e.exit_code != exit_usage) throw;
    result.trouble = "does not fit the model";
  }
  return result;
}

void trials::run_with(choice_result& result, plan p, double rtol, double patience) const {
  sample_.set_tolerance(p, rtol);
  const auto where = make_backend(p, sample_.stop());  // the backend holds the tolerance; the module is in the cache
  const auto computed = sample_.results_of(p, *where, patience);
  if (!computed) {
    result.trouble =
        sample_.is_stopped() ? "interrupted" : fmt::format("more than {:.2g} s at rtol {:.2g}", patience, rtol);
    return;
  }
  result.what.rtol = rtol;
  references_.judge(result, *computed);
}

/// Finds the largest rtol whose median error is at most the requested one, within a factor of about three.
void trials::tune_rtol(choice_result& result, const plan& p, double patience) const {
  constexpr int max_attempts = 6;
  constexpr double near = 0.3;
  double rtol = result.what.rtol;
  choice_result found;
  for (int attempt = 0; attempt < max_attempts; ++attempt) {
    result.trouble.clear();
    run_with(result, p, rtol, patience);
    if (!result.trouble.empty()) break;
    const double over = result.error / sample_.asked().rtol;
    if (over <= 1 && (found.error == infinity || result.what.rtol > found.what.rtol)) found = result;
    if (over <= 1 && over > near) break;
    if (over <= 1 && attempt > 0 && found.what.rtol == result.what.rtol && rtol >= largest_rtol) break;
    const double next = next_rtol(rtol, over);
    if (next == rtol) break;
    // An rtol at or below an accepted one cannot be better.
    if (found.error < infinity && over > 1 && next <= found.what.rtol) break;
    rtol = next;
  }
  if (found.error < infinity) result = found;
  else if (result.trouble.empty())
    result.trouble = fmt::format("median error {:.1e} at rtol {:.1e}", result.error, result.what.rtol);
}

void trials::time(choice_result& result) const {
  constexpr double enough = 1.0;  // seconds
  const plan p = sample_.plan_of(result.what);
  const auto where = make_backend(p, sample_.stop());
  std::vector<double> seconds;
  for (int round = 0; round < sample_.options().rounds && !sample_.is_stopped(); ++round) {
    seconds.push_back(sample_.mean_seconds(p, *where));
    if (round > 0 && std::accumulate(seconds.begin(), seconds.end(), 0.0) > enough) break;
  }
  if (sample_.is_stopped()) result.trouble = "interrupted";
  result.seconds = spread_of(seconds);
}

}  // namespace saltus::host
