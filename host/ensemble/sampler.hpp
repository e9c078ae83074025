// Computes parameters, initial values and time span of an instance from its id: a pure function of plan and id, so that
// any instance can be reproduced alone, on any machine.
//
// id = sample + samples * point, where `point` counts through the product of the axes, the last axis fastest.
//
// With the design `random`, a value is a function of (seed, id, target): Philox4x64-10 with counter (id, target kind
// and index, attempt, 0) and key (seed, 0) (J. K. Salmon, M. A. Moraes, R. O. Dror, D. E. Shaw, "Parallel random
// numbers: as easy as 1, 2, 3", SC11; Random123 implements it). Adding a random column therefore does not change the
// others; another number of samples or points does, since it changes the ids. Every other design depends on `sample`
// alone and is the same at every point.
//
// The key of an instance's random streams (kernels/model/random_draws.hpp) is a permutation of its id that the seed selects, so
// that no two instances of a run have the same key.
#pragma once

#include <cstdint>

#include "ensemble/columns.hpp"
#include "spec/design.hpp"
#include "spec/plan.hpp"

namespace saltus::host {

class sampler {
 public:
  /// Refers to `plan`, which must outlive it.
  explicit sampler(const plan& plan)
      : plan_(&plan), points_(plan.design, static_cast<int>(plan.random.size()), plan.seed) {}
  explicit sampler(plan&&) = delete;

  /// Makes the inputs of instances first, ..., first + count - 1 of the plan. Several threads may call it at once.
  void fill(std::int64_t first, std::int64_t count, columns& out) const;

 private:
  void fill_samples(std::int64_t first, columns& out) const;
  /// The values of one random input, which is independent of the others.
  void fill_sample(std::size_t input, std::int64_t first, columns& out) const;
  void fill_keys(std::int64_t first, columns& out) const;
  double probability(std::size_t input, std::int64_t id) const;

  const plan* plan_;
  design_points points_;
};

}  // namespace saltus::host
