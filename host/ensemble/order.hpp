// Orders the instances of a chunk for devices on which neighbours should take equally long: the threads of a warp go
// through the same steps, and wait for the thread with the most steps.
//
// The work of an instance is predicted from its inputs by a regression tree (L. Breiman, J. Friedman, R. Olshen, C.
// Stone, "Classification and Regression Trees", 1984), grown on the work of instances that have ended. The tree is used
// only if it makes warps of unseen instances clearly fuller than the order of ids, in which a sweep is sorted anyway.
// No result depends on the order.
//
// Simpler rules do worse on some ensembles (bench/results/order.md). Sorted by the one input that explains most of the
// work, warps of the bouncing ball with two inputs are 0.57 full instead of 0.84. Predicted by the mean of the 16
// nearest instances, warps of the Coulomb oscillator with five inputs are 0.70 full instead of 0.77, and each
// prediction searches among thousands.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "ensemble/chunk_data.hpp"

namespace saltus::host {

/// Instances side by side on a device.
inline constexpr std::int64_t warp = 32;

/// The work of an instance in trial steps: accepted and rejected steps, root-finding steps, and two for each event: the
/// step repeated with dense output, and the restart.
double work_of(const chunk_data& chunk, std::int64_t slot);

/// The share of busy lanes if each warp takes the next `warp` numbers and ends with its longest lane.
double warp_efficiency(const std::vector<double>& work);

/// Inputs and work of instances, by rows.
struct work_sample {
  std::size_t width = 0;       ///< inputs of an instance
  std::vector<double> inputs;  ///< [row][width]
  std::vector<double> work;    ///< [row]

  std::size_t size() const { return work.size(); }
  const double* row(std::size_t i) const { return &inputs[i * width]; }
};

/// A regression tree: a box of inputs predicts the mean work of its instances.
class work_tree {
 public:
  explicit work_tree(const work_sample& sample);

  /// The rank of the box of an instance whose input j is value(j): rank 0 has the most work.
  template <class F>
  int rank_by(F&& value) const {
    const node* at = nodes_.data();
    while (at->input >= 0)
      at = &nodes_[static_cast<std::size_t>(at->left + (value(at->input) <= at->threshold ? 0 : 1))];
    return at->rank;
  }
  int rank_of(const double* inputs) const {
    return rank_by([&](int j) { return inputs[j]; });
  }
  int boxes() const { return boxes_; }

 private:
  struct node {
    int input = -1;        ///< input by which it is split; -1: it is a box
    double threshold = 0;  ///< values up to it go to child `left`, others to the next one
    int left = 0;
    int rank = 0;  ///< of a box
    double mean = 0;
  };
  struct growth;

  std::vector<node> nodes_;
  int boxes_ = 0;
};

/// Learns from chunks that have ended and orders those that are to begin. Any thread.
class work_order {
 public:
  void learn(const chunk_data& chunk);
  /// The slots of a chunk in the order in which they should begin: the longest first. Empty: ascending.
  std::vector<int> order(const columns& chunk) const;

 private:
  void grow();

  mutable std::mutex mutex_;
  work_sample sample_;
  std::int64_t learnt_ = 0, next_growth_ = 1;  ///< chunks
  std::shared_ptr<const work_tree> tree_;      ///< null: ascending order
};

}  // namespace saltus::host
