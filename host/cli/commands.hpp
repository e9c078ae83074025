// The commands, one file each: they call the library, and print its results as text or as JSON. At the end: what
// several of them print.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "abi/module.hpp"
#include "base/json.hpp"
#include "bench/options.hpp"
#include "cli/progress.hpp"
#include "cli/tell.hpp"
#include "ensemble/indices.hpp"
#include "spec/model.hpp"
#include "study/prepare.hpp"
#include "study/run.hpp"

namespace saltus::host {

/// Arguments of `run`, `check` and `bench`.
struct run_arguments : study {
  bool as_json = false, quiet = false;
  bool force = false;     ///< replace an older result
  bool restart = false;   ///< drop a journal
  double time_limit = 0;  ///< seconds; 0: none
  std::string part;       ///< "3/16"; empty: all
  bool share = false;     ///< share the ensemble with other runs of the same command
  std::string so_far;     ///< the file for the present content of a journal; empty: not asked for
};

// Each returns the exit code; throws `error`.
int list_models(bool as_json);
/// Lists the keys of a spec; if `wanted` is not empty, those of that name or table.
int list_keys(const std::string& wanted, bool as_json);
int describe(const std::string& name, bool as_json, bool by_array = false);
int check(const run_arguments& a, bool with_pilot, bool with_lint);
/// Writes a model to begin with into a file of that name.
int new_model(const std::string& name);
/// Prints the compiler's report on the kernels for a CUDA device.
int check_cuda(const run_arguments& a, const std::string& architecture);
int run(const run_arguments& a, const std::vector<std::string>& command);
/// Makes a result from the journal of parts.
int gather(const run_arguments& a, const std::vector<std::string>& command);
/// Computes Lyapunov exponents of the instances of a study.
int lyapunov(const run_arguments& a, const std::vector<std::string>& command);
int bench(const run_arguments& a, bench_options options, bool advises);
/// Indices of a result file, for the named outcomes; for all if none are named.
int sensitivity(const std::string& file, const std::vector<std::string>& outcomes, bool as_json);
/// Runs a command of the Python package, `plot`, `report` or `import`, with its arguments up to a null pointer.
/// Replaces this process.
int run_in_python(char** arguments);
int doctor(bool as_json, bool measure);
int clear_cache(bool as_json);

void print_warnings(const plan& p);

/// Sensitivity indices.
void print_indices(const sensitivity_indices& s);
json indices_json(const sensitivity_indices& s);

/// The structural analysis of a model: index and degrees of freedom; also Sigma with offsets if the index is above 0 or the equations are of any order.
void print_structure(const model& m);
/// The same in full; null if the equations could not be recorded.
json structure_json(const model& m);

/// Calls `how`, which makes the run, with a listener, and prints its report. Returns the exit code.
int run_and_tell(const run_arguments& a, const std::function<run_report(const run_listener&)>& how);

/// A listener that shows reports on stderr; `bar` must live as long.
run_listener listener_of(bool quiet, std::optional<progress>& bar);
/// Prints the failures of a run on stderr.
void say_what_went_wrong(const run_report& r);

}  // namespace saltus::host
