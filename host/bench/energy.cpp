#include "bench/energy.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <sstream>

namespace saltus::host {

namespace fs = std::filesystem;

namespace {

template <class Value>
std::optional<Value> first_word(const fs::path& file) {
  std::ifstream in(file);
  Value value;
  if (in >> value) return value;
  return {};
}

/// The devices visible to CUDA programs: numbers or UUIDs; nothing: all.
std::optional<std::vector<std::string>> visible_devices() {
  const char* const list = std::getenv("CUDA_VISIBLE_DEVICES");
  if (!list) return {};
  std::vector<std::string> r;
  std::stringstream text(list);
  for (std::string entry; std::getline(text, entry, ',');) r.push_back(entry);
  return r;
}

}  // namespace

/// The NVML functions that are needed, looked up by name: the library comes with the driver.
struct energy_meter::nvml {
  void* library = nullptr;
  std::vector<void*> devices;
  int (*energy)(void*, unsigned long long*) = nullptr;

  nvml() {
    library = ::dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!library) return;
    int (*begin)() = nullptr;
    int (*count)(unsigned*) = nullptr;
    int (*by_index)(unsigned, void**) = nullptr;
    int (*by_uuid)(const char*, void**) = nullptr;
    const auto find = [&](auto& function, const char* name) {
      function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(::dlsym(library, name));
      return function != nullptr;
    };
    if (!find(begin, "nvmlInit_v2") || !find(count, "nvmlDeviceGetCount_v2") ||
        !find(by_index, "nvmlDeviceGetHandleByIndex_v2") || !find(by_uuid, "nvmlDeviceGetHandleByUUID") ||
        !find(energy, "nvmlDeviceGetTotalEnergyConsumption") || begin() != 0)
      return;
    unsigned all = 0;
    if (count(&all) != 0) return;
    std::vector<std::string> wanted;
    if (const auto visible = visible_devices()) wanted = *visible;
    else
      for (unsigned i = 0; i < all; ++i) wanted.push_back(std::to_string(i));
    for (const std::string& name : wanted) {
      void* device = nullptr;
      const bool is_number = !name.empty() && name.find_first_not_of("0123456789") == name.npos;
      const int status =
          is_number ? by_index(static_cast<unsigned>(std::stoul(name)), &device) : by_uuid(name.c_str(), &device);
      unsigned long long now = 0;
      if (status == 0 && energy(device, &now) == 0) devices.push_back(device);
    }
  }
  ~nvml() {
    if (library) ::dlclose(library);
  }
};

energy_meter::energy_meter(const fs::path& powercap) : nvml_(new nvml) {
  std::error_code absent;
  for (const auto& entry : fs::directory_iterator(powercap, absent)) {
    // Reads packages only: intel-rapl:0. Their components (intel-rapl:0:0) are included in them; psys includes all
    // packages.
    const std::string zone = entry.path().filename().string();
    if (zone.rfind("intel-rapl:", 0) != 0 || std::count(zone.begin(), zone.end(), ':') != 1) continue;
    const auto name = first_word<std::string>(entry.path() / "name");
    const auto range = first_word<std::uint64_t>(entry.path() / "max_energy_range_uj");
    if (!name || name->rfind("package", 0) != 0 || !range) continue;
    if (first_word<std::uint64_t>(entry.path() / "energy_uj"))
      packages_.push_back({entry.path() / "energy_uj", *range});
  }
}

energy_meter::~energy_meter() { delete nvml_; }

energy_meter::reading energy_meter::read() const {
  reading r;
  for (const package& p : packages_) r.cpu_microjoules.push_back(first_word<std::uint64_t>(p.counter).value_or(0));
  for (void* device : nvml_->devices) {
    unsigned long long now = 0;
    nvml_->energy(device, &now);
    r.cuda_millijoules.push_back(now);
  }
  return r;
}

std::optional<double> energy_meter::cpu_joules(const reading& from, const reading& to) const {
  if (packages_.empty()) return {};
  double sum = 0;
  for (std::size_t i = 0; i < packages_.size(); ++i) {
    const std::uint64_t a = from.cpu_microjoules[i], b = to.cpu_microjoules[i];
    sum += 1e-6 * static_cast<double>(b >= a ? b - a : b + packages_[i].range - a);
  }
  return sum;
}

std::optional<double> energy_meter::cuda_joules(const reading& from, const reading& to) const {
  if (nvml_->devices.empty()) return {};
  double sum = 0;
  for (std::size_t i = 0; i < from.cuda_millijoules.size(); ++i)
    sum += 1e-3 * static_cast<double>(to.cuda_millijoules[i] - from.cuda_millijoules[i]);
  return sum;
}

}  // namespace saltus::host
