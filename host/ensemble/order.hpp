// The order in which instances of a chunk begin, for devices on which those that run side by side should take equally
// long: the threads of a warp go through the same steps, and wait for the one that has most of them.
//
// How much work an instance will be is predicted from its inputs by a regression tree (L. Breiman, J. Friedman,
// R. Olshen, C. Stone, "Classification and Regression Trees", 1984), grown on the work of instances that have ended. It is
// used only where, on instances that it has not seen, warps in the predicted order are clearly fuller than in the order of
// the ids, in which a sweep is sorted anyway. No result depends on the order.
//
// Plainer rules do worse on some ensembles (bench/results/order.md): sorted by the one input that explains most of the work,
// warps of the bouncing ball with two inputs are 0.57 full in place of 0.84; with the mean of the 16 nearest instances as the
// prediction, those of the Coulomb oscillator with five inputs are 0.70 full in place of 0.77, and each prediction takes a
// search among thousands.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "ensemble/chunk.hpp"

namespace saltus::host {

/// Instances side by side.
inline constexpr std::int64_t warp = 32;

/// The work of an instance in trial steps: those made, integrations anew to an event, and for each event the step made
/// again with dense output, and the restart.
double work_of(const chunk_data& chunk, std::int64_t slot);

/// The share of lanes at work, where each warp takes `warp` numbers as they come and ends with its last lane.
double warp_efficiency(const std::vector<double>& work);

/// Inputs and work of instances, by rows.
struct work_sample {
  std::size_t width = 0;       ///< inputs of an instance
  std::vector<double> inputs;  ///< [row][width]
  std::vector<double> work;    ///< [row]

  std::size_t size() const { return work.size(); }
  const double* row(std::size_t i) const { return &inputs[i * width]; }
};

/// A regression tree: the mean work of the instances with inputs in one box.
class work_tree {
 public:
  explicit work_tree(const work_sample& sample);

  /// The number of the box of an instance whose input j is value(j): 0 has the most work.
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
    int input = -1;        ///< by which it is split; -1: it is a box
    double threshold = 0;  ///< what is not greater goes to child `left`, all else to the next one
    int left = 0;
    int rank = 0;  ///< of a box
    double mean = 0;
  };
  struct growth;

  std::vector<node> nodes_;
  int boxes_ = 0;
};

/// Learns from chunks that have ended, and orders those that are to begin. Any thread.
class work_order {
 public:
  void learn(const chunk_data& chunk);
  /// The slots of a chunk in the order in which they should begin: the longest first. Empty: as they stand.
  std::vector<int> order(const columns& chunk) const;

 private:
  void grow();

  mutable std::mutex mutex_;
  work_sample sample_;
  std::int64_t learnt_ = 0, next_growth_ = 1;  ///< chunks
  std::shared_ptr<const work_tree> tree_;      ///< null: as they stand
};

}  // namespace saltus::host
