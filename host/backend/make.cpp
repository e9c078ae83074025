#include "backend/make.hpp"

#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "backend/cpu.hpp"
#include "backend/cuda/devices.hpp"
#include "backend/shared.hpp"
#include "base/error.hpp"
#include "spec/methods.hpp"

namespace saltus::host {

// "all" without numbers works without a device; a device that the plan names must be there.
std::unique_ptr<backend> make_backend_of_all(const plan& p, const cancellation& stop) {
  std::vector<std::unique_ptr<backend>> parts;
  const std::string absent = cuda_absent();
  if (absent.empty() || !p.devices.empty()) parts.push_back(make_cuda_backend(p));
  parts.push_back(make_cpu_backend(p, stop));
  return make_shared_backend(std::move(parts),
                             absent.empty() ? std::string() : fmt::format("no CUDA device: {}", absent));
}

std::unique_ptr<backend> make_backend(const plan& p, const cancellation& stop) {
  if (const auto none = no_method_for(p.model); !none.empty()) throw error(exit_usage, none);
  if (p.backend == backend_kind::all) return make_backend_of_all(p, stop);
  if (p.backend == backend_kind::cuda || (p.backend == backend_kind::automatic && cuda_absent().empty()))
    return make_cuda_backend(p);
  return make_cpu_backend(p, stop);
}

}  // namespace saltus::host
