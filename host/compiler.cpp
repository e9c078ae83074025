#include "compiler.hpp"

#include <dlfcn.h>
#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <sstream>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <xxhash.h>

#include "error.hpp"
#include "install.hpp"

extern char** environ;

namespace saltus::host {
namespace fs = std::filesystem;

namespace {

std::string read_file(const fs::path& file) {
  std::ifstream     in(file, std::ios::binary);
  std::stringstream text;
  text << in.rdbuf();
  if (!in) throw error(exit_failure, fmt::format("{}: cannot be read", file.string()));
  return text.str();
}

/// Runs a program without a shell, its output and errors into a file; returns its exit status, 127 if it cannot be run.
int run_program(const std::vector<std::string>& arguments, const fs::path& output) {
  std::vector<char*> argv;
  for (const auto& a : arguments) argv.push_back(const_cast<char*>(a.c_str()));
  argv.push_back(nullptr);
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, output.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0644);
  posix_spawn_file_actions_adddup2(&files, STDOUT_FILENO, STDERR_FILENO);
  pid_t     child;
  const int failed = posix_spawnp(&child, argv[0], &files, nullptr, argv.data(), environ);
  posix_spawn_file_actions_destroy(&files);
  if (failed) return 127;
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {}
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128;
}

/// A name for a file of our own beside the final one.
fs::path scratch(const fs::path& final_name, const char* ending) {
  return fs::path(final_name.string() + fmt::format(".{}{}", ::getpid(), ending));
}

fs::path which(const std::string& program) {
  if (program.find('/') != std::string::npos) return ::access(program.c_str(), X_OK) == 0 ? fs::path(program) : fs::path();
  std::stringstream path(std::getenv("PATH") ? std::getenv("PATH") : "");
  for (std::string folder; std::getline(path, folder, ':');)
    if (const fs::path file = fs::path(folder) / program; ::access(file.c_str(), X_OK) == 0) return file;
  return {};
}

/// Contents of a header and of everything it includes by quotes, in the order met.
void gather(const fs::path& file, std::set<fs::path>& seen, std::string& text) {
  const fs::path real = fs::weakly_canonical(file);
  if (!seen.insert(real).second || !fs::is_regular_file(real)) return;
  const std::string own = read_file(real);
  text += own;
  text += '\0';
  static const std::regex include(R"(^[ \t]*#[ \t]*include[ \t]*"([^"]+)\")", std::regex::multiline);
  for (std::sregex_iterator it(own.begin(), own.end(), include), end; it != end; ++it)
    gather(real.parent_path() / (*it)[1].str(), seen, text);
}

std::string processor() {
  std::ifstream in("/proc/cpuinfo");
  std::string   result;
  for (std::string line; std::getline(in, line) && !line.empty();)
    if (line.rfind("model name", 0) == 0 || line.rfind("flags", 0) == 0 || line.rfind("Features", 0) == 0) result += line;
  return result;
}

const std::vector<std::string>& flags() {
  // Same bits everywhere: no contraction that is not written as fma, no reassociation. errno and traps cost vectorisation.
  static const std::vector<std::string> list = {"-std=c++20", "-O3", "-march=native", "-ffp-contract=off", "-fno-math-errno",
                                                "-fno-trapping-math", "-fPIC", "-shared", "-fvisibility=hidden", "-w"};
  return list;
}

/// The compiler's first complaint, as one readable error: a sentence of the contract if it is one.
std::string first_complaint(const std::string& log, const fs::path& header) {
  std::istringstream lines(log);
  std::string        first;
  static const std::regex assertion(R"re((?:static assertion failed|static_assert failed)(?: due to requirement '.*')?:? "?([^"]*)"?)re");
  static const std::regex complaint(R"(([^\s:]+):(\d+):(?:(\d+):)? (?:fatal )?error: (.*))");
  for (std::string line; std::getline(lines, line);) {
    std::smatch m, a;
    if (!std::regex_search(line, m, complaint)) continue;
    std::string text = m[4];
    if (std::regex_search(text, a, assertion)) return fmt::format("{}: {}", header.string(), a[1].str());
    const bool own = fs::path(m[1].str()).filename() == header.filename();
    std::string found = fmt::format("{}:{}: {}", m[1].str(), m[2].str(), text);
    if (own) return found;
    if (first.empty()) first = found;
  }
  return first.empty() ? fmt::format("{}: the compiler failed:\n{}", header.string(), log.substr(0, 2000)) : first;
}

}  // namespace

library::library(const fs::path& file) : handle_(::dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL)) {
  if (!handle_) throw error(exit_failure, fmt::format("{}: cannot be loaded: {}", file.string(), ::dlerror()));
}
library::~library() { ::dlclose(handle_); }
void* library::symbol(const char* name) const {
  void* address = ::dlsym(handle_, name);
  if (!address) throw error(exit_failure, fmt::format("a compiled unit lacks {}: clear the cache ({})", name, cache_folder().string()));
  return address;
}

std::string hash_text(const std::string& text) {
  const XXH128_hash_t h = XXH3_128bits(text.data(), text.size());
  return fmt::format("{:016x}{:016x}", h.high64, h.low64);
}

std::string source_hash(const fs::path& model_header) {
  std::vector<fs::path> kernels;
  for (const auto& entry : fs::recursive_directory_iterator(home() / "kernels"))
    if (entry.is_regular_file()) kernels.push_back(entry.path());
  std::sort(kernels.begin(), kernels.end());
  std::string all;
  for (const auto& file : kernels) all += file.filename().string() + '\0' + read_file(file) + '\0';
  std::set<fs::path> seen;
  gather(model_header, seen, all);
  return hash_text(all);
}

const cpp_compiler& find_compiler() {
  static const cpp_compiler found = [] {
    std::vector<std::string> candidates;
    if (const char* own = std::getenv("SALTUS_CXX"); own && *own) candidates = {own};
    else candidates = {SALTUS_CXX_COMPILER, "c++", "g++", "clang++"};
    for (const auto& name : candidates) {
      const fs::path program = which(name);
      if (program.empty()) continue;
      const fs::path out = scratch(cache_folder() / "version", ".txt");
      if (run_program({program.string(), "--version"}, out) == 0) {
        std::string version = read_file(out);
        fs::remove(out);
        return cpp_compiler{program, version.substr(0, version.find('\n'))};
      }
      std::error_code ignored;
      fs::remove(out, ignored);
    }
    throw error(exit_model, fmt::format("no C++ compiler found (tried {}): install g++ or clang++, or set SALTUS_CXX",
                                        fmt::join(candidates, ", ")));
  }();
  return found;
}

int native_lanes(const std::string& precision) {
  int bytes = 16;
#if defined(__x86_64__) || defined(__i386__)
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl")) bytes = 64;
  else if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) bytes = 32;
#endif
  return bytes / (precision == "float" ? 4 : 8);
}

namespace {

/// A shared object made of `text`, from the cache or by the compiler.
built build(const std::string& text, const fs::path& header, const char* what) {
  const auto& cc = find_compiler();
  const std::string key =
      hash_text(fmt::format("{}\n{}\n{}\n{}\n{}\n{}", text, source_hash(header), fmt::join(flags(), " "), cc.program.string(), cc.version, processor()));
  const fs::path object = cache_folder() / (key + ".so");
  if (fs::exists(object)) return {std::make_shared<library>(object), key, false, 0};

  const auto     begin  = std::chrono::steady_clock::now();
  const fs::path source = scratch(object, ".cpp"), log = scratch(object, ".log"), fresh = scratch(object, ".so");
  const auto     tidy   = [&] {
    std::error_code ignored;
    for (const auto& file : {source, log, fresh}) fs::remove(file, ignored);
  };
  {
    std::ofstream out(source);
    out << text;
    out.close();
    if (!out) throw error(exit_failure, fmt::format("{}: cannot be written (set SALTUS_CACHE to a writable folder)", source.string()));
  }
  std::vector<std::string> command = {cc.program.string()};
  command.insert(command.end(), flags().begin(), flags().end());
  command.insert(command.end(), {"-I" + (home() / "kernels").string(), source.string(), "-o", fresh.string()});
  const int status = run_program(command, log);
  if (status != 0) {
    const std::string complaints = read_file(log);
    const std::string kept = (cache_folder() / "last_failure.log").string();
    std::ofstream(kept) << fmt::format("{}\n\n{}", fmt::join(command, " "), complaints);
    tidy();
    throw error(exit_model, fmt::format("{}\n  the {} of this model does not compile; all of the compiler's output: {}",
                                        first_complaint(complaints, header), what, kept));
  }
  fs::rename(fresh, object);
  tidy();
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return {std::make_shared<library>(object), key, true, seconds};
}

std::vector<quantity> quantities(const abi::quantity* list, int count) {
  std::vector<quantity> r;
  for (int i = 0; i < count; ++i) r.push_back({list[i].name, list[i].value, list[i].unit, list[i].about});
  return r;
}

}  // namespace

model describe_model(const fs::path& header) {
  const std::string name = header.stem().string();
  const std::string text = fmt::format(
      "#include \"saltus.hpp\"\n"
      "#include \"{}\"\n"
      "struct {};\n"
      "#include \"describe.hpp\"\n"
      "extern \"C\" __attribute__((visibility(\"default\"))) const saltus::abi::description* saltus_description() {{\n"
      "  return saltus::describe<::{}>::get(\"{}\");\n"
      "}}\n",
      header.string(), name, name, name);
  static const std::regex identifier("[A-Za-z_][A-Za-z0-9_]*");
  if (!std::regex_match(name, identifier))
    throw error(exit_model, fmt::format("{}: the file must be named like the struct in it, so its name must be a C++ identifier",
                                        header.string()));
  built unit = [&] {
    try {
      return build(text, header, "description");
    } catch (const error& e) {
      const std::string message = e.what();
      if (message.find("incomplete type") != std::string::npos && message.find(name) != std::string::npos)
        throw error(exit_model, fmt::format("{}: defines no struct {}: the model must be named like its file", header.string(), name));
      throw;
    }
  }();
  using getter       = const abi::description* (*)();
  const auto* d      = reinterpret_cast<getter>(unit.code->symbol("saltus_description"))();
  model m;
  m.name       = d->name;
  m.title      = d->title;
  m.source     = d->source;
  m.header     = header;
  m.states     = quantities(d->states, d->state_count);
  m.parameters = quantities(d->parameters, d->parameter_count);
  m.discretes  = quantities(d->discretes, d->discrete_count);
  m.outputs    = quantities(d->outputs, d->output_count);
  for (int i = 0; i < d->guard_count; ++i)
    m.guards.push_back({d->guards[i].name, static_cast<abi::direction>(d->guards[i].direction),
                        static_cast<abi::sidedness>(d->guards[i].sidedness), d->guards[i].terminal != 0, d->guards[i].about});
  m.t_begin    = d->t_begin;
  m.t_end      = d->t_end;
  m.arithmetic = d->arithmetic != 0;
  return m;
}

std::string engine_text(const plan& p) {
  static const char* const kinds[] = {"min", "max", "mean", "integral"};
  std::string reductions;
  for (const auto& r : p.reductions)
    reductions += fmt::format(",\n    saltus::reduction<saltus::reduce::{}, {}, {}>", kinds[static_cast<int>(r.which)],
                              r.of_output ? "true" : "false", r.index);
  return fmt::format(
      "using engine = saltus::engine<::{}, saltus::methods::by_name<\"{}\">, {}, saltus::norm_kind::{},\n"
      "    saltus::controller_kind::{}, {}, {}{}>;\n",
      p.model.name, p.method, p.precision, p.norm, p.controller, p.fixed_step > 0 ? "true" : "false",
      p.sample_count > 0 ? "true" : "false", reductions);
}

built build_cpu_unit(const plan& p, int lanes) {
  const std::string text = fmt::format(
      "#include \"run_cpu.hpp\"\n"
      "#include \"method/by_name.hpp\"\n"
      "#include \"{}\"\n"
      "{}"
      "extern \"C\" __attribute__((visibility(\"default\"))) const saltus::abi::unit saltus_unit = {{\n"
      "    saltus::abi::version, {}, saltus::instance<engine, saltus::pack<engine::T, {}>>::real_count, &saltus::run_chunk<engine, {}>}};\n",
      p.model.header.string(), engine_text(p), lanes, lanes, lanes);
  return build(text, p.model.header, "integrator");
}

}  // namespace saltus::host
