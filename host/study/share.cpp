#include <chrono>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include "base/clock.hpp"
#include "base/error.hpp"
#include "result/format.hpp"
#include "result/leases.hpp"
#include "study/run.hpp"

namespace saltus::host {

namespace {

/// Others have made the result: there is nothing to do.
run_report nothing_to_do(const plan& p) {
  run_report r;
  r.what = p;
  r.shared = true;
  return r;
}

/// The run that was to make the result may have been taken for dead although it was only suspended, and may still hold
/// the journal. This run waits until it has made the result or has ended.
run_report make_result(const plan& p, const run_options& options, const cancellation& stop,
                       const run_listener& listener) {
  constexpr auto pause = std::chrono::milliseconds(100);
  const auto begin = monotonic_clock::now();
  for (bool told = false;; std::this_thread::sleep_for(pause)) {
    try {
      return run(p, options, stop, listener);
    } catch (const journal_is_taken&) {
      if (!options.replace && is_made(p)) return nothing_to_do(p);
      const bool is_late = options.time_limit > 0 && seconds_since(begin) > options.time_limit;
      if (stop || is_late) throw;
      if (!std::exchange(told, true)) listener.say(fmt::format("waits for another run, which makes {}\n", p.file));
    }
  }
}

/// Integrates instances that others leave; makes the result if all have ended and this run must make it.
run_report integrate_a_share(const plan& p, run_options options, const cancellation& stop,
                             const run_listener& listener) {
  leases share(p, p.lease, options.replace);
  options.mode = shared_with(share);
  run_report r = run(p, options, stop, listener);
  options.mode = alone();
  const bool is_done = r.exit_code == exit_ok || r.exit_code == exit_failed_instances;
  // The result is read from the journal: this run's own instances, those of others, and those it may have missed.
  return is_done && share.makes_result() ? make_result(p, options, stop, listener) : r;
}

}  // namespace

run_report run_with_others(const plan& p, const run_options& options, const cancellation& stop,
                           const run_listener& listener) {
  if (options.restart)
    throw error(exit_usage, "--restart drops what all have that share the ensemble: leave out --share");
  if (p.file.empty()) throw error(exit_usage, "a result file must be named, for its journal: output.file, or -o FILE");
  if (const output_format& f = format_of(p.file); !f.has_texts)
    throw error(exit_usage,
                fmt::format("--share: a {} does not tell which run has made it: use --part, or name another "
                            "result",
                            f.name));
  const auto is_over = [&] { return !options.replace && is_made(p); };
  if (is_over()) return nothing_to_do(p);
  try {
    return integrate_a_share(p, options, stop, listener);
  } catch (const error&) {
    if (!is_over()) throw;  // otherwise the journal was removed while this run opened it
    return nothing_to_do(p);
  }
}

}  // namespace saltus::host
