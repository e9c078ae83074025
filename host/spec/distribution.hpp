// The distributions of [sample]: their names, valid parameters, distribution functions and inverses, and random draws.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "spec/plan.hpp"

namespace saltus::host {

/// The form of a distribution in a spec: { name = [numbers] }.
struct distribution_form {
  std::string_view name;
  distribution::kind which;
  std::size_t arity;
  std::string_view allowed;    ///< requirement on its numbers, for messages
  bool may_have_ends = false;  ///< two more numbers are allowed: the ends of its support
};
inline constexpr distribution_form distribution_forms[] = {
    {"uniform", distribution::kind::uniform, 2, "must be [low, high] with low < high"},
    {"log_uniform", distribution::kind::log_uniform, 2, "must be [low, high] with 0 < low < high"},
    {"normal", distribution::kind::normal, 2, "must be [mean, standard deviation] with a positive deviation"},
    {"lognormal", distribution::kind::lognormal, 2,
     "must be [mean, standard deviation] of the logarithm with a positive deviation and a finite range"},
    {"triangular", distribution::kind::triangular, 3, "must be [low, mode, high] with low <= mode <= high, low < high"},
    {"beta", distribution::kind::beta, 2,
     "must be [alpha, beta] or [alpha, beta, low, high] with positive alpha and beta and low < high", true},
    {"gamma", distribution::kind::gamma, 2, "must be [shape, scale], both positive"},
    {"weibull", distribution::kind::weibull, 2, "must be [shape, scale], both positive"},
};

/// Do the numbers define a distribution whose every draw is finite?
bool is_proper(const distribution& d);

/// Probability of a value up to x, before truncation to [min, max].
double cumulative(const distribution& d, double x);

/// The quantile for probability u, 0 <= u <= 1, after truncation to [min, max] (a discrete distribution lists only
/// values between them). Infinite at 0 or 1 if the distribution is unbounded there. Beta and gamma distributions use
/// Boost.Math.
double quantile(const distribution& d, double u);

/// Are values left out that the distribution could have?
inline bool is_truncated(const distribution& d) { return !std::isinf(d.min) || !std::isinf(d.max); }

/// The quantile of a uniform distribution before truncation; rounding does not leave its range.
inline double uniform_value(const distribution& d, double u) { return std::clamp(d.a + (d.b - d.a) * u, d.a, d.b); }

/// Do all values lie between two finite numbers?
bool is_bounded(const distribution& d);

/// The standard normal distribution function and its inverse.
double normal_cumulative(double z);
double normal_quantile(double u);

/// Does `draw` support this distribution, for random and independent samples? Others are sampled by quantiles.
bool has_draw(const distribution& d);

/// One value, before truncation, from 128 random bits, for a distribution with has_draw. Uniform and triangular
/// distributions use arithmetic and `sqrt` and have the same bits everywhere; the others use the C library's exp, log,
/// sin and cos.
double draw(const distribution& d, std::uint64_t first, std::uint64_t second);

}  // namespace saltus::host
