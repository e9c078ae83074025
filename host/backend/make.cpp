#include "backend/make.hpp"

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "backend/cuda/devices.hpp"
#include "backend/shared.hpp"
#include "base/error.hpp"
#include "spec/methods.hpp"

namespace saltus::host {

namespace {

/// The kinds of devices, in the order in which "auto" prefers them. The lanes of the processor are always there.
struct device_row {
  backend_kind kind;
  const char* what;
  std::function<std::string()> absent;  ///< the reason why there is none; empty: there is one
  std::function<std::unique_ptr<backend>(const plan&)> make;
};
const std::vector<device_row>& devices() {
  static const std::vector<device_row> rows = {
      {backend_kind::cuda, "CUDA device", [] { return cuda_absent(); }, make_cuda_backend},
  };
  return rows;
}

}  // namespace

// "all" without numbers works without a device; a device that the plan names must be there.
std::unique_ptr<backend> make_backend_of_all(const plan& p, const cancellation& stop) {
  std::vector<std::unique_ptr<backend>> parts;
  std::string missing;
  for (const device_row& of : devices()) {
    const std::string absent = of.absent();
    if (absent.empty() || !p.devices.empty()) parts.push_back(of.make(p));
    else missing += fmt::format("{}no {}: {}", missing.empty() ? "" : "; ", of.what, absent);
  }
  parts.push_back(make_cpu_backend(p, stop));
  return make_shared_backend(std::move(parts), missing);
}

std::unique_ptr<backend> make_backend(const plan& p, const cancellation& stop) {
  if (const auto none = no_method_for(p.model); !none.empty()) throw error(exit_usage, none);
  if (p.backend == backend_kind::all) return make_backend_of_all(p, stop);
  for (const device_row& of : devices())
    if (p.backend == of.kind || (p.backend == backend_kind::automatic && of.absent().empty())) return of.make(p);
  return make_cpu_backend(p, stop);
}

}  // namespace saltus::host
