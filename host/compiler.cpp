#include "compiler.hpp"

#include <dlfcn.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
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

#include "child.hpp"
#include "complaint.hpp"
#include "error.hpp"
#include "files.hpp"
#include "install.hpp"
#include "program.hpp"

namespace saltus::host {
namespace fs = std::filesystem;

namespace {

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

/// What only g++ has, and needs. Without the first, a model's function whose arguments lie in memory is not inlined. The
/// second: joining scalars to vectors it makes vfmaddsub of products and sums, contraction off or not, which other widths
/// of the same code do not have.
std::vector<std::string> flags_for(const cpp_compiler& cc) {
  auto all = flags();
  if (cc.version.find("clang") == std::string::npos) all.insert(all.end(), {"-fno-ipa-sra", "-fno-tree-slp-vectorize"});
  return all;
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

std::vector<fs::path> files_of_model(const fs::path& header) {
  std::set<fs::path> seen;
  std::string        ignored;
  gather(header, seen, ignored);
  const fs::path        first = fs::weakly_canonical(header);
  std::vector<fs::path> files = {first};
  for (const auto& file : seen)
    if (file != first && fs::is_regular_file(file)) files.push_back(file);
  return files;
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

std::string machine_identity() {
  const auto& cc = find_compiler();
  return fmt::format("{}\n{}\n{}", processor(), cc.program.string(), cc.version);
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

/// What is run once need not be fast: without optimisation it compiles in less time. Traced: with line numbers.
enum class optimised { yes, no, traced };

std::vector<std::string> flags_for(const cpp_compiler& cc, optimised how) {
  auto all = flags_for(cc);
  if (how == optimised::no) all.push_back("-O0");
  if (how == optimised::traced) all.insert(all.end(), {"-O1", "-g"});
  return all;
}

/// The name of a unit in the cache.
std::string key_of(const std::string& text, const fs::path& header, optimised how) {
  const auto& cc = find_compiler();
  return hash_text(fmt::format("{}\n{}\n{}\n{}\n{}\n{}", text, source_hash(header), fmt::join(flags_for(cc, how), " "),
                               cc.program.string(), cc.version, processor()));
}

fs::path object_of(const std::string& key) { return cache_folder() / (key + ".so"); }

/// A shared object made of `text`, from the cache or by the compiler.
built build(const std::string& text, const fs::path& header, optimised how = optimised::yes) {
  const auto&       cc     = find_compiler();
  const std::string key    = key_of(text, header, how);
  const fs::path    object = object_of(key);
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
  const auto               options = flags_for(cc, how);
  command.insert(command.end(), options.begin(), options.end());
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

/// A description with counted operations; or without, if the model's functions do not take counting numbers. Then it is
/// that which is in the cache, and nothing is tried again.
built build_description(const std::string& counted, const std::string& uncounted, const fs::path& header) {
  const auto is_there = [&](const std::string& text) {
    return fs::exists(object_of(key_of(text, header, optimised::no)));
  };
  if (is_there(counted) || !is_there(uncounted)) {
    try {
      return build(counted, header, optimised::no);
    } catch (const error& e) {
      if (e.exit_code != exit_model && e.exit_code != exit_failure) throw;
    }
  }
  return build(uncounted, header, optimised::no);
}

/// What a unit says of its model, which may run the model's functions: first in a child process, for what they may do.
const abi::description* description_in(const built& unit) {
  using getter                              = const abi::description* (*)();
  constexpr double               longest    = 20;  // seconds; it is a right-hand side or two
  static const std::atomic<bool> never_ends = false;
  const auto                     get        = reinterpret_cast<getter>(unit.code->symbol("saltus_description"));
  in_child([&] { return std::string(get()->name); }, longest, never_ends);
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
  const auto text = [&](const char* first) {
    return fmt::format(
        "#include \"saltus.hpp\"\n"
        "#include \"{0}\"\n"
        "namespace saltus {{}}\n"
        "struct {1};\n"
        "template <class Model> constexpr bool is_defined = requires {{ sizeof(Model); }};\n"
        "static_assert(is_defined<::{1}>, \"the file defines no struct {1} outside of namespaces: a model is named like "
        "its file\");\n"
        "{2}"
        "#include \"describe.hpp\"\n"
        "extern \"C\" __attribute__((visibility(\"default\"))) const saltus::abi::description* saltus_description() "
        "{{\n"
        "  return saltus::describe<::{1}>::get(\"{1}\");\n"
        "}}\n",
        header.string(), name, first);
  };
  const std::string       uncounted = text("#define SALTUS_UNCOUNTED\n");
  built                   unit      = build_description(text(""), uncounted, header);
  const abi::description* d         = nullptr;
  try {
    d = description_in(unit);
  } catch (const child_failure&) {
    // The model's functions do not bear being counted; where they fail in a run, that is told of the instances.
    unit = build(uncounted, header, optimised::no);
    d    = description_in(unit);
  }
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
                        text_or_none(d->guards[i].about), d->guards[i].slides != 0});
  for (int i = 0; i < d->instant_count; ++i)
    m.instants.push_back({d->instants[i].name, text_or_none(d->instants[i].about)});
  m.t_begin       = d->t_begin;
  m.t_end         = d->t_end;
  m.equations     = static_cast<abi::equations>(d->equations);
  m.singular_mass = d->singular_mass != 0;
  m.arithmetic    = d->arithmetic != 0;
  m.rhs_flops     = d->rhs_flops;
  m.guard_flops   = d->guard_flops;
  return m;
}

built build_unit(const std::string& text, const fs::path& header) { return build(text, header); }

std::string engine_text(const plan& p) {
  static const char* const kinds[] = {"min", "max", "mean", "integral"};
  std::string              reductions;
  for (const auto& r : p.reductions)
    reductions += fmt::format(",\n    saltus::reduction<saltus::reduce::{}, {}, {}>", kinds[static_cast<int>(r.which)],
                              r.of_output ? "true" : "false", r.index);
  return fmt::format(
      "using engine = saltus::engine<::{}, saltus::methods::by_name<\"{}\">, {},\n"
      "    saltus::options{{.norm = saltus::norm_kind::{}, .controller = saltus::controller_kind::{}, "
      ".detect = saltus::detection::{}, .fixed_steps = {}, .samples = {}, .backward = {}, .guards_in_error = {}, "
      ".inject = {}{}}}{}>;\n",
      p.model.name, p.method, p.precision, p.norm, p.controller, p.detection, p.fixed_step > 0, p.sample_count > 0,
      p.backward, p.guards_in_error, p.inject_exceptions > 0, p.stiff_method.empty() ? "" : ", .watch_stiffness = true",
      reductions);
}

namespace {
std::string cpu_unit_text(const plan& p, const lane_shape& shape) {
  return fmt::format(
      "#include \"run_cpu.hpp\"\n"
      "#include \"method/by_name.hpp\"\n"
      "#include \"{}\"\n"
      "{}"
      "extern \"C\" __attribute__((visibility(\"default\"))) const saltus::abi::unit saltus_unit = "
      "saltus::cpu_unit<engine, {}, {}>;\n",
      p.model.header.string(), engine_text(p), shape.lanes, shape.groups);
}
}  // namespace

built build_cpu_unit(const plan& p, const lane_shape& shape) {
  return build(cpu_unit_text(p, shape), p.model.header);
}
built build_traceable_unit(const plan& p) {
  const auto once = [&] { return build(cpu_unit_text(p, {1, 1}), p.model.header, optimised::traced); };
  once();
  return once();  // loaded from where it stays, under the name by which its line numbers are asked for
}
std::string cpu_unit_key(const plan& p, const lane_shape& shape) {
  return key_of(cpu_unit_text(p, shape), p.model.header, optimised::yes);
}

}  // namespace saltus::host
