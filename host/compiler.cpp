#include "compiler.hpp"

#include <dlfcn.h>
#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <optional>
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

void write_file(const fs::path& file, const std::string& text) {
  std::ofstream out(file, std::ios::binary);
  out << text;
  out.close();
  if (!out) throw error(exit_failure, fmt::format("{}: cannot be written: {}", file.string(), std::strerror(errno)));
}

// ------------------------------------------------------------------------------------------------- running the compiler

std::atomic<pid_t> under_way{0};     // the process group of the program that runs
std::atomic<int>   asked_to_end{0};  // the signal that came meanwhile

extern "C" void pass_on(int number) {
  asked_to_end = number;
  if (under_way > 0) ::kill(-under_way, number);
}

/// While it lives, Ctrl-C ends the program under way rather than this one, which has something to tidy up first. A signal
/// that nobody has asked for by then comes again.
class signals_passed_on {
 public:
  signals_passed_on() {
    asked_to_end = 0;
    struct sigaction action {};
    action.sa_handler = pass_on;
    action.sa_flags   = SA_RESTART;
    ::sigaction(SIGINT, &action, &interrupt_);
    ::sigaction(SIGTERM, &action, &terminate_);
  }
  ~signals_passed_on() {
    ::sigaction(SIGINT, &interrupt_, nullptr);
    ::sigaction(SIGTERM, &terminate_, nullptr);
    if (asked_to_end) ::raise(asked_to_end);
  }
  signals_passed_on(const signals_passed_on&)            = delete;
  signals_passed_on& operator=(const signals_passed_on&) = delete;

  static bool came() { return asked_to_end.exchange(0) != 0; }

 private:
  struct sigaction interrupt_, terminate_;
};

/// How a program ended: its exit status, 127 if it cannot be run, 128 if a signal ended it; and all that it said.
struct outcome {
  int         status;
  std::string said;
};

/// Runs a program without a shell, in English.
outcome run_program(const std::vector<std::string>& arguments) {
  std::vector<char*> argv, environment;
  for (const auto& a : arguments) argv.push_back(const_cast<char*>(a.c_str()));
  argv.push_back(nullptr);
  for (char** e = environ; *e; ++e)
    if (std::strncmp(*e, "LC_ALL=", 7) != 0) environment.push_back(*e);
  char english[] = "LC_ALL=C";
  environment.insert(environment.end(), {english, nullptr});

  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0)
    throw error(exit_failure, fmt::format("cannot run {}: {}", arguments[0], std::strerror(errno)));
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&files, ends[1], STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&files, ends[1], STDERR_FILENO);
  // A group of its own: a compiler is several processes, and a signal is for all of them.
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
  posix_spawnattr_setpgroup(&attributes, 0);

  pid_t     child;
  const int failed = posix_spawnp(&child, argv[0], &files, &attributes, argv.data(), environment.data());
  posix_spawn_file_actions_destroy(&files);
  posix_spawnattr_destroy(&attributes);
  ::close(ends[1]);
  outcome result{127, {}};
  if (!failed) {
    under_way = child;
    if (asked_to_end) pass_on(asked_to_end);  // it came before there was anyone to pass it on to
    char piece[4096];
    for (ssize_t n; (n = ::read(ends[0], piece, sizeof piece)) != 0;) {
      if (n > 0) result.said.append(piece, static_cast<std::size_t>(n));
      else if (errno != EINTR) break;
    }
    int status = 0;
    while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {}
    under_way     = 0;
    result.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128;
  }
  ::close(ends[0]);
  return result;
}

/// A folder of our own in the cache, which goes with all that is in it.
class scratch_folder {
 public:
  explicit scratch_folder(const std::string& key) {
    remove_abandoned();
    std::string name = (cache_folder() / (key + ".XXXXXX")).string();
    if (!::mkdtemp(name.data()))
      throw error(exit_failure,
                  fmt::format("{}: cannot write to the cache folder: {} (set SALTUS_CACHE to a writable one)",
                              cache_folder().string(), std::strerror(errno)));
    folder_ = name;
  }
  ~scratch_folder() {
    std::error_code ignored;
    fs::remove_all(folder_, ignored);
  }
  scratch_folder(const scratch_folder&)            = delete;
  scratch_folder& operator=(const scratch_folder&) = delete;

  fs::path operator/(const char* name) const { return folder_ / name; }

 private:
  /// What a process that was killed has left behind.
  static void remove_abandoned() {
    std::error_code ignored;
    const auto      long_ago = fs::file_time_type::clock::now() - std::chrono::hours(1);
    for (const auto& entry : fs::directory_iterator(cache_folder(), ignored))
      if (entry.is_directory(ignored) && entry.path().filename().string().find('.') == 32 &&
          entry.last_write_time(ignored) < long_ago)
        fs::remove_all(entry.path(), ignored);
  }

  fs::path folder_;
};

fs::path which(const std::string& program) {
  if (program.find('/') != std::string::npos)
    return ::access(program.c_str(), X_OK) == 0 ? fs::path(program) : fs::path();
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

// ------------------------------------------------------------------------------------------- what the compiler complains of

/// The first line of `text` that has `word` as a word of its own, from 1; 0 if none has.
int line_of(const std::string& text, const std::string& word) {
  const auto in_a_name = [](char c) { return c == '_' || std::isalnum(static_cast<unsigned char>(c)); };
  for (auto at = text.find(word); at != text.npos; at = text.find(word, at + 1)) {
    const auto end = at + word.size();
    if ((at == 0 || !in_a_name(text[at - 1])) && (end == text.size() || !in_a_name(text[end])))
      return 1 + static_cast<int>(std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(at), '\n'));
  }
  return 0;
}

/// The place in a header where one of these words stands, the first of them that does: "/my/ball.hpp:12". Without any, the
/// struct.
std::string place_of(const fs::path& header, std::vector<std::string> words) {
  const std::string text = read_file(header);
  words.insert(words.end(), {"struct " + header.stem().string(), "struct"});
  for (const auto& word : words)
    if (const int line = line_of(text, word); line > 0) return fmt::format("{}:{}", header.string(), line);
  return header.string();
}

/// What of a model a sentence of the contract is about: its lists, else its functions.
std::vector<std::string> named_in(const std::string& sentence) {
  static const std::regex  list(R"((\w+_list)|lists (\w+)s)"), function(R"((?:static void|computes|has a) (\w+))");
  std::vector<std::string> words;
  const auto               add = [&](const std::regex& form, const auto& spelt) {
    for (std::sregex_iterator it(sentence.begin(), sentence.end(), form), end; it != end; ++it)
      words.push_back(spelt(*it));
  };
  add(list, [](const std::smatch& m) { return m[1].matched ? m[1].str() : m[2].str() + "_list"; });
  add(function, [](const std::smatch& m) { return "void " + m[1].str(); });
  return words;
}

/// The line of a unit on which its model has ended, whatever stands in it.
constexpr int line_after_model = 3;

/// The compiler's first complaint, as one readable sentence: about the model's own files rather than about what surrounds
/// them, and in the words of the contract if the model is at odds with that. None if it has nothing to say about sources.
/// `source` is the file of the unit.
std::optional<std::string> first_complaint(const std::string& log, const fs::path& header, const fs::path& source) {
  static const std::regex located(R"(^(.+?):(\d+):(\d+): (?:fatal )?error: (.*))");
  static const std::regex assertion(R"re(static.assert(?:ion)? failed(?: due to requirement '.*')?:? "?([^"]*)"?)re");
  static const std::regex undefined(R"(undefined reference to [`'](\w+))");
  constexpr std::size_t   longest = 4000, shown = 400;
  std::set<fs::path>      own;
  std::string             ignored;
  gather(header, own, ignored);
  std::optional<std::string> elsewhere;
  std::istringstream         lines(log);
  for (std::string line; std::getline(lines, line);) {
    line.resize(std::min(line.size(), longest));  // regular expressions recurse
    std::smatch m, of;
    if (std::regex_search(line, m, undefined))
      return fmt::format("{}: {} is declared but not defined", place_of(header, {m[1]}), m[1].str());
    if (!std::regex_search(line, m, located)) continue;
    const fs::path file = m[1].str();
    std::string    text = m[4].str().substr(0, shown);
    const bool     mine = own.count(fs::weakly_canonical(file)) > 0;
    if (!mine && std::regex_search(text, of, assertion))
      return fmt::format("{}: {}", place_of(header, named_in(of[1])), of[1].str());
    if (file == source && std::stoi(m[2]) == line_after_model)
      return fmt::format("{}: a brace that is opened here or below is never closed", place_of(header, {}));
    // The mistake that everyone makes once.
    if (text.find("mask") != text.npos && text.find("'bool'") != text.npos)
      text = "a condition on values is select(condition, a, b) here, as it is asked for several instances at once";
    const std::string found = fmt::format("{}:{}:{}: {}", file.string(), m[2].str(), m[3].str(), text);
    if (mine) return found;
    if (!elsewhere) elsewhere = file == source ? fmt::format("{}: {}", header.string(), text) : found;
  }
  return elsewhere;
}

/// What is wrong with the compiler itself: the first line that calls itself an error, else the first.
std::string own_trouble(const std::string& log) {
  auto at = log.find("error: ");
  at      = at == log.npos ? 0 : log.rfind('\n', at) + 1;
  return log.empty() ? "without a word" : log.substr(at, log.find('\n', at) - at);
}

}  // namespace

library::library(const fs::path& file) : handle_(::dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL)) {
  if (!handle_) throw error(exit_failure, fmt::format("a compiled unit cannot be loaded: {}", ::dlerror()));
}
library::~library() { ::dlclose(handle_); }
void* library::symbol(const char* name) const {
  void* address = ::dlsym(handle_, name);
  if (!address)
    throw error(exit_failure,
                fmt::format("a compiled unit lacks {}: clear the cache ({})", name, cache_folder().string()));
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
    const char* const              own = std::getenv("SALTUS_CXX");
    const std::vector<std::string> candidates =
        own && *own ? std::vector<std::string>{own}
                    : std::vector<std::string>{SALTUS_CXX_COMPILER, "c++", "g++", "clang++"};
    for (const auto& name : candidates) {
      const fs::path program = which(name);
      if (program.empty()) continue;
      if (const auto asked = run_program({program.string(), "--version"}); asked.status == 0)
        return cpp_compiler{program, asked.said.substr(0, asked.said.find('\n'))};
    }
    throw error(exit_failure,
                fmt::format("no C++ compiler found (tried {}{}): install g++ or clang++, or set SALTUS_CXX to one",
                            own && *own ? "SALTUS_CXX = " : "", fmt::join(candidates, ", ")));
  }();
  return found;
}

int native_lanes(const std::string& precision) {
  int bytes = 16;
#if defined(__x86_64__) || defined(__i386__)
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl"))
    bytes = 64;
  else if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) bytes = 32;
#endif
  return bytes / (precision == "float" ? 4 : 8);
}

namespace {

/// A shared object made of `text`, from the cache or by the compiler.
built build(const std::string& text, const fs::path& header) {
  const auto&       cc     = find_compiler();
  const std::string key    = hash_text(fmt::format("{}\n{}\n{}\n{}\n{}\n{}", text, source_hash(header),
                                                   fmt::join(flags(), " "), cc.program.string(), cc.version, processor()));
  const fs::path    object = cache_folder() / (key + ".so");
  if (fs::exists(object)) {
    try {
      return {std::make_shared<library>(object), key, false, 0};
    } catch (const error&) {
      // Damaged, by a crash or a full disk: made anew.
    }
  }

  const auto              begin = std::chrono::steady_clock::now();
  const signals_passed_on signals;
  const scratch_folder    scratch(key);
  const fs::path          source = scratch / "unit.cpp", fresh = scratch / "unit.so";
  write_file(source, text);
  std::vector<std::string> command = {cc.program.string()};
  command.insert(command.end(), flags().begin(), flags().end());
  command.insert(command.end(), {"-I" + (home() / "kernels").string(), source.string(), "-o", fresh.string()});
  const auto [status, said] = run_program(command);
  if (signals.came()) throw error(exit_interrupted, "interrupted while compiling");
  if (status != 0) {
    const fs::path log = scratch / "log", kept = cache_folder() / "last_failure.log";
    write_file(log, fmt::format("{}\n\n{}\n{}", fmt::join(command, " "), text, said));
    fs::rename(log, kept);
    const auto complaint = first_complaint(said, header, source);
    throw error(
        complaint ? exit_model : exit_failure,
        fmt::format("{}\n  all of the compiler's output: {}",
                    complaint ? *complaint : fmt::format("{} failed: {}", cc.program.string(), own_trouble(said)),
                    kept.string()));
  }
  if (!fs::exists(fresh))
    throw error(exit_failure,
                fmt::format("{} compiles nothing: set SALTUS_CXX to a C++ compiler", cc.program.string()));
  auto code = std::make_shared<library>(fresh);  // before it is kept: what cannot be loaded is of no use
  fs::rename(fresh, object);
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return {std::move(code), key, true, seconds};
}

std::string text_or_none(const char* text) { return text ? text : ""; }

std::vector<quantity> quantities(const abi::quantity* list, int count) {
  std::vector<quantity> r;
  for (int i = 0; i < count; ++i)
    r.push_back({list[i].name, list[i].value, text_or_none(list[i].unit), text_or_none(list[i].about)});
  return r;
}

}  // namespace

model describe_model(const fs::path& header) {
  const std::string       name = header.stem().string();
  static const std::regex identifier("[A-Za-z_][A-Za-z0-9_]*");
  if (!std::regex_match(name, identifier))
    throw error(exit_model,
                fmt::format("{}: the file must be named like the struct in it, so its name must be a C++ identifier",
                            header.string()));
  if (header.string().find_first_of("\"\n") != std::string::npos)
    throw error(exit_model,
                fmt::format("{}: the path of a model must have no quotation mark and no line break", header.string()));
  // An empty namespace is right anywhere but inside the model: see line_after_model.
  const std::string text = fmt::format(
      "#include \"saltus.hpp\"\n"
      "#include \"{0}\"\n"
      "namespace saltus {{}}\n"
      "struct {1};\n"
      "template <class Model> constexpr bool is_defined = requires {{ sizeof(Model); }};\n"
      "static_assert(is_defined<::{1}>, \"the file defines no struct {1} outside of namespaces: a model is named like "
      "its file\");\n"
      "#include \"describe.hpp\"\n"
      "extern \"C\" __attribute__((visibility(\"default\"))) const saltus::abi::description* saltus_description() {{\n"
      "  return saltus::describe<::{1}>::get(\"{1}\");\n"
      "}}\n",
      header.string(), name);
  const built unit = build(text, header);
  using getter     = const abi::description* (*)();
  const auto* d    = reinterpret_cast<getter>(unit.code->symbol("saltus_description"))();
  if (!(d->t_begin < d->t_end))
    throw error(exit_model,
                fmt::format("{}: span must be {{begin, end}} with begin < end", place_of(header, {"span"})));
  model m;
  m.name       = d->name;
  m.title      = text_or_none(d->title);
  m.source     = text_or_none(d->source);
  m.header     = header;
  m.states     = quantities(d->states, d->state_count);
  m.parameters = quantities(d->parameters, d->parameter_count);
  m.discretes  = quantities(d->discretes, d->discrete_count);
  m.outputs    = quantities(d->outputs, d->output_count);
  for (int i = 0; i < d->guard_count; ++i)
    m.guards.push_back({d->guards[i].name, static_cast<abi::direction>(d->guards[i].direction),
                        static_cast<abi::sidedness>(d->guards[i].sidedness), d->guards[i].terminal != 0,
                        text_or_none(d->guards[i].about)});
  m.t_begin    = d->t_begin;
  m.t_end      = d->t_end;
  m.arithmetic = d->arithmetic != 0;
  return m;
}

std::string engine_text(const plan& p) {
  static const char* const kinds[] = {"min", "max", "mean", "integral"};
  std::string              reductions;
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
      "    saltus::abi::version, {}, saltus::instance<engine, saltus::pack<engine::T, {}>>::real_count, "
      "&saltus::run_chunk<engine, {}>}};\n",
      p.model.header.string(), engine_text(p), lanes, lanes, lanes);
  return build(text, p.model.header);
}

}  // namespace saltus::host
