// The commands, one file each: they call the library, and print its results as text or as JSON.
#pragma once

#include <string>
#include <vector>

#include "abi/module.hpp"
#include "bench/options.hpp"
#include "cli/tell.hpp"
#include "study/prepare.hpp"

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
/// The process that a run has started beside itself, with the run's arguments.
int bench(const run_arguments& a, bench_options options, bool advises);
/// Indices of a result file, for the named outcomes; for all if none are named.
int sensitivity(const std::string& file, const std::vector<std::string>& outcomes, bool as_json);
/// Runs a command of the Python package, `plot`, `report` or `import`, with its arguments up to a null pointer.
/// Replaces this process.
int run_in_python(char** arguments);
int doctor(bool as_json, bool measure);
int clear_cache(bool as_json);

void print_warnings(const plan& p);

}  // namespace saltus::host
