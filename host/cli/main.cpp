// The command line: saltus list | describe | check | run | bench | show | doctor. Options and dispatch; the commands are in
// commands.hpp.
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "base/error.hpp"
#include "base/version.hpp"
#include "cli/commands.hpp"
#include "cli/interrupt.hpp"
#include "cli/show.hpp"
#include "ensemble/model_call.hpp"
#include "result/hdf5.hpp"
#include "study/measure.hpp"

namespace saltus::host {

namespace {

/// What is wrong with a command line, in one sentence.
std::string usage_error(const CLI::App& app, const CLI::ParseError& complaint) {
  const auto commands = app.get_subcommands();
  const CLI::App& command = commands.empty() || app.remaining_size() > 0 ? app : *commands.front();
  // What was not understood comes first: that something is missing may follow from it.
  const auto extras = command.remaining();
  if (extras.empty()) return complaint.what();
  const auto flag =
      std::find_if(extras.begin(), extras.end(), [](const auto& extra) { return extra.starts_with('-'); });
  const auto& said = flag != extras.end() ? *flag : extras.front();

  std::vector<std::string> names;
  if (flag != extras.end()) {
    for (const auto* option : command.get_options())
      for (const auto& name : option->get_lnames()) names.push_back("--" + name);
  } else if (&command == &app) {
    for (const auto* known : app.get_subcommands([](const CLI::App* one) { return !one->get_group().empty(); }))
      names.push_back(known->get_name());
  } else {
    return said + ": one argument too many";
  }
  return fmt::format("{}: unknown {}; {}", said, flag != extras.end() ? "flag" : "command",
                     suggest(said, {names.begin(), names.end()}));
}

int main_program(int argc, char** argv) {
  own_hdf5();
  guard_process();
  std::signal(SIGXFSZ, SIG_IGN);  // a file that may not grow is an error of writing, as a full disk is
  CLI::App app{"saltus: ensembles of discontinuous ODEs, on CPU lanes and CUDA threads", "saltus"};
  app.set_version_flag("--version", version_with_commit());
  app.require_subcommand(1);
  app.fallthrough(false);
  app.footer(
      "saltus COMMAND --help tells more. Exit codes: 0 ok, 1 error at run time, 2 error in the spec or on the command\n"
      "line, 3 more failed instances than allowed, 4 the model does not compile, 5 no such device, 130 interrupted.");

  bool as_json = false;
  std::string name;
  show_options showing;
  run_arguments arguments;

  const auto add_json = [](CLI::App* command, bool& as_object) {
    command->add_flag("--json", as_object, "one JSON object to stdout");
  };

  auto* list = app.add_subcommand("list", "the built-in models");
  add_json(list, as_json);
  auto* describing = app.add_subcommand("describe", "states, parameters, guards and outputs of a model");
  describing->add_option("MODEL", name, "a built-in's name, or a header ./my_model.hpp")->required()->type_name("");
  add_json(describing, as_json);

  const auto add_run_options = [&](CLI::App* command) {
    command
        ->add_option("SPEC|MODEL", arguments.subject,
                     "a spec ./my_sweep.toml, a built-in's name, or a header ./my_model.hpp")
        ->required()
        ->type_name("");
    const auto take = [&](const char* flags, const char* kept, const char* value, const char* help) {
      command
          ->add_option_function<std::vector<std::string>>(
              flags,
              [&arguments, kept](const std::vector<std::string>& values) {
                for (const auto& v : values) arguments.flags.push_back({kept, v});
              },
              help)
          ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
          ->expected(1)
          ->allow_extra_args(false)  // what follows its value is the next argument: a vector takes all it can get
          ->type_name(value)
          ->trigger_on_parse();
    };
    take("--set", "--set", "KEY=VALUE", "a key of the spec, a parameter or an initial value: --set rtol=1e-9");
    take("-n", "-n", "COUNT",
         "number of instances: of samples, of the one range that is swept, or of rows of a CSV file");
    take("--seed", "--seed", "N", "seed of the random samples");
    take("--method", "--method", "NAME", "integration method");
    take("--backend", "--backend", "NAME", "auto, cpu, cuda or all");
    take("--devices", "--devices", "LIST", "numbers of CUDA devices: 0,1; or all");
    take("--threads", "--threads", "N", "CPU threads; 0: all cores");
    take("--lanes", "--lanes", "N", "instances per vector; 0: as wide as the machine, 1: the scalar reference");
    take("--chunk", "--chunk", "N", "instances per chunk; 0: chosen");
    take("-o,--output", "-o", "FILE", "result file (NetCDF)");
    add_json(command, arguments.as_json);
    command->add_flag("-q,--quiet", arguments.quiet, "no progress on stderr");
  };
  auto* checking =
      app.add_subcommand("check", "validate a spec, compile its model, print the plan and what it will cost");
  add_run_options(checking);
  bool no_pilot = false;
  std::string architecture;
  checking
      ->add_option("--cuda", architecture, "say what its kernels need on such a CUDA device, which need not be there")
      ->type_name("sm_90");
  checking->add_flag("--no-pilot", no_pilot, "compile nothing, integrate nothing, predict no times");
  auto* running = app.add_subcommand("run", "run an ensemble");
  add_run_options(running);
  running->add_flag("--force", arguments.force, "replace an older result");
  running->footer(
      "saltus run relief_valve --set 'sweep.flow={from=0.2,to=10,count=1000}' -o valve.nc\n"
      "saltus run ./my_sweep.toml -n 100000 --threads 8");

  auto* measuring = app.add_subcommand(measuring_command, "")->group("");  // not for people
  add_run_options(measuring);

  bench_options benching;
  auto* bench_command =
      app.add_subcommand("bench", "how fast a model or a spec runs here, and how it could run faster");
  add_run_options(bench_command);
  bench_command->add_option("--backends", benching.backends, "which, one beside the other: cpu,cuda,all")
      ->type_name("LIST");
  bench_command->add_option("--rounds", benching.rounds, "how often each is run")
      ->type_name("N")
      ->capture_default_str();
  bench_command->add_option("--limit", benching.limit, "after so long nothing new is begun")
      ->type_name("SECONDS")
      ->capture_default_str();
  bench_command->add_flag("--growth", benching.growth, "throughput against the number of instances, too");
  bool advises = false;
  bench_command->add_flag("--advise", advises, "which method reaches the accuracy asked for in the shortest time");
  bench_command->add_option("--methods", benching.methods, "with --advise: compare these methods alone")
      ->type_name("LIST");
  bench_command->footer(
      "saltus bench lorenz\n"
      "saltus bench ./my_sweep.toml --backends cpu,cuda --growth --json > growth.json\n"
      "saltus bench ./my_sweep.toml --advise");

  auto* show_command = app.add_subcommand("show", "what is in a result file");
  show_command->add_option("FILE", showing.file, "a result file")->required()->type_name("");
  std::int64_t instance = -1;
  auto* one = show_command->add_option("--instance", instance, "everything about one instance")->type_name("I");
  show_command->add_flag("--failed", showing.failed, "the instances that failed, and why");
  add_json(show_command, showing.json);
  auto* health = app.add_subcommand("doctor", "compiler, lanes, CUDA, device, cache");
  bool measure = false;
  health->add_flag("--measure", measure, "measure anew which lane shapes suit this machine: half a minute");
  add_json(health, as_json);
  bool clears_cache = false;
  health->add_flag("--clear-cache", clears_cache, "remove all compiled models and what was measured of them");

  if (argc == 1) {
    say("{}", app.help());
    return exit_usage;
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    if (e.get_exit_code() == 0) return app.exit(e);  // --help, --version
    const auto commands = app.get_subcommands();
    const std::string command = commands.empty() ? "saltus" : "saltus " + commands.front()->get_name();
    say("{0}: {1}\n{0} --help tells more\n", command, usage_error(app, e));
    return exit_usage;
  }
  if (*one) showing.instance = instance;

  if (*show_command) return show(showing, stdout);
  listen_to_signals();
  if (*list) return list_models(as_json);
  if (*describing) return describe(name, as_json);
  if (*checking && !architecture.empty()) return check_cuda(arguments, architecture);
  if (*checking) return check(arguments, !no_pilot);
  if (*running) return run(arguments, {argv, argv + argc});
  if (*measuring) return measure_beside_run(arguments);
  if (*bench_command) return bench(arguments, benching, advises);
  return clears_cache ? clear_cache(as_json) : doctor(as_json, measure);
}

}  // namespace
}  // namespace saltus::host

int main(int argc, char** argv) {
  using namespace saltus::host;
  int code = exit_failure;
  try {
    code = main_program(argc, argv);
  } catch (const error& e) {
    say("saltus: {}\n", e.what());
    code = e.exit_code;
  } catch (const std::exception& e) { say("saltus: {}\n", e.what()); }
  if (std::fflush(stdout) != 0) {
    say("saltus: cannot write to stdout: {}\n", std::strerror(errno));
    if (code == exit_ok) code = exit_failure;
  }
  if (a_model_called_exit()) ::_exit(code);
  return code;
}
