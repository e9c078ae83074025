#include "compile/nvrtc.hpp"

#include <elf.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <future>
#include <optional>
#include <regex>
#include <set>
#include <sstream>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nvrtc.h>

#include "abi/device.hpp"
#include "base/error.hpp"
#include "base/files.hpp"
#include "base/paths.hpp"
#include "compile/compiler.hpp"
#include "compile/diagnostics.hpp"
#include "compile/module_cache.hpp"

namespace saltus::host {
namespace fs = std::filesystem;

namespace {

void check(nvrtcResult result, const char* call) {
  if (result != NVRTC_SUCCESS) throw error(exit_failure, fmt::format("{}: {}", call, nvrtcGetErrorString(result)));
}

class program {
 public:
  program(const std::string& text, const char* name) {
    check(nvrtcCreateProgram(&handle_, text.c_str(), name, 0, nullptr, nullptr), "nvrtcCreateProgram");
  }
  ~program() { nvrtcDestroyProgram(&handle_); }
  program(const program&) = delete;
  program& operator=(const program&) = delete;

  bool compile(const std::vector<std::string>& options) {
    std::vector<const char*> list;
    for (const auto& o : options) list.push_back(o.c_str());
    const nvrtcResult result = nvrtcCompileProgram(handle_, static_cast<int>(list.size()), list.data());
    if (result != NVRTC_SUCCESS && result != NVRTC_ERROR_COMPILATION) check(result, "nvrtcCompileProgram");
    return result == NVRTC_SUCCESS;
  }
  std::string log() const { return text(nvrtcGetProgramLogSize, nvrtcGetProgramLog, "nvrtcGetProgramLog"); }
  std::string ptx() const { return text(nvrtcGetPTXSize, nvrtcGetPTX, "nvrtcGetPTX"); }
  std::string cubin() const { return bytes(nvrtcGetCUBINSize, nvrtcGetCUBIN, "nvrtcGetCUBIN"); }

 private:
  using size_function = nvrtcResult(nvrtcProgram, std::size_t*);
  using get_function = nvrtcResult(nvrtcProgram, char*);

  std::string bytes(size_function* size_of, get_function* get, const char* call) const {
    std::size_t size = 0;
    check(size_of(handle_, &size), call);
    std::string made(size, '\0');
    check(get(handle_, made.data()), call);
    return made;
  }
  std::string text(size_function* size_of, get_function* get, const char* call) const {
    std::string made = bytes(size_of, get, call);
    made.resize(made.find_last_not_of('\0') + 1);
    return made;
  }

  nvrtcProgram handle_ = nullptr;
};

/// The target of compilation: an architecture, or, if `is_ptx`, PTX for it and all newer ones, which drivers compile.
struct architecture {
  int number;
  bool is_ptx;

  std::string option() const { return fmt::format("--gpu-architecture={}_{}", is_ptx ? "compute" : "sm", number); }
};

/// The newest architecture known here whose code runs on a device: the same major number and no later minor one. If
/// there is none: PTX of the newest architecture that is older than the device.
architecture architecture_for(int capability) {
  int count = 0;
  check(nvrtcGetNumSupportedArchs(&count), "nvrtcGetNumSupportedArchs");
  std::vector<int> known(static_cast<std::size_t>(count));
  check(nvrtcGetSupportedArchs(known.data()), "nvrtcGetSupportedArchs");
  int best = 0;
  for (const int a : known)
    if (a / 10 == capability / 10 && a <= capability) best = std::max(best, a);
  if (best != 0) return {best, false};
  for (const int a : known)
    if (a < capability) best = std::max(best, a);
  if (best == 0)
    throw error(exit_device, fmt::format("{} cannot compile for a device of compute capability {}.{} (it knows sm_{})",
                                         nvrtc_version(), capability / 10, capability % 10, fmt::join(known, ", sm_")));
  return {best, true};
}

/// Reads the report of `--ptxas-options=-v`. Functions that were not inlined count for the kernel they follow.
std::vector<kernel_report> reports_in(const std::string& log) {
  static const std::regex entry(R"(Compiling entry function '(\w+)')"),
      frame(R"((\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads)"),
      used(R"(Used (\d+) registers)"), cumulative(R"((\d+) bytes cumulative stack size)");
  std::vector<kernel_report> kernels;
  std::istringstream lines(log);
  for (std::string line; std::getline(lines, line);) {
    std::smatch m;
    if (std::regex_search(line, m, entry)) {
      kernels.push_back({});
      kernels.back().name = m[1];
    }
    if (kernels.empty()) continue;
    kernel_report& k = kernels.back();
    if (std::regex_search(line, m, frame)) {
      k.local_bytes = std::max(k.local_bytes, std::stoi(m[1]));
      k.spill_store_bytes += std::stoi(m[2]);
      k.spill_load_bytes += std::stoi(m[3]);
    }
    if (std::regex_search(line, m, used)) k.registers = std::max(k.registers, std::stoi(m[1]));
    if (std::regex_search(line, m, cumulative)) k.local_bytes = std::max(k.local_bytes, std::stoi(m[1]));
  }
  return kernels;
}

/// Counts the instructions of each kernel: a cubin is an ELF file with a section .text.NAME for it.
void count_instructions(const std::string& cubin, std::vector<kernel_report>& kernels) {
  constexpr std::size_t instruction = 16;
  const auto part = [&]<class T>(T value, std::size_t at) {
    if (at + sizeof(T) <= cubin.size()) std::memcpy(&value, cubin.data() + at, sizeof(T));
    return value;
  };
  const auto head = part(Elf64_Ehdr{}, 0);
  const auto entry = [&](std::size_t i) { return part(Elf64_Shdr{}, head.e_shoff + i * head.e_shentsize); };
  const auto names = entry(head.e_shstrndx).sh_offset;
  for (std::size_t i = 0; i < head.e_shnum; ++i) {
    const auto section = entry(i);
    const std::size_t at = names + section.sh_name;
    if (at >= cubin.size()) continue;
    const std::string name(cubin.data() + at, ::strnlen(cubin.data() + at, cubin.size() - at));
    for (kernel_report& k : kernels)
      if (name == ".text." + k.name) k.instructions = static_cast<int>(section.sh_size / instruction);
  }
}

/// The files of a module. NVRTC cannot list them, so the C++ compiler is asked, with NVRTC's macros defined.
std::optional<file_list> files_of_cuda_module(const std::string& text, int capability) {
  return files_of(text, {"-std=c++20", "-D__CUDACC__", "-D__CUDACC_RTC__", "-D__NVCC__",
                         fmt::format("-D__CUDA_ARCH__={}", 10 * capability)});
}

/// The same bits as on a CPU: IEEE-754 division, square root and subnormal numbers; nothing is contracted except
/// written fma. A model's functions need no __device__: everything in a module is compiled for the device.
std::vector<std::string> options_for(const architecture& target) {
  std::vector<std::string> options = {"--std=c++20",
                                      target.option(),
                                      "--fmad=false",
                                      "--prec-div=true",
                                      "--prec-sqrt=true",
                                      "--ftz=false",
                                      "--device-as-default-execution-space",
                                      "--disable-warnings"};
  if (!target.is_ptx) options.push_back("--ptxas-options=-v");
  // With a driver present NVRTC has a cache of its own, which returns code without the report.
  if (constexpr int has_cache = 12090; nvrtc_cuda_version() >= has_cache) options.push_back("--no-cache");
  return options;
}

built_cuda made(std::string code, const std::string& log, const std::string& key, const architecture& target,
                bool compiled) {
  built_cuda r{std::move(code), key, target.is_ptx ? target.number : 0, compiled, 0, reports_in(log)};
  if (!target.is_ptx) count_instructions(r.code, r.kernels);
  for (kernel_report& k : r.kernels) k.warps = resident_warps(k.registers);
  return r;
}

const char* kind_of(const architecture& target) { return target.is_ptx ? ".ptx" : ".cubin"; }

/// The cached module under a key; nothing if a part of it is missing.
std::optional<built_cuda> find_built(const std::string& key, const architecture& target) {
  const std::string kind = kind_of(target);
  const auto object = find_module(key, kind), report = find_module(key, kind + ".log");
  if (!object || !report) return {};
  built_cuda module = made(object->content, report->content, key, target, false);
  if (!target.is_ptx && module.kernels.empty()) return {};
  return module;
}

void keep_built(const built_cuda& module, const std::string& log, const std::string& key, const architecture& target) {
  const std::string kind = kind_of(target);
  const scratch_folder scratch(key);
  write_file(scratch / "log", log);
  write_file(scratch / "code", module.code);
  keep_module(scratch / "log", key, kind + ".log");
  keep_module(scratch / "code", key, kind);
}

[[noreturn]] void report_failure(const std::string& text, const fs::path& header, const std::string& options,
                                 const std::string& log, const std::optional<file_list>& files) {
  const fs::path kept = cache_folder() / "last_failure.log";
  write_at_once(kept, fmt::format("{}\n{}\n\n{}", options, text, log));
  std::set<fs::path> own = {header};
  if (files) own.insert(files->own.begin(), files->own.end());
  const auto complaint = first_complaint(log, header, own, {});
  throw error(exit_model,
              fmt::format("{}\n  the CUDA integrator of this model does not compile; all of {}'s output: {}",
                          complaint ? *complaint : fmt::format("{}: {}", header.string(), own_trouble(log)),
                          nvrtc_version(), kept.string()));
}

/// Compiles a text that includes `header` and kernels, or finds it in the cache.
built_cuda build(const std::string& text, const fs::path& header, int capability) {
  const architecture target = architecture_for(capability);
  auto options = options_for(target);
  const std::string request =
      hash_text(fmt::format("{}\n{}\n{}\n{}", text, fmt::join(options, " "), nvrtc_version(), home().string()));
  for (const auto& files : remembered_files(request))
    if (const auto key = key_of(request, files))
      if (auto module = find_built(*key, target)) return *module;

  const auto begin = std::chrono::steady_clock::now();
  const auto files = files_of_cuda_module(text, capability);
  const auto key = files ? key_of(request, *files) : std::nullopt;
  if (key)
    if (auto module = find_built(*key, target)) {
      if (may_be_remembered(*files)) remember_files(request, *files);
      return *module;
    }
  program module(text, "saltus_module.cu");
  options.push_back("--include-path=" + (home() / "kernels").string());
  const bool compiles = module.compile(options);
  const std::string log = module.log();
  if (!compiles) report_failure(text, header, fmt::format("{}", fmt::join(options, " ")), log, files);
  built_cuda result = made(target.is_ptx ? module.ptx() : module.cubin(), log, key.value_or(request), target, true);
  if (!target.is_ptx && result.kernels.empty())
    throw error(exit_failure, fmt::format("{} does not tell what registers its code takes: {}", nvrtc_version(), log));
  if (key && key == key_of(request, *files)) {
    keep_built(result, log, *key, target);
    if (may_be_remembered(*files)) remember_files(request, *files);
  }
  result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return result;
}

}  // namespace

int nvrtc_cuda_version() {
  int major = 0, minor = 0;
  check(nvrtcVersion(&major, &minor), "nvrtcVersion");
  return 1000 * major + 10 * minor;
}

std::string nvrtc_version() { return "NVRTC " + cuda_version_text(nvrtc_cuda_version()); }

std::string cuda_version_text(int version) { return fmt::format("{}.{}", version / 1000, version % 1000 / 10); }

std::vector<kernel_report> cuda_module_code::kernels() const {
  std::vector<kernel_report> all;
  for (const built_cuda* part : {&begin, &sail, quick ? &*quick : nullptr, &land})
    if (part != nullptr)
      for (const kernel_report& k : part->kernels)
        if (k.name != "saltus_describe" && k.name != "saltus_tolerances" && k.name != "saltus_turn_over")
          all.push_back(k);
  return all;
}

int resident_warps(int registers) {
  constexpr int per_scheduler = 16384, granularity = 8, lanes = 32, most = 16;
  const int allocated = std::max((registers + granularity - 1) / granularity, 1) * granularity;
  return std::min(per_scheduler / (allocated * lanes), most);
}

double estimated_cost(const kernel_report& k) {
  // Cycles of a scheduler: double-precision arithmetic takes two, other instructions one, in about equal parts.
  constexpr double per_instruction = 1.5;
  // A multiprocessor moves 128 bytes of spilled data per cycle: a byte of all lanes of a warp takes one of the cycles
  // of its four schedulers. Data beyond the first-level cache takes several times longer.
  constexpr double per_byte = 1.0, beyond_cache = 4.0, cache = 200e3;
  // So many warps keep a scheduler busy while each waits for its last result.
  constexpr int enough = 4;
  const int warps = resident_warps(k.registers);
  const double held = 4.0 * 32.0 * warps * k.local_bytes;
  const double spilled = (k.spill_store_bytes + k.spill_load_bytes) * (held > cache ? beyond_cache : per_byte);
  return (per_instruction * k.instructions + spilled) * std::max(1.0, static_cast<double>(enough) / warps);
}

namespace {

/// Compiles a text with kernels for a plan.
built_cuda build_part(const plan& p, int capability, const std::string& kernels) {
  const fs::path& header = p.model.header;
  return build(fmt::format("#include \"run/on_cuda.cuh\"\n"
                           "#include \"form/of_model.hpp\"\n"
                           "#include \"method/by_name.hpp\"\n"
                           "#include \"{}\"\n"
                           "{}"
                           "{}\n",
                           header.string(), engine_text(p), kernels),
               header, capability);
}

/// The sailing kernel for at least so many warps on each scheduler; 0: no bound.
built_cuda build_sailing_for(const plan& p, int capability, int warps) {
  constexpr int warps_per_block = abi::device_block / 32, schedulers = 4;
  return build_part(p, capability,
                    warps == 0 ? std::string("SALTUS_CUDA_SAIL(engine)")
                               : fmt::format("SALTUS_CUDA_SAIL(engine, {})", schedulers * warps / warps_per_block));
}

}  // namespace

// Bounds registers for more and more warps and takes the cheapest kernel. That costs a few compilations of one kernel;
// none if the unbounded kernel leaves room for enough warps, or is so long that it must not be compiled again.
cuda_module_code build_sailing(const plan& p, int capability) {
  constexpr int enough = 4, longest = 20'000;  // warps; instructions
  constexpr double worth_it = 0.97;
  const auto begin = std::chrono::steady_clock::now();
  cuda_module_code module;
  module.sail = build_sailing_for(p, capability, 0);
  bool compiled = module.sail.compiled;
  if (module.sail.ptx_of != 0) {  // the driver chooses registers
    module.seconds = module.sail.seconds;
    return module;
  }
  const int own = resident_warps(module.sail.kernels.at(0).registers);
  const int most = module.sail.kernels.at(0).instructions > longest ? own : enough;
  for (int warps = own + 1; warps <= most; ++warps) {
    built_cuda more = build_sailing_for(p, capability, warps);
    module.candidates += 1;
    compiled = compiled || more.compiled;
    if (!(estimated_cost(more.kernels.at(0)) < worth_it * estimated_cost(module.sail.kernels.at(0)))) continue;
    module.sail = std::move(more);
    module.sailing_warps = warps;
  }
  if (compiled) module.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return module;
}

namespace {
struct landing_kernels {
  built_cuda full;
  std::optional<built_cuda> quick;
};

/// Quick landings pay where the code of a full one does not fit into the instruction cache of a multiprocessor, some 128 KiB. Where it is
/// much longer, NVRTC would take minutes for another kernel.
landing_kernels build_landing(const plan& p, int capability) {
  constexpr int fits = 8'192, longest = 50'000, empty = 100;  // instructions
  landing_kernels r{build_part(p, capability, "SALTUS_CUDA_LAND(engine)"), {}};
  const int length = r.full.kernels.empty() ? 0 : r.full.kernels.front().instructions;
  if (length > fits && length < longest && !p.model.guards.empty()) {
    auto quick = build_part(p, capability, "SALTUS_CUDA_LAND_QUICKLY(engine)");
    // An engine without quick landings has an empty kernel.
    if (!quick.kernels.empty() && quick.kernels.front().instructions > empty) r.quick = std::move(quick);
  }
  return r;
}
}  // namespace

cuda_module_code build_cuda_module(const plan& p, int capability) {
  const auto begin = std::chrono::steady_clock::now();
  auto landing = std::async(std::launch::async, build_landing, p, capability);
  auto sailing = std::async(std::launch::async, build_sailing, p, capability);
  built_cuda beginning = build_part(p, capability, "SALTUS_CUDA_BEGIN(engine)");
  auto module = sailing.get();
  module.begin = std::move(beginning);
  auto [full, quick] = landing.get();
  module.land = std::move(full);
  module.quick = std::move(quick);
  if (module.begin.compiled || module.seconds > 0 || module.land.compiled || (module.quick && module.quick->compiled))
    module.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return module;
}

built_cuda build_statistics_module(int capability) {
  return build("#include \"statistics/cuda_statistics.cuh\"\nSALTUS_CUDA_STATISTICS\n",
               home() / "kernels" / "statistics" / "cuda.cuh", capability);
}

}  // namespace saltus::host
