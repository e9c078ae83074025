#include "compile/compiler.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <mutex>
#include <optional>
#include <regex>
#include <set>
#include <sstream>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/child.hpp"
#include "base/error.hpp"
#include "base/files.hpp"
#include "base/paths.hpp"
#include "base/subprocess.hpp"
#include "compile/builtin_models.hpp"
#include "compile/diagnostics.hpp"

namespace saltus::host {
namespace fs = std::filesystem;

namespace {

std::string processor() {
  std::ifstream in("/proc/cpuinfo");
  std::string result;
  for (std::string line; std::getline(in, line) && !line.empty();)
    if (line.rfind("model name", 0) == 0 || line.rfind("flags", 0) == 0 || line.rfind("Features", 0) == 0)
      result += line;
  return result;
}

const std::vector<std::string>& flags() {
  // Same bits everywhere: no contraction that is not written as fma, no reassociation. errno and traps cost vectorisation.
  static const std::vector<std::string> list = {
      "-std=c++20",         "-O3",   "-march=native", "-ffp-contract=off",   "-fno-math-errno",
      "-fno-trapping-math", "-fPIC", "-shared",       "-fvisibility=hidden", "-w",
      "-Wl,-z,defs"};
  return list;
}

/// What only g++ has, and needs. Without the first, a model's function whose arguments lie in memory is not inlined. The
/// second: joining scalars to vectors it makes vfmaddsub of products and sums, contraction off or not, which other widths
/// of the same code do not have.
std::vector<std::string> flags_for(const cpp_compiler& cc) {
  auto all = flags();
  if (cc.version.find("clang") == std::string::npos) all.insert(all.end(), {"-fno-ipa-sra", "-fno-tree-slp-vectorize"});
#ifdef SALTUS_SANITIZE
  // As the program that loads them: with sanitizers, and with less optimisation, or compiling takes minutes.
  all.insert(all.end(),
             {"-fsanitize=address,undefined", "-fno-sanitize-recover=undefined", "-fno-omit-frame-pointer", "-O1"});
#endif
  return all;
}

}  // namespace

library::library(const fs::path& file) : handle_(::dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL)) {
  if (!handle_) throw error(exit_failure, fmt::format("a compiled module cannot be loaded: {}", ::dlerror()));
}
library::~library() { ::dlclose(handle_); }
void* library::symbol(const char* name) const {
  void* address = ::dlsym(handle_, name);
  if (!address)
    throw error(exit_failure,
                fmt::format("a compiled module lacks {}: saltus doctor --clear-cache clears the cache", name));
  return address;
}

const cpp_compiler& find_compiler() {
  static const cpp_compiler found = [] {
    const char* const own = std::getenv("SALTUS_CXX");
    const std::vector<std::string> candidates =
        own && *own ? std::vector<std::string>{own}
                    : std::vector<std::string>{SALTUS_CXX_COMPILER, "c++", "g++", "clang++"};
    for (const auto& name : candidates) {
      const fs::path program = which(name);
      if (program.empty()) continue;
      if (const auto asked = run_program({program.string(), "--version"}, {}); asked.status == 0)
        return cpp_compiler{program, asked.said.substr(0, asked.said.find('\n'))};
    }
    throw error(exit_failure,
                fmt::format("no C++ compiler found (tried {}{}): install g++ or clang++, or set SALTUS_CXX to one",
                            own && *own ? "SALTUS_CXX = " : "", fmt::join(candidates, ", ")));
  }();
  return found;
}

std::string machine_identity() {
  const auto& cc = find_compiler();
  return fmt::format("{}\n{}\n{}", processor(), cc.program.string(), cc.version);
}

namespace {

/// What is run once need not be fast: without optimisation it compiles in less time. Traced: with line numbers.
enum class optimised { yes, no, traced };

std::vector<std::string> flags_for(const cpp_compiler& cc, optimised how) {
  auto all = flags_for(cc);
  if (how == optimised::no) all.push_back("-O0");
  if (how == optimised::traced) all.insert(all.end(), {"-O1", "-g"});
  return all;
}

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

/// The folders in a variable like PATH, of which an empty one is the current one.
std::vector<fs::path> folders_in(const char* variable) {
  std::vector<fs::path> folders;
  std::istringstream list(environment(variable));
  for (std::string one; std::getline(list, one, ':');) folders.push_back(fs::absolute(one.empty() ? "." : one));
  return folders;
}

/// All that makes a compiler what it is: a new one under the same name is another one.
std::string identity_of(const cpp_compiler& cc) {
  std::error_code none;
  const auto program = fs::canonical(cc.program, none);
  return fmt::format("{}\n{}\n{} {}", cc.program.string(), cc.version, fs::file_size(program, none),
                     fs::last_write_time(program, none).time_since_epoch().count());
}

/// Hash of what is known of a module before it is compiled.
std::string request_of(const std::string& text, const std::vector<std::string>& options) {
  std::string all = fmt::format("{}\n{}\n{}\n{}\n{}", text, fmt::join(options, " "), identity_of(find_compiler()),
                                processor(), home().string());
  for (const char* variable : {"GCC_EXEC_PREFIX", "COMPILER_PATH", "LIBRARY_PATH"})
    all += fmt::format("\n{} {}", variable, environment(variable));
  for (const char* variable : {"CPATH", "CPLUS_INCLUDE_PATH"})
    for (const auto& folder : folders_in(variable)) all += fmt::format("\n{} {}", variable, folder.string());
  return hash_text(all);
}

/// The prerequisites in a rule for make, which compilers write: a backslash before a blank or a number sign, a dollar
/// twice.
std::vector<fs::path> prerequisites(const std::string& rule) {
  std::vector<fs::path> files;
  std::string word;
  const auto end_of_word = [&] {
    if (!word.empty()) files.emplace_back(std::exchange(word, {}));
  };
  for (std::size_t i = rule.find(": ") + 1; i < rule.size(); ++i) {
    const char c = rule[i], next = i + 1 < rule.size() ? rule[i + 1] : '\n';
    if (c == '\\' && next == '\n') end_of_word(), ++i;
    else if ((c == '\\' && (next == ' ' || next == '#')) || (c == '$' && next == '$')) word += next, ++i;
    else if (c == ' ' || c == '\n') end_of_word();
    else word += c;
  }
  end_of_word();
  return files;
}

/// Files that the preprocessor takes for the system's, by the marks in its output: # LINE "FILE" FLAGS, of which 3 says so.
std::set<fs::path> system_files(const std::string& preprocessed) {
  std::set<fs::path> files;
  std::istringstream lines(preprocessed);
  for (std::string line; std::getline(lines, line);) {
    const auto first = line.find('"'), last = line.rfind('"');
    if (line.rfind("# ", 0) == 0 && last != first && line.find(" 3", last) != line.npos)
      files.emplace(fs::absolute(line.substr(first + 1, last - first - 1)).lexically_normal());
  }
  return files;
}

bool is_beneath(const fs::path& file, const fs::path& folder) {
  return std::mismatch(folder.begin(), folder.end(), file.begin(), file.end()).first == folder.end();
}

/// What might be found before one of the model's own files, by the name by which it is included, if it were there: in the
/// folder of each of them, among the kernels, and in those that the user has told the compiler of.
std::vector<fs::path> shadows_of(const std::vector<fs::path>& own) {
  std::set<fs::path> folders = {home() / "kernels"}, absent;
  for (const auto& file : own) folders.insert(file.parent_path());
  for (const char* variable : {"CPATH", "CPLUS_INCLUDE_PATH"})
    for (const auto& folder : folders_in(variable)) folders.insert(folder.lexically_normal());
  for (const auto& file : own)
    for (const auto& folder : folders) {
      if (!is_beneath(file, folder)) continue;
      for (const auto& other : folders)
        if (const auto shadow = other / file.lexically_relative(folder); !fs::exists(shadow)) absent.insert(shadow);
    }
  return {absent.begin(), absent.end()};
}

std::vector<std::string> command_with(const cpp_compiler& cc, const std::vector<std::string>& options) {
  std::vector<std::string> command = {cc.program.string()};
  command.insert(command.end(), options.begin(), options.end());
  command.push_back("-I" + (home() / "kernels").string());
  return command;
}

/// Asks the compiler which files it reads for a source; none if it cannot say.
std::optional<file_list> files_read(const scratch_folder& scratch, const fs::path& source,
                                    const std::vector<std::string>& options, const cancellation& stop) {
  const fs::path rule = scratch / "module.d", preprocessed = scratch / "module.ii";
  auto command = command_with(find_compiler(), options);
  command.insert(command.end(),
                 {"-E", "-MD", "-MT", "module", "-MF", rule.string(), source.string(), "-o", preprocessed.string()});
  std::error_code none;
  if (run_program(command, stop).status != 0 || !fs::is_regular_file(rule, none) ||
      !fs::is_regular_file(preprocessed, none))
    return {};
  const auto system = system_files(read_file(preprocessed));
  const auto kernels = home() / "kernels";
  std::set<fs::path> own, other;
  for (const auto& found : prerequisites(read_file(rule))) {
    const auto file = fs::absolute(found).lexically_normal();
    if (file == source) continue;
    bool is_own = !is_beneath(file, kernels) && system.count(file) == 0;
    for (const auto& folder : folders_in("CPLUS_INCLUDE_PATH"))
      is_own = is_own || is_beneath(file, folder.lexically_normal());
    (is_own ? own : other).insert(file);
  }
  file_list files{{own.begin(), own.end()}, {other.begin(), other.end()}, {}};
  files.absent = shadows_of(files.own);
  return files;
}

}  // namespace

bool may_be_remembered(const file_list& files) {
  return std::none_of(files.own.begin(), files.own.end(),
                      [](const fs::path& file) { return read_file(file).find("__has_include") != std::string::npos; });
}

namespace {

/// A sound module under a key.
std::optional<built> from_cache(const std::string& key, const file_list& files) {
  const auto found = find_module(key, ".so");
  if (!found) return {};
  try {
    return built{std::make_shared<library>(found->file), key, false, 0, files};
  } catch (const error&) { return {}; }  // removed meanwhile, or of another machine
}

std::optional<built> from_cache(const std::string& request) {
  for (const auto& files : remembered_files(request))
    if (const auto key = key_of(request, files))
      if (auto known = from_cache(*key, files)) return known;
  return {};
}

[[noreturn]] void fail_to_compile(const scratch_folder& scratch, const std::vector<std::string>& command,
                                  const std::string& text, const std::string& said, const fs::path& header,
                                  const std::optional<file_list>& files) {
  const fs::path log = scratch / "log", kept = cache_folder() / "last_failure.log", source = scratch / "module.cpp";
  write_file(log, fmt::format("{}\n\n{}\n{}", fmt::join(command, " "), text, said));
  fs::rename(log, kept);
  std::set<fs::path> own = {header};
  if (files) own.insert(files->own.begin(), files->own.end());
  const auto complaint = first_complaint(said, header, own, source);
  throw error(complaint ? exit_model : exit_failure,
              fmt::format("{}\n  all of the compiler's output: {}",
                          complaint ? *complaint
                                    : fmt::format("{} failed: {}", find_compiler().program.string(), own_trouble(said)),
                          kept.string()));
}

/// A shared object made of `text` by the compiler; kept if it is known what it is made of, and that has not changed
/// meanwhile.
built compile(const std::string& text, const fs::path& header, const std::vector<std::string>& options,
              const std::string& request, const cancellation& stop) {
  const auto begin = std::chrono::steady_clock::now();
  const scratch_folder scratch(request);
  const fs::path source = scratch / "module.cpp", fresh = scratch / "module.so";
  write_file(source, text);
  const auto files = files_read(scratch, source, options, stop);
  if (stop) throw error(exit_interrupted, "interrupted while compiling");
  const auto key = files ? key_of(request, *files) : std::nullopt;
  if (key)
    if (auto known = from_cache(*key, *files)) {
      if (may_be_remembered(*files)) remember_files(request, *files);
      return *known;
    }
  auto command = command_with(find_compiler(), options);
  command.insert(command.end(), {source.string(), "-o", fresh.string()});
  const auto [status, said] = run_program(command, stop);
  if (stop) throw error(exit_interrupted, "interrupted while compiling");
  if (status != 0) fail_to_compile(scratch, command, text, said, header, files);
  if (!fs::exists(fresh))
    throw error(exit_failure,
                fmt::format("{} compiles nothing: set SALTUS_CXX to a C++ compiler", find_compiler().program.string()));
  auto code = std::make_shared<library>(fresh);  // before it is kept: what cannot be loaded is of no use
  if (key && key == key_of(request, *files)) {
    keep_module(fresh, *key, ".so");
    if (may_be_remembered(*files)) remember_files(request, *files);
  }
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return {std::move(code), key.value_or(request), true, seconds, files.value_or(file_list{{header}, {}, {}})};
}

/// A shared object made of `text`, from the cache or by the compiler.
built build(const std::string& text, const fs::path& header, const cancellation& stop, optimised how = optimised::yes) {
  const auto options = flags_for(find_compiler(), how);
  const auto request = request_of(text, options);
  if (auto known = from_cache(request)) return *known;
  return compile(text, header, options, request, stop);
}

/// A description with counted operations; or without, if the model's functions do not take counting numbers. Then it is
/// that which is in the cache, and nothing is tried again.
built build_description(const std::string& counted, const std::string& uncounted, const fs::path& header,
                        const cancellation& stop) {
  const auto options = flags_for(find_compiler(), optimised::no);
  for (const auto& text : {counted, uncounted})
    if (auto known = from_cache(request_of(text, options))) return *known;
  try {
    return compile(counted, header, options, request_of(counted, options), stop);
  } catch (const error& e) {
    if (e.exit_code != exit_model && e.exit_code != exit_failure) throw;
  }
  return compile(uncounted, header, options, request_of(uncounted, options), stop);
}

/// What a module says of its model, which may run the model's functions: first in a child process, for what they may
/// do.
const abi::description* description_in(const built& module, const cancellation& stop) {
  using getter = const abi::description* (*)();
  constexpr double longest = 20;  // seconds; it is a right-hand side or two
  const auto get = reinterpret_cast<getter>(module.code->symbol("saltus_description"));
  in_child([&] { return std::string(get()->name); }, longest, stop);
  return get();
}

std::string text_or_none(const char* text) { return text ? text : ""; }

std::vector<quantity> quantities(const abi::quantity* list, int count) {
  std::vector<quantity> r;
  for (int i = 0; i < count; ++i)
    r.push_back({list[i].name, list[i].value, text_or_none(list[i].unit), text_or_none(list[i].about), list[i].index});
  return r;
}

}  // namespace

namespace {
model model_from(const abi::description* d, const fs::path& header, const std::vector<fs::path>& files) {
  if (!(d->t_begin < d->t_end))
    throw error(exit_model,
                fmt::format("{}: span must be {{begin, end}} with begin < end", place_of(header, {"span"})));
  model m;
  m.name = d->name;
  m.title = text_or_none(d->title);
  m.source = text_or_none(d->source);
  m.header = header;
  for (const auto& file : files) m.sources.push_back({file, hash_text(read_file(file))});
  m.states = quantities(d->states, d->state_count);
  m.parameters = quantities(d->parameters, d->parameter_count);
  m.discretes = quantities(d->discretes, d->discrete_count);
  m.outputs = quantities(d->outputs, d->output_count);
  m.coordinates = d->coordinate_count;
  m.reaches = d->reaches != 0;
  for (const auto& c : quantities(d->constraints, d->constraint_count))
    m.constraints.push_back({c.name, c.unit, c.about, c.index == 1, c.value != 0.0, c.index == 2});
  for (int i = 0; i < d->guard_count; ++i)
    m.guards.push_back({d->guards[i].name, static_cast<abi::direction>(d->guards[i].direction),
                        static_cast<abi::sidedness>(d->guards[i].sidedness), d->guards[i].terminal != 0,
                        text_or_none(d->guards[i].about), d->guards[i].slides != 0});
  for (int i = 0; i < d->time_event_count; ++i)
    m.time_events.push_back({d->time_events[i].name, text_or_none(d->time_events[i].about)});
  m.t_begin = d->t_begin;
  m.t_end = d->t_end;
  m.equations = static_cast<abi::equations>(d->equations);
  m.singular_mass = d->singular_mass != 0;
  m.arithmetic = d->arithmetic != 0;
  m.rhs_flops = d->rhs_flops;
  m.guard_flops = d->guard_flops;
  return m;
}
}  // namespace

model describe_model(const fs::path& header, const cancellation& stop) {
  if (const auto known = builtin_model_in(header)) return model_from(known->about, header, known->files);
  const std::string name = header.stem().string();
  static const std::regex identifier("[A-Za-z_][A-Za-z0-9_]*");
  if (!std::regex_match(name, identifier))
    throw error(exit_model,
                fmt::format("{}: the file must be named like the struct in it, so its name must be a C++ identifier",
                            header.string()));
  if (header.string().find_first_of("\"\n") != std::string::npos)
    throw error(exit_model,
                fmt::format("{}: the path of a model must have no quotation mark and no line break", header.string()));
  // An empty namespace is right anywhere but inside the model: see line_after_model.
  const auto text = [&](const char* first) {
    return fmt::format(
        "#include \"saltus.hpp\"\n"
        "#include \"{0}\"\n"
        "namespace saltus {{}}\n"
        "struct {1};\n"
        "template <class Model> constexpr bool is_defined = requires {{ sizeof(Model); }};\n"
        "static_assert(is_defined<::{1}>, \"the file defines no struct {1} outside of namespaces: a model is named "
        "like "
        "its file\");\n"
        "{2}"
        "#include \"model/describe.hpp\"\n"
        "extern \"C\" __attribute__((visibility(\"default\"))) const saltus::abi::description* saltus_description() "
        "{{\n"
        "  return saltus::describe<::{1}>::get(\"{1}\");\n"
        "}}\n",
        header.string(), name, first);
  };
  const std::string uncounted = text("#define SALTUS_UNCOUNTED\n");
  built module = build_description(text(""), uncounted, header, stop);
  const abi::description* d = nullptr;
  try {
    d = description_in(module, stop);
  } catch (const child_failure&) {
    // The model's functions do not bear being counted; where they fail in a run, that is told of the instances.
    module = build(uncounted, header, stop, optimised::no);
    d = description_in(module, stop);
  }
  return model_from(d, header, module.files.own);
}

built build_module(const std::string& text, const fs::path& header, const cancellation& stop) {
  return build(text, header, stop);
}

namespace {
struct {
  std::mutex mutex;
  std::string what;
  std::chrono::steady_clock::time_point begin;
} under_way;
}  // namespace

compiling_note::compiling_note(std::string what) {
  const std::lock_guard lock(under_way.mutex);
  under_way.what = std::move(what);
  under_way.begin = std::chrono::steady_clock::now();
}
compiling_note::~compiling_note() {
  const std::lock_guard lock(under_way.mutex);
  under_way.what.clear();
}
std::string compiling_now() {
  const std::lock_guard lock(under_way.mutex);
  if (under_way.what.empty()) return {};
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - under_way.begin;
  return fmt::format("compiling {}, {:.0f} s", under_way.what, seconds.count());
}

std::optional<file_list> files_of(const std::string& text, const std::vector<std::string>& options) {
  const scratch_folder scratch(hash_text(text));
  const fs::path source = scratch / "module.cpp";
  write_file(source, text);
  return files_read(scratch, source, options, {});
}

std::string engine_text(const plan& p) {
  std::string reductions;
  for (const auto& r : p.reductions)
    reductions += fmt::format(",\n    saltus::reduction<saltus::reduce::{}, {}, {}>",
                              reduce_names[static_cast<int>(r.which)], r.of_output ? "true" : "false", r.index);
  return fmt::format(
      "using engine = saltus::engine<saltus::form_of<::{}, saltus::{}>, saltus::methods::by_name<\"{}\">, {},\n"
      "    saltus::options{{.norm = saltus::norm_kind::{}, .controller = saltus::controller_kind::{}, "
      ".detect = saltus::detection::{}, .fixed_steps = {}, .samples = {}, .guards_in_error = {}, "
      ".inject = {}{}}}{}>;\n",
      p.model.name, p.backward ? "backward_time" : "forward_time", p.method, p.precision, p.norm, p.controller,
      p.detection, p.fixed_step > 0, p.sample_count > 0, p.guards_in_error, p.inject_exceptions > 0,
      p.stiff_method.empty() ? "" : ", .watch_stiffness = true", reductions);
}

namespace {
std::string cpu_module_text(const plan& p, const lane_shape& shape) {
  return fmt::format(
      "#include \"run/cpu.hpp\"\n"
      "#include \"form/of_model.hpp\"\n"
      "#include \"method/by_name.hpp\"\n"
      "#include \"{}\"\n"
      "{}"
      "extern \"C\" __attribute__((visibility(\"default\"))) const saltus::abi::module saltus_module = "
      "saltus::cpu_module<engine, {}, {}>;\n",
      p.model.header.string(), engine_text(p), shape.lanes, shape.groups);
}
}  // namespace

built build_cpu_module(const plan& p, const lane_shape& shape, const cancellation& stop) {
  return build(cpu_module_text(p, shape), p.model.header, stop);
}
built build_traceable_module(const plan& p, const cancellation& stop) {
  const auto once = [&] { return build(cpu_module_text(p, {1, 1}), p.model.header, stop, optimised::traced); };
  once();
  return once();  // loaded from where it stays, under the name by which its line numbers are asked for
}
std::string cpu_module_name(const plan& p, const lane_shape& shape) {
  std::string all = request_of(cpu_module_text(p, shape), flags_for(find_compiler(), optimised::yes));
  for (const auto& source : p.model.sources) all += "\n" + source.hash;
  return hash_text(all);
}

}  // namespace saltus::host
