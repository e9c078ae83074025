#include "spec/design.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numbers>

#include <Random123/philox.h>
#include <Random123/u01fixedpt.h>
#include <boost/random/sobol.hpp>

namespace saltus::host {

namespace {

std::vector<std::uint64_t> first_primes(int count) {
  std::vector<std::uint64_t> primes;
  for (std::uint64_t n = 2; std::ssize(primes) < count; ++n)
    if (std::none_of(primes.begin(), primes.end(), [n](std::uint64_t p) { return n % p == 0; })) primes.push_back(n);
  return primes;
}

constexpr int max_sobol_dimensions = 3667;  // of the table
constexpr int max_halton_dimensions = 200;  // each has a table of permutations
constexpr int sobol_bits = 41;              // enough for the largest number of instances

}  // namespace

std::uint64_t random_word(std::uint64_t seed, random_use use, std::uint64_t stream, std::uint64_t i) {
  const r123::Philox4x64::ctr_type counter = {{i, stream, 0, static_cast<std::uint64_t>(use)}};
  const r123::Philox4x64::key_type key = {{seed, 0}};
  return r123::Philox4x64()(counter, key)[0];
}

std::string_view name_of(design::kind which) {
  for (const auto& form : design_forms)
    if (form.which == which) return form.name;
  return "";
}

bool is_for_indices(const design& d) {
  return d.which == design::kind::saltelli || d.which == design::kind::morris || d.which == design::kind::fast;
}

std::int64_t instances_per_count(const design& d, int inputs) {
  switch (d.which) {
    case design::kind::saltelli: return (d.second_order ? 2 : 1) * inputs + 2;
    case design::kind::morris: return inputs + 1;
    case design::kind::fast: return inputs;
    default: return 1;
  }
}

int max_inputs(const design& d) {
  switch (d.which) {
    case design::kind::sobol: return max_sobol_dimensions;
    case design::kind::saltelli: return max_sobol_dimensions / 2;
    case design::kind::halton: return max_halton_dimensions;
    default: return 1 << 20;
  }
}

keyed_permutation::keyed_permutation(std::uint64_t size, std::uint64_t seed, std::uint64_t stream)
    : size_(size),
      seed_(seed),
      stream_(stream),
      half_(std::max(1, (static_cast<int>(std::bit_width(size - 1)) + 1) / 2)) {}

std::uint64_t keyed_permutation::operator()(std::uint64_t i) const {
  if (size_ == 1) return 0;
  do i = once(i);
  while (i >= size_);
  return i;
}

std::uint64_t keyed_permutation::once(std::uint64_t i) const {
  constexpr std::uint64_t rounds = 8;  // enough even for halves of one bit
  const std::uint64_t mask = (std::uint64_t{1} << half_) - 1;
  std::uint64_t left = i >> half_, right = i & mask;
  for (std::uint64_t round = 0; round < rounds; ++round) {
    const std::uint64_t mixed =
        left ^ (random_word(seed_, random_use::permutation, stream_, right | round << 48) & mask);
    left = right;
    right = mixed;
  }
  return left << half_ | right;
}

design_points::design_points(const design& d, int inputs, std::uint64_t seed)
    : design_(d), inputs_(inputs), seed_(seed) {
  if (d.which == design::kind::sobol) make_sobol(inputs);
  if (d.which == design::kind::saltelli) make_sobol(2 * inputs);
  if (d.which == design::kind::halton) make_halton();
  if (d.which == design::kind::fast) make_fast();
}

double design_points::at(std::int64_t sample, int input) const {
  const auto i = static_cast<std::uint64_t>(sample);
  switch (design_.which) {
    case design::kind::random: break;
    case design::kind::latin_hypercube: return latin(i, input);
    case design::kind::sobol: return sobol(i, input);
    case design::kind::halton: return halton(i, input);
    case design::kind::saltelli: return saltelli(sample, input);
    case design::kind::morris: return morris(sample, input);
    case design::kind::fast: return fast(sample, input);
  }
  return 0.5;
}

std::int64_t design_points::unit_rows() const {
  return design_.which == design::kind::fast ? 1 : instances_per_count(design_, inputs_);
}

// ---- Latin hypercube

double design_points::latin(std::uint64_t i, int input) const {
  const auto stream = static_cast<std::uint64_t>(input);
  const keyed_permutation stratum(static_cast<std::uint64_t>(design_.count), seed_, stream);
  const double within = u01fixedpt_open_open_64_double(random_word(seed_, random_use::jitter, stream, i));
  const double u = (static_cast<double>(stratum(i)) + within) / static_cast<double>(design_.count);
  return std::min(u, 1 - 0x1p-53);
}

// ---- Sobol'

/// The direction numbers, each multiplied by a random lower triangular matrix with unit diagonal. Bit 63 is the first
/// digit.
void design_points::make_sobol(int dimensions) {
  const auto n = static_cast<std::size_t>(dimensions);
  directions_.resize(n * sobol_bits);
  boost::random::sobol numbers(n);
  for (int bit = 0; bit < sobol_bits; ++bit) {
    numbers.seed((std::uint64_t{1} << bit) - 1);  // the point whose Gray code is this bit and the one below
    for (std::size_t k = 0; k < n; ++k) {
      std::uint64_t& to = directions_[k * sobol_bits + static_cast<std::size_t>(bit)];
      to = numbers();
      if (bit > 0) to ^= (&to)[-1];
    }
  }
  for (std::size_t k = 0; k < n; ++k) {
    std::uint64_t rows[64];  // row r makes digit r from the digits up to r
    for (std::uint64_t r = 0; r < 64; ++r) {
      const std::uint64_t above = r == 0 ? 0 : ~std::uint64_t{0} << (64 - r);
      rows[r] = (random_word(seed_, random_use::scrambling, k, r) & above) | std::uint64_t{1} << (63 - r);
    }
    for (std::size_t bit = 0; bit < sobol_bits; ++bit) {
      std::uint64_t& v = directions_[k * sobol_bits + bit];
      std::uint64_t scrambled = 0;
      for (int r = 0; r < 64; ++r) scrambled |= static_cast<std::uint64_t>(std::popcount(rows[r] & v) & 1) << (63 - r);
      v = scrambled;
    }
    shifts_.push_back(random_word(seed_, random_use::shift, k, 0));
  }
}

double design_points::sobol(std::uint64_t i, int dimension) const {
  const auto k = static_cast<std::size_t>(dimension);
  const std::uint64_t* const v = directions_.data() + k * sobol_bits;
  std::uint64_t digits = shifts_[k];
  for (; i != 0; i &= i - 1) digits ^= v[std::countr_zero(i)];
  return u01fixedpt_open_open_64_double(digits);
}

// ---- Halton

void design_points::make_halton() {
  for (const std::uint64_t base : first_primes(inputs_)) {
    const auto k = bases_.size();
    const int digits = static_cast<int>(std::ceil(53 / std::log2(static_cast<double>(base))));
    bases_.push_back({base, digits, permuted_.size()});
    for (std::uint64_t position = 0; position < static_cast<std::uint64_t>(digits); ++position) {
      const auto first = permuted_.size();
      for (std::uint64_t digit = 0; digit < base; ++digit) permuted_.push_back(static_cast<std::uint16_t>(digit));
      for (std::uint64_t left = base; left > 1; --left) {  // Fisher and Yates
        const std::uint64_t chosen =
            random_word(seed_, random_use::digits, k << 32 | position, left) % left;  // bias at most about 2^-53
        std::swap(permuted_[first + left - 1], permuted_[first + chosen]);
      }
    }
  }
}

double design_points::halton(std::uint64_t i, int dimension) const {
  const prime_base& b = bases_[static_cast<std::size_t>(dimension)];
  const double base = static_cast<double>(b.base);
  const std::uint16_t* permuted = permuted_.data() + b.first;
  double u = 0, weight = 1;
  for (int position = 0; position < b.digits; ++position, permuted += b.base, i /= b.base) {
    weight /= base;
    u += weight * static_cast<double>(permuted[i % b.base]);
  }
  return std::clamp(u + 0.5 * weight, 0x1p-54, 1 - 0x1p-53);
}

// ---- pairs of samples: A, A with one column of B each, (B with one column of A each,) B

double design_points::saltelli(std::int64_t sample, int input) const {
  const std::int64_t rows = unit_rows(), row = sample % rows;
  const auto i = static_cast<std::uint64_t>(sample / rows);
  bool from_b = row == rows - 1;
  if (row >= 1 && row <= inputs_) from_b = row - 1 == input;
  else if (row > inputs_ && row < rows - 1) from_b = row - 1 - inputs_ != input;
  return sobol(i, from_b ? inputs_ + input : input);
}

// ---- trajectories

morris_step design_points::step(std::int64_t trajectory, int input) const {
  const auto i = static_cast<std::uint64_t>(trajectory);
  const keyed_permutation order(static_cast<std::uint64_t>(inputs_), seed_, i);
  const double width = 0.5 * design_.levels / (design_.levels - 1);
  const bool is_up = random_word(seed_, random_use::start, static_cast<std::uint64_t>(input), i) >> 63 != 0;
  return {static_cast<std::int64_t>(order(static_cast<std::uint64_t>(input))), is_up ? width : -width};
}

double design_points::morris(std::int64_t sample, int input) const {
  const std::int64_t rows = unit_rows(), trajectory = sample / rows;
  const auto half = static_cast<std::uint64_t>(design_.levels) / 2;
  const morris_step moved = step(trajectory, input);
  const std::uint64_t bits =
      random_word(seed_, random_use::start, static_cast<std::uint64_t>(input), static_cast<std::uint64_t>(trajectory));
  const std::uint64_t lower = (bits & 0xffffffff) % half;
  const bool is_upper = (sample % rows > moved.before) == (moved.size > 0);
  return static_cast<double>(lower + (is_upper ? half : 0)) / (design_.levels - 1);
}

// ---- curves

/// The curve's own input has the highest frequency; the others share the low frequencies whose harmonics stay below it.
void design_points::make_fast() {
  const auto harmonics = static_cast<std::uint64_t>(design_.harmonics);
  const std::uint64_t highest = (static_cast<std::uint64_t>(design_.count) - 1) / (2 * harmonics);
  const std::uint64_t low = highest / (2 * harmonics);
  const auto others = static_cast<std::uint64_t>(inputs_ - 1);
  frequencies_ = {highest};
  for (std::uint64_t j = 0; j < others; ++j)
    frequencies_.push_back(low >= others && others > 1 ? 1 + j * (low - 1) / (others - 1) : j % low + 1);
}

double design_points::fast(std::int64_t sample, int input) const {
  const std::int64_t curve = sample / design_.count;
  const auto i = static_cast<std::uint64_t>(sample % design_.count), n = static_cast<std::uint64_t>(design_.count);
  const std::size_t which = input == curve ? 0 : static_cast<std::size_t>(input < curve ? input + 1 : input);
  // Both factors are below 2^40, so their product may exceed 64 bits.
  const auto turns = static_cast<std::uint64_t>(static_cast<unsigned __int128>(frequencies_[which]) * i % n);
  const double phase =
      u01fixedpt_open_open_64_double(random_word(seed_, random_use::phase, static_cast<std::uint64_t>(curve), 0));
  const double angle = 2 * std::numbers::pi * (static_cast<double>(turns) / static_cast<double>(n) + phase);
  return std::clamp(0.5 + std::asin(std::sin(angle)) / std::numbers::pi, 0x1p-54, 1 - 0x1p-53);
}

}  // namespace saltus::host
