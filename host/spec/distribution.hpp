// The distributions of [sample]: what each is called, when its numbers make sense, its distribution function, and one draw.
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
  std::string_view allowed;  ///< what its numbers must be, for messages
};
inline constexpr distribution_form distribution_forms[] = {
    {"uniform", distribution::kind::uniform, 2, "must be [low, high] with low < high"},
    {"log_uniform", distribution::kind::log_uniform, 2, "must be [low, high] with 0 < low < high"},
    {"normal", distribution::kind::normal, 2, "must be [mean, standard deviation] with a positive deviation"},
    {"lognormal", distribution::kind::lognormal, 2,
     "must be [mean, standard deviation] of the logarithm with a positive deviation and a finite range"},
    {"triangular", distribution::kind::triangular, 3, "must be [low, mode, high] with low <= mode <= high, low < high"},
};

/// Do a, b, c make a distribution, and one whose every draw is finite?
bool is_proper(const distribution& d);

/// Probability of a value up to x, before truncation to [min, max].
double cumulative(const distribution& d, double x);

/// One value, before truncation, from 128 random bits. Uniform and triangular distributions are arithmetic and `sqrt` and have
/// the same bits everywhere; the others use the C library's exp, log, sin and cos.
double draw(const distribution& d, std::uint64_t first, std::uint64_t second);

}  // namespace saltus::host
