#include "study/share.hpp"

#include "base/error.hpp"
#include "result/leases.hpp"
#include "result/part_file.hpp"
#include "result/provenance.hpp"
#include "result/reader.hpp"

namespace saltus::host {

namespace {

/// Is there a complete result of this very plan? Whoever comes when others have made it has nothing to do.
bool is_made(const plan& p) {
  journal::sweep(p.file);
  if (!is_result(p.file)) return false;
  const result_file made(p.file);
  return made.text("state") == "complete" && made.text("spec") == p.text &&
         made.text("sources") == lines_of(sources_of(p));
}

}  // namespace

run_report run_with_others(const plan& p, run_options options, const cancellation& stop, const run_listener& listener) {
  if (options.restart)
    throw error(exit_usage, "--restart drops what all have that share the ensemble: leave out --share");
  if (p.file.empty()) throw error(exit_usage, "a result file must be named, for its journal: output.file, or -o FILE");
  if (!options.replace && is_made(p)) {
    run_report r;
    r.what = p;
    r.shared = true;
    return r;
  }
  leases share(p, p.lease);
  options.share = &share;
  options.tune = options.measure_beside = false;  // each of many would
  run_report r = run(p, options, stop, listener);
  options.share = nullptr;
  const bool is_done = r.exit_code == exit_ok || r.exit_code == exit_failed_instances;
  // What this run has integrated itself is a part of what it reads now, and so is what it may have missed.
  return is_done && share.makes_result() ? run(p, options, stop, listener) : r;
}

}  // namespace saltus::host
