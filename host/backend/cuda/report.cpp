#include "backend/cuda/report.hpp"

#include <charconv>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "backend/cuda/loader.hpp"
#include "backend/cuda/plugin.hpp"
#include "base/error.hpp"

namespace saltus::host {

namespace {

constexpr int schedulers = 4, most_warps = 64;  // of a multiprocessor

int capability_of(const std::string& architecture) {
  const std::string_view digits = std::string_view(architecture).substr(architecture.starts_with("sm_") ? 3 : 0);
  int number = 0;
  const auto [end, bad] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  if (bad != std::errc() || end != digits.data() + digits.size() || number < 10)
    throw error(exit_usage, fmt::format("--cuda {}: must be an architecture such as sm_90", architecture));
  return number;
}

/// Of the plug-in; throws `error` (exit_device) with the reason if there is no such library.
cuda_report_function& cuda_compiler() {
  static const loaded_plugin p = load_plugin("libsaltus_nvrtc.so", "SALTUS_NVRTC_PLUGIN", {cuda_report_symbol});
  if (!p.handle) throw error(exit_device, fmt::format("no kernels for CUDA can be compiled: {}", p.reason));
  return *p.find<cuda_report_function>(cuda_report_symbol);
}

std::string bound_text(const cuda_report& r) {
  if (r.candidates == 1) return "as the compiler likes them";
  return r.sailing_warps == 0
             ? fmt::format("as the compiler likes them, the best of {} bounds", r.candidates)
             : fmt::format("bounded for {} warps, the best of {} bounds", schedulers * r.sailing_warps, r.candidates);
}

}  // namespace

cuda_report report_on_cuda(const plan& p, const std::string& architecture) {
  const int capability = capability_of(architecture);
  cuda_report report;
  cuda_compiler()(p, capability, report);
  return report;
}

std::string text_of(const cuda_report& r) {
  if (r.ptx_of != 0)
    return fmt::format(
        "{} knows no sm_{}: PTX of compute_{}, {}; the driver will compile it, and choose its registers\n", r.compiler,
        r.capability, r.ptx_of, r.seconds > 0 ? fmt::format("made in {:.1f} s", r.seconds) : "from the cache");
  std::string text = fmt::format("{} for sm_{}, {}\n  {:<6} {:>9} {:>12} {:>6} {:>9} {:>6} {:>13}\n", r.compiler,
                                 r.capability, r.seconds > 0 ? fmt::format("in {:.1f} s", r.seconds) : "from the cache",
                                 "kernel", "registers", "warps", "", "spilled", "local", "instructions");
  for (const kernel_report& k : r.kernels)
    text += fmt::format("  {:<6} {:>9} {:>12} {:>4} % {:>7} B {:>4} B {:>13}\n", k.name.substr(k.name.find('_') + 1),
                        k.registers, fmt::format("{} of {}", schedulers * k.warps, most_warps),
                        100 * schedulers * k.warps / most_warps, k.spill_store_bytes + k.spill_load_bytes,
                        k.local_bytes, k.instructions);
  return text + fmt::format("registers of sail: {}; warps: those that a multiprocessor holds\n", bound_text(r));
}

json json_of(const cuda_report& r) {
  json kernels = json::array();
  for (const kernel_report& k : r.kernels)
    kernels.push_back(json{{"kernel", k.name},
                           {"registers", k.registers},
                           {"warps", schedulers * k.warps},
                           {"occupancy", static_cast<double>(schedulers * k.warps) / most_warps},
                           {"spill_store_bytes", k.spill_store_bytes},
                           {"spill_load_bytes", k.spill_load_bytes},
                           {"local_bytes", k.local_bytes},
                           {"instructions", k.instructions}});
  return json{{"compiler", r.compiler},
              {"architecture", fmt::format("sm_{}", r.capability)},
              {"compile_seconds", r.seconds},
              {"sailing_bounded_for_warps", schedulers * r.sailing_warps},
              {"bounds_tried", r.candidates},
              {"ptx_of", r.ptx_of},
              {"kernels", kernels}};
}

}  // namespace saltus::host
