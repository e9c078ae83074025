#include "cli/run_options.hpp"

#include <map>
#include <string>
#include <vector>

#include "result/format.hpp"

namespace saltus::host {

namespace {

/// An option that becomes a flag of the study, by the first of its names, in the order of the command line.
void take(CLI::App* command, run_arguments& to, const std::string& names, const char* value, const std::string& help) {
  command
      ->add_option_function<std::vector<std::string>>(
          names,
          [&to, kept = names.substr(0, names.find(','))](const std::vector<std::string>& values) {
            for (const auto& v : values) to.flags.push_back({kept, v});
          },
          help)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
      ->expected(1)
      ->allow_extra_args(false)  // otherwise a vector option would take the following arguments
      ->type_name(value)
      ->trigger_on_parse();
}

}  // namespace

void add_json(CLI::App* command, bool& as_object) {
  command->add_flag("--json", as_object, "one JSON object to stdout");
}

void add_run_options(CLI::App* command, run_arguments& to) {
  command
      ->add_option("SPEC|MODEL", to.subject,
                   "a spec ./my_sweep.toml, a built-in's name, or a header ./my_model.hpp; with --instance a result")
      ->required()
      ->type_name("");
  take(command, to, "--set", "KEY=VALUE", "a key of the spec, a parameter or an initial value: --set rtol=1e-9");
  take(command, to, "-n", "COUNT",
       "number of instances: of samples, of the one range that is swept, or of rows of a CSV file");
  take(command, to, "--seed", "N", "seed of the random samples");
  take(command, to, "--method", "NAME", "integration method");
  take(command, to, "--backend", "NAME", "auto, cpu, cuda or all");
  take(command, to, "--devices", "LIST", "numbers of CUDA devices: 0,1; or all");
  take(command, to, "--threads", "N", "CPU threads; 0: all cores");
  take(command, to, "--lanes", "N", "instances per vector; 0: as wide as the machine, 1: the scalar reference");
  take(command, to, "--chunk", "N", "instances per chunk; 0: chosen");
  take(command, to, "-o,--output", "FILE", "result: " + formats_text());
  add_json(command, to.as_json);
  command->add_flag("-q,--quiet", to.quiet, "no progress, and no summary but of what did not end well");
}

void add_journal_options(CLI::App* command, run_arguments& to) {
  command->add_flag("--force", to.force, "replace an older result");
  command->add_flag("--restart", to.restart, "drop the journal of a run that was cut short, rather than go on with it");
  command
      ->add_option("--time-limit", to.time_limit,
                   "end after so long, leave the journal, return 75; the same command goes on")
      ->transform(
          CLI::AsNumberWithUnit(std::map<std::string, double>{{"s", 1.0}, {"m", 60.0}, {"h", 3600.0}, {"d", 86400.0}}))
      ->check(CLI::PositiveNumber)
      ->type_name("55m");
}

}  // namespace saltus::host
