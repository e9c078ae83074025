// The command line: saltus list | describe | keys | new | check | run | bench | show | sensitivity | lyapunov | plot | report | zarr | doctor.
// Options and dispatch; the commands are in commands.hpp.
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <iterator>
#include <string_view>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "base/error.hpp"
#include "base/hdf5.hpp"
#include "base/message.hpp"
#include "base/version.hpp"
#include "cli/commands.hpp"
#include "cli/interrupt.hpp"
#include "cli/run_options.hpp"
#include "cli/show_command.hpp"
#include "compile/compiler.hpp"
#include "ensemble/model_call.hpp"
#include "result/journal.hpp"
#include "study/to_zarr.hpp"

namespace saltus::host {

namespace {

/// The error in a command line, in one sentence.
std::string usage_error(const CLI::App& app, const CLI::ParseError& complaint) {
  const auto commands = app.get_subcommands();
  const CLI::App& command = commands.empty() || app.remaining_size() > 0 ? app : *commands.front();
  // Unknown words come first: a missing argument may be their consequence.
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
    const auto is_of_a_value = [](const auto& extra) { return extra.find_first_of("={}[]") != extra.npos; };
    return said + ": one argument too many" +
           (std::any_of(extras.begin(), extras.end(), is_of_a_value)
                ? "; quote what has { }, which the shell takes apart: --set 'sweep.NAME={from=0,to=1,count=5}'"
                : "");
  }
  return fmt::format("{}: unknown {}; {}", said, flag != extras.end() ? "flag" : "command",
                     suggest(said, {names.begin(), names.end()}));
}

/// All commands with their options, and the values from the command line.
class command_line {
 public:
  command_line() {
    app_.set_version_flag("--version", version_with_commit());
    app_.require_subcommand(1);
    app_.fallthrough(false);
    app_.footer(
        "saltus COMMAND --help tells more. Exit codes: 0 ok, 1 error at run time, 2 error in the spec or on the "
        "command\n"
        "line, 3 more failed instances than allowed, 4 the model does not compile, 5 no such device, 75 time limit, "
        "130 interrupted,\n"
        "143 terminated.");
    add_list_and_describe();
    add_new();
    add_check();
    add_run();
    add_bench();
    add_show();
    add_sensitivity();
    add_lyapunov();
    app_.add_subcommand("plot", "a picture of a result file, by the Python package");
    app_.add_subcommand("report", "a page of HTML on a result file, by the Python package");
    add_zarr();
    app_.add_subcommand("import", "a model from a reaction network in SBML, by the Python package");
    add_doctor();
  }

  /// Runs the command and returns its exit code; throws `error`.
  int run_command(int argc, char** argv) {
    if (argc == 1) {
      say("{}", app_.help());
      return exit_usage;
    }
    try {
      app_.parse(argc, argv);
    } catch (const CLI::ParseError& e) {
      if (e.get_exit_code() == 0) return app_.exit(e);  // --help, --version
      const auto commands = app_.get_subcommands();
      const std::string command = commands.empty() ? "saltus" : "saltus " + commands.front()->get_name();
      say("{0}: {1}\n{0} --help tells more\n", command, usage_error(app_, e));
      return exit_usage;
    }
    if (*one_instance_) showing_.instance = instance_;
    if (*show_) return journal::named(showing_.file).empty() ? show(showing_, stdout) : show_journal(showing_, stdout);
    if (*sensitivity_) return sensitivity(showing_.file, outcomes_, as_json_);
    listen_to_signals();
    if (*zarr_) return tell("{}\n", to_zarr(showing_.file, making_store_, interrupted)), exit_ok;
    if (*list_) return list_models(as_json_);
    if (*keys_) return list_keys(name_, as_json_);
    if (*describe_) return describe(name_, as_json_, by_array_);
    if (*check_ && !architecture_.empty()) return check_cuda(arguments_, architecture_);
    if (*check_) return check(arguments_, !no_pilot_, lints_);
    if (*new_) return new_model(name_);
    if (*run_) return run(arguments_, {argv, argv + argc});
    if (*gather_) return gather(arguments_, {argv, argv + argc});
    if (*lyapunov_) return lyapunov(arguments_, {argv, argv + argc});
    if (*bench_) return bench(arguments_, benching_, advises_);
    return clears_cache_ ? clear_cache(as_json_) : doctor(as_json_, measures_);
  }

 private:
  void add_list_and_describe() {
    list_ = app_.add_subcommand("list", "the built-in models");
    add_json(list_, as_json_);
    describe_ = app_.add_subcommand("describe", "states, parameters, guards and outputs of a model");
    describe_->add_option("MODEL", name_, "a built-in's name, or a header ./my_model.hpp")->required()->type_name("");
    describe_->add_flag("--array", by_array_,
                        "what the derivative array of its equations determines (structure = \"array\")");
    add_json(describe_, as_json_);
    keys_ = app_.add_subcommand("keys", "the keys of a spec: default, values, meaning");
    keys_->add_option("KEY", name_, "a key, rtol or run.lanes, or a table, run; else all")->type_name("");
    add_json(keys_, as_json_);
  }

  void add_new() {
    new_ = app_.add_subcommand("new", "write a commented model to begin with");
    new_->add_option("MODEL", name_, "its name: saltus new tank writes tank.hpp")->required()->type_name("");
  }

  void add_instance(CLI::App* command) {
    command
        ->add_option("--instance", arguments_.instance,
                     "of a result file FILE.nc: this instance again, as in the file but for what other flags say")
        ->check(CLI::NonNegativeNumber)
        ->type_name("I");
    command->add_flag("--trust", arguments_.trusts,
                      "with --instance: compile and run the model's text out of the file, which is not yours");
  }

  void add_check() {
    check_ = app_.add_subcommand("check", "validate a spec, compile its model, print the plan and what it will cost");
    add_run_options(check_, arguments_);
    check_
        ->add_option("--cuda", architecture_,
                     "say what its kernels need on such a CUDA device, which need not be there")
        ->type_name("sm_90");
    add_instance(check_);
    check_->add_flag("--lint", lints_, "say what looks like a mistake in the model's text, too");
    check_->add_flag("--no-pilot", no_pilot_, "compile nothing, integrate nothing, predict no times");
  }

  /// Options of run, and of the process that run starts with its own command line.
  void add_all_run_options(CLI::App* command) {
    add_run_options(command, arguments_);
    add_journal_options(command, arguments_);
    command
        ->add_option("--part", arguments_.part,
                     "the part K of N alone, kept in the journal; saltus gather makes the result of all parts")
        ->type_name("K/N");
    command->add_flag(
        "--share", arguments_.share,
        "share the instances with all who run the same line, on this machine or others; the last one makes "
        "the result");
  }

  void add_run() {
    run_ = app_.add_subcommand("run", "run an ensemble");
    add_all_run_options(run_);
    add_instance(run_);
    run_->footer(
        "saltus run relief_valve --set 'sweep.flow={from=0.2,to=10,count=1000}' -o valve.nc\n"
        "saltus run ./my_sweep.toml -n 100000 --threads 8\n"
        "saltus run valve.nc --instance 7 --set 'output.samples={count=2000}' -o one.nc");

    gather_ = app_.add_subcommand("gather", "the result of what runs of parts have left in their journal");
    add_run_options(gather_, arguments_);
    gather_->add_flag("--force", arguments_.force, "replace an older result");
    gather_
        ->add_option("--so-far", arguments_.so_far,
                     "write what has ended so far into this file, and leave the journal to those who are at work")
        ->type_name("FILE");
  }

  void add_bench() {
    bench_ = app_.add_subcommand("bench", "how fast a model or a spec runs here, and how it could run faster");
    add_run_options(bench_, arguments_);
    bench_->add_option("--backends", benching_.backends, "which, one beside the other: cpu,cuda,all")
        ->type_name("LIST");
    bench_->add_option("--rounds", benching_.rounds, "how often each is run")->type_name("N")->capture_default_str();
    bench_->add_option("--limit", benching_.limit, "after so long nothing new is begun")
        ->type_name("SECONDS")
        ->capture_default_str();
    bench_->add_flag("--growth", benching_.growth, "throughput against the number of instances, too");
    bench_->add_flag("--device-report", benching_.launches, "the kernels of a CUDA device one by one, too");
    bench_->add_flag("--advise", advises_, "which method reaches the accuracy asked for in the shortest time");
    bench_->add_option("--methods", benching_.methods, "with --advise: compare these methods alone")->type_name("LIST");
    bench_->footer(
        "saltus bench lorenz\n"
        "saltus bench ./my_sweep.toml --backends cpu,cuda --growth --json > growth.json\n"
        "saltus bench ./my_sweep.toml --advise");
  }

  void add_show() {
    show_ = app_.add_subcommand("show", "what is in a result file, or in the journal of a run");
    show_->add_option("FILE", showing_.file, "a result file, or FILE.journal")->required()->type_name("");
    one_instance_ = show_->add_option("--instance", instance_, "everything about one instance")->type_name("I");
    show_->add_flag("--failed", showing_.failed, "the instances that failed, and why");
    add_json(show_, showing_.json);
  }

  void add_zarr() {
    zarr_ = app_.add_subcommand("zarr", "a Zarr store of a result file, or of what a run has finished");
    zarr_->add_option("FILE", showing_.file, "a result file, or FILE.journal")->required()->type_name("");
    zarr_->add_option("-o,--output", making_store_.store, "the store; default: FILE.zarr")->type_name("FILE.zarr");
    zarr_->add_option("--chunk", making_store_.chunk, "instances in a chunk; default: as many as a run chooses")
        ->type_name("N");
    zarr_->add_flag("--force", making_store_.replace, "replace an older store");
  }

  void add_sensitivity() {
    sensitivity_ = app_.add_subcommand("sensitivity",
                                       "indices of sensitivity of a result whose samples have the design saltelli, "
                                       "morris or fast");
    sensitivity_->add_option("FILE", showing_.file, "a result file")->required()->type_name("");
    sensitivity_->add_option("--of", outcomes_, "of these variables of the file alone")
        ->type_name("NAME")
        ->delimiter(',');
    add_json(sensitivity_, as_json_);
  }

  /// An option that is a number in the table [lyapunov].
  void take_number(const char* name, const char* key, const char* value, const char* help) {
    lyapunov_
        ->add_option_function<std::string>(
            name,
            [this, key](const std::string& v) {
              arguments_.flags.push_back({"--set", fmt::format("{}={}", key, v)});
            },
            help)
        ->type_name(value);
  }
  void add_lyapunov() {
    lyapunov_ = app_.add_subcommand("lyapunov", "Lyapunov exponents, through events, of every instance of a study");
    add_run_options(lyapunov_, arguments_);
    take_number("--exponents", "lyapunov.exponents", "N", "the N largest; else all");
    take_number("--from", "lyapunov.from", "TIME", "over the time from there on");
    lyapunov_->add_flag("--force", arguments_.force, "replace an older result");
    lyapunov_->footer(
        "saltus lyapunov lorenz --set 't=[0.0,1000.0]' --from 20\n"
        "saltus lyapunov impact_oscillator --set 't=[0.0,500.0]' --exponents 1 "
        "--set 'sweep.frequency={from=2.6,to=2.9,count=100}' -o exponents.nc");
  }

  void add_doctor() {
    doctor_ = app_.add_subcommand("doctor", "compiler, lanes, CUDA, device, cache");
    doctor_->add_flag("--measure", measures_, "measure anew which lane shapes suit this machine: half a minute");
    add_json(doctor_, as_json_);
    doctor_->add_flag("--clear-cache", clears_cache_, "remove all compiled models and what was measured of them");
  }

  CLI::App app_{"saltus: ensembles of discontinuous ODEs, on CPU lanes and CUDA threads", "saltus"};
  CLI::App *list_ = nullptr, *describe_ = nullptr, *keys_ = nullptr, *check_ = nullptr, *run_ = nullptr,
           *gather_ = nullptr, *bench_ = nullptr, *show_ = nullptr, *sensitivity_ = nullptr, *lyapunov_ = nullptr,
           *zarr_ = nullptr, *doctor_ = nullptr;
  CLI::App* new_ = nullptr;
  std::string name_;          ///< of the model to describe, or to begin
  bool by_array_ = false;     ///< describe it by its derivative array
  std::string architecture_;  ///< of the device that check is asked about
  bool as_json_ = false, no_pilot_ = false, lints_ = false, advises_ = false, measures_ = false, clears_cache_ = false;
  CLI::Option* one_instance_ = nullptr;
  std::int64_t instance_ = -1;
  show_options showing_;
  zarr_options making_store_;
  std::vector<std::string> outcomes_;  ///< outcomes whose indices are asked for
  run_arguments arguments_;
  bench_options benching_;
};

bool main_has_ended = false;

/// HDF5 silently exits if it finds no memory for a handle; a static constructor of a model may exit, too. Both are
/// failures.
extern "C" void on_exit_of_a_library() {
  constexpr std::string_view
      of_model = "saltus: the model has ended the program as it was loaded: a static constructor has called exit\n",
      of_library =
          "saltus: a library has ended the program, as a rule for lack of memory; the same command goes "
          "on with what is kept\n";
  if (main_has_ended) return;
  const auto text = is_loading_module() ? of_model : of_library;
  [[maybe_unused]] const auto written = ::write(STDERR_FILENO, text.data(), text.size());
  ::_exit(exit_failure);
}

/// When memory ends, an exception may be thrown where it cannot be caught.
[[noreturn]] void on_uncaught() {
  try {
    if (const auto thrown = std::current_exception()) std::rethrow_exception(thrown);
  } catch (const std::exception& e) { say("saltus: {}\n", message_of(e)); } catch (...) {
  }
  ::_exit(exit_failure);
}

int main_program(int argc, char** argv) {
  constexpr std::string_view in_python[] = {"plot", "report", "import"};
  if (argc > 1 && std::find(std::begin(in_python), std::end(in_python), argv[1]) != std::end(in_python))
    return run_in_python(argv + 1);
  std::atexit(on_exit_of_a_library);
  std::set_terminate(on_uncaught);
  own_hdf5();
  guard_process();
  std::signal(SIGXFSZ, SIG_IGN);  // a file-size limit then gives a write error, like a full disk
  return command_line().run_command(argc, argv);
}

}  // namespace
}  // namespace saltus::host

// Modules find these functions before those of the C library: a model that ends the process ends only its own call, as
// with exit. Direct system calls cannot be intercepted. The C library's declarations, which come first, have no [[noreturn]].
extern "C" {
__attribute__((noreturn)) void _exit(int code) {
  saltus::host::end_model_that_exits();
  for (;;) ::syscall(SYS_exit_group, code);
}
__attribute__((noreturn)) void _Exit(int code) { _exit(code); }
__attribute__((noreturn)) void quick_exit(int code) noexcept { _exit(code); }
}

int main(int argc, char** argv) {
  using namespace saltus::host;
  int code = exit_failure;
  try {
    code = main_program(argc, argv);
  } catch (const error& e) {
    say("saltus: {}\n", e.what());
    code = e.exit_code;
  } catch (const std::exception& e) { say("saltus: {}\n", message_of(e)); }
  if (std::fflush(stdout) != 0) {
    say("saltus: cannot write to stdout: {}\n", std::strerror(errno));
    if (code == exit_ok) code = exit_failure;
  }
  main_has_ended = true;
  if (a_model_called_exit()) ::_exit(code);
  return code == exit_interrupted ? exit_code_of_signal() : code;
}
