#include "backend/cuda/cuda_report.hpp"

#include <charconv>

#include <fmt/format.h>

#include "backend/cuda/plugin.hpp"
#include "base/error.hpp"

namespace saltus::host {

namespace {

int capability_of(const std::string& architecture) {
  const std::string_view digits = std::string_view(architecture).substr(architecture.starts_with("sm_") ? 3 : 0);
  int number = 0;
  const auto [end, bad] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  if (bad != std::errc() || end != digits.data() + digits.size() || number < 10)
    throw error(exit_usage, fmt::format("--cuda {}: must be an architecture such as sm_90", architecture));
  return number;
}

/// The function of the plug-in; throws `error` (exit_device) with the reason if there is no such library.
cuda_report_function& cuda_compiler() {
  static const loaded_plugin p = load_plugin("libsaltus_nvrtc.so", "SALTUS_NVRTC_PLUGIN", {cuda_report_symbol});
  if (!p.handle) throw error(exit_device, fmt::format("no kernels for CUDA can be compiled: {}", p.reason));
  return *p.find<cuda_report_function>(cuda_report_symbol);
}

}  // namespace

cuda_report report_on_cuda(const plan& p, const std::string& architecture) {
  const int capability = capability_of(architecture);
  cuda_report report;
  cuda_compiler()(p, capability, report);
  return report;
}

}  // namespace saltus::host
