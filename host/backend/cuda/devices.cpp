#include "backend/cuda/devices.hpp"

#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "backend/cuda/plugin.hpp"
#include "backend/shared.hpp"
#include "base/error.hpp"

namespace saltus::host {

namespace {

const loaded_plugin& the_plugin() {
  static const loaded_plugin p =
      load_plugin("libsaltus_cuda.so", "SALTUS_CUDA_PLUGIN", {cuda_absent_symbol, cuda_backend_symbol});
  return p;
}

}  // namespace

std::vector<std::string> cuda_devices(std::string* reason) {
  std::string why;
  std::vector<std::string> names;
  if (const loaded_plugin& p = the_plugin(); !p.handle) why = p.reason;
  else p.find<cuda_absent_function>(cuda_absent_symbol)(why, names);
  if (reason) *reason = why;
  return why.empty() ? names : std::vector<std::string>();
}

std::string cuda_absent(std::string* name) {
  std::string reason;
  const auto names = cuda_devices(&reason);
  if (name) *name = fmt::format("{}", fmt::join(names, ", "));
  return reason;
}

std::unique_ptr<backend> make_cuda_backend(const plan& p) {
  std::string reason;
  const auto names = cuda_devices(&reason);
  if (!reason.empty())
    throw error(exit_device,
                fmt::format("backend = \"{}\": there is no device to use: {}", word_of(p.backend), reason));
  std::vector<int> wanted = p.devices;
  for (int i = 0; p.devices.empty() && i < static_cast<int>(names.size()); ++i) wanted.push_back(i);
  std::vector<std::unique_ptr<backend>> parts;
  for (const int number : wanted) {
    if (number >= static_cast<int>(names.size()))
      throw error(exit_device, fmt::format("run.devices: there is no device {}; there are {} from 0 on: {}", number,
                                           names.size(), fmt::join(names, ", ")));
    parts.emplace_back(the_plugin().find<cuda_backend_function>(cuda_backend_symbol)(p, number));
  }
  return make_shared_backend(std::move(parts));
}

}  // namespace saltus::host
