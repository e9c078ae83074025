#include "spec/distribution.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include <Random123/u01fixedpt.h>
#include <Random123/boxmuller.hpp>
#include <boost/math/special_functions/lanczos.hpp>
// Boost includes this only for SSE2, whose sums have other last bits than its general ones.
#include <boost/math/special_functions/detail/lanczos_sse2.hpp>

#include <boost/math/special_functions/beta.hpp>
#include <boost/math/special_functions/erf.hpp>
#include <boost/math/special_functions/gamma.hpp>

namespace saltus::host {

namespace {

/// Computes in double throughout: the further digits of a long double are useless in a sample.
using in_double =
    boost::math::policies::policy<boost::math::policies::promote_double<false>,
                                  boost::math::policies::overflow_error<boost::math::policies::ignore_error>>;

constexpr double infinite = std::numeric_limits<double>::infinity();

/// For a discrete distribution: the first value whose cumulative probability is at least u.
double discrete_value(const distribution& d, double u) {
  const auto found = std::lower_bound(d.cumulative.begin(), d.cumulative.end(), u);
  return d.values[static_cast<std::size_t>(std::min(found - d.cumulative.begin(), std::ssize(d.values) - 1))];
}

double triangular_value(const distribution& d, double u) {
  const double a = d.a, b = d.b, c = d.c;
  const double below = (b - a) / (c - a);  // probability of a value below the mode
  return u < below ? a + (c - a) * std::sqrt(below * u) : c - (c - a) * std::sqrt((1 - below) * (1 - u));
}

/// The quantile before truncation.
double whole_quantile(const distribution& d, double u) {
  const double a = d.a, b = d.b;
  switch (d.which) {
    case distribution::kind::uniform: return uniform_value(d, u);
    case distribution::kind::log_uniform:
      return std::clamp(std::exp(std::log(a) + (std::log(b) - std::log(a)) * u), a, b);
    case distribution::kind::normal: return a + b * normal_quantile(u);
    case distribution::kind::lognormal: return std::exp(a + b * normal_quantile(u));
    case distribution::kind::triangular: return triangular_value(d, u);
    case distribution::kind::beta:
      return std::clamp(d.low + (d.high - d.low) * boost::math::ibeta_inv(a, b, u, in_double()), d.low, d.high);
    case distribution::kind::gamma: return u < 1 ? b * boost::math::gamma_p_inv(a, u, in_double()) : infinite;
    case distribution::kind::weibull: return b * std::pow(-std::log1p(-u), 1 / a);
    case distribution::kind::discrete: return discrete_value(d, u);
  }
  return a;
}

}  // namespace

double normal_cumulative(double z) { return 0.5 * std::erfc(-z / std::sqrt(2.0)); }

double normal_quantile(double u) {
  if (u <= 0 || u >= 1) return u <= 0 ? -infinite : infinite;
  return -std::sqrt(2.0) * boost::math::erfc_inv(2 * u, in_double());
}

bool is_proper(const distribution& d) {
  // No normal draw is larger: Box-Muller from 64 bits reaches sqrt(-2 ln 2^-65) = 9.49 deviations.
  constexpr double farthest = 9.5;
  const double a = d.a, b = d.b, c = d.c;
  switch (d.which) {
    case distribution::kind::uniform: return a < b && std::isfinite(b - a);
    case distribution::kind::log_uniform: return 0 < a && a < b;
    case distribution::kind::normal: return b > 0 && std::isfinite(std::abs(a) + farthest * b);
    case distribution::kind::lognormal: return b > 0 && std::isfinite(std::exp(a + farthest * b));
    case distribution::kind::triangular: return a <= b && b <= c && a < c && std::isfinite(c - a);
    case distribution::kind::beta: return a > 0 && b > 0 && d.low < d.high && std::isfinite(d.high - d.low);
    case distribution::kind::gamma:
    case distribution::kind::weibull: return a > 0 && b > 0 && std::isfinite(quantile(d, 1 - 0x1p-53));
    case distribution::kind::discrete: return !d.values.empty() && d.values.size() == d.cumulative.size();
  }
  return false;
}

double cumulative(const distribution& d, double x) {
  const double a = d.a, b = d.b, c = d.c;
  const auto normal = [&](double value) { return 0.5 * std::erfc((a - value) / (b * std::sqrt(2.0))); };
  if (std::isinf(x)) return x < 0 ? 0 : 1;
  switch (d.which) {
    case distribution::kind::uniform: return std::clamp((x - a) / (b - a), 0.0, 1.0);
    case distribution::kind::log_uniform:
      return x <= a ? 0 : x >= b ? 1 : (std::log(x) - std::log(a)) / (std::log(b) - std::log(a));
    case distribution::kind::normal: return normal(x);
    case distribution::kind::lognormal: return x <= 0 ? 0 : normal(std::log(x));
    case distribution::kind::triangular:
      if (x <= a || x >= c) return x <= a ? 0 : 1;
      return x < b ? (x - a) / (c - a) * ((x - a) / (b - a)) : 1 - (c - x) / (c - a) * ((c - x) / (c - b));
    case distribution::kind::beta:
      return boost::math::ibeta(a, b, std::clamp((x - d.low) / (d.high - d.low), 0.0, 1.0), in_double());
    case distribution::kind::gamma: return x <= 0 ? 0 : boost::math::gamma_p(a, x / b, in_double());
    case distribution::kind::weibull: return x <= 0 ? 0 : -std::expm1(-std::pow(x / b, a));
    case distribution::kind::discrete: {
      const auto above = std::upper_bound(d.values.begin(), d.values.end(), x) - d.values.begin();
      return above == 0 ? 0 : d.cumulative[static_cast<std::size_t>(above) - 1];
    }
  }
  return 0;
}

double quantile(const distribution& d, double u) {
  if (!is_truncated(d)) return whole_quantile(d, u);
  const double below = cumulative(d, d.min);
  return std::clamp(whole_quantile(d, below + (cumulative(d, d.max) - below) * u), d.min, d.max);
}

bool is_bounded(const distribution& d) { return std::isfinite(quantile(d, 0)) && std::isfinite(quantile(d, 1)); }

bool has_draw(const distribution& d) {
  switch (d.which) {
    case distribution::kind::uniform:
    case distribution::kind::log_uniform:
    case distribution::kind::normal:
    case distribution::kind::lognormal:
    case distribution::kind::triangular: return true;
    case distribution::kind::beta:
    case distribution::kind::gamma:
    case distribution::kind::weibull:
    case distribution::kind::discrete: return false;
  }
  return false;
}

double draw(const distribution& d, std::uint64_t first, std::uint64_t second) {
  const double a = d.a, b = d.b;
  const double u = u01fixedpt_open_open_64_double(first);
  switch (d.which) {
    case distribution::kind::uniform: return uniform_value(d, u);
    case distribution::kind::log_uniform:
      return std::clamp(std::exp(std::log(a) + (std::log(b) - std::log(a)) * u), a, b);
    case distribution::kind::normal: return a + b * r123::boxmuller(first, second).x;
    case distribution::kind::lognormal: return std::exp(a + b * r123::boxmuller(first, second).x);
    case distribution::kind::triangular: return triangular_value(d, u);
    default: return quantile(d, u);
  }
}

}  // namespace saltus::host
