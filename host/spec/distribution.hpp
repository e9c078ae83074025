// The distributions of [sample]: what each is called, when its numbers make sense, its distribution function and the inverse
// of that, and one draw.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "spec/plan.hpp"

namespace saltus::host {

/// How a distribution is written in a spec: { name = [numbers] }.
struct distribution_form {
  std::string_view name;
  distribution::kind which;
  std::size_t arity;
  std::string_view allowed;    ///< what its numbers must be, for messages
  bool may_have_ends = false;  ///< two more numbers: where it begins and ends
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

/// Do its numbers make a distribution, and one whose every draw is finite?
bool is_proper(const distribution& d);

/// Probability of a value up to x, before truncation to [min, max].
double cumulative(const distribution& d, double x);

/// The value up to which a probability of u lies, 0 <= u <= 1, after truncation to [min, max] (of a discrete distribution the
/// values between them alone are listed). Infinite at 0 or 1 where the
/// distribution is not bounded. Those of beta and gamma distributions are Boost.Math's.
double quantile(const distribution& d, double u);

/// Are all its values between two finite numbers?
bool is_bounded(const distribution& d);

/// The standard normal distribution function and its inverse.
double normal_cumulative(double z);
double normal_quantile(double u);

/// Is it drawn by `draw`, where samples are random and independent? Others are quantiles.
bool has_draw(const distribution& d);

/// One value, before truncation, from 128 random bits, of a distribution that has a draw. Uniform and triangular distributions are arithmetic and `sqrt` and have
/// the same bits everywhere; the others use the C library's exp, log, sin and cos.
double draw(const distribution& d, std::uint64_t first, std::uint64_t second);

}  // namespace saltus::host
