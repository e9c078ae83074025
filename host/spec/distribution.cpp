#include "spec/distribution.hpp"

#include <algorithm>
#include <cmath>

#include <Random123/u01fixedpt.h>
#include <Random123/boxmuller.hpp>

namespace saltus::host {

bool is_proper(const distribution& d) {
  // No normal draw lies farther out: Box-Muller from 64 bits reaches sqrt(-2 ln 2^-65) = 9.49 deviations.
  constexpr double farthest = 9.5;
  const double a = d.a, b = d.b, c = d.c;
  switch (d.which) {
    case distribution::kind::uniform: return a < b && std::isfinite(b - a);
    case distribution::kind::log_uniform: return 0 < a && a < b;
    case distribution::kind::normal: return b > 0 && std::isfinite(std::abs(a) + farthest * b);
    case distribution::kind::lognormal: return b > 0 && std::isfinite(std::exp(a + farthest * b));
    case distribution::kind::triangular: return a <= b && b <= c && a < c && std::isfinite(c - a);
  }
  return false;
}

double cumulative(const distribution& d, double x) {
  const double a = d.a, b = d.b, c = d.c;
  const auto normal = [&](double value) { return 0.5 * std::erfc((a - value) / (b * std::sqrt(2.0))); };
  switch (d.which) {
    case distribution::kind::uniform: return std::clamp((x - a) / (b - a), 0.0, 1.0);
    case distribution::kind::log_uniform:
      return x <= a ? 0 : x >= b ? 1 : (std::log(x) - std::log(a)) / (std::log(b) - std::log(a));
    case distribution::kind::normal: return normal(x);
    case distribution::kind::lognormal: return x <= 0 ? 0 : normal(std::log(x));
    case distribution::kind::triangular:
      if (x <= a || x >= c) return x <= a ? 0 : 1;
      return x < b ? (x - a) / (c - a) * ((x - a) / (b - a)) : 1 - (c - x) / (c - a) * ((c - x) / (c - b));
  }
  return 0;
}

double draw(const distribution& d, std::uint64_t first, std::uint64_t second) {
  const double a = d.a, b = d.b, c = d.c;
  const double u = u01fixedpt_open_open_64_double(first);
  switch (d.which) {
    case distribution::kind::uniform: return std::clamp(a + (b - a) * u, a, b);
    case distribution::kind::log_uniform:
      return std::clamp(std::exp(std::log(a) + (std::log(b) - std::log(a)) * u), a, b);
    case distribution::kind::normal: return a + b * r123::boxmuller(first, second).x;
    case distribution::kind::lognormal: return std::exp(a + b * r123::boxmuller(first, second).x);
    case distribution::kind::triangular: {
      const double below = (b - a) / (c - a);  // probability of a value below the mode
      return u < below ? a + (c - a) * std::sqrt(below * u) : c - (c - a) * std::sqrt((1 - below) * (1 - u));
    }
  }
  return a;
}

}  // namespace saltus::host
