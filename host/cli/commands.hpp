// The commands, one file each: they call the library, and print what it returns as text or as JSON.
#pragma once

#include <string>
#include <vector>

#include "abi/module.hpp"
#include "bench/options.hpp"
#include "cli/tell.hpp"
#include "study/prepare.hpp"

namespace saltus::host {

/// What `run`, `check` and `bench` are given.
struct run_arguments : study {
  bool as_json = false, quiet = false;
  bool force = false;     ///< an older result is replaced
  bool restart = false;   ///< and a journal dropped
  double time_limit = 0;  ///< seconds; 0: none
  std::string part;       ///< "3/16"; empty: all
  bool share = false;     ///< with whoever runs the same
  std::string so_far;     ///< the file of what a journal has so far; empty: not asked for
};

// Each returns the exit code; throws `error`.
int list_models(bool as_json);
/// The keys of a spec; of that name or table unless it is empty.
int list_keys(const std::string& wanted, bool as_json);
int describe(const std::string& name, bool as_json, bool by_array = false);
int check(const run_arguments& a, bool with_pilot, bool with_lint);
/// A model to begin with, in a file of that name.
int new_model(const std::string& name);
/// What the compiler says of the kernels for a CUDA device.
int check_cuda(const run_arguments& a, const std::string& architecture);
int run(const run_arguments& a, const std::vector<std::string>& command);
/// A result of what parts have left in their journal.
int gather(const run_arguments& a, const std::vector<std::string>& command);
/// Lyapunov exponents of the instances of a study.
int lyapunov(const run_arguments& a, const std::vector<std::string>& command);
/// What a run has started beside itself, with its own arguments.
int measure_beside_run(const run_arguments& a);
int bench(const run_arguments& a, bench_options options, bool advises);
/// Of a result file; of all outcomes unless some are named.
int sensitivity(const std::string& file, const std::vector<std::string>& outcomes, bool as_json);
/// A command of the Python package, `plot`, `report` or `import`, with what follows it up to a null pointer. Takes the place of this process.
int run_in_python(char** arguments);
int doctor(bool as_json, bool measure);
int clear_cache(bool as_json);

void print_warnings(const plan& p);

}  // namespace saltus::host
