#include "base/text.hpp"

#include <limits>

#include <fmt/format.h>

namespace saltus::host {

std::string counted(std::size_t n, const char* noun) { return fmt::format("{} {}{}", n, noun, n == 1 ? "" : "s"); }

std::string bytes_text(std::int64_t n) {
  if (n == std::numeric_limits<std::int64_t>::max()) return "more than 9.2 EB (2^63 bytes)";
  const char* const units[] = {"B", "kB", "MB", "GB", "TB", "PB", "EB"};
  double x = static_cast<double>(n);
  int i = 0;
  while (x >= 1000 && i < 6) x /= 1000, ++i;
  return fmt::format("{:.{}f} {}", x, i == 0 ? 0 : 1, units[i]);
}

std::string duration_text(double seconds) {
  if (seconds < 1e-3) return fmt::format("{:.2g} us", 1e6 * seconds);
  if (seconds < 0.995) return fmt::format("{:.2g} ms", 1e3 * seconds);
  if (seconds < 99.5) return fmt::format("{:.2g} s", seconds);
  if (seconds < 99.5 * 60) return fmt::format("{:.2g} min", seconds / 60);
  if (seconds < 99.5 * 3600) return fmt::format("{:.2g} h", seconds / 3600);
  return fmt::format("{:.3g} days", seconds / 86400);
}

}  // namespace saltus::host
