// Energy that the machine says it has used: processors by RAPL (Linux powercap), NVIDIA devices by NVML. Both count whole
// processors and devices, whoever uses them.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace saltus::host {

/// Counters of energy, read from time to time.
class energy_meter {
 public:
  explicit energy_meter(const std::filesystem::path& powercap = "/sys/class/powercap");
  ~energy_meter();
  energy_meter(const energy_meter&) = delete;
  energy_meter& operator=(const energy_meter&) = delete;

  /// What the counters stand at.
  struct reading {
    std::vector<std::uint64_t> cpu_microjoules;   ///< [package]; empty: not told
    std::vector<std::uint64_t> cuda_millijoules;  ///< [device]; empty: not told
  };
  reading read() const;

  /// Joules between two readings; nothing if the machine does not tell. A counter of RAPL begins again at its largest value.
  std::optional<double> cpu_joules(const reading& from, const reading& to) const;
  std::optional<double> cuda_joules(const reading& from, const reading& to) const;

 private:
  struct package {
    std::filesystem::path counter;
    std::uint64_t range;  ///< its largest value, microjoules
  };
  struct nvml;

  std::vector<package> packages_;
  nvml* nvml_ = nullptr;
};

}  // namespace saltus::host
