// The command line: saltus list | describe | check | run | show | doctor.
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdio>
#include <thread>

#include <CLI/CLI.hpp>
#include <fmt/chrono.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "backend.hpp"
#include "compiler.hpp"
#include "error.hpp"
#include "install.hpp"
#include "json.hpp"
#include "progress.hpp"
#include "result.hpp"
#include "scheduler.hpp"
#include "show.hpp"
#include "spec.hpp"
#include "version.hpp"

namespace saltus::host {
namespace {

std::atomic<bool> interrupted{false};

/// The first Ctrl-C asks the run to end and write what is finished; the second ends the program at once.
extern "C" void on_signal(int number) {
  if (interrupted.exchange(true)) std::signal(number, SIG_DFL), std::raise(number);
}

const char* direction_name(abi::direction d) {
  return d == abi::rising ? "rising" : d == abi::falling ? "falling" : "both";
}

void print_quantities(const char* title, const std::vector<quantity>& list, bool with_value) {
  if (list.empty()) return;
  fmt::print("\n{}\n", title);
  for (const auto& q : list)
    fmt::print("  {:<18} {:>12} {:<10} {}\n", q.name, with_value ? fmt::format("{:g}", q.value) : "", q.unit, q.about);
}

json::object describe_json(const model& m) {
  const auto quantities = [](const std::vector<quantity>& list) {
    json::array a;
    for (const auto& q : list)
      a.push_back(json::object{{"name", q.name}, {"default", q.value}, {"unit", q.unit}, {"about", q.about}});
    return a;
  };
  json::array guards;
  for (const auto& g : m.guards)
    guards.push_back(json::object{{"name", g.name},
                                  {"direction", direction_name(g.direction)},
                                  {"sidedness", g.sidedness == abi::unilateral ? "unilateral" : "bilateral"},
                                  {"terminal", g.terminal},
                                  {"about", g.about}});
  return json::object{{"model", m.name},
                      {"title", m.title},
                      {"source", m.source},
                      {"header", m.header.string()},
                      {"t", json::array{m.t_begin, m.t_end}},
                      {"states", quantities(m.states)},
                      {"parameters", quantities(m.parameters)},
                      {"discretes", quantities(m.discretes)},
                      {"guards", guards},
                      {"outputs", quantities(m.outputs)}};
}

int list_models(bool as_json) {
  json::array all;
  for (const auto& name : builtin_names()) {
    const model m = describe_model(find_model(name));
    if (as_json)
      all.push_back(json::object{{"model", m.name}, {"title", m.title}, {"states", json::count(m.states.size())}, {"guards", json::count(m.guards.size())}});
    else
      fmt::print("{:<20} {} ({} states, {} guards)\n", m.name, m.title, m.states.size(), m.guards.size());
  }
  if (as_json) fmt::print("{}\n", json::text(json::object{{"models", all}}));
  return exit_ok;
}

int describe(const std::string& name, bool as_json) {
  const model m = describe_model(find_model(name));
  if (as_json) {
    fmt::print("{}\n", json::text(describe_json(m)));
    return exit_ok;
  }
  fmt::print("{}: {}\n  source: {}\n  file:   {}\n  t:      {:g} .. {:g}\n", m.name, m.title, m.source, m.header.string(),
             m.t_begin, m.t_end);
  print_quantities("states (initial value, unit, meaning)", m.states, true);
  print_quantities("parameters (default, unit, meaning)", m.parameters, true);
  print_quantities("discrete variables (initial value, unit, meaning)", m.discretes, true);
  print_quantities("outputs", m.outputs, false);
  if (!m.guards.empty()) fmt::print("\nguards (direction, sidedness, meaning)\n");
  for (const auto& g : m.guards)
    fmt::print("  {:<18} {:<8} {:<11}{} {}\n", g.name, direction_name(g.direction),
               g.sidedness == abi::unilateral ? "unilateral" : "bilateral", g.terminal ? " terminal" : "", g.about);
  return exit_ok;
}

/// What `run` and `check` are given: a spec file or a model, and flags that change it.
struct run_arguments {
  std::string       subject;
  std::vector<flag> flags;
  bool              as_json = false, quiet = false;
};

plan plan_of(const run_arguments& a) {
  const bool          is_spec = std::filesystem::path(a.subject).extension() == ".toml";
  const spec_document spec    = is_spec ? read_spec(a.subject, a.flags) : from_model(a.subject, a.flags);
  const model m = describe_model(spec.model_header.empty() ? find_model(spec.model, spec.model_place)
                                                            : find_model(spec.model_header.string(), spec.model_place));
  plan p = validate(spec, m);
  check_names(p);
  return p;
}

std::string bytes(std::int64_t n) {
  const char* const units[] = {"B", "kB", "MB", "GB", "TB", "PB"};
  double            x       = static_cast<double>(n);
  int               i       = 0;
  while (x >= 1000 && i < 5) x /= 1000, ++i;
  return fmt::format("{:.{}f} {}", x, i == 0 ? 0 : 1, units[i]);
}

int check(const run_arguments& a) {
  const plan p = plan_of(a);
  const auto b = make_backend(p);
  if (a.as_json) {
    json::array guards;
    for (const auto& g : p.model.guards) guards.push_back(g.name);
    fmt::print("{}\n", json::text(json::object{{"model", p.model.name},
                                               {"method", p.method},
                                               {"instances", p.count},
                                               {"t", json::array{p.t_begin, p.t_end}},
                                               {"guards", guards},
                                               {"file", p.file},
                                               {"bytes", expected_bytes(p)},
                                               {"chunk", b->chunk_size()},
                                               {"device", b->device()},
                                               {"model_hash", b->model_hash()},
                                               {"compile_seconds", b->compile_seconds()}}));
    return exit_ok;
  }
  fmt::print("model      {} ({} states, {} parameters, {} outputs)\n", p.model.name, p.model.states.size(),
             p.model.parameters.size(), p.model.outputs.size());
  fmt::print("method     {}, {}\n", p.method,
             p.fixed_step > 0 ? fmt::format("fixed step {:g}", p.fixed_step)
                              : fmt::format("{} controller, {} norm, rtol {:g}", p.controller, p.norm, p.rtol));
  fmt::print("t          {:g} .. {:g}\n", p.t_begin, p.t_end);
  fmt::print("instances  {}", p.count);
  for (const auto& axis : p.axes) {
    std::vector<std::string> columns;
    for (const auto& c : axis.columns) columns.push_back(c.what.name);
    fmt::print("{}{} ({})", &axis == p.axes.data() ? " = " : " x ", fmt::join(columns, "+"), axis.count);
  }
  if (p.samples > 1 || !p.random.empty()) fmt::print("{}{} samples, seed {}", p.axes.empty() ? " = " : " x ", p.samples, p.seed);
  std::vector<std::string> guards;
  for (const auto& g : p.model.guards) guards.push_back(fmt::format("{} ({})", g.name, direction_name(g.direction)));
  fmt::print("\nguards     {}\n", guards.empty() ? "none" : fmt::format("{}", fmt::join(guards, ", ")));
  if (p.file.empty()) fmt::print("output     no file\n");
  else fmt::print("output     {}, {}{}\n", p.file, bytes(expected_bytes(p)), p.log_events ? " and the event log" : "");
  fmt::print("device     {}, chunks of {}\n", b->device(), b->chunk_size());
  fmt::print("compiled   {}\n", b->compile_seconds() > 0 ? fmt::format("in {:.1f} s", b->compile_seconds()) : "before (cached)");
  return exit_ok;
}

json::object summary_json(const plan& p, const backend& b, const run_summary& s, int code) {
  json::object by_status;
  for (const auto& row : status_table)
    if (const auto n = s.counts.by_status[static_cast<std::size_t>(row.id)]; n > 0) by_status.insert_or_assign(row.name, json::count(n));
  return json::object{{"model", p.model.name},
                      {"method", p.method},
                      {"instances", p.count},
                      {"status", by_status},
                      {"ok", s.counts.of(status_group::ok)},
                      {"failed", s.counts.of(status_group::failed)},
                      {"not_finished", s.counts.of(status_group::not_finished)},
                      {"steps", s.counts.steps},
                      {"rejected", s.counts.rejected},
                      {"rhs_evaluations", s.counts.evaluations},
                      {"events", s.counts.events},
                      {"wall_seconds", s.wall_seconds},
                      {"compile_seconds", b.compile_seconds()},
                      {"instances_per_second", s.wall_seconds > 0 ? static_cast<double>(p.count) / s.wall_seconds : 0.0},
                      {"lane_use", s.usage.turns > 0 ? static_cast<double>(s.usage.lane_turns) / static_cast<double>(s.usage.turns) : 0.0},
                      {"device", b.device()},
                      {"file", p.file},
                      {"exit_code", code}};
}

void print_summary(const plan& p, const backend& b, const run_summary& s) {
  const double n = static_cast<double>(p.count);
  fmt::print("{} {} in {:.2f} s: {:.4g} instances/s, {:.4g} trial steps/s\n", p.count, p.model.name, s.wall_seconds,
             n / s.wall_seconds, static_cast<double>(s.counts.steps + s.counts.rejected) / s.wall_seconds);
  fmt::print("  on {}\n", b.device());
  for (const auto& row : status_table) {
    const auto some = s.counts.by_status[static_cast<std::size_t>(row.id)];
    if (some == 0) continue;
    fmt::print("  {:<16} {:>12}   {}\n", row.name, some, row.meaning);
    if (row.group != status_group::ok) fmt::print("  {:<16} {:>12}   -> {}\n", "", "", row.remedy);
  }
  fmt::print("  per instance: {:.1f} steps, {:.1f} rejected, {:.1f} right-hand sides, {:.2f} events\n",
             static_cast<double>(s.counts.steps) / n, static_cast<double>(s.counts.rejected) / n,
             static_cast<double>(s.counts.evaluations) / n, static_cast<double>(s.counts.events) / n);
  if (!p.file.empty())
    fmt::print("wrote {}\n  look at it:  saltus show {}\n  in Python:   xarray.open_dataset(\"{}\")\n", p.file, p.file, p.file);
}

int run(const run_arguments& a, const std::string& command) {
  const plan p = plan_of(a);
  // The file first: an unwritable output must not be found out after an hour.
  const auto b = make_backend(p);
  if (b->compile_seconds() > 0 && !a.quiet && !a.as_json)
    fmt::print(stderr, "compiled {} with {} in {:.1f} s\n", p.model.name, p.method, b->compile_seconds());
  std::unique_ptr<result_writer> file;
  if (!p.file.empty())
    file = std::make_unique<result_writer>(
        p.file, p, provenance{version, b->model_hash(), find_compiler().version, b->device(), command});

  std::signal(SIGINT, on_signal);
  std::signal(SIGTERM, on_signal);
  progress    bar(p.count, p.model.name, a.quiet || a.as_json);
  run_summary s = run_ensemble(
      p, *b, [&](const chunk_data& chunk) { if (file) file->write(chunk); }, [&](std::int64_t some) { bar.add(some); }, interrupted);
  bar.finish();
  if (file) file->close(s.wall_seconds);

  const auto failed = s.counts.of(status_group::failed);
  int        code   = exit_ok;
  if (s.interrupted && s.counts.of(status_group::not_finished) > 0) code = exit_interrupted;
  else if (static_cast<double>(failed) > p.allowed_failed * static_cast<double>(p.count)) code = exit_failed_instances;
  if (a.as_json) fmt::print("{}\n", json::text(summary_json(p, *b, s, code)));
  else print_summary(p, *b, s);
  if (code == exit_failed_instances)
    fmt::print(stderr, "{} of {} instances failed, {:g} % allowed (run.allowed_failed)\n", failed, p.count, 100 * p.allowed_failed);
  if (code == exit_interrupted)
    fmt::print(stderr, "interrupted: {} instances did not finish\n", s.counts.of(status_group::not_finished));
  return code;
}

int doctor(bool as_json) {
  std::string compiler, compiler_problem, device;
  try {
    compiler = find_compiler().version + " (" + find_compiler().program.string() + ")";
  } catch (const error& e) {
    compiler_problem = e.what();
  }
  const std::string absent = cuda_absent(&device);
  std::int64_t      files = 0, size = 0;
  for (const auto& entry : std::filesystem::directory_iterator(cache_folder()))
    if (entry.is_regular_file()) ++files, size += static_cast<std::int64_t>(entry.file_size());
  const unsigned threads = std::thread::hardware_concurrency();
  bool           works   = false;
  std::string    trouble = compiler_problem;
  if (trouble.empty()) {
    try {
      plan p = validate(from_model("lorenz"), describe_model(find_model("lorenz")));
      p.backend = "cpu";
      works = make_cpu_backend(p) != nullptr;
    } catch (const std::exception& e) {
      trouble = e.what();
    }
  }
  if (as_json) {
    fmt::print("{}\n", json::text(json::object{{"version", version},
                                               {"home", home().string()},
                                               {"compiler", compiler},
                                               {"compiles", works},
                                               {"trouble", trouble},
                                               {"threads", json::count(threads)},
                                               {"lanes_double", native_lanes("double")},
                                               {"lanes_float", native_lanes("float")},
                                               {"cuda_device", device},
                                               {"cuda_absent", absent},
                                               {"cache", cache_folder().string()},
                                               {"cache_files", files},
                                               {"cache_bytes", size}}));
  } else {
    fmt::print("saltus     {}\nhome       {}\n", version, home().string());
    fmt::print("compiler   {}\n", compiler_problem.empty() ? compiler : compiler_problem);
    fmt::print("compiles   {}\n", works ? "yes" : "no: " + trouble);
    fmt::print("cpu        {} threads, {} lanes of double, {} of float\n", threads, native_lanes("double"), native_lanes("float"));
    fmt::print("cuda       {}\n", absent.empty() ? device : "none: " + absent);
    fmt::print("cache      {}: {} files, {}\n", cache_folder().string(), files, bytes(size));
  }
  return works ? exit_ok : exit_model;
}

int main_program(int argc, char** argv) {
  CLI::App app{"saltus: ensembles of discontinuous ODEs, on CPU lanes and CUDA threads"};
  app.set_version_flag("--version", version);
  app.require_subcommand(1);
  app.fallthrough(false);

  bool         as_json = false;
  std::string  name;
  show_options showing;
  run_arguments arguments;

  auto* list = app.add_subcommand("list", "the built-in models");
  list->add_flag("--json", as_json, "one JSON object to stdout");
  auto* describing = app.add_subcommand("describe", "states, parameters, guards and outputs of a model");
  describing->add_option("model", name, "a built-in's name, or a header ./my_model.hpp")->required();
  describing->add_flag("--json", as_json, "one JSON object to stdout");

  const auto add_run_options = [&](CLI::App* command) {
    command->add_option("subject", arguments.subject, "a spec (.toml), a built-in's name, or a header ./my_model.hpp")->required();
    const auto take = [&](const char* flags, const char* kept, const char* help) {
      command->add_option_function<std::vector<std::string>>(
                 flags, [&arguments, kept](const std::vector<std::string>& values) {
                   for (const auto& value : values) arguments.flags.push_back({kept, value});
                 }, help)
          ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
          ->expected(1)
          ->trigger_on_parse();
    };
    take("--set", "--set", "key=value: changes one key of the spec, a parameter or an initial value");
    take("-n", "-n", "number of instances (of samples, or of the one range that is swept)");
    take("--seed", "--seed", "seed of the random samples");
    take("--method", "--method", "integration method");
    take("--backend", "--backend", "auto, cpu or cuda");
    take("--threads", "--threads", "CPU threads");
    take("--lanes", "--lanes", "instances per vector: 1 is the scalar reference");
    take("--chunk", "--chunk", "instances per chunk");
    take("-o,--output", "-o", "result file");
    command->add_flag("--json", arguments.as_json, "the summary as one JSON object to stdout");
    command->add_flag("-q,--quiet", arguments.quiet, "no progress");
  };
  auto* checking = app.add_subcommand("check", "validate a spec, compile its model, print the plan");
  add_run_options(checking);
  auto* running = app.add_subcommand("run", "run an ensemble");
  add_run_options(running);

  auto* show_command = app.add_subcommand("show", "what is in a result file");
  show_command->add_option("file", showing.file, "a result file")->required();
  std::int64_t instance = -1;
  auto* one = show_command->add_option("--instance", instance, "everything about one instance");
  show_command->add_flag("--failed", showing.failed, "the instances that failed, and why");
  show_command->add_flag("--json", showing.json, "one JSON object to stdout");
  auto* health = app.add_subcommand("doctor", "compiler, lanes, CUDA, device, cache");
  health->add_flag("--json", as_json, "one JSON object to stdout");

  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    return app.exit(e) == 0 ? exit_ok : exit_usage;
  }
  if (*one) showing.instance = instance;

  std::string command;
  for (int i = 0; i < argc; ++i) command += (i ? " " : "") + std::string(argv[i]);
  if (*list) return list_models(as_json);
  if (*describing) return describe(name, as_json);
  if (*checking) return check(arguments);
  if (*running) return run(arguments, command);
  if (*show_command) return show(showing, stdout);
  return doctor(as_json);
}

}  // namespace
}  // namespace saltus::host

int main(int argc, char** argv) {
  try {
    return saltus::host::main_program(argc, argv);
  } catch (const saltus::host::error& e) {
    fmt::print(stderr, "saltus: {}\n", e.what());
    return e.exit_code;
  } catch (const std::exception& e) {
    fmt::print(stderr, "saltus: {}\n", e.what());
    return saltus::host::exit_failure;
  }
}
