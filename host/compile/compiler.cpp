#include "compile/compiler.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <future>
#include <optional>
#include <set>
#include <sstream>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/error.hpp"
#include "base/files.hpp"
#include "base/paths.hpp"
#include "base/subprocess.hpp"
#include "base/text.hpp"
#include "compile/diagnostics.hpp"

namespace saltus::host {
namespace fs = std::filesystem;

namespace {

/// The lines that tell processors apart: name and flags of x86-64; implementer, variant, part and features of aarch64.
std::string processor() {
  std::ifstream in("/proc/cpuinfo");
  std::string result;
  for (std::string line; std::getline(in, line) && !line.empty();)
    for (const char* key : {"model name", "flags", "Features", "CPU implementer", "CPU variant", "CPU part"})
      if (line.rfind(key, 0) == 0) result += line;
  return result;
}

const std::vector<std::string>& flags() {
  // Bits must not depend on the compiler: nothing is contracted except written fma, nothing is reassociated. errno and
  // traps would prevent vectorisation.
  static const std::vector<std::string> list = {
      "-std=c++20",          "-O3", "-ffp-contract=off", "-fno-math-errno", "-fno-trapping-math", "-fPIC", "-shared",
      "-fvisibility=hidden", "-w",  "-Wl,-z,defs"};
  return list;
}

/// On x86-64 -march=native also tunes for the processor. On aarch64 only -mcpu does, which is also what clang++ has.
std::string flag_of_processor() {
#if defined(__aarch64__)
  return "-mcpu=" + target_processor();
#else
  return "-march=" + target_processor();
#endif
}

/// Flags that only g++ has, and needs. With ipa-sra g++ does not inline a model's function whose arguments are in
/// memory. With tree-slp-vectorize it joins scalars to vectors and makes vfmaddsub of products and sums, in spite of
/// -ffp-contract=off; other widths of the same code round differently.
std::vector<std::string> flags_for(const cpp_compiler& cc) {
  auto all = flags();
  all.push_back(flag_of_processor());
  if (cc.version.find("clang") == std::string::npos) all.insert(all.end(), {"-fno-ipa-sra", "-fno-tree-slp-vectorize"});
#if defined(__aarch64__)
  // g++ 12 for aarch64 copies a struct before its first member is stored, if it schedules before it allocates registers.
  // Either flag prevents this. For x86-64 it schedules only afterwards.
  if (cc.version.find("clang") == std::string::npos)
    all.insert(all.end(), {"-fno-schedule-insns", "-fno-strict-aliasing"});
#endif
#ifdef SALTUS_SANITIZE
  // The program that loads the module has sanitizers, so the module needs them; with less optimisation, or compiling
  // takes minutes.
  all.insert(all.end(),
             {"-fsanitize=address,undefined", "-fno-sanitize-recover=undefined", "-fno-omit-frame-pointer", "-O1"});
#endif
  return all;
}

}  // namespace

namespace {
thread_local bool is_loading = false;
}
bool is_loading_module() { return is_loading; }

library::library(const fs::path& file) {
  is_loading = true;
  handle_ = ::dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  is_loading = false;
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

std::string target_processor() {
  const char* const own = std::getenv("SALTUS_CPU");
  return own && *own ? own : SALTUS_DEFAULT_CPU;
}

std::string machine_identity() {
  const auto& cc = find_compiler();
  return fmt::format("{}\n{}\n{}\n{}", processor(), target_processor(), cc.program.string(), cc.version);
}

namespace {

std::vector<std::string> flags_for(const cpp_compiler& cc, optimised how) {
  auto all = flags_for(cc);
  if (how == optimised::no) all.insert(all.end(), {"-O0", "-DSALTUS_RUNS_ONCE"});
  if (how == optimised::traced) all.insert(all.end(), {"-O1", "-g"});
  return all;
}

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

/// The folders in a variable like PATH, in which an empty entry means the current folder.
std::vector<fs::path> folders_in(const char* variable) {
  std::vector<fs::path> folders;
  std::istringstream list(environment(variable));
  for (std::string one; std::getline(list, one, ':');) folders.push_back(fs::absolute(one.empty() ? "." : one));
  return folders;
}

/// Identifies a compiler; a new one under the same path has another identity.
std::string identity_of(const cpp_compiler& cc) {
  std::error_code none;
  const auto program = fs::canonical(cc.program, none);
  return fmt::format("{}\n{}\n{} {}", cc.program.string(), cc.version, fs::file_size(program, none),
                     fs::last_write_time(program, none).time_since_epoch().count());
}

/// Hash of the inputs that are known before compilation.
std::string request_of(const std::string& text, const std::vector<std::string>& options) {
  std::string all = fmt::format("{}\n{}\n{}\n{}\n{}", text, fmt::join(options, " "), identity_of(find_compiler()),
                                processor(), home().string());
  for (const char* variable : {"GCC_EXEC_PREFIX", "COMPILER_PATH", "LIBRARY_PATH"})
    all += fmt::format("\n{} {}", variable, environment(variable));
  for (const char* variable : {"CPATH", "CPLUS_INCLUDE_PATH"})
    for (const auto& folder : folders_in(variable)) all += fmt::format("\n{} {}", variable, folder.string());
  return hash_text(all);
}

/// The prerequisites in a make rule that a compiler wrote: a backslash escapes a blank or a number sign, a dollar is
/// doubled.
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

/// Files that the preprocessor marks as system headers: lines # LINE "FILE" FLAGS with flag 3.
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

/// Absent files that would hide one of the model's own files if they existed: the same relative name in the folder of
/// another own file, among the kernels, or in the user's include folders.
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

/// Asks the compiler which files it reads for a source; none if it cannot list them.
std::optional<file_list> files_read(const scratch_folder& scratch, const fs::path& source, const fs::path& header,
                                    const std::vector<std::string>& options, const cancellation& stop) {
  const fs::path rule = scratch / "module.d", preprocessed = scratch / "module.ii";
  auto command = command_with(find_compiler(), options);
  command.insert(command.end(),
                 {"-E", "-MD", "-MT", "module", "-MF", rule.string(), source.string(), "-o", preprocessed.string()});
  std::error_code none;
  constexpr std::int64_t most_memory = std::int64_t{1} << 30;  // for a preprocessor, which handles text alone
  if (const auto [status, said] = run_program(command, stop, most_memory);
      status != 0 || !fs::is_regular_file(rule, none) || !fs::is_regular_file(preprocessed, none)) {
    if (said.find("out of memory") == said.npos && said.find("memory exhausted") == said.npos) return {};
    throw error(exit_model,
                fmt::format("{}: with what it includes it takes the preprocessor more than {}: does it include a "
                            "device, or a file that is no source?",
                            header.string(), bytes_text(most_memory)));
  }
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

/// An intact module under a key.
std::optional<built> from_cache(const std::string& key, const file_list& files) {
  const auto found = find_module(key, ".so");
  if (!found) return {};
  try {
    return built{std::make_shared<library>(found->file), key, false, 0, files};
  } catch (const error&) { return {}; }  // removed meanwhile, or built for another machine
}

std::optional<built> from_cache(const std::string& request) {
  for (const auto& files : remembered_files(request))
    if (const auto key = key_of(request, files))
      if (auto known = from_cache(*key, files)) return known;
  return {};
}

[[noreturn]] void fail_to_compile(const scratch_folder& scratch, const std::vector<std::string>& command,
                                  const std::string& said, const fs::path& header,
                                  const std::optional<file_list>& files) {
  const fs::path log = scratch / "log", kept = cache_folder() / "last_failure.log", source = scratch / "module.cpp";
  write_file(log, fmt::format("{}\n\n{}\n{}", fmt::join(command, " "), read_file(source), said));
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

/// Compiles the part of a module that lands and the rest at the same time, and links them. False if that fails.
bool compile_in_parts(const scratch_folder& scratch, const fs::path& source, const fs::path& module,
                      const std::vector<std::string>& options, const cancellation& stop) {
  const auto succeeds = [&](const std::vector<std::string>& arguments) {
    auto command = command_with(find_compiler(), options);
    command.insert(command.end(), arguments.begin(), arguments.end());
    return run_program(command, stop).status == 0;
  };
  const std::string sail = scratch / "sail.o", land = scratch / "land.o";
  const std::vector<std::string> to_land = {"-DSALTUS_LANDS", "-c", source.string(), "-o", land};
  auto landing = std::async(std::launch::async | std::launch::deferred, succeeds, to_land);
  const bool sails = succeeds({"-DSALTUS_LANDS_APART", "-c", source.string(), "-o", sail});
  return landing.get() && sails && succeeds({sail, land, "-o", module.string()});
}

/// Compiles `text` to a shared object. The object is kept if its files are known and have not changed meanwhile.
built compile(const std::string& text, const fs::path& header, optimised how, const std::string& request,
              const cancellation& stop) {
  const auto begin = std::chrono::steady_clock::now();
  const auto options = flags_for(find_compiler(), how);
  const scratch_folder scratch(request);
  const fs::path source = scratch / "module.cpp", fresh = scratch / "module.so";
  write_file(source, text);
  const auto files = files_read(scratch, source, header, options, stop);
  if (stop) throw error(exit_interrupted, "interrupted while compiling");
  const auto key = files ? key_of(request, *files) : std::nullopt;
  if (key)
    if (auto known = from_cache(*key, *files)) {
      if (may_be_remembered(*files)) remember_files(request, *files);
      return *known;
    }
  // Parts fail where the whole may not: both define a function of the header that is not inline, or two compilers take
  // too much memory. If the whole fails, too, its message is the one to show.
  if (how != optimised::in_parts || !compile_in_parts(scratch, source, fresh, options, stop)) {
    auto command = command_with(find_compiler(), options);
    command.insert(command.end(), {source.string(), "-o", fresh.string()});
    const auto [status, said] = run_program(command, stop);
    if (stop) throw error(exit_interrupted, "interrupted while compiling");
    if (status != 0) fail_to_compile(scratch, command, said, header, files);
  }
  if (!fs::exists(fresh))
    throw error(exit_failure,
                fmt::format("{} compiles nothing: set SALTUS_CXX to a C++ compiler", find_compiler().program.string()));
  auto code = std::make_shared<library>(fresh);  // loaded before it is kept: a module that cannot be loaded is useless
  if (key && key == key_of(request, *files)) {
    keep_module(fresh, *key, ".so");
    if (may_be_remembered(*files)) remember_files(request, *files);
  }
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return {std::move(code), key.value_or(request), true, seconds, files.value_or(file_list{{header}, {}, {}})};
}

}  // namespace

std::string request_for(const std::string& text, optimised how) {
  return request_of(text, flags_for(find_compiler(), how));
}

std::optional<built> kept_module(const std::string& text, optimised how) { return from_cache(request_for(text, how)); }

built build_module(const std::string& text, const fs::path& header, const cancellation& stop, optimised how) {
  if (auto known = kept_module(text, how)) return *known;
  return compile(text, header, how, request_for(text, how), stop);
}

std::optional<file_list> files_of(const std::string& text, const std::vector<std::string>& options) {
  const scratch_folder scratch(hash_text(text));
  const fs::path source = scratch / "module.cpp";
  write_file(source, text);
  return files_read(scratch, source, source, options, {});
}

}  // namespace saltus::host
