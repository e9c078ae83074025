// The designs of [sample]: their names, their numbers of instances, and their points in the unit cube.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "spec/plan.hpp"

namespace saltus::host {

struct design_form {
  std::string_view name;
  design::kind which;
};
inline constexpr design_form design_forms[] = {
    {"random", design::kind::random},     {"latin_hypercube", design::kind::latin_hypercube},
    {"sobol", design::kind::sobol},       {"halton", design::kind::halton},
    {"saltelli", design::kind::saltelli}, {"morris", design::kind::morris},
    {"fast", design::kind::fast},
};
std::string_view name_of(design::kind which);

/// Are sensitivity indices computed from this design?
bool is_for_indices(const design& d);

/// Instances for each of its `count`: saltelli k + 2, or 2 k + 2 with second-order indices; morris k + 1; fast k.
std::int64_t instances_per_count(const design& d, int inputs);

/// The largest number of inputs.
int max_inputs(const design& d);

/// The uses of random numbers other than values of instances (sampler.hpp): the last word of the counter.
enum class random_use : std::uint64_t {
  permutation = 1,
  jitter,
  scrambling,
  shift,
  digits,
  start,
  phase,
  resampling,
};
/// 64 random bits: Philox4x64-10 with counter (i, stream, 0, use) and key (seed, 0).
std::uint64_t random_word(std::uint64_t seed, random_use use, std::uint64_t stream, std::uint64_t i);

/// A permutation of 0, ..., size - 1 that is computed element by element from a key: a Feistel network over the next
/// even number of bits, repeated until the result is below `size` (J. Black, P. Rogaway, "Ciphers with arbitrary finite
/// domains", CT-RSA 2002). Its round function is Philox.
class keyed_permutation {
 public:
  keyed_permutation(std::uint64_t size, std::uint64_t seed, std::uint64_t stream);
  std::uint64_t operator()(std::uint64_t i) const;

 private:
  std::uint64_t once(std::uint64_t i) const;
  std::uint64_t size_, seed_, stream_;
  int half_;  ///< bits of one half
};

/// A step of a Morris trajectory.
struct morris_step {
  std::int64_t before;  ///< the row of the trajectory after which input j changes
  double size;          ///< change in the unit cube; negative: downward
};

/// The points of a design other than `random`, each computed from its number alone. Sobol': direction numbers of S.
/// Joe, F. Y. Kuo, SIAM J. Sci. Comput. 30 (2008) 2635, from Boost.Random, scrambled by a random lower triangular
/// matrix and a digital shift (J. Matousek, J. Complexity 14 (1998) 527). Halton: a permutation for every digit (A. B.
/// Owen, arXiv:1706.02808). Pairs of samples: A. Saltelli et al., Comput. Phys. Commun. 181 (2010) 259. Trajectories:
/// M. D. Morris, Technometrics 33 (1991) 161. Curves: A. Saltelli, S. Tarantola, K. P.-S. Chan, Technometrics 41 (1999)
/// 39.
class design_points {
 public:
  design_points(const design& d, int inputs, std::uint64_t seed);

  /// Coordinate `input` of instance `sample` of the design: in (0, 1); for morris in [0, 1].
  double at(std::int64_t sample, int input) const;

  /// The step of a Morris trajectory that changes `input`.
  morris_step step(std::int64_t trajectory, int input) const;
  /// Number of consecutive rows that belong together: 1 except for saltelli and morris.
  std::int64_t unit_rows() const;

 private:
  void make_sobol(int dimensions);
  void make_halton();
  void make_fast();
  double sobol(std::uint64_t i, int dimension) const;
  double halton(std::uint64_t i, int dimension) const;
  double latin(std::uint64_t i, int input) const;
  double saltelli(std::int64_t sample, int input) const;
  double morris(std::int64_t sample, int input) const;
  double fast(std::int64_t sample, int input) const;

  design design_;
  int inputs_;
  std::uint64_t seed_;
  std::vector<std::uint64_t> directions_, shifts_;  ///< Sobol': [dimension][bit], scrambled; [dimension]
  struct prime_base {
    std::uint64_t base;
    int digits;
    std::size_t first;  ///< index of its first permutation
  };
  std::vector<prime_base> bases_;           ///< Halton
  std::vector<std::uint16_t> permuted_;     ///< [dimension][position][digit]
  std::vector<std::uint64_t> frequencies_;  ///< FAST: of the curve's own input, then of the others in turn
};

}  // namespace saltus::host
