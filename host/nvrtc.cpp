#include "nvrtc.hpp"

#include <nvrtc.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <regex>
#include <sstream>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "compiler.hpp"
#include "error.hpp"
#include "files.hpp"
#include "install.hpp"

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
  program(const program&)            = delete;
  program& operator=(const program&) = delete;

  bool compile(const std::vector<std::string>& options) {
    std::vector<const char*> list;
    for (const auto& o : options) list.push_back(o.c_str());
    const nvrtcResult result = nvrtcCompileProgram(handle_, static_cast<int>(list.size()), list.data());
    if (result != NVRTC_SUCCESS && result != NVRTC_ERROR_COMPILATION) check(result, "nvrtcCompileProgram");
    return result == NVRTC_SUCCESS;
  }
  std::string log() const {
    std::size_t size = 0;
    check(nvrtcGetProgramLogSize(handle_, &size), "nvrtcGetProgramLogSize");
    std::string text(size, '\0');
    check(nvrtcGetProgramLog(handle_, text.data()), "nvrtcGetProgramLog");
    text.resize(text.find_last_not_of('\0') + 1);
    return text;
  }
  std::string cubin() const {
    std::size_t size = 0;
    check(nvrtcGetCUBINSize(handle_, &size), "nvrtcGetCUBINSize");
    std::string code(size, '\0');
    check(nvrtcGetCUBIN(handle_, code.data()), "nvrtcGetCUBIN");
    return code;
  }

 private:
  nvrtcProgram handle_ = nullptr;
};

/// The newest architecture known here whose code runs on a device: the same major number and no later minor one.
int architecture_for(int capability) {
  int count = 0;
  check(nvrtcGetNumSupportedArchs(&count), "nvrtcGetNumSupportedArchs");
  std::vector<int> known(static_cast<std::size_t>(count));
  check(nvrtcGetSupportedArchs(known.data()), "nvrtcGetSupportedArchs");
  int best = 0;
  for (const int a : known)
    if (a / 10 == capability / 10 && a <= capability) best = std::max(best, a);
  if (best == 0)
    throw error(exit_device, fmt::format("{} cannot compile for a device of compute capability {}.{} (it knows sm_{})",
                                         nvrtc_version(), capability / 10, capability % 10, fmt::join(known, ", sm_")));
  return best;
}

/// The compiler's first complaint about the model's header if there is one, else the first of all.
std::string first_complaint(const std::string& log, const fs::path& header) {
  static const std::regex complaint(R"(^(.+)\((\d+)\): (?:catastrophic )?error: (.*)$)");
  std::istringstream      lines(log);
  std::string             first;
  for (std::string line; std::getline(lines, line);) {
    std::smatch m;
    if (!std::regex_match(line, m, complaint)) continue;
    const std::string text = fmt::format("{}:{}: {}", m[1].str(), m[2].str(), m[3].str());
    if (fs::path(m[1].str()).filename() == header.filename()) return text;
    if (first.empty()) first = text;
  }
  return first.empty() ? fmt::format("{}: NVRTC failed:\n{}", header.string(), log.substr(0, 2000)) : first;
}

/// Reads what `--ptxas-options=-v` writes. Functions that were not inlined count for the kernel they follow.
std::vector<kernel_report> reports_in(const std::string& log) {
  static const std::regex entry(R"(Compiling entry function '(\w+)')"),
      frame(R"((\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads)"),
      used(R"(Used (\d+) registers)"), cumulative(R"((\d+) bytes cumulative stack size)");
  std::vector<kernel_report> kernels;
  std::istringstream         lines(log);
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

/// Writes a file that appears under its name only when it is complete.
void write_at_once(const fs::path& file, const std::string& content) {
  static std::atomic<int> serial{0};
  const fs::path          fresh = file.string() + fmt::format(".{}.{}", ::getpid(), ++serial);
  try {
    write_file(fresh, content);
  } catch (const error&) {
    std::error_code ignored;
    fs::remove(fresh, ignored);
    throw;
  }
  fs::rename(fresh, file);
}

}  // namespace

std::string nvrtc_version() {
  int major = 0, minor = 0;
  check(nvrtcVersion(&major, &minor), "nvrtcVersion");
  return fmt::format("NVRTC {}.{}", major, minor);
}

built_cuda build_cuda_unit(const plan& p, int capability) {
  const fs::path&   header = p.model.header;
  const std::string text   = fmt::format(
        "#include \"run_cuda.cuh\"\n"
          "#include \"method/by_name.hpp\"\n"
          "#include \"{}\"\n"
          "{}"
          "SALTUS_CUDA_UNIT(engine)\n",
        header.string(), engine_text(p));
  // The same bits as on a CPU: IEEE-754 division, square root and subnormal numbers, no contraction that is not written
  // as fma. A model's functions carry no mark of ours: they are for the device, as everything in a unit is.
  const std::vector<std::string> options = {"--std=c++20",
                                            fmt::format("--gpu-architecture=sm_{}", architecture_for(capability)),
                                            "--fmad=false",
                                            "--prec-div=true",
                                            "--prec-sqrt=true",
                                            "--ftz=false",
                                            "--device-as-default-execution-space",
                                            "--disable-warnings",
                                            "--ptxas-options=-v"};
  const std::string              key =
      hash_text(fmt::format("{}\n{}\n{}\n{}", text, source_hash(header), fmt::join(options, " "), nvrtc_version()));
  const fs::path object = cache_folder() / (key + ".cubin"), report = cache_folder() / (key + ".cubin.log");
  if (fs::exists(object) && fs::exists(report))
    return {read_file(object), key, false, 0, reports_in(read_file(report))};

  const auto begin = std::chrono::steady_clock::now();
  program    unit(text, "saltus_unit.cu");
  auto       with_folder = options;
  with_folder.push_back("--include-path=" + (home() / "kernels").string());
  const bool        compiles = unit.compile(with_folder);
  const std::string log      = unit.log();
  if (!compiles) {
    const fs::path kept = cache_folder() / "last_failure.log";
    write_at_once(kept, fmt::format("{}\n{}\n\n{}", fmt::join(with_folder, " "), text, log));
    throw error(exit_model,
                fmt::format("{}\n  the CUDA integrator of this model does not compile; all of {}'s output: {}",
                            first_complaint(log, header), nvrtc_version(), kept.string()));
  }
  built_cuda result{unit.cubin(), key, true, 0, reports_in(log)};
  write_at_once(report, log);
  write_at_once(object, result.cubin);
  result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return result;
}

}  // namespace saltus::host
