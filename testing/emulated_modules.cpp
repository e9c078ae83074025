// Modules of a CUDA device in place of NVRTC's (host/compile/nvrtc.hpp), for machines without a device: the system's compiler makes the
// kernels of any model for the CPU. With fake_cuda_driver.cpp and the sources of the plug-in they are a plug-in, which runs whatever a
// device runs:
//
//     SALTUS_CUDA_PLUGIN=build/cuda/libsaltus_emulated_cuda.so saltus run relief_valve --backend cuda
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "compile/compiler.hpp"
#include "compile/nvrtc.hpp"
#include "testing/emulated_kernels.hpp"
#include "testing/fake_cuda_driver.hpp"
#include "testing/source_folder.hpp"

namespace saltus::host {

namespace {

constexpr const char* for_statistics = "statistics";

using kernel_runner = void(const char* kernel, int threads, void** arguments);

/// The loaded modules by key, until the process ends.
std::mutex one_at_a_time;
std::map<std::string, std::shared_ptr<library>, std::less<>> modules;

test::fake_cuda::kernel_runner kernels_of(std::string_view code) {
  if (code == for_statistics)
    return [](std::string_view, int threads, void** arguments) { test::emulate_statistics(threads, arguments); };
  const std::lock_guard lock(one_at_a_time);
  auto* const run = reinterpret_cast<kernel_runner*>(modules.find(code)->second->symbol("saltus_kernels"));
  return [run](std::string_view kernel, int threads, void** arguments) {
    run(std::string(kernel).c_str(), threads, arguments);
  };
}

/// A device that is small, so that places are refilled, with memory for any chunk.
const bool is_set_up = [] {
  test::the_fake_cuda().kernels_of = kernels_of;
  test::the_fake_cuda().memory = std::size_t{4} << 30;
  test::the_fake_cuda().multiprocessors = 2;
  test::the_fake_cuda().blocks_per_multiprocessor = 2;
  return true;
}();

built_cuda part_of(const std::string& code) { return {code, code, 0, false, 0, {}}; }

}  // namespace

cuda_module_code build_cuda_module(const plan& p, int) {
  const built made = build_module(
      fmt::format("#include \"{}\"\n"
                  "#include \"form/of_model.hpp\"\n"
                  "#include \"method/by_name.hpp\"\n"
                  "#include \"{}\"\n"
                  "{}"
                  "extern \"C\" __attribute__((visibility(\"default\")))\n"
                  "void saltus_kernels(const char* kernel, int threads, void** arguments) {{\n"
                  "  saltus::test::emulate<engine>(kernel, threads, arguments);\n"
                  "}}\n",
                  test::in_source("testing/emulated_kernels.hpp"), p.model.header.string(), engine_text(p)),
      p.model.header);
  const std::lock_guard lock(one_at_a_time);
  modules.emplace(made.key, made.code);
  cuda_module_code r{part_of(made.key), part_of(made.key), part_of(made.key), part_of(made.key)};
  r.seconds = made.seconds;
  return r;
}

built_cuda build_statistics_module(int) { return part_of(for_statistics); }

std::string nvrtc_version() { return "the emulation"; }
int nvrtc_cuda_version() { return test::the_fake_cuda().version; }
std::string cuda_version_text(int version) { return fmt::format("{}.{}", version / 1000, version % 1000 / 10); }

}  // namespace saltus::host
