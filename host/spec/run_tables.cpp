#include "spec/run_tables.hpp"

#include <cmath>
#include <cstddef>
#include <utility>

#include <fmt/format.h>

namespace saltus::host {

namespace {

/// The pieces between knots: lengths, and slopes of their chords.
struct chords {
  std::vector<double> length, slope;

  explicit chords(const knots& k) {
    for (std::size_t i = 0; i + 1 < k.times.size(); ++i) {
      length.push_back(k.times[i + 1] - k.times[i]);
      slope.push_back((k.values[i + 1] - k.values[i]) / length[i]);
    }
  }
  std::size_t count() const { return length.size(); }
};

bool same_sign(double a, double b) { return (a > 0 && b > 0) || (a < 0 && b < 0); }

/// The slope at the knot between pieces i and j: the weighted harmonic mean; zero at an extremum.
double slope_between(const chords& c, std::size_t i, std::size_t j) {
  if (!same_sign(c.slope[i], c.slope[j])) return 0.0;
  const double wi = 2 * c.length[j] + c.length[i], wj = c.length[j] + 2 * c.length[i];
  return (wi + wj) / (wi / c.slope[i] + wj / c.slope[j]);
}

/// The slope at the outer end of piece i, next to piece j: of the parabola through three knots, limited to stay
/// monotone.
double slope_at_end(const chords& c, std::size_t i, std::size_t j) {
  const double d =
      ((2 * c.length[i] + c.length[j]) * c.slope[i] - c.length[i] * c.slope[j]) / (c.length[i] + c.length[j]);
  if (!same_sign(d, c.slope[i])) return 0.0;
  if (!same_sign(c.slope[i], c.slope[j]) && std::abs(d) > 3 * std::abs(c.slope[i])) return 3 * c.slope[i];
  return d;
}

/// The slopes of a monotone cubic at all knots.
std::vector<double> monotone_slopes(const chords& c, bool periodic) {
  const std::size_t n = c.count();
  std::vector<double> d(n + 1);
  for (std::size_t i = 1; i < n; ++i) d[i] = slope_between(c, i - 1, i);
  if (periodic) d[0] = d[n] = slope_between(c, n - 1, 0);
  else if (n == 1) d[0] = d[1] = c.slope[0];
  else d[0] = slope_at_end(c, 0, 1), d[n] = slope_at_end(c, n - 1, n - 2);
  return d;
}

/// The second derivatives m of a spline at all knots: h m_- + 2 (h + h_+) m + h_+ m_+ = 6 (change of slope) at each
/// inner knot. Elimination gives the inner ones as a + b m_0. A periodic spline has one more equation, for m_0 = m_n;
/// for a natural one both are zero.
std::vector<double> second_derivatives(const chords& c, bool periodic) {
  const std::size_t n = c.count();
  std::vector<double> m(n + 1, 0.0), diagonal(n + 1), a(n + 1, 0.0), b(n + 1, 0.0);
  for (std::size_t i = 1; i < n; ++i) {
    diagonal[i] = 2 * (c.length[i - 1] + c.length[i]);
    a[i] = 6 * (c.slope[i] - c.slope[i - 1]);
    if (i == 1) b[i] -= c.length[0];
    if (i == n - 1) b[i] -= c.length[n - 1];
    if (i == 1) continue;
    const double factor = c.length[i - 1] / diagonal[i - 1];
    diagonal[i] -= factor * c.length[i - 1];
    a[i] -= factor * a[i - 1];
    b[i] -= factor * b[i - 1];
  }
  for (std::size_t i = n; i-- > 1;) {
    const double above = i + 1 < n ? c.length[i] : 0.0;
    a[i] = (a[i] - above * a[i + 1]) / diagonal[i];
    b[i] = (b[i] - above * b[i + 1]) / diagonal[i];
  }
  if (periodic && n > 1) {
    const double first = c.length[0], last = c.length[n - 1];
    m[0] = (6 * (c.slope[0] - c.slope[n - 1]) - first * a[1] - last * a[n - 1]) /
           (2 * (first + last) + first * b[1] + last * b[n - 1]);
    m[n] = m[0];
  }
  for (std::size_t i = 1; i < n; ++i) m[i] = a[i] + b[i] * m[0];
  return m;
}

/// Adds the coefficients of one curve.
void add_curve(const knots& k, interpolation between, at_ends beyond, std::vector<double>& all) {
  const chords c(k);
  const bool periodic = beyond == at_ends::periodic;
  const auto add = [&](std::size_t i, double c1, double c2, double c3) {
    all.insert(all.end(), {k.values[i], c1, c2, c3});
  };
  std::vector<double> d, m;
  if (between == interpolation::pchip) d = monotone_slopes(c, periodic);
  if (between == interpolation::spline) m = second_derivatives(c, periodic);
  for (std::size_t i = 0; i < c.count(); ++i) {
    const double h = c.length[i], s = c.slope[i];
    switch (between) {
      case interpolation::step: add(i, 0, 0, 0); break;
      case interpolation::linear: add(i, s, 0, 0); break;
      case interpolation::pchip:
        add(i, d[i], (3 * s - 2 * d[i] - d[i + 1]) / h, (d[i] + d[i + 1] - 2 * s) / (h * h));
        break;
      case interpolation::spline:
        add(i, s - h * (2 * m[i] + m[i + 1]) / 6, m[i] / 2, (m[i + 1] - m[i]) / (6 * h));
        break;
    }
  }
}

/// The values of one curve.
knots curve_of(const knots& k, std::size_t curve) {
  const auto begin = k.values.begin() + static_cast<std::ptrdiff_t>(curve * k.times.size());
  return {k.times, {begin, begin + std::ssize(k.times)}};
}

std::string flaw_of_times(const std::vector<double>& times) {
  const std::size_t n = times.size();
  if (n < 2) return fmt::format("must have two knots or more; it has {}", n);
  for (std::size_t i = 0; i < n; ++i)
    if (!std::isfinite(times[i])) return fmt::format("must have finite times; number {} is {}", i, times[i]);
  for (std::size_t i = 0; i + 1 < n; ++i) {
    if (times[i] == times[i + 1])
      return fmt::format("must have one value at each time; numbers {} and {} are both at {}", i, i + 1, times[i]);
    if (times[i] > times[i + 1])
      return fmt::format("must have its times in ascending order; number {} is {}, and number {} is {}", i, times[i],
                         i + 1, times[i + 1]);
  }
  if (!std::isfinite(times[n - 1] - times[0])) return "must have times nearer to each other: their distance overflows";
  return {};
}

}  // namespace

std::string flaw_of(const knots& k, at_ends beyond, bool several) {
  const std::size_t n = k.times.size(), values = k.values.size();
  if (values != n && !(several && n > 0 && values > 0 && values % n == 0))
    return fmt::format("must have as many values as times{}; it has {} and {}", several ? ", for each curve" : "",
                       values, n);
  if (auto flaw = flaw_of_times(k.times); !flaw.empty()) return flaw;
  for (std::size_t j = 0; j < k.curves(); ++j) {
    const double* const value = k.values.data() + j * n;
    const auto of_curve = several ? fmt::format(" of curve {}", j) : std::string();
    for (std::size_t i = 0; i < n; ++i)
      if (!std::isfinite(value[i]))
        return fmt::format("must have finite values; number {}{}, at {}, is {}", i, of_curve, k.times[i], value[i]);
    if (beyond == at_ends::periodic && value[0] != value[n - 1])
      return fmt::format(
          "is periodic and must end with the value that it begins with: it{} is {} at {} and {} at {}; a knot "
          "with the first value again, one period after the first, closes it",
          of_curve.empty() ? "" : "," + of_curve + ",", value[0], k.times[0], value[n - 1], k.times[n - 1]);
  }
  return {};
}

std::vector<double> coefficients_of(const knots& k, interpolation between, at_ends beyond) {
  std::vector<double> all;
  for (std::size_t j = 0; j < k.curves(); ++j) add_curve(curve_of(k, j), between, beyond, all);
  return all;
}

run_tables::run_tables(std::vector<table> all) : all_(std::move(all)) {
  for (table& t : all_) {
    const std::size_t n = t.knots.times.size();
    for (std::size_t j = 0; j < t.knots.curves(); ++j) t.last.push_back(t.knots.values[(j + 1) * n - 1]);
    for_kernels_.push_back({static_cast<long long>(n) - 1, static_cast<long long>(t.last.size()), t.knots.times.data(),
                            t.coefficients.data(), t.last.data()});
  }
}

}  // namespace saltus::host
