// Energy counters of the machine: processors by RAPL (Linux powercap), NVIDIA devices by NVML. Both count whole
// processors and devices, whatever programs use them.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <vector>

namespace saltus::host {

/// Energy counters that are read from time to time.
class energy_meter {
 public:
  explicit energy_meter(const std::filesystem::path& powercap = "/sys/class/powercap");
  ~energy_meter();
  energy_meter(const energy_meter&) = delete;
  energy_meter& operator=(const energy_meter&) = delete;

  /// The values of the counters.
  struct reading {
    std::vector<std::uint64_t> cpu_microjoules;   ///< [package]; empty: unknown
    std::vector<std::uint64_t> cuda_millijoules;  ///< [device]; empty: unknown
  };
  reading read() const;

  /// Joules between two readings; nothing if the machine has no counters. A RAPL counter wraps at its largest value.
  std::optional<double> cpu_joules(const reading& from, const reading& to) const;
  std::optional<double> cuda_joules(const reading& from, const reading& to) const;

 private:
  struct package {
    std::filesystem::path counter;
    std::uint64_t range;  ///< largest value of the counter, microjoules
  };
  struct nvml;

  std::vector<package> packages_;
  nvml* nvml_ = nullptr;
};

}  // namespace saltus::host
