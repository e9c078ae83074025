// From the id of an instance to its parameters, initial values and time span: a pure function of the plan and the id,
// so any instance can be made again alone, on any machine, whatever ran beside it.
//
// id = sample + samples * point, where `point` counts through the product of the axes, the last axis fastest.
//
// Of the design `random`, a value is a function of (seed, id, what it is for): Philox4x64-10 with counter (id, target kind and index,
// attempt, 0) and key (seed, 0). So another random column does not change this one; another number of samples or of
// points does, as it changes the ids. Any other design is made of `sample` alone, and is the same at every point. (J. K. Salmon, M. A. Moraes, R. O. Dror, D. E. Shaw, "Parallel random numbers: as
// easy as 1, 2, 3", SC11; Random123 implements it.)
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

  /// Makes the instances first, ..., first + count - 1 of the plan's `count`. Threads may call it at the same time.
  void fill(std::int64_t first, std::int64_t count, columns& out) const;

 private:
  void fill_samples(std::int64_t first, columns& out) const;
  double probability(std::size_t input, std::int64_t id) const;

  const plan* plan_;
  design_points points_;
};

}  // namespace saltus::host
