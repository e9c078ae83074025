// The command line: saltus list | describe | check | run | show | doctor.
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <functional>
#include <thread>

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <CLI/CLI.hpp>

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

/// A message to stderr. That it cannot be written there must not end a run.
template <class... Args>
void say(fmt::format_string<Args...> form, Args&&... args) {
  std::fputs(fmt::format(form, std::forward<Args>(args)...).c_str(), stderr);
}

const char* direction_name(abi::direction d) {
  return d == abi::rising ? "rising" : d == abi::falling ? "falling" : "both";
}

/// "1 state", "3 states".
std::string counted(std::size_t n, const char* noun) { return fmt::format("{} {}{}", n, noun, n == 1 ? "" : "s"); }

const char* equations_name(abi::equations e) {
  const char* const names[] = {"plain", "semi_explicit", "with_mass", "implicit"};
  return names[e];
}

/// "1 algebraic state", "2 algebraic states"; empty without any.
std::string algebraic_text(const model& m) {
  const auto n = std::count_if(m.states.begin(), m.states.end(), [](const quantity& q) { return q.index > 0; });
  return n > 0 ? counted(static_cast<std::size_t>(n), "algebraic state") : std::string();
}

/// What is not plain about the equations of a model, for a list: ", 1 algebraic state, mass matrix".
std::string special_text(const model& m) {
  std::string text;
  if (const auto algebraic = algebraic_text(m); !algebraic.empty()) text += ", " + algebraic;
  if (m.equations == abi::with_mass) text += ", mass matrix";
  if (m.equations == abi::implicit) text += ", implicit";
  return text;
}

/// The equations of a model as one writes them.
std::string equations_text(const model& m) {
  const char* const forms[] = {"dy/dt = f(t, y)", "dy/dt = f(t, y), 0 = g(t, y)", "M dy/dt = f(t, y)",
                               "0 = r(t, y, dy/dt)"};
  std::string       text    = forms[m.equations];
  if (m.singular_mass) text += ", M singular";
  if (highest_index(m) > 0) text += fmt::format("; {} of index {}", algebraic_text(m), highest_index(m));
  return text;
}

void print_quantities(const char* title, const std::vector<quantity>& list, bool with_value) {
  if (list.empty()) return;
  fmt::print("\n{}\n", title);
  for (const auto& q : list)
    fmt::print("  {:<18} {:>12} {:<10} {}{}\n", q.name, with_value ? fmt::format("{:g}", q.value) : "",
               q.unit == "1" ? "" : q.unit, q.about,
               q.index > 0 ? fmt::format(" (algebraic, index {})", q.index) : std::string());
}

json::object describe_json(const model& m) {
  const auto quantities = [](const std::vector<quantity>& list, bool are_states = false) {
    json::array a;
    for (const auto& q : list) {
      json::object entry{{"name", q.name}, {"default", q.value}, {"unit", q.unit}, {"about", q.about}};
      if (are_states) entry.insert("index", q.index);
      a.push_back(std::move(entry));
    }
    return a;
  };
  json::array guards;
  for (const auto& g : m.guards)
    guards.push_back(json::object{{"name", g.name},
                                  {"direction", direction_name(g.direction)},
                                  {"sidedness", g.sidedness == abi::unilateral ? "unilateral" : "bilateral"},
                                  {"terminal", g.terminal},
                                  {"may_slide", g.slides},
                                  {"about", g.about}});
  json::array instants;
  for (const auto& i : m.instants) instants.push_back(json::object{{"name", i.name}, {"about", i.about}});
  return json::object{{"model", m.name},
                      {"title", m.title},
                      {"source", m.source},
                      {"header", m.header.string()},
                      {"t", json::array{m.t_begin, m.t_end}},
                      {"equations", equations_name(m.equations)},
                      {"singular_mass", m.singular_mass},
                      {"states", quantities(m.states, true)},
                      {"parameters", quantities(m.parameters)},
                      {"discretes", quantities(m.discretes)},
                      {"guards", guards},
                      {"instants", instants},
                      {"outputs", quantities(m.outputs)}};
}

int list_models(bool as_json) {
  json::array all;
  for (const auto& name : builtin_names()) {
    const model m = describe_model(find_model(name));
    if (as_json)
      all.push_back(json::object{{"model", m.name},
                                 {"title", m.title},
                                 {"equations", equations_name(m.equations)},
                                 {"states", json::count(m.states.size())},
                                 {"guards", json::count(m.guards.size())},
                                 {"instants", json::count(m.instants.size())}});
    else
      fmt::print("{:<26} {} ({}{}, {}{})\n", m.name, m.title, counted(m.states.size(), "state"), special_text(m),
                 counted(m.guards.size(), "guard"),
                 m.instants.empty() ? "" : ", " + counted(m.instants.size(), "instant"));
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
  fmt::print("{}: {}\n  source: {}\n  file:   {}\n  t:      {:g} .. {:g}\n  form:   {}\n", m.name, m.title, m.source,
             m.header.string(), m.t_begin, m.t_end, equations_text(m));
  print_quantities("states (initial value, unit, meaning)", m.states, true);
  print_quantities("parameters (default, unit, meaning)", m.parameters, true);
  print_quantities("discrete variables (initial value, unit, meaning)", m.discretes, true);
  print_quantities("outputs (unit, meaning)", m.outputs, false);
  if (!m.guards.empty()) fmt::print("\nguards (direction, sidedness, meaning)\n");
  for (const auto& g : m.guards)
    fmt::print("  {:<18} {:<8} {:<11}{}{} {}\n", g.name, direction_name(g.direction),
               g.sidedness == abi::unilateral ? "unilateral" : "bilateral", g.terminal ? " terminal" : "",
               g.slides ? " may slide" : "", g.about);
  if (!m.instants.empty()) fmt::print("\ninstants (meaning)\n");
  for (const auto& i : m.instants) fmt::print("  {:<18} {}\n", i.name, i.about);
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
  const std::string   place   = is_spec ? spec.model_place : std::string();
  const model         m =
      describe_model(find_model(spec.model_header.empty() ? spec.model : spec.model_header.string(), place));
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

/// "dp5", or "auto (dp5, rodas5p where stiff)".
std::string method_text(const plan& p) {
  return p.stiff_method.empty() ? p.method : fmt::format("auto ({}, {} where stiff)", p.method, p.stiff_method);
}

int check(const run_arguments& a) {
  const plan p = plan_of(a);
  const auto b = make_backend(p);
  if (a.as_json) {
    json::array guards, instants;
    for (const auto& g : p.model.guards) guards.push_back(g.name);
    for (const auto& i : p.model.instants) instants.push_back(i.name);
    fmt::print("{}\n", json::text(json::object{{"model", p.model.name},
                                               {"method", method_name(p)},
                                               {"instances", p.count},
                                               {"t", json::array{p.t_begin, p.t_end}},
                                               {"guards", guards},
                                               {"instants", instants},
                                               {"file", p.file},
                                               {"bytes", expected_bytes(p)},
                                               {"chunk", b->chunk_size()},
                                               {"device", b->device()},
                                               {"model_hash", b->model_hash()},
                                               {"compile_seconds", b->compile_seconds()}}));
    return exit_ok;
  }
  fmt::print("model      {} ({}, {}, {})\n", p.model.name, counted(p.model.states.size(), "state"),
             counted(p.model.parameters.size(), "parameter"), counted(p.model.outputs.size(), "output"));
  fmt::print("method     {}, {}\n", method_text(p),
             p.fixed_step > 0 ? fmt::format("fixed step {:g}", p.fixed_step)
                              : fmt::format("{} controller, {} norm, rtol {:g}", p.controller, p.norm, p.rtol));
  fmt::print("t          {:g} .. {:g}{}\n", p.t_begin, p.t_end, p.backward ? ", backward" : "");
  fmt::print("instances  {}", p.count);
  for (const auto& axis : p.axes) {
    std::vector<std::string> columns;
    for (const auto& c : axis.columns) columns.push_back(c.what.name);
    fmt::print("{}{} ({})", &axis == p.axes.data() ? " = " : " x ", fmt::join(columns, "+"), axis.count);
  }
  if (p.samples > 1 || !p.random.empty())
    fmt::print("{}{} samples, seed {}", p.axes.empty() ? " = " : " x ", p.samples, p.seed);
  std::vector<std::string> guards;
  for (const auto& g : p.model.guards) guards.push_back(fmt::format("{} ({})", g.name, direction_name(g.direction)));
  fmt::print("\nguards     {}\n", guards.empty() ? "none" : fmt::format("{}", fmt::join(guards, ", ")));
  std::vector<std::string> instants;
  for (const auto& i : p.model.instants) instants.push_back(i.name);
  if (!instants.empty()) fmt::print("instants   {}\n", fmt::join(instants, ", "));
  if (p.file.empty()) fmt::print("output     no file\n");
  else fmt::print("output     {}, {}{}\n", p.file, bytes(expected_bytes(p)), p.log_events ? " and the event log" : "");
  fmt::print("device     {}, chunks of {}\n", b->device(), b->chunk_size());
  fmt::print("compiled   {}\n",
             b->compile_seconds() > 0 ? fmt::format("in {:.1f} s", b->compile_seconds()) : "before (cached)");
  return exit_ok;
}

json::object summary_json(const plan& p, const backend& b, const run_summary& s, int code) {
  const auto named = [](const auto& counts) {
    json::object by;
    for (const auto& row : status_table)
      if (const auto n = counts[static_cast<std::size_t>(row.id)]; n > 0) by.insert_or_assign(row.name, json::count(n));
    return by;
  };
  return json::object{
      {"model", p.model.name},
      {"method", method_name(p)},
      {"instances", p.count},
      {"status", named(s.counts.by_status)},
      {"ok", s.counts.ok()},
      {"rescued", s.counts.rescued()},
      {"rescued_from", named(s.counts.by_rescue)},
      {"switched", s.counts.switched},
      {"failed", s.counts.failed()},
      {"not_finished", s.counts.not_finished()},
      {"steps", s.counts.steps},
      {"rejected", s.counts.rejected},
      {"rhs_evaluations", s.counts.evaluations},
      {"events", s.counts.events},
      {"location_steps", s.counts.corrections},
      {"misordered_events", s.counts.misordered},
      {"phantom_events", s.counts.phantoms},
      {"undetermined", s.counts.undetermined},
      {"wall_seconds", s.wall_seconds},
      {"compile_seconds", b.compile_seconds()},
      {"stiff_compile_seconds", s.stiff_compile_seconds},
      {"rescue_compile_seconds", s.rescue_compile_seconds},
      {"instances_per_second", s.wall_seconds > 0 ? static_cast<double>(p.count) / s.wall_seconds : 0.0},
      {"lane_use",
       s.usage.turns > 0 ? static_cast<double>(s.usage.lane_turns) / static_cast<double>(s.usage.turns) : 0.0},
      {"device", b.device()},
      {"file", p.file},
      {"exit_code", code}};
}

void print_summary(const plan& p, const backend& b, const run_summary& s) {
  const double n = static_cast<double>(p.count);
  fmt::print("{} {} in {:.2f} s: {:.4g} instances/s, {:.4g} trial steps/s\n", p.count, p.model.name, s.wall_seconds,
             n / s.wall_seconds, static_cast<double>(s.counts.steps + s.counts.rejected) / s.wall_seconds);
  fmt::print("  on {}\n", b.device());
  if (s.stiff_compile_seconds > 0)
    fmt::print("  {:.2f} s of it compiling {}\n", s.stiff_compile_seconds, p.stiff_method);
  if (s.rescue_compile_seconds > 0) fmt::print("  {:.2f} s of it compiling rescue\n", s.rescue_compile_seconds);
  for (const auto& row : status_table) {
    const auto some = s.counts.by_status[static_cast<std::size_t>(row.id)];
    if (some == 0) continue;
    fmt::print("  {:<16} {:>12}   {}\n", row.name, some, row.meaning);
    if (row.group != status_group::ok) fmt::print("  {:<16} {:>12}   -> {}\n", "", "", row.remedy);
  }
  for (const auto& row : status_table)
    if (const auto some = s.counts.by_rescue[static_cast<std::size_t>(row.id)]; some > 0)
      fmt::print("  {:<16} {:>12}   of these; lanes gave up: {}\n", "(rescued)", some, row.name);
  if (s.counts.switched > 0)
    fmt::print("  {:<16} {:>12}   of these; went over to {}\n", "(stiff)", s.counts.switched, p.stiff_method);
  fmt::print("  per instance: {:.1f} steps, {:.1f} rejected, {:.1f} right-hand sides, {:.2f} events\n",
             static_cast<double>(s.counts.steps) / n, static_cast<double>(s.counts.rejected) / n,
             static_cast<double>(s.counts.evaluations) / n, static_cast<double>(s.counts.events) / n);
  const std::pair<std::int64_t, const char*> parts[] = {{s.counts.corrections, "location steps"},
                                                        {s.counts.misordered, "misordered"},
                                                        {s.counts.phantoms, "phantoms"},
                                                        {s.counts.undetermined, "undetermined"}};
  std::string                                events;
  for (const auto& [some, what] : parts)
    if (some > 0) events += fmt::format("{}{} {}", events.empty() ? "" : ", ", some, what);
  if (!events.empty()) fmt::print("  events in all: {}\n", events);
  if (p.file.empty()) fmt::print("no result file: -o FILE writes one\n");
  else
    fmt::print("wrote {}\n  look at it:  saltus show {}\n  in Python:   xarray.open_dataset(\"{}\")\n", p.file, p.file,
               p.file);
}

int run(const run_arguments& a, const std::string& command) {
  const plan p = plan_of(a);
  const auto b = make_backend(p);
  if (b->compile_seconds() > 0 && !a.quiet)
    say("compiled {} with {} in {:.1f} s\n", p.model.name, p.method, b->compile_seconds());
  std::signal(SIGINT, on_signal);
  std::signal(SIGTERM, on_signal);
  // The file before the first instance: an unwritable output must not be found out after an hour.
  std::unique_ptr<result_writer> file;
  if (!p.file.empty())
    file = std::make_unique<result_writer>(
        p.file, p, provenance{version, b->model_hash(), find_compiler().version, b->device(), command});

  progress    bar(p.count, p.model.name, a.quiet);
  run_summary s = run_ensemble(
      p, *b,
      [&](const chunk_data& chunk) {
        if (file) file->write(chunk);
      },
      [&](std::int64_t some) { bar.add(some); }, interrupted);
  bar.finish();
  if (file) file->close(s.wall_seconds);

  const auto failed = s.counts.failed();
  int        code   = exit_ok;
  if (s.interrupted && s.counts.not_finished() > 0) code = exit_interrupted;
  else if (static_cast<double>(failed) > p.allowed_failed * static_cast<double>(p.count)) code = exit_failed_instances;
  if (a.as_json) fmt::print("{}\n", json::text(summary_json(p, *b, s, code)));
  else print_summary(p, *b, s);
  if (code == exit_failed_instances)
    say("{} of {} instances failed, {:g} % allowed (run.allowed_failed)\n", failed, p.count, 100 * p.allowed_failed);
  if (code == exit_interrupted) say("interrupted: {} instances did not finish\n", s.counts.not_finished());
  return code;
}

/// What was looked up, or why it is not there.
struct finding {
  std::string        text, trouble;
  const std::string& either() const { return trouble.empty() ? text : trouble; }
};

finding look_up(const std::function<std::string()>& what) {
  try {
    return {what(), {}};
  } catch (const std::exception& e) { return {{}, e.what()}; }
}

int doctor(bool as_json) {
  const unsigned threads = std::thread::hardware_concurrency();
  const finding  house   = look_up([] { return home().string(); });
  const finding  folder  = look_up([] { return cache_folder().string(); });
  const finding  compiler =
      look_up([] { return find_compiler().version + " (" + find_compiler().program.string() + ")"; });
  std::int64_t    files = 0, size = 0;
  std::error_code gone;  // another saltus may be at work in there
  if (folder.trouble.empty())
    for (const auto& entry : std::filesystem::directory_iterator(folder.text, gone))
      if (const auto n = entry.file_size(gone); !gone) ++files, size += static_cast<std::int64_t>(n);
  const bool        equipped = house.trouble.empty() && folder.trouble.empty() && compiler.trouble.empty();
  const finding     unit     = look_up([&] {
    if (!equipped) return "no";
    make_cpu_backend(validate(from_model("lorenz"), describe_model(find_model("lorenz"))));
    return "yes";
  });
  std::string       device;
  const std::string absent = cuda_absent(&device);
  const bool        works  = unit.text == "yes";
  if (as_json) {
    json::array troubles;
    for (const finding* f : {&house, &folder, &compiler, &unit})
      if (!f->trouble.empty()) troubles.push_back(f->trouble);
    fmt::print("{}\n", json::text(json::object{{"version", version},
                                               {"home", house.text},
                                               {"compiler", compiler.text},
                                               {"compiles", works},
                                               {"troubles", troubles},
                                               {"threads", json::count(threads)},
                                               {"lanes_double", native_lanes("double")},
                                               {"lanes_float", native_lanes("float")},
                                               {"cuda_device", device},
                                               {"cuda_absent", absent},
                                               {"cache", folder.text},
                                               {"cache_files", files},
                                               {"cache_bytes", size}}));
  } else {
    fmt::print("saltus     {}\nhome       {}\n", version, house.either());
    fmt::print("compiler   {}\n", compiler.either());
    fmt::print("compiles   {}\n", (unit.trouble.empty() ? "" : "no: ") + unit.either());
    fmt::print("cpu        {}, {} lanes of double, {} of float\n", counted(threads, "thread"), native_lanes("double"),
               native_lanes("float"));
    fmt::print("cuda       {}\n", absent.empty() ? device : "none: " + absent);
    fmt::print("cache      {}\n", folder.trouble.empty()
                                      ? fmt::format("{}: {} files, {}", folder.text, files, bytes(size))
                                      : folder.trouble);
  }
  return works ? exit_ok : exit_failure;
}

/// What is wrong with a command line, in one sentence.
std::string usage_error(const CLI::App& app, const CLI::ParseError& complaint) {
  const auto      commands = app.get_subcommands();
  const CLI::App& command  = commands.empty() || app.remaining_size() > 0 ? app : *commands.front();
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
    for (const auto* known : app.get_subcommands([](const CLI::App*) { return true; }))
      names.push_back(known->get_name());
  } else {
    return said + ": one argument too many";
  }
  return fmt::format("{}: unknown {}; {}", said, flag != extras.end() ? "flag" : "command",
                     suggest(said, {names.begin(), names.end()}));
}

int main_program(int argc, char** argv) {
  std::signal(SIGXFSZ, SIG_IGN);  // a file that may not grow is an error of writing, as a full disk is
  CLI::App app{"saltus: ensembles of discontinuous ODEs, on CPU lanes and CUDA threads", "saltus"};
  app.set_version_flag("--version", version);
  app.require_subcommand(1);
  app.fallthrough(false);
  app.footer(
      "saltus COMMAND --help tells more. Exit codes: 0 ok, 1 error at run time, 2 error in the spec or on the command\n"
      "line, 3 more failed instances than allowed, 4 the model does not compile, 5 no such device, 130 interrupted.");

  bool          as_json = false;
  std::string   name;
  show_options  showing;
  run_arguments arguments;

  const auto add_json = [](CLI::App* command, bool& json) {
    command->add_flag("--json", json, "one JSON object to stdout");
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
          ->type_name(value)
          ->trigger_on_parse();
    };
    take("--set", "--set", "KEY=VALUE", "a key of the spec, a parameter or an initial value: --set rtol=1e-9");
    take("-n", "-n", "COUNT", "number of instances (of samples, or of the one range that is swept)");
    take("--seed", "--seed", "N", "seed of the random samples");
    take("--method", "--method", "NAME", "integration method");
    take("--backend", "--backend", "NAME", "auto, cpu or cuda");
    take("--threads", "--threads", "N", "CPU threads; 0: all cores");
    take("--lanes", "--lanes", "N", "instances per vector; 0: as wide as the machine, 1: the scalar reference");
    take("--chunk", "--chunk", "N", "instances per chunk; 0: chosen");
    take("-o,--output", "-o", "FILE", "result file (NetCDF)");
    add_json(command, arguments.as_json);
    command->add_flag("-q,--quiet", arguments.quiet, "no progress on stderr");
  };
  auto* checking = app.add_subcommand("check", "validate a spec, compile its model, print the plan");
  add_run_options(checking);
  auto* running = app.add_subcommand("run", "run an ensemble");
  add_run_options(running);
  running->footer(
      "saltus run relief_valve --set 'sweep.flow={from=0.2,to=10,count=1000}' -o valve.nc\n"
      "saltus run ./my_sweep.toml -n 100000 --threads 8");

  auto* show_command = app.add_subcommand("show", "what is in a result file");
  show_command->add_option("FILE", showing.file, "a result file")->required()->type_name("");
  std::int64_t instance = -1;
  auto*        one = show_command->add_option("--instance", instance, "everything about one instance")->type_name("I");
  show_command->add_flag("--failed", showing.failed, "the instances that failed, and why");
  add_json(show_command, showing.json);
  auto* health = app.add_subcommand("doctor", "compiler, lanes, CUDA, device, cache");
  add_json(health, as_json);

  if (argc == 1) {
    say("{}", app.help());
    return exit_usage;
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    if (e.get_exit_code() == 0) return app.exit(e);  // --help, --version
    const auto        commands = app.get_subcommands();
    const std::string command  = commands.empty() ? "saltus" : "saltus " + commands.front()->get_name();
    say("{0}: {1}\n{0} --help tells more\n", command, usage_error(app, e));
    return exit_usage;
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
  return code;
}
